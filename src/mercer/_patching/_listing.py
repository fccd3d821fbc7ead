"""The list of what the patch replaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

from mercer._aligned import aligned, as_frame
from mercer._patching._agreement import difference
from mercer._patching._differences import Differences
from mercer._patching._replacements import REPLACEMENTS, Replacement, find_replacements
from mercer._patching._switch import is_on


class PatchedName(NamedTuple):
    """A public name of scikit-learn: what it stands for under the patch, and what differs, or why it stays what it is."""

    path: str
    given: Any
    given_path: str
    is_replaced: bool
    differs: str


class Patched(Sequence[PatchedName]):
    """The names that scikit-learn and Mercer share: those replaced, then those that stay scikit-learn's."""

    def __init__(self, names: Sequence[PatchedName], *, is_on: bool) -> None:
        self.names = tuple(names)
        self.is_on = is_on

    @overload
    def __getitem__(self, index: int) -> PatchedName: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PatchedName, ...]: ...
    def __getitem__(self, index: int | slice) -> PatchedName | tuple[PatchedName, ...]:
        return self.names[index]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[PatchedName]:
        return iter(self.names)

    @property
    def replaced(self) -> dict[str, Any]:
        """Mercer's objects by scikit-learn's path."""
        return {name.path: name.given for name in self if name.is_replaced}

    @property
    def kept(self) -> dict[str, str]:
        """Why names stay scikit-learn's, by path."""
        return {name.path: name.differs for name in self if not name.is_replaced}

    def to_frame(self) -> Any:
        """The same as a pandas DataFrame."""
        columns = {field: [getattr(name, field) for name in self] for field in ("path", "given_path", "is_replaced", "differs")}
        return as_frame("Patched", columns)

    def __repr__(self) -> str:
        n_kept = len(self.kept)
        head = f"The patch is {'on' if self.is_on else 'off'}: {len(self) - n_kept} names are Mercer's under it, {n_kept} stay."
        rows = [("name", "under the patch", "what differs, or why it stays")]
        rows += [(name.path, name.given_path, _shorter(name.differs, 90)) for name in self]
        foot = "What holds for all of Mercer, and these differences in full: docs/differences.md."
        return "\n".join([head, "", *aligned(rows, left=(0, 1, 2)), "", foot])


def patched() -> Patched:
    """List what `patch_sklearn` replaces, what differs then, and what stays scikit-learn's for which reason.

    Returns
    -------
    Patched
        A sequence of `PatchedName`, each with `path`, `given`, `given_path`, `is_replaced` and `differs`; `replaced` and `kept`
        by path; `to_frame()`. It prints as a table.

    Examples
    --------
    >>> import mercer
    >>> names = mercer.patched()
    >>> names.replaced["sklearn.cluster.KMeans"].__module__
    'mercer.cluster._kmeans'
    >>> names.kept["sklearn.svm.LinearSVC"]
    "Mercer's minimises another objective: its intercept has no penalty"
    """
    find_replacements()
    page = Differences.read()
    names = [_listed(replacement, page) for replacement in REPLACEMENTS.values()]
    return Patched(sorted(names, key=lambda name: (not name.is_replaced, name.path)), is_on=is_on())


def _listed(replacement: Replacement, page: Differences) -> PatchedName:
    path, reason = replacement.path, replacement.reason
    if reason is not None:
        return PatchedName(path, replacement.peer, path, False, reason)
    return PatchedName(path, replacement.own, replacement.own_path, True, _what_differs(replacement, page))


def _what_differs(replacement: Replacement, page: Differences) -> str:
    signature = str(difference(replacement.own, replacement.peer))
    return " ".join(filter(None, [f"Parameters {signature}." if signature else "", *page.of(replacement.path)]))


def _shorter(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"

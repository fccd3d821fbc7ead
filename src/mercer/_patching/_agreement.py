"""Whether Mercer's object takes what scikit-learn's of the same name takes: else the name stays scikit-learn's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

# What signatures do not show. A test compares the values that parameters may have.
KEPT = {
    "sklearn.cluster.SpectralClustering": 'Mercer\'s has no eigen_solver="amg"',
    "sklearn.cluster.spectral_clustering": 'Mercer\'s has no eigen_solver="amg"',
    "sklearn.svm.LinearSVC": "Mercer's minimises another objective: its intercept has no penalty",
    "sklearn.svm.LinearSVR": "Mercer's minimises another objective: its intercept has no penalty",
}


class Difference(NamedTuple):
    """What a signature has and lacks, and which parameters have another default, kind or place."""

    new: frozenset[str]
    gone: frozenset[str]
    otherwise: frozenset[str]

    def __str__(self) -> str:
        words = {"new": self.new, "not taken": self.gone, "other default or place": self.otherwise}
        return "; ".join(f"{word}: {', '.join(sorted(names))}" for word, names in words.items() if names)


def difference(own: Callable[..., Any], peer: Callable[..., Any]) -> Difference:
    """How two signatures differ."""
    ours, theirs = _parameters(own), _parameters(peer)
    shared = [name for name in theirs if name in ours]
    otherwise = [name for name in shared if _differs(ours[name], theirs[name]) or _moved(name, ours, theirs)]
    return Difference(frozenset(ours) - frozenset(theirs), frozenset(theirs) - frozenset(ours), frozenset(otherwise))


def has_signature(of: Callable[..., Any]) -> bool:
    """Whether Python can tell the parameters; of some compiled classes it cannot."""
    try:
        return bool(inspect.signature(of))
    except ValueError:
        return False


def reason_to_keep(path: str, own: Callable[..., Any], peer: Callable[..., Any]) -> str | None:
    """Why a name stays scikit-learn's; None where Mercer's object takes its place."""
    if path in KEPT:
        return KEPT[path]
    if not own.__module__.startswith("mercer."):
        return "it is scikit-learn's in Mercer, too"
    if not has_signature(peer):
        return "what it takes cannot be read"
    found = difference(own, peer)
    if found.gone or found.otherwise:
        return f"Mercer's signature differs ({found._replace(new=frozenset())})"
    missing = [name for name in _methods(peer) if not hasattr(own, name)] if inspect.isclass(peer) else []
    return f"Mercer's lacks {', '.join(missing)}" if missing else None


def _parameters(of: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(of).parameters)


def _differs(ours: inspect.Parameter, theirs: inspect.Parameter) -> bool:
    return _named(ours.default) != _named(theirs.default) or ours.kind is not theirs.kind


def _named(default: Any) -> str:
    """A default in words; functions are each library's own."""
    return default.__name__ if inspect.isfunction(default) else repr(default)


def _moved(name: str, ours: dict[str, inspect.Parameter], theirs: dict[str, inspect.Parameter]) -> bool:
    """Whether an argument without its name would be another parameter."""
    is_keyword = theirs[name].kind is inspect.Parameter.KEYWORD_ONLY
    return not is_keyword and list(ours).index(name) != list(theirs).index(name)


def _methods(cls: type) -> list[str]:
    """The public methods of a class, but for requests of metadata, which follow from what `fit` and others take."""
    return [
        name
        for name in dir(cls)
        if not name.startswith("_") and not (name.startswith("set_") and name.endswith("_request"))
        if inspect.isroutine(getattr(cls, name, None))
    ]

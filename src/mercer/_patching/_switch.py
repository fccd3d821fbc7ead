"""The patch, on and off."""

from __future__ import annotations

import threading
from types import ModuleType, TracebackType

from mercer._params import InvalidParameterError
from mercer._patching import _callers
from mercer._patching._modules import patched_class
from mercer._patching._replacements import find_replacements

_lock = threading.RLock()
_holds: set[Patch] = set()  # every call that asks for the patch and has not ended
_changed: list[tuple[ModuleType, type[ModuleType]]] = []  # scikit-learn's modules, and their classes before


class Patch:
    """What `patch_sklearn` returns: as a context manager it ends with its block what the call began."""

    def __init__(self, packages: tuple[str, ...] = ()) -> None:
        self.packages = packages

    def __enter__(self) -> Patch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        with _lock:
            _holds.discard(self)
            _follow()

    def __repr__(self) -> str:
        return f"<scikit-learn's names are {'Mercer' if is_on() else 'scikit-learn'}'s; mercer.patched() lists them>"


def patch_sklearn(*packages: str) -> Patch:
    """Let scikit-learn's public names stand for Mercer's classes and functions where the two agree.

    From here on `from sklearn.linear_model import Ridge` and `sklearn.linear_model.Ridge` give Mercer's, in the whole process;
    what was imported before stays what it was, and so does what scikit-learn, Mercer and other installed packages use.
    `mercer.patched()` lists the names, what differs, and why some stay. `mercer run script.py` runs a program so.

    Parameters
    ----------
    *packages : str
        Names of installed packages that get Mercer's objects, too. Others keep scikit-learn's, since they may reach for the
        private parts of its classes.

    Returns
    -------
    Patch
        For `with mercer.patch_sklearn():`, at whose end the patch is off again, unless another call still asks for it.

    Notes
    -----
    Nothing is written into scikit-learn's modules: their look-up asks who is looking. Fitted models are Mercer's, by Mercer's
    module paths, and load wherever Mercer is installed, with the patch or without.

    Examples
    --------
    >>> import mercer
    >>> with mercer.patch_sklearn():
    ...     from sklearn.linear_model import Ridge
    >>> Ridge().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).certificate_.method
    'normal equations, Cholesky'
    >>> from sklearn.linear_model import Ridge
    >>> Ridge.__module__.partition(".")[0]
    'sklearn'
    """
    if wrong := [name for name in packages if not isinstance(name, str) or "." in name]:
        raise InvalidParameterError(f"packages={wrong[0]!r} is not valid; it must be the name of a package.")
    patch = Patch(packages)
    with _lock:
        if not _holds:
            _install()
        _holds.add(patch)
        _follow()
    return patch


def unpatch_sklearn() -> None:
    """Let all of scikit-learn's names stand for its own objects again, whoever asked for the patch."""
    with _lock:
        _holds.clear()
        _follow()


def is_on() -> bool:
    """Whether names are Mercer's now."""
    return bool(_holds)


def _install() -> None:
    try:
        for module in find_replacements():
            _changed.append((module, type(module)))
            module.__class__ = patched_class(type(module))
    except BaseException:
        _restore()
        raise


def _follow() -> None:
    """Bring about what the calls that have not ended ask for."""
    _callers.included = frozenset(name for hold in _holds for name in hold.packages)
    if not _holds:
        _restore()


def _restore() -> None:
    while _changed:
        module, cls = _changed.pop()
        module.__class__ = cls

"""The public names of a module: Mercer's own, imported when first used, and scikit-learn's of the same module, passed on.

A module says where its own names live and leaves the rest to `exports`:

    if TYPE_CHECKING:  # for type checkers and editors
        from sklearn.linear_model import *

        from mercer.linear_model._sparse.elastic_net import ElasticNet as ElasticNet, Lasso as Lasso

    __getattr__, __dir__ = exports(__name__, {"._sparse.elastic_net": ("ElasticNet", "Lasso")})

`from mercer.linear_model import Lasso` then imports the file of Lasso and no other model. A name that Mercer does not have is
looked up in scikit-learn's module of the same path, so that one word of an import exchanges the libraries. What is found there
is scikit-learn's own object, which knows nothing of Mercer's. A module without names of its own is one call of `exports`.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

# Where each module's own names live: {"mercer.linear_model": {"Lasso": "._sparse.elastic_net", ...}, ...}.
_homes: dict[str, Mapping[str, str]] = {}

_MISSING = object()

# Modules of scikit-learn that carry no underscore and yet are no part of its interface.
NOT_PASSED_ON = {
    "sklearn.conftest": "it sets up scikit-learn's own tests",
    "sklearn.datasets.data": "it holds files that scikit-learn's loaders read",
    "sklearn.datasets.descr": "it holds files that scikit-learn's loaders read",
    "sklearn.datasets.images": "it holds files that scikit-learn's loaders read",
    "sklearn.externals": "it holds scikit-learn's copies of other packages",
    "sklearn.tests": "it holds scikit-learn's own tests",
}


def exports(
    module: str, homes: Mapping[str, Sequence[str]] | None = None, *, peers: Sequence[str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module.

    `homes` has the names of Mercer's own under the module that defines them, relative to this one or in full. `peers` are the
    modules whose other names are passed on, in the order in which they are asked: that of the same path in scikit-learn where
    nothing is said.
    """
    own = {name: home for home, names in (homes or {}).items() for name in names}
    sources = (_peer_of(module),) if peers is None else tuple(peers)
    _homes[module] = own

    def get(name: str) -> Any:
        if name == "__all__":  # asked for by `from mercer.x import *` and help()
            return names()
        if name.startswith("__"):
            raise _no_attribute(module, name)
        if name in own:
            found = getattr(importlib.import_module(own[name], module), name)
        elif _has_submodule(module, name):
            return importlib.import_module(f"{module}.{name}")
        else:
            found = _passed_on(module, name, sources)
        vars(sys.modules[module])[name] = found  # the next look-up does not come here
        return found

    def names() -> list[str]:
        return sorted({*own, *_submodules(module), *(name for source in sources for name in _public_names(source))})

    return get, names


def own_names(module: ModuleType) -> list[str]:
    """The public names of a module without those that it passes on."""
    own = _homes.get(module.__name__)
    return sorted(module.__all__ if own is None else own)


def _peer_of(module: str) -> str:
    return "sklearn" + module.removeprefix("mercer")


def _passed_on(module: str, name: str, sources: Sequence[str]) -> Any:
    """What scikit-learn has under a name, or an error that says why it is not passed on."""
    if name.startswith("_"):
        raise _no_attribute(module, name, "private names of scikit-learn are not passed on")
    for source in sources:
        found = getattr(_imported(source), name, _MISSING)
        if isinstance(found, ModuleType):
            reason = NOT_PASSED_ON.get(found.__name__, f"{source} has a module of that name for its own use")
            raise _no_attribute(module, name, reason)
        if found is not _MISSING:
            return found
    raise _no_attribute(module, name, NOT_PASSED_ON.get(f"{_peer_of(module)}.{name}", ""))


def _imported(source: str) -> ModuleType:
    """A module of scikit-learn; an error that names the installed version where that has none of the name."""
    try:
        return importlib.import_module(source)
    except ModuleNotFoundError as error:
        if error.name != source:
            raise
        version = importlib.import_module("sklearn").__version__
        raise ImportError(f"{source} is passed on, but scikit-learn {version} does not have it.", name=source) from error


def _no_attribute(module: str, name: str, reason: str = "") -> AttributeError:
    message = f"module {module!r} has no attribute {name!r}" + (f": {reason}" if reason else "")
    return AttributeError(message, name=name, obj=sys.modules[module])


def _public_names(source: str) -> list[str]:
    """What a module of scikit-learn lists, or what it defines where it keeps no list; nothing if this version lacks it."""
    try:
        peer = _imported(source)
    except ImportError:
        return []
    listed = getattr(peer, "__all__", None)
    if listed is None:
        listed = [name for name, value in vars(peer).items() if getattr(value, "__module__", None) == source]
    return [name for name in listed if not name.startswith("_") and _gives(peer, name)]


def _gives(peer: ModuleType, name: str) -> bool:
    """Whether a module gives what it lists: scikit-learn lists what is experimental, and gives it when it has been enabled."""
    try:
        # A module of its own is not imported to see whether it is there.
        return name in vars(peer) or name in _submodules(peer.__name__) or hasattr(peer, name)
    except ImportError:
        return False


def _has_submodule(module: str, name: str) -> bool:
    is_package = hasattr(sys.modules[module], "__path__")
    return is_package and not name.startswith("_") and importlib.util.find_spec(f"{module}.{name}") is not None


def _submodules(module: str) -> list[str]:
    found = pkgutil.iter_modules(getattr(sys.modules[module], "__path__", ()))
    return [entry.name for entry in found if not entry.name.startswith("_")]

"""The names that scikit-learn and Mercer share, and what is given for each."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from mercer import _discovery
from mercer._exports import own_names
from mercer._lazy import lazy_property
from mercer._patching._agreement import reason_to_keep


class Replacement:
    """One public name of a module of scikit-learn: its own object, and Mercer's."""

    def __init__(self, peer_module: ModuleType, name: str, own_module: ModuleType) -> None:
        self.module, self.name = peer_module.__name__, name
        self.peer = vars(peer_module)[name]
        self._own_module = own_module

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def is_pickled_here(self) -> bool:
        """Whether pickle looks for scikit-learn's object under this name."""
        return bool(getattr(self.peer, "__module__", None) == self.module)

    @property
    def own_path(self) -> str:
        """Mercer's public path of the same name."""
        return f"{self._own_module.__name__}.{self.name}"

    @lazy_property
    def own(self) -> Any:
        """Mercer's object: its file is imported when it is first asked for."""
        return getattr(self._own_module, self.name)

    @lazy_property
    def reason(self) -> str | None:
        """Why the name stays scikit-learn's, if it does."""
        return reason_to_keep(self.path, self.own, self.peer)

    @property
    def given(self) -> Any:
        """What users' code is given for the name."""
        return self.own if self.reason is None else self.peer


# Where scikit-learn lists its classes and functions; Mercer has no such list of its own.
LISTED_IN = ("sklearn.utils", "sklearn.utils.discovery")

# By module of scikit-learn and name; filled by `find_replacements`.
REPLACEMENTS: dict[tuple[str, str], Replacement] = {}


def find_replacements() -> list[ModuleType]:
    """Fills the table of names; gives scikit-learn's modules that have some."""
    lists = importlib.import_module("mercer._patching._lists")
    shared = [*_shared_modules(), *((importlib.import_module(name), lists) for name in LISTED_IN)]
    return [peer for peer, own in shared if _add(peer, own)]


def _shared_modules() -> Iterator[tuple[ModuleType, ModuleType]]:
    """scikit-learn's public modules with Mercer's of the same path."""
    for own_name in _discovery.public_module_names():
        peer_name = "sklearn" + own_name.removeprefix("mercer")
        if own_name.startswith("mercer.experimental") or not _is_there(peer_name):
            continue
        yield importlib.import_module(peer_name), importlib.import_module(own_name)


def _add(peer: ModuleType, own: ModuleType) -> bool:
    """Adds the names that two modules share; whether there are any."""
    shared = [name for name in own_names(own) if callable(vars(peer).get(name))]
    for name in shared:
        REPLACEMENTS.setdefault((peer.__name__, name), Replacement(peer, name, own))
    return bool(shared)


def _is_there(module: str) -> bool:
    """Whether the installed scikit-learn has a module; a package is asked for its parts once it is known to be one."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False

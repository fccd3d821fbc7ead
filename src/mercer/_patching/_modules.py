"""Modules that give Mercer's objects to users' code, and what they always gave to everybody else.

Nothing is written into a module of scikit-learn: its dictionary, which its own functions read, stays as it is. What changes is
the class of the module, so that a look-up from outside (`module.name`, `from module import name`) asks who is looking.
"""

from __future__ import annotations

import dis
import sys
from types import FrameType, ModuleType
from typing import Any

from mercer._patching._replacements import REPLACEMENTS

# Who is given scikit-learn's own: the two libraries, and what looks names up to find an object again or to list them.
NOT_USERS = frozenset({"sklearn", "mercer", "importlib", "inspect", "pickle", "joblib", "cloudpickle", "dill", "unittest"})

# Instructions of a look-up that stands in the code that is running; any other one calls something that looks up.
_WRITTEN = frozenset({"LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "IMPORT_STAR", "CALL_INTRINSIC_1"})


class PatchedModule(ModuleType):
    """A module of scikit-learn while the patch is on."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        replacement = REPLACEMENTS.get((super().__getattribute__("__name__"), name))
        if replacement is None or found is not replacement.peer:  # something else has been put there by hand
            return found
        asking = sys._getframe(1)
        if not _is_user(asking) or (replacement.is_pickled_here and not _is_written(asking)):
            return found
        return replacement.given


def patched_class(of: type[ModuleType]) -> type[ModuleType]:
    """The class of a module whose class is `of`; another package may have set one of its own."""
    return PatchedModule if of is ModuleType else type(PatchedModule.__name__, (PatchedModule, of), {})


def _is_user(frame: FrameType) -> bool:
    """Whether code is neither scikit-learn's nor Mercer's; scikit-learn's tests are users of it."""
    name = frame.f_globals.get("__name__")
    return not isinstance(name, str) or name.partition(".")[0] not in NOT_USERS or ".tests." in name


def _is_written(frame: FrameType) -> bool:
    """Whether the code itself says `module.name` or imports the name.

    Where pickle, which has no frame, looks for a class in the module that defines it, the instruction is a call.
    """
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] in _WRITTEN

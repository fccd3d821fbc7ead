"""Modules that give Mercer's objects to users' code, and what they always gave to everybody else.

Nothing is written into a module of scikit-learn: its dictionary, which its own functions read, stays as it is. What changes is
the class of the module, so that a look-up from outside (`module.name`, `from module import name`) asks who is looking.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from mercer._patching._callers import is_user, is_written
from mercer._patching._replacements import REPLACEMENTS


class PatchedModule(ModuleType):
    """A module of scikit-learn while the patch is on."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        replacement = REPLACEMENTS.get((super().__getattribute__("__name__"), name))
        if replacement is None or found is not replacement.peer:  # something else has been put there by hand
            return found
        asking = sys._getframe(1)
        if not is_user(asking) or (replacement.is_pickled_here and not is_written(asking)):
            return found
        return replacement.given


def patched_class(of: type[ModuleType]) -> type[ModuleType]:
    """The class of a module whose class is `of`; another package may have set one of its own."""
    return PatchedModule if of is ModuleType else type(PatchedModule.__name__, (PatchedModule, of), {})

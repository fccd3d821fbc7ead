"""Whose code it is that looks a name up."""

from __future__ import annotations

import dis
import functools
import os
import site
import sysconfig
from types import FrameType

# Installed packages that were asked to have Mercer's objects, too.
included: frozenset[str] = frozenset()

# Instructions of a look-up that stands in the code that is running; any other one calls something that looks up.
_WRITTEN = frozenset({"LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "IMPORT_STAR", "CALL_INTRINSIC_1"})


def is_user(frame: FrameType) -> bool:
    """Whether code is the user's: neither installed nor a part of Python, nor one of the two libraries.

    Installed packages may inherit from a class of scikit-learn and reach for its private parts; pickle, inspect and other parts
    of Python look for the object that they have already seen. scikit-learn's tests are users of it.
    """
    name = frame.f_globals.get("__name__")
    package = name.partition(".")[0] if isinstance(name, str) else ""
    if package in ("sklearn", "mercer"):
        return ".tests." in str(name)
    return package in included or not _is_installed(frame.f_code.co_filename)


def is_written(frame: FrameType) -> bool:
    """Whether the code itself says `module.name` or imports the name.

    Where pickle, which has no frame, looks for a class in the module that defines it, the instruction is a call.
    """
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] in _WRITTEN


@functools.cache
def _installed_folders() -> tuple[str, ...]:
    known = sysconfig.get_paths()
    folders = {known[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages()}
    return tuple(os.path.normcase(os.path.realpath(folder)) + os.sep for folder in folders)


@functools.cache
def _is_installed(file: str) -> bool:
    """Whether a file of code is of an installed package or of Python itself; cells and strings of code are in no file."""
    if file.startswith("<"):
        return file.startswith("<frozen ")
    return os.path.normcase(os.path.realpath(file)).startswith(_installed_folders())

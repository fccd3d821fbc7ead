"""`mercer run`: a program as Python runs it, with scikit-learn's names standing for Mercer's."""

from __future__ import annotations

import importlib.util
import io
import os
import runpy
import sys
import traceback
import zipfile
from types import ModuleType, TracebackType
from typing import Annotated, Any

import typer

from mercer._command.failures import clear_errors
from mercer._runs.errors import RunError

# What follows the program is the program's, whatever it looks like.
RUN_SETTINGS: dict[str, Any] = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_OURS = (__name__, "runpy")


def run_command(
    program: Annotated[
        list[str],
        typer.Argument(metavar="SCRIPT|-m MODULE [ARGS]...", help="As after `python`: a script, or a module."),
    ],
    also: Annotated[
        list[str], typer.Option(help="An installed package that gets Mercer's classes, too. Repeatable; before the program.")
    ] = [],  # noqa: B006
) -> None:
    """Run a Python program with scikit-learn's classes and functions replaced by Mercer's where they agree.

    `mercer.patched()` lists them. Arguments, output and exit code are those of the program.
    """
    with clear_errors(as_json=False):
        is_module, name, arguments = _named_program(program)
        path = _module_path(name) if is_module else _script_path(name)
        if wrong := [name for name in also if not name.isidentifier()]:
            raise RunError(f"--also {wrong[0]}: it must be the name of a package.")
    from mercer._patching import patch_sklearn

    patch_sklearn(*also, *([name.partition(".")[0]] if is_module else ()))
    sys.argv = [name, *arguments]
    _lead_sys_path(path)
    try:
        if is_module:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        elif _is_archive(name):
            runpy.run_path(name, run_name="__main__")
        else:
            _run_script(name)
    except SystemExit:
        raise
    except BaseException as error:
        raise SystemExit(_show(error)) from None


def _named_program(program: list[str]) -> tuple[bool, str, list[str]]:
    """Whether a module was named, its name or the path, and what follows."""
    first, rest = program[0], program[1:]
    if first.startswith("-m"):
        found = [first[2:], *rest] if len(first) > 2 else rest
        if not found:
            raise RunError("-m: the name of a module is missing.")
        return True, found[0], found[1:]
    if first.startswith("-"):
        raise RunError(f"{first} is no option of `mercer run`; options of Python go before: python {first} -m mercer run …")
    return False, first, rest


def _module_path(name: str) -> str:
    """The folder where Python looks for a module first: the one we are in. An error if there is no such module."""
    folder = os.getcwd()
    _lead_sys_path(folder)
    try:
        is_there = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        is_there = False
    if not is_there:
        raise RunError(f"there is no module named {name}.")
    return folder


def _script_path(name: str) -> str:
    """The folder of a script. An error if it cannot be run."""
    if not os.path.exists(name):
        raise RunError(f"{name}: there is no such file.")
    return name if _is_archive(name) else os.path.dirname(os.path.realpath(name))


def _is_archive(name: str) -> bool:
    return os.path.isdir(name) or zipfile.is_zipfile(name)


def _lead_sys_path(folder: str) -> None:
    """Imports look there first, as the program expects, and not where this command lies."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _run_script(path: str) -> None:
    """The script as `__main__`, which stays so: what it leaves to run at exit finds its names."""
    path = os.path.abspath(path)
    main = ModuleType("__main__")
    vars(main).update(__file__=path, __builtins__=__builtins__, __spec__=None)
    sys.modules["__main__"] = main
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, vars(main))


def _show(error: BaseException) -> int:
    """Show an error as Python does, without the frames that led to the program; the exit code."""
    shown: TracebackType | None = error.__traceback__
    while shown is not None and shown.tb_frame.f_globals.get("__name__") in _OURS:
        shown = shown.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(shown), shown)
    except Exception:
        traceback.print_exc()
    return 130 if isinstance(error, KeyboardInterrupt) else 1

"""The lower bounds that `pyproject.toml` declares, as exact requirements: what `make oldest` installs, one a line."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
EXTRAS = ("cli", "excel", "plots", "rl", "tune")
# Of the tools, those whose data frames and models the tests compare with.
COMPARED = ("pandas", "statsmodels")


def oldest_versions() -> dict[str, str]:
    """The least version of each package that users install, with any extra, and of those that tests compare with."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *(entry for extra in EXTRAS for entry in extras[extra])]
    declared += [entry for entry in extras["dev"] if entry.startswith(COMPARED)]
    bounds = (re.fullmatch(r"([\w-]+)>=([\d.]+)", entry) for entry in declared if not entry.startswith("mercer["))
    return {bound[1]: bound[2] for bound in bounds if bound is not None}


def oldest_python() -> str:
    """The least Python, such as "3.11"."""
    return str(tomllib.loads(PROJECT.read_text())["project"]["requires-python"]).removeprefix(">=")


def check() -> None:
    """Whether exactly these are what is installed here."""
    from importlib.metadata import version

    if sys.version_info[:2] != tuple(map(int, oldest_python().split("."))):
        sys.exit(f"this is Python {sys.version.split()[0]}, not {oldest_python()}")
    for name, bound in oldest_versions().items():
        if not re.fullmatch(rf"{re.escape(bound)}(\.0)*", version(name)):
            sys.exit(f"{name} {version(name)} is installed, not {bound}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        sys.stdout.write("\n".join(f"{name}=={bound}" for name, bound in oldest_versions().items()) + "\n")

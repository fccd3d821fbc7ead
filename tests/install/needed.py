"""What an extra of `pyproject.toml` asks for, with all that it leads to, one requirement a line: `needed.py dev`.

`make test` installs these while the kernels compile; the wheel, when it is there, finds them installed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def requirements(extra: str) -> list[str]:
    """The package's own requirements and those of the extra, in which other extras are resolved."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    found = dict.fromkeys(project["dependencies"])
    pending = [extra]
    while pending:
        for entry in project["optional-dependencies"][pending.pop()]:
            of_mercer = re.fullmatch(r"mercer\[(.+)\]", entry)
            if of_mercer:
                pending += of_mercer[1].split(",")
            else:
                found[entry] = None
    return list(found)


if __name__ == "__main__":
    sys.stdout.write("\n".join(requirements(sys.argv[1])) + "\n")

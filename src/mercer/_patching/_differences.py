"""What `docs/differences.md` says of a name of scikit-learn; the page is installed beside this file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_HERE = Path(__file__).parent
_PAGES = (_HERE / "differences.md", _HERE.parents[2] / "docs" / "differences.md")  # of a wheel, and of a source tree


class Differences:
    """The rows of tables under headings that name modules: by the names in their first cells, and those of whole modules."""

    def __init__(self, of_names: Mapping[str, Sequence[str]], of_modules: Mapping[str, Sequence[str]]) -> None:
        self._of_names, self._of_modules = of_names, of_modules

    @classmethod
    def read(cls) -> Differences:
        """The page; nothing where it is not installed."""
        page = next((path for path in _PAGES if path.exists()), None)
        return cls.parsed("" if page is None else page.read_text(encoding="utf-8"))

    @classmethod
    def parsed(cls, page: str) -> Differences:
        of_names: dict[str, list[str]] = {}
        of_modules: dict[str, list[str]] = {}
        modules: list[str] = []
        names: list[str] = []
        for line in page.splitlines():
            if line.startswith("## "):
                modules = re.findall(r"`(\w+)`", line)
            elif line.startswith("| ") and modules:
                first, difference, *_ = (cell.strip() for cell in line.strip("|").split("|"))
                names = names if first == "the same" else re.findall(r"`(\w+)[`(]", first)
                for name in names:
                    of_names.setdefault(name, []).append(difference)
                for module in modules if first == "all" else ():
                    of_modules.setdefault(module, []).append(difference)
        return cls(of_names, of_modules)

    def of(self, path: str) -> list[str]:
        """What the page says of "sklearn.linear_model.Ridge"."""
        module, _, name = path.removeprefix("sklearn.").rpartition(".")
        return [*self._of_modules.get(module, ()), *self._of_names.get(name, ())]

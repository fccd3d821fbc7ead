"""What `docs/differences.md` says of a name of scikit-learn; the page is installed beside this file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_HERE = Path(__file__).parent
_PAGES = (_HERE / "differences.md", _HERE.parents[2] / "docs" / "differences.md")  # of a wheel, and of a source tree


class Differences:
    """The rows of the page's tables under a heading that names modules, by the names in their first cells."""

    def __init__(self, rows: Mapping[tuple[str, str], Sequence[str]]) -> None:
        self._rows = rows

    @classmethod
    def read(cls) -> Differences:
        page = next((path for path in _PAGES if path.exists()), None)
        return cls({} if page is None else _rows(page.read_text(encoding="utf-8")))

    def of(self, path: str) -> list[str]:
        """What the page says of "sklearn.linear_model.Ridge"; nothing where it has no row."""
        module, _, name = path.removeprefix("sklearn.").rpartition(".")
        family = module.partition(".")[0]
        return [*self._rows.get((family, "all"), ()), *self._rows.get((family, name), ())]


def _rows(page: str) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    families: list[str] = []
    names: list[str] = []
    for line in page.splitlines():
        if line.startswith("## "):
            families = re.findall(r"`(\w+)`", line)
        elif line.startswith("| ") and families:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells[0] != "the same":
                names = ["all"] if cells[0] == "all" else re.findall(r"`(\w+)[`(]", cells[0])
            for family in families:
                for name in names:
                    found.setdefault((family, name), []).append(cells[1])
    return found

"""Tables that results show: text with aligned columns, and the frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def aligned(rows: Sequence[tuple[str, ...]], left: tuple[int, ...] = ()) -> list[str]:
    """Lines with aligned columns, those in `left` to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if j in left else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def as_frame(owner: str, columns: Mapping[Any, Any], names: Sequence[str] | None = None) -> Any:
    """Columns as a pandas DataFrame, whose rows have names or are numbered."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"{owner}.to_frame needs pandas; install it, or read the fields themselves.") from error
    return pd.DataFrame(dict(columns), index=names)

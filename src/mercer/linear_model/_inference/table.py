"""Tables of coefficients: names of the rows, aligned text, and the frame. What the summaries of all models share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mercer._arrays import FloatArray


def aligned(rows: Sequence[tuple[str, ...]], left: tuple[int, ...]) -> list[str]:
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


def names_of_features(estimator: Any, n_features: int, given: Sequence[str] | None) -> list[str]:
    """The names given, those of the frame that was fitted, or x0, x1, and so on."""
    if given is None:
        return [str(name) for name in getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(n_features)])]
    if isinstance(given, str) or len(given) != n_features:
        raise ValueError(f"{type(estimator).__name__}: feature_names={given!r} is not valid; it must hold {n_features} names.")
    return [str(name) for name in given]


def coefficient_frame(owner: str, names: list[str], columns: Mapping[str, FloatArray], conf_int: FloatArray) -> Any:
    """The table of coefficients as a pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"{owner}.to_frame needs pandas; install it, or read the fields themselves.") from error
    return pd.DataFrame({**columns, "conf_low": conf_int[:, 0], "conf_high": conf_int[:, 1]}, index=names)

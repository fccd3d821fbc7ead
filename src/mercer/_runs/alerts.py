"""What a careful analyst would notice in a table before learning from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

_MUCH_MISSING = 0.5
_FEW_ROWS = 200
_RARE = 0.05
_NEARLY_ALL = 0.999
_SKEWED = 5.0


@dataclass(frozen=True)
class Alert:
    """One line for the user; `flag` is the option of the command that changes the matter."""

    level: str  # "warning" or "info"
    column: str | None
    message: str
    flag: str | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def find_alerts(X: pl.DataFrame, y: Any, classes: list[Any] | None) -> list[Alert]:
    """Looks at the training rows alone, as the test rows must not decide anything."""
    return [*_of_rows(X), *_of_target(y, classes), *of_missing(X), *_of_leaks(X, y, classes)]


def _of_rows(X: pl.DataFrame) -> list[Alert]:
    alerts = []
    if X.height < _FEW_ROWS:
        alerts.append(Alert("warning", None, f"{X.height} rows to learn from are few: expect wide intervals", None))
    if X.width > X.height:
        alerts.append(Alert("warning", None, f"more columns ({X.width}) than rows ({X.height}): models may fit noise", None))
    n_twice = X.height - X.n_unique() if X.width and not has_nested(X) else 0
    if n_twice > 0.01 * X.height:
        alerts.append(
            Alert(
                "warning", None, f"{n_twice} rows repeat others: the folds and the test may share them, and look too good", None
            )
        )
    return alerts


def has_nested(X: pl.DataFrame) -> bool:
    return any(kind.is_nested() or kind.is_object() for kind in X.dtypes)


def _of_target(y: Any, classes: list[Any] | None) -> list[Alert]:
    if classes is None:
        spread = np.std(y)
        skew = float(np.mean(((y - y.mean()) / spread) ** 3)) if spread > 0 else 0.0
        if abs(skew) > _SKEWED:
            return [
                Alert("warning", None, f"the target is far from symmetric (skewness {skew:.1f}): a few rows weigh most", None)
            ]
        return []
    labels, counts = np.unique(y, return_counts=True)
    at = int(np.argmin(counts))
    share = counts[at] / len(y)
    if share < _RARE / max(1, len(labels) / 2):
        message = f"class {str(labels[at])!r} has {counts[at]} of {len(y)} rows ({share:.1%}): accuracy alone says little"
        return [Alert("warning", None, message, "--metric")]
    return []


def of_missing(X: pl.DataFrame) -> list[Alert]:
    shares = {name: X[name].null_count() / X.height for name in X.columns}
    return [
        Alert("info", name, f"{share:.0%} of the values are missing", f"--drop {name}")
        for name, share in shares.items()
        if _MUCH_MISSING < share < 1
    ]


def _of_leaks(X: pl.DataFrame, y: Any, classes: list[Any] | None) -> list[Alert]:
    """Columns that alone tell nearly all of the target: often they were written down after it was known."""
    alerts = []
    for name in X.columns:
        share = _told_by(X[name], y, classes)
        if share > _NEARLY_ALL:
            message = f"this column alone tells {share:.1%} of the target: was it known before the target was?"
            alerts.append(Alert("warning", name, message, f"--drop {name}"))
    return alerts


def _told_by(column: pl.Series, y: Any, classes: list[Any] | None) -> float:
    """How well one column predicts: the share of rows in the largest class of each value, or the squared correlation."""
    n_distinct = column.n_unique() if not (column.dtype.is_nested() or column.dtype.is_object()) else column.len()
    if classes is None:
        if not column.dtype.is_numeric() or column.null_count() > 0 or n_distinct < 3:
            return 0.0
        values = column.to_numpy().astype(float)
        if not np.isfinite(values).all() or values.std() == 0 or y.std() == 0:
            return 0.0
        return float(np.corrcoef(values, y)[0, 1] ** 2)
    if n_distinct > max(2 * len(classes), 20) or n_distinct < 2:
        return 0.0
    codes = column.cast(_text(), strict=False).fill_null("").to_numpy()
    groups = np.unique(codes, return_inverse=True)[1]
    labels = np.unique(y, return_inverse=True)[1]
    table = np.zeros((groups.max() + 1, len(classes)))
    np.add.at(table, (groups, labels), 1)
    base = table.sum(axis=0).max()
    if base == len(y):
        return 0.0
    return float((table.max(axis=1).sum() - base) / (len(y) - base))


def _text() -> Any:
    import polars as pl

    return pl.String

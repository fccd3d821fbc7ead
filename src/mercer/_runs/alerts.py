"""What a careful analyst would notice in a table before learning from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._report.data.columns import Sample
from mercer._runs.leaks.alone import NEARLY_ALL, told_alone
from mercer._runs.leaks.target import Target
from mercer._tables import as_table

if TYPE_CHECKING:
    import polars as pl

_MUCH_MISSING = 0.5
_FEW_ROWS = 200
_RARE = 0.05
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
    if not X.width:
        return []
    table = as_table(X, "X")
    sample = Sample.of(table, table, (), 0)
    target = Target.of(np.asarray(y)[sample.train_rows], classes)
    alerts = []
    for feature in sample.features():
        share = told_alone(feature.train, target, is_words=feature.is_words)
        if share > NEARLY_ALL:
            message = f"this column alone tells {share:.1%} of the target: was it known before the target was?"
            alerts.append(Alert("warning", feature.name, message, f"--drop {feature.name}"))
    return alerts

"""Intervals around predicted numbers and sets of labels, calibrated by how wrong the model was on rows that it had not seen.

Conformal prediction with the folds of the search: each training row is scored by a fit to the other folds, and what is no
stranger than the k-th smallest of these n scores is let in, k = ceil(coverage (n + 1)). Where rows have weights, scores count
by them, and the new row as much as the mean. The model of the run has learnt from
all training rows, a little more than the fits behind the scores, and was chosen by them: what holds for a split holds here
about and not exactly, and the report says which coverage the test rows reached.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from mercer._labels import choose_codes
from mercer._runs.errors import RunError
from mercer._runs.folder import RunFolder, write_whole
from mercer._runs.settings import RunSettings, Settings

if TYPE_CHECKING:
    import polars as pl

FORMAT = 1
LOWER, UPPER, LABELS = "lower", "upper", "labels"  # the columns beside a prediction
Values = npt.NDArray[np.float64]


def check_coverage(settings: Settings, n_train: int) -> None:
    """Refuse a coverage that so few rows cannot calibrate: the interval would be the whole line."""
    coverage = settings.intervals
    if coverage is not None and _rank(coverage, n_train) > n_train:
        needed = math.ceil(coverage / (1 - coverage) - 1e-9)
        raise RunError(
            f"--intervals {coverage:g}: this takes {needed:,} training rows to calibrate by, and there are {n_train:,}."
        )


def _rank(coverage: float, n: int) -> int:
    """Which of n scores, from the smallest, bounds that of one more row with this probability."""
    return max(1, math.ceil(coverage * (n + 1) - 1e-9))


def _weighted_limit(coverage: float, scores: Values, weights: Values) -> float:
    """The least score up to which the scores weigh this share of all and one row more, of the mean weight."""
    counts = weights > 0
    scores, weights = scores[counts], weights[counts]
    order = np.argsort(scores, kind="stable")
    share = np.cumsum(weights[order]) / (weights.sum() + weights.mean())
    place = min(int(np.searchsorted(share, coverage - 1e-12)), len(scores) - 1)
    return float(scores[order[place]])


@dataclass(frozen=True)
class Calibration:
    """How far from a prediction the truth may lie: in units of the target, or 1 - P(label) for labels."""

    kind: Literal["interval", "labels"]
    coverage: float
    limit: float
    n_rows: int  # that calibrated

    @classmethod
    def of(
        cls, coverage: float, y: Any, held_out: Values, classes: list[Any] | None, weights: Values | None = None
    ) -> Calibration:
        """By predictions (numbers, or probabilities in the order of `classes`) of rows that the fits had not seen."""
        if classes is None:
            scores = np.abs(y - held_out)
        else:
            scores = 1 - held_out[np.arange(len(y)), np.searchsorted(np.asarray(classes), y)]
        kind: Literal["interval", "labels"] = "interval" if classes is None else "labels"
        if weights is not None:
            return cls(kind, coverage, _weighted_limit(coverage, scores, weights), int((weights > 0).sum()))
        rank = _rank(coverage, len(y))
        limit = float(np.partition(scores, rank - 1)[rank - 1])
        return cls(kind, coverage, limit, len(y))

    def ends(self, predicted: Values) -> tuple[Values, Values]:
        """The lower and the upper end of the interval of each row."""
        return predicted - self.limit, predicted + self.limit

    def is_in(self, probability: Values) -> npt.NDArray[np.bool_]:
        """Which labels are in the set of each row. The likeliest always is, as a set of none says nothing."""
        found = 1 - probability <= self.limit
        found[np.arange(len(found)), choose_codes(probability, probability.shape[1])] = True
        return found

    # ---- beside predictions

    def columns(self, classes: npt.NDArray[Any] | None) -> tuple[str, ...]:
        """The names of the columns that `beside` adds."""
        return (LOWER, UPPER) if classes is None else (LABELS,)

    def beside(self, table: pl.DataFrame, prediction: str, classes: npt.NDArray[Any] | None, *, as_text: bool) -> pl.DataFrame:
        """The table of predictions with further columns. `as_text`: lists of labels as JSON, for files that hold no lists."""
        if classes is None:
            lower, upper = self.ends(table[prediction].to_numpy())
            return table.with_columns(**{LOWER: lower, UPPER: upper})
        probability = table.select([f"probability_{label}" for label in classes.tolist()]).to_numpy().astype(np.float64)
        return table.with_columns(_label_lists(probability, self.is_in(probability), classes, as_text=as_text))

    # ---- in the folder of a run

    def write(self, path: Path) -> None:
        write_whole(path, json.dumps({"format": FORMAT, **asdict(self)}, indent=1, allow_nan=False) + "\n")

    @classmethod
    def of_run(cls, folder: RunFolder, settings: RunSettings) -> Calibration | None:
        """That of a finished run; None where none was asked for."""
        if not isinstance(settings, Settings) or settings.intervals is None:
            return None
        path = folder.intervals
        if not path.is_file():
            raise RunError(
                f"{folder.path}: the run has no intervals yet. `mercer train --resume {folder.path}` goes on with it."
            )
        try:
            stored = json.loads(path.read_text())
            if stored["format"] != FORMAT:
                raise RunError(f"{path}: format {stored['format']!r} is not known; this version knows {FORMAT}.")
            if stored["kind"] not in ("interval", "labels"):
                raise ValueError(f"kind {stored['kind']!r}")
            found = cls(stored["kind"], float(stored["coverage"]), float(stored["limit"]), int(stored["n_rows"]))
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"{path}: the file is damaged ({type(error).__name__}: {error}).") from error
        return found


def _label_lists(probability: Values, is_in: npt.NDArray[np.bool_], classes: npt.NDArray[Any], *, as_text: bool) -> pl.Series:
    """The labels of each row that are in its set, the likeliest first."""
    import polars as pl

    order = np.argsort(-probability, axis=1, kind="stable")
    is_kept = np.take_along_axis(is_in, order, axis=1)
    names = np.array([json.dumps(label, ensure_ascii=False) for label in classes.tolist()]) if as_text else classes
    rows = np.repeat(np.arange(len(order)), is_kept.sum(axis=1))
    long = pl.DataFrame({"row": rows, LABELS: names[order[is_kept]]})
    lists = long.group_by("row", maintain_order=True).agg(LABELS)
    return lists.select(pl.format("[{}]", pl.col(LABELS).list.join(", ")).alias(LABELS) if as_text else LABELS)[LABELS]

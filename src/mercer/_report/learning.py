"""The learning curve of a model, within a time, and what it says of over- and underfitting in words."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from mercer._fit_verdict import is_real_gap, verdict_by_skill
from mercer._report.baseline import constant_model
from mercer._report.content import Learning
from mercer._report.numbers import number, percent
from mercer._report.scoring import Scoring
from mercer._tables import IntArray, Table
from mercer._weighted import fit_weighted

_SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
_N_FOLDS = 5
_N_FOLDS_IN_TIME = 3  # the latest, as the others learn from few rows
_FEWEST_ROWS = 10
_SLACK = 1.2  # fits are rarely quicker than in proportion to their rows


@dataclass
class _Points:
    """Scores at the sizes that were reached."""

    n_train: list[int] = field(default_factory=list)
    train: list[list[float]] = field(default_factory=list)
    test: list[list[float]] = field(default_factory=list)


@dataclass(frozen=True)
class Learner:
    """How rows are divided and weighed where a model learns from some of them.

    `splits` are pairs of rows to fit and rows held out, in time the latest first; fewer rows in time are the latest ones.
    """

    splits: Sequence[tuple[IntArray, IntArray]]
    weights: Any = None
    is_in_time: bool = False

    def weights_of(self, rows: IntArray) -> Any:
        return None if self.weights is None else self.weights[rows]


def learning_curve(
    model: Any,
    table: Table,
    y: Any,
    strata: IntArray | None,
    scoring: Scoring,
    seed: int,
    deadline: float,
    learner: Learner | None = None,
) -> tuple[Learning | None, str | None]:
    """Scores on fitted and on held-out rows at up to five sizes and five folds, and a note where that was cut short.

    The folds and the order of rows within them depend on the seed alone: a shorter time gives fewer folds and sizes, not other
    ones. `strata` are the classes of the rows; without a `learner` folds are drawn at random.
    """
    y, points, note = np.asarray(y), _Points(), None
    try:
        learner = learner or Learner(list(_splits(table.n_rows, strata, seed)))
        folds = list(_folds(learner, strata, seed))
        sizes = np.unique([max(int(share * min(len(fit) for fit, _ in folds)), _FEWEST_ROWS) for share in _SHARES])
        note = _collect(points, model, table, y, folds, sizes.tolist(), scoring, deadline, learner)
    except Exception as error:  # a model that cannot be refitted on fewer rows still deserves its report
        note = f"Learning curve: a fit on fewer rows failed ({type(error).__name__}: {_one_line(error)})."
    if not points.n_train:
        return None, note or "Learning curve: the time did not allow a single fit."
    return _summary(points, scoring, _skill_floor(table.n_rows, y, strata is not None, scoring)), note


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:197] + "..."


def _splits(n_rows: int, strata: IntArray | None, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows to fit and rows held out, at random."""
    fewest = n_rows if strata is None else int(np.bincount(strata)[np.unique(strata)].min())
    n_folds = min(_N_FOLDS, fewest)
    if n_folds < 2:
        raise ValueError("a class has fewer than two rows" if strata is not None else "there are fewer than two rows")
    splitter = (KFold if strata is None else StratifiedKFold)(n_folds, shuffle=True, random_state=seed)
    yield from splitter.split(np.zeros(n_rows), strata)


def _folds(learner: Learner, strata: IntArray | None, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """The same with rows to fit in an order whose every beginning has about the classes of the whole, or is the latest."""
    for index, (fit, held) in enumerate(learner.splits[: _N_FOLDS_IN_TIME if learner.is_in_time else _N_FOLDS]):
        if learner.is_in_time:
            yield fit[::-1], held
            continue
        order = np.random.default_rng([seed, index]).permutation(fit)
        if strata is not None:
            order = order[_interleaved(strata[order])]
        yield order, held


def _interleaved(codes: IntArray) -> IntArray:
    """An order in which every beginning holds the classes in about their shares: the i-th of m rows comes at (i + 1/2) / m."""
    place = np.empty(len(codes))
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    return np.argsort(place, kind="stable")


def _collect(
    points: _Points,
    model: Any,
    table: Table,
    y: Any,
    folds: list[tuple[IntArray, IntArray]],
    sizes: list[int],
    scoring: Scoring,
    deadline: float,
    learner: Learner,
) -> str | None:
    """Fill `points`, smallest size first; the time of a fit tells how many folds of the next size there is time for."""
    per_row = 0.0
    for size in sizes:
        remaining = deadline - time.monotonic()
        n_folds = len(folds) if not per_row else min(len(folds), int(remaining / (_SLACK * per_row * size)))
        if remaining <= 0 or n_folds < 1:
            return f"Learning curve: the time allowed sizes up to {points.n_train[-1]} rows." if points.n_train else None
        start = time.monotonic()
        train, test = [], []
        for fit, held in folds[:n_folds]:
            rows = fit[: min(size, len(fit))]
            fitted = fit_weighted(clone(model), table.take(rows), y[rows], learner.weights_of(rows))
            train.append(scoring(fitted, table.take(rows), y[rows], learner.weights_of(rows)))
            test.append(scoring(fitted, table.take(held), y[held], learner.weights_of(held)))
            if time.monotonic() > deadline:
                break
        per_row = (time.monotonic() - start) / (len(test) * size)
        if np.isfinite([*train, *test]).all():  # a score may be undefined on few rows
            points.n_train.append(size)
            points.train.append(train)
            points.test.append(test)
    return None


def _skill_floor(n_rows: int, y: Any, is_classification: bool, scoring: Scoring) -> float | None:
    """The score of a model that knows only the target; None where the measure is not defined for it."""
    try:
        value = scoring(constant_model(y, is_classification=is_classification), np.zeros((n_rows, 1)), y)
    except Exception:  # a scorer of the user's own may need what a dummy has not
        return None
    return value if math.isfinite(value) else None


def _std(values: list[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _summary(points: _Points, scoring: Scoring, floor: float | None) -> Learning:
    learning = Learning(
        label=scoring.label,
        greater_is_better=not scoring.is_loss,
        n_train=points.n_train,
        n_folds=[len(scores) for scores in points.test],
        train_mean=[float(np.mean(scores)) for scores in points.train],
        train_std=[_std(scores) for scores in points.train],
        test_mean=[float(np.mean(scores)) for scores in points.test],
        test_std=[_std(scores) for scores in points.test],
        verdict="unknown",
        trend="unknown",
        reading="",
    )
    _read(learning, scoring, floor)
    return learning


def _read(learning: Learning, scoring: Scoring, floor: float | None) -> None:
    """Verdict (`verdict_by_skill`), trend and reading at the largest size.

    Rising or falling means that the last step changed the held-out score by more than its standard error; otherwise it is flat.
    """
    train, test = learning["train_mean"][-1], learning["test_mean"][-1]
    spread, n_folds = learning["test_std"][-1], learning["n_folds"][-1]
    gap = scoring.gain(train, test)
    way = None if floor is None else scoring.gain(scoring.best, floor)
    n_rows = f"With {learning['n_train'][-1]:,} rows fitted, "
    figures = f"{n_rows}{scoring.label} is {number(train)} on these and {number(test)} on rows held out"
    if len(learning["n_train"]) < 2:
        learning["reading"] = f"{figures}. One size is too little to go by for a reading: there was no time for more."
        return
    if spread is None or way is None or way <= 0:
        learning["reading"] = f"{figures}. There is too little to go by for a reading."
        return
    learning["verdict"] = verdict_by_skill(gap, spread, way, 1 - scoring.gain(scoring.best, train) / way, n_folds)
    share = f"a gap of {number(gap)}, {percent(gap / way)} of the way from the baseline to a perfect score"
    is_real = is_real_gap(gap, spread, n_folds)
    apart = f"{share}: real, but small" if is_real else "no farther apart than folds vary"
    poor = f"poor on both, with {share}" if is_real else "about as poor on both"
    sentences = {
        "overfitting": f"{share}, and more than folds vary. The model overfits: more rows, stronger regularisation or a "
        "simpler model may narrow it. Models that can learn rows by heart (forests, neighbours) always show such a gap; for "
        "them the held-out score alone counts",
        "underfitting": f"{poor}. The model underfits, or the columns tell no more: a more flexible model or "
        "new columns may help, more rows will not",
        "balanced": f"{apart}. Neither over- nor underfitting shows",
    }
    learning["reading"] = f"{figures}: {sentences[learning['verdict']]}."
    _read_trend(learning, scoring.gain(test, learning["test_mean"][-2]), spread / math.sqrt(n_folds))


def _read_trend(learning: Learning, step: float, error: float) -> None:
    """What the last step of the sizes says, with the standard error of the held-out score."""
    learning["trend"] = "flat" if abs(step) <= error else "rising" if step > 0 else "falling"
    size = f"{learning['n_train'][-2]:,} to {learning['n_train'][-1]:,} rows"
    learning["reading"] += {
        "rising": f" From {size} the held-out score still improved by {number(step)}: more rows are likely to help.",
        "falling": f" From {size} the held-out score became worse by {number(-step)}, more than its standard error: the "
        "rows may differ among themselves.",
        "flat": f" From {size} the held-out score changed by no more than its standard error: more rows of this kind are "
        "unlikely to help much.",
    }[learning["trend"]]

"""Cross-validation of logistic regression: the grid of penalties, the fits of each fold, their scores, and the best of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_expit, log_softmax

from mercer._arrays import FloatArray, check_weights
from mercer._labels import choose_codes
from mercer._lazy import lazy_property
from mercer._params import InvalidParameterError
from mercer._rows import take_rows
from mercer._trace import Status
from mercer.linear_model._logistic.data import LogisticData, check_solver
from mercer.linear_model._logistic.point import Point, Strength
from mercer.linear_model._logistic.run import Run
from mercer.metrics import get_measure, get_scorer


@dataclass(frozen=True)
class Grid:
    """The values to try, and how the user gave the ratios."""

    Cs: FloatArray
    ratios: list[float]
    has_ratios: bool

    @classmethod
    def of(cls, estimator: Any, params: SimpleNamespace) -> Grid:
        owner = type(estimator).__name__
        Cs = np.logspace(-4, 4, params.Cs) if isinstance(params.Cs, int) else _numbers(owner, "Cs", params.Cs)
        if not (Cs > 0).all():
            raise InvalidParameterError(f"{owner}: Cs={params.Cs!r} is not valid; each must be a number > 0 or infinity.")
        has_ratios = params.l1_ratios is not None and not isinstance(params.l1_ratios, str)
        ratios = _numbers(owner, "l1_ratios", params.l1_ratios) if has_ratios else np.zeros(1)
        if not ((ratios >= 0) & (ratios <= 1)).all():
            raise InvalidParameterError(f"{owner}: l1_ratios={params.l1_ratios!r} is not valid; each must be from 0 to 1.")
        if params.penalty in ("l1", "l2"):
            ratios = np.full(1, 1.0 if params.penalty == "l1" else 0.0)
        for C in Cs:
            for ratio in ratios:
                check_solver(estimator, params, Strength.of(C, ratio))
        return cls(Cs, [float(ratio) for ratio in ratios], has_ratios)


def _numbers(owner: str, name: str, given: Any) -> FloatArray:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != 1 or len(numbers) == 0 or np.isnan(numbers).any():
        raise InvalidParameterError(f"{owner}: {name}={given!r} is not valid; it must be a sequence of numbers, at least one.")
    return numbers


@dataclass
class Path:
    """The fits of one fold and one ratio: what is kept of each, in the order of Cs."""

    points: list[Point]
    n_iter: npt.NDArray[np.int32]
    runs: list[Run]
    scores: FloatArray

    @classmethod
    def empty(cls, n_cs: int) -> Path:
        nothing: list[Any] = [None] * n_cs
        return cls(nothing.copy(), np.zeros(n_cs, dtype=np.int32), nothing.copy(), np.zeros(n_cs))

    def add(self, c: int, run: Run, point: Point) -> None:
        self.points[c], self.n_iter[c], self.runs[c] = point, len(run.history), run

    def score(self, score: Callable[[Point], float]) -> None:
        self.scores[:] = [score(point) for point in self.points]


class Scorer:
    """Scores coefficients on some rows. Accuracy and log loss are read off the linear values; others get an estimator."""

    def __init__(self, scoring: Any, data: LogisticData, shell: Any, params: dict[str, Any]) -> None:
        self._scoring, self._data, self._shell, self._params = scoring, data, shell, params

    def on(self, test: npt.NDArray[Any]) -> Callable[[Point], float]:
        data, n_rows = self._data, self._data.X.shape[0]
        X = take_rows(data.X, test)
        rows = np.arange(n_rows)[test]
        params = {
            name: value[rows] if isinstance(value, np.ndarray) and len(value) == n_rows else value
            for name, value in ((name, _as_rows(value, n_rows)) for name, value in self._params.items())
        }
        codes, labels = data.codes[test], data.classes[data.codes[test]]
        if self._scoring in ("accuracy", "neg_log_loss") and params.keys() <= {"sample_weight"}:
            weights = check_weights(params.get("sample_weight"), len(codes), np.float64)
            by_row = _hits if self._scoring == "accuracy" else _log_probabilities
            return lambda point: float(np.average(by_row(X @ point.coef.T + point.intercept, codes), weights=weights))
        measure = get_measure(self._scoring) if isinstance(self._scoring, str) else None
        # A fold may lack a class, and must not be scored as if there were none.
        scorer = get_scorer(self._scoring) if measure is None else measure.of_classes(data.classes).scorer()

        def score(point: Point) -> float:
            self._shell.coef_, self._shell.intercept_ = point.coef, point.intercept
            return float(scorer(self._shell, X, labels, **params))

        return score


def _as_rows(value: Any, n_rows: int) -> Any:
    """Metadata with one value a row as an array; anything else as it is."""
    return np.asarray(value) if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_rows else value


def _hits(values: FloatArray, codes: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Whether each row is given its own class."""
    hits: npt.NDArray[np.bool_] = choose_codes(values, max(values.shape[1], 2)) == codes
    return hits


def _log_probabilities(values: FloatArray, codes: npt.NDArray[np.intp]) -> FloatArray:
    """Of each row's own class; bounded as scikit-learn's log loss bounds them."""
    if values.shape[1] == 1:
        own = log_expit(np.where(codes == 1, values[:, 0], -values[:, 0]))
    else:
        own = log_softmax(values, axis=1)[np.arange(len(codes)), codes]
    bounded: FloatArray = np.maximum(own, np.log(np.finfo(own.dtype).eps))
    return bounded


class Results:
    """All paths, and what follows from them."""

    def __init__(self, paths: list[list[Path]], grid: Grid, data: LogisticData, params: SimpleNamespace) -> None:
        self._paths, self._grid, self.data, self.params = paths, grid, data, params
        self.scores = np.array([[path.scores for path in fold] for fold in paths])  # folds, ratios, Cs
        self._n_iter = np.array([[path.n_iter for path in fold] for fold in paths])

    @lazy_property
    def _best(self) -> tuple[int, int]:
        """The number of the ratio and of C with the best mean score; the first C, then the first ratio, of several.

        Some measures have no value (NaN) where the test rows lack a class: the mean is then that of the other folds.
        """
        has_score = ~np.isnan(self.scores)
        total = np.where(has_score, self.scores, 0.0).sum(axis=0)
        mean = np.divide(total, has_score.sum(axis=0), out=np.full_like(total, -np.inf), where=has_score.any(axis=0))
        c, ratio = np.unravel_index(np.argmax(mean.T), mean.T.shape)
        return int(ratio), int(c)

    @property
    def best_pair(self) -> tuple[float, float]:
        ratio, c = self._best
        return float(self._grid.Cs[c]), self._grid.ratios[ratio]

    @property
    def best_mean(self) -> Point:
        ratio, c = self._best
        return _mean([fold[ratio].points[c] for fold in self._paths])

    @lazy_property
    def _best_of_folds(self) -> list[tuple[int, int]]:
        known = np.where(np.isnan(self.scores), -np.inf, self.scores)
        places = [np.unravel_index(np.argmax(scores.T), scores.T.shape) for scores in known]
        return [(int(ratio), int(c)) for c, ratio in places]

    @property
    def averaged(self) -> Point:
        return _mean([fold[ratio].points[c] for fold, (ratio, c) in zip(self._paths, self._best_of_folds, strict=True)])

    @property
    def worst_averaged(self) -> Run:
        runs = [fold[ratio].runs[c] for fold, (ratio, c) in zip(self._paths, self._best_of_folds, strict=True)]
        return max(runs, key=lambda run: float(run.solver.residual))

    @property
    def warning(self) -> str | None:
        """What to tell of the folds' fits, if some did not converge in time."""
        if np.isnan(self.scores).all():
            return (
                "no fold has a score, as their test rows lack classes that the measure needs: the first of Cs and l1_ratios is "
                "taken. Use folds with all classes (StratifiedKFold), or a measure such as 'neg_log_loss'."
            )
        runs = [run for fold in self._paths for path in fold for run in path.runs]
        late = [run for run in runs if run.status is Status.MAX_ITER]
        if not late:
            return None
        worst = max(float(run.solver.residual) for run in late)
        return (
            f"{len(late)} of the {len(runs)} fits on the folds stopped at max_iter={self.params.max_iter}, the farthest at "
            f"{worst:.3g}, not within {late[0].reachable_tol:.3g}. Increase max_iter, scale the columns of X (say by "
            "StandardScaler), or leave out the largest Cs."
        )

    def attributes(self, *, legacy: bool) -> dict[str, Any]:
        grid, has_ratios = self._grid, self._grid.has_ratios
        if self.params.refit:
            C, ratio = self.best_pair
        else:
            C = float(np.mean([grid.Cs[c] for _, c in self._best_of_folds]))
            ratio = float(np.mean([grid.ratios[r] for r, _ in self._best_of_folds]))
        coefs = np.array([[[self._line(point) for point in path.points] for path in fold] for fold in self._paths])
        shared = {"Cs_": grid.Cs, "l1_ratios_": np.array(grid.ratios) if has_ratios else np.array([None])}
        if not legacy:
            plain = {"C_": C, "l1_ratio_": ratio, "coefs_paths_": coefs, "scores_": self.scores, "n_iter_": self._n_iter}
            return {**shared, **plain}
        keys = self.data.classes[1:] if len(self.data.classes) == 2 else self.data.classes
        # Legacy order: folds, Cs, ratios; the ratios only where they were given.
        pick = slice(None) if has_ratios else 0
        scores = self.scores.swapaxes(1, 2)[:, :, pick]
        paths = coefs.swapaxes(1, 2)[:, :, pick]
        return {
            **shared,
            "C_": np.full(len(keys), C),
            "l1_ratio_": np.full(len(keys), ratio if has_ratios or not self.params.refit else None),
            "coefs_paths_": {key: np.ascontiguousarray(paths[..., k, :]) for k, key in enumerate(keys)},
            "scores_": {key: scores.copy() for key in keys},
            "n_iter_": self._n_iter.swapaxes(1, 2)[None, :, :, pick].copy(),
        }

    def _line(self, point: Point) -> FloatArray:
        return np.column_stack([point.coef, point.intercept]) if self.params.fit_intercept else point.coef


def _mean(points: list[Point]) -> Point:
    return Point(np.mean([point.coef for point in points], axis=0), np.mean([point.intercept for point in points], axis=0))

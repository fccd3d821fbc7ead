"""Scores of logistic regression of two classes on sets of columns: each set starts from what its neighbour has found.

Where the columns S have been fitted, the Hessian of S and any one column more, at the coefficients of S, takes one product of
the rows for all of these columns together. From there Newton's steps lead to the optimum of each set, to a tolerance far below
that of the estimator: its scores are those of a full fit.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.metrics import get_scorer

from mercer._arrays import FloatArray, check_labels
from mercer._jobs import run_jobs
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._solvers.linear_loss import Evaluation, make_linear_rows
from mercer._solvers.newton import LazyNewton
from mercer._solvers.softmax import LOGISTIC, SoftmaxLoss
from mercer._stand_in import stand_in
from mercer.feature_selection._by_fits import ByFits, are_moderate
from mercer.feature_selection._walks import Features, Mask
from mercer.linear_model import LogisticRegression

SOLVERS = ("auto", "lbfgs", "newton", "irls", "newton-cg", "newton-cholesky", "sag", "saga", "quasi-newton")
TOL = 1e-8  # of the gradient of the mean loss and of the relative gap
MOST_ITER = 100
MOST_FEATURES = 256  # of a set, whose Hessian is formed


class LogisticFold:
    """The rows of one fold, about the means of the training rows."""

    def __init__(self, X: FloatArray, codes: npt.NDArray[np.intp], split: Any, l2: float, *, has_intercept: bool) -> None:
        train, test = split
        X_train = np.asfortranarray(X[train], dtype=np.float64)
        centre = X_train.mean(axis=0) if has_intercept else np.zeros(X.shape[1])
        X_train -= centre
        self._X, self._test = X_train, np.asfortranarray(X[test] - centre, dtype=np.float64)
        self._l2, self._has_intercept = l2, has_intercept
        self._targets = codes[train].astype(np.float64)
        self._codes = (1 - codes[train]).astype(np.int32)  # the first class is the reference, which comes last
        self.known: dict[bytes, FloatArray] = {}  # sets that were fitted last: coefficients in the order of columns, intercept

    def changed(self, base: Mask, features: Features, n_threads: int) -> list[tuple[FloatArray, bool]]:
        """Linear values of the held-out rows after each single change, and whether the fit has converged."""
        inside = np.flatnonzero(base)
        point = self._point_of(base, inside, n_threads)
        around = _Around(self._X, inside, point, self._targets, self._l2, self._has_intercept, n_threads)
        leaving = [feature for feature in features if base[feature]]
        entering = np.array([feature for feature in features if not base[feature]], dtype=np.intp)
        around.look_at(entering)
        self.known, found = {}, {}
        buffer = np.empty((len(self._X), len(inside) + 1), order="F")
        buffer[:, :-1] = self._X[:, inside]
        for place, feature in enumerate(entering):
            buffer[:, -1] = self._X[:, feature]
            loss = self._loss(buffer, n_threads)
            start, at = around.with_entered(place)
            columns = np.append(inside, feature)
            found[feature] = self._solved(LazyNewton(loss, start, tol=TOL, at=at), columns, len(base))
        for feature in leaving:
            columns = inside[inside != feature]
            start, hessian = around.with_left(int(np.searchsorted(inside, feature)))
            loss = self._loss(np.asfortranarray(self._X[:, columns]), n_threads)
            at = replace(loss.evaluate(start), hessian=hessian)
            found[feature] = self._solved(LazyNewton(loss, start, tol=TOL, at=at), columns, len(base))
        return [found[feature] for feature in features]

    def _loss(self, columns: FloatArray, n_threads: int) -> SoftmaxLoss:
        rows = make_linear_rows(columns, is_shifted=False, n_threads=n_threads)
        return SoftmaxLoss(rows, self._codes, None, 1, self._l2, has_reference=True, has_intercept=self._has_intercept)

    def _point_of(self, base: Mask, inside: Features, n_threads: int) -> FloatArray:
        """The fit of a set: the last one of it, or a new one."""
        if (known := self.known.get(base.tobytes())) is not None:
            return known
        loss = self._loss(np.asfortranarray(self._X[:, inside]), n_threads)
        solver = _run(LazyNewton(loss, loss.start(), tol=TOL))
        return solver.point

    def _solved(self, solver: LazyNewton, columns: Features, n_features: int) -> tuple[FloatArray, bool]:
        point = _run(solver).point
        order = np.argsort(columns)
        support = np.zeros(n_features, dtype=bool)
        support[columns] = True
        self.known[support.tobytes()] = np.append(point[:-1][order], point[-1])
        return self._test[:, columns] @ point[:-1] + point[-1], solver.residual <= 100 * TOL


def _run(solver: LazyNewton) -> LazyNewton:
    for _ in range(MOST_ITER):
        if solver.is_done:
            break
        solver.step()
    return solver


class _Around:
    """The objective near the fit of a set: its derivatives in the columns of the set, and in single columns beside it."""

    def __init__(
        self,
        X: FloatArray,
        inside: Features,
        point: FloatArray,
        targets: FloatArray,
        l2: float,
        has_intercept: bool,
        n_threads: int,
    ) -> None:
        self._X, self._point, self._l2, self._has_intercept = X, point, l2, has_intercept
        own = X[:, inside]
        raw = own @ point[:-1] + point[-1]
        self._slopes, self._curvatures = np.empty(len(X)), np.empty(len(X))
        self._value = kernels.loss_of_values(LOGISTIC, targets, None, raw, self._slopes, self._curvatures, n_threads)
        self._value += l2 * float((point[:-1] ** 2).sum()) / 2
        self._weighted = np.column_stack([own, np.ones(len(X))]) * self._curvatures[:, None]
        self.gradient = np.append(self._slopes @ own + l2 * point[:-1], self._slopes.sum())
        self.hessian = np.column_stack([self._weighted.T @ own, self._weighted.sum(axis=0)])
        self.hessian.flat[: -1 : len(point) + 1] += l2
        if not has_intercept:
            self._take_intercept_out(self.gradient, self.hessian)

    @staticmethod
    def _take_intercept_out(gradient: FloatArray, hessian: FloatArray) -> None:
        gradient[-1] = hessian[-1] = hessian[:, -1] = 0
        hessian[-1, -1] = 1

    def look_at(self, features: Features) -> None:
        """Take the products of the columns beside the set: one pass for all of them."""
        beside = self._X[:, features]
        self._slopes_beside = self._slopes @ beside
        self._crossed = self._weighted.T @ beside
        self._own = np.einsum("i,ij,ij->j", self._curvatures, beside, beside) + self._l2

    def with_entered(self, place: int) -> tuple[FloatArray, Evaluation]:
        """The objective with one column more, whose coefficient is zero yet; it comes before the intercept."""
        s = len(self._point) - 1
        gradient, hessian = np.empty(s + 2), np.empty((s + 2, s + 2))
        kept = np.append(np.arange(s), s + 1)
        hessian[np.ix_(kept, kept)] = self.hessian
        hessian[s, kept] = hessian[kept, s] = self._crossed[:, place]
        hessian[s, s] = self._own[place]
        gradient[kept], gradient[s] = self.gradient, self._slopes_beside[place]
        if not self._has_intercept:
            self._take_intercept_out(gradient, hessian)
        curvature = np.array([[hessian[-1, -1]]])
        return np.insert(self._point, s, 0.0), Evaluation(self._value, gradient, hessian, curvature)

    def with_left(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Where the others go when one column leaves, as far as the Hessian tells, and their Hessian."""
        response = np.linalg.solve(self.hessian, np.eye(1, len(self.hessian), place)[0])
        start = self._point - self._point[place] / response[place] * response
        return np.delete(start, place), np.delete(np.delete(self.hessian, place, 0), place, 1)


class ByNewton:
    """Every fold goes from set to set by itself."""

    def __init__(self, plain: ByFits, classes: npt.NDArray[Any], codes: npt.NDArray[np.intp], scorer: Any) -> None:
        self._plain, self._classes, self._codes, self._scorer = plain, classes, codes, scorer
        estimator = plain.estimator
        options = {"l2": 1 / float(estimator.C), "has_intercept": estimator.fit_intercept}
        self._folds = [LogisticFold(plain.X, codes, split, **options) for split in plain.splits]

    @classmethod
    def of(cls, plain: ByFits, scoring: Any) -> ByNewton | None:
        """For two classes, dense rows and an l2 penalty; None otherwise."""
        estimator, X = plain.estimator, plain.X
        if type(estimator) is not LogisticRegression or not isinstance(X, np.ndarray) or plain.metadata:
            return None
        if not _is_ridge(estimator) or not (scoring is None or isinstance(scoring, str)) or not are_moderate(X):
            return None
        classes, codes = check_labels(plain.y)
        if len(classes) != 2 or any(len(np.unique(codes[train])) < 2 for train, _ in plain.splits):
            return None
        scorer = None if scoring in (None, "accuracy") else get_scorer(scoring)
        return cls(plain, classes, codes, scorer)

    def changed(self, base: Mask, features: Features) -> FloatArray:
        if int(base.sum()) >= MOST_FEATURES:
            return self._plain.changed(base, features)
        jobs = [partial(self._changed, place, base, features) for place in range(len(self._folds))]
        with run_jobs(jobs, self._plain.n_jobs, in_threads=True) as results:
            scores = np.column_stack(list(results))
        if (unsolved := np.isnan(scores).any(axis=1)).any():
            scores[unsolved] = self._plain.changed(base, features[unsolved])
        return scores

    def _changed(self, place: int, base: Mask, features: Features) -> FloatArray:
        """The scores of one fold; NaN where a fit has not converged."""
        test = self._plain.splits[place][1]
        found = self._folds[place].changed(base, features, effective_threads(None))
        return np.array([self._scored(values, test) if is_solved else np.nan for values, is_solved in found])

    def _scored(self, values: FloatArray, test: npt.NDArray[np.intp]) -> float:
        places = (values > 0).astype(np.intp)
        if self._scorer is None:
            return float((places == self._codes[test]).mean())
        probability = np.column_stack([expit(-values), expit(values)])
        model = stand_in(self._classes[places], classes=self._classes, probability=probability, decision=values)
        return float(self._scorer(model, self._plain.X[test], np.asarray(self._plain.y)[test]))


def _is_ridge(estimator: LogisticRegression) -> bool:
    """Whether the objective has a finite l2 penalty and nothing else that would have to be known."""
    return (
        estimator.penalty in ("deprecated", "l2")
        and not estimator.l1_ratio
        and not estimator.dual
        and estimator.class_weight is None
        and estimator.solver in SOLVERS
        and estimator.parametrization != "separate"
        and isinstance(estimator.C, (int, float, np.integer, np.floating))
        and 0 < estimator.C < np.inf
        and estimator.max_iter >= MOST_ITER
    )

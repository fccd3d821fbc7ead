"""What a user gives to logistic regression, checked: the penalty, the solver, rows with labels, and weights."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import Finite, FloatArray, check_class_weight, check_weights, check_X_labels
from mercer._linear import SPARSE
from mercer._parallel import effective_threads
from mercer._params import Infinity, InvalidParameterError, Mapped, Null, OneOf, Real
from mercer._rows import take_rows
from mercer.linear_model._logistic.fit import OWN_SOLVERS, PEER_SOLVERS, LogisticProblem
from mercer.linear_model._logistic.point import Point, Strength
from mercer.linear_model._logistic.separate import SeparateProblem

SOLVERS = OneOf(*PEER_SOLVERS, *OWN_SOLVERS)
CLASS_WEIGHT = OneOf("balanced") | Mapped() | Null()
PENALTY = OneOf("l1", "l2", "elasticnet", "deprecated") | Null()
STRENGTH = Real(above=0) | Infinity()
PARAMETRIZATION = OneOf("softmax", "reference", "separate")


def check_strength(estimator: Any, params: SimpleNamespace) -> Strength:
    """The penalty, from `C` and `l1_ratio` or from the older `penalty`; refuses what the solver cannot do."""
    if params.penalty == "elasticnet" and params.l1_ratio is None:
        owner = type(estimator).__name__
        raise InvalidParameterError(f"{owner}: l1_ratio=None is not valid with penalty='elasticnet'; it must be from 0 to 1.")
    C, ratio = params.C, params.l1_ratio or 0.0
    if params.penalty is None:
        C = np.inf
    elif params.penalty != "deprecated":
        ratio = {"l1": 1.0, "l2": 0.0, "elasticnet": ratio}[params.penalty]
    strength = Strength.of(C, ratio)
    check_solver(estimator, params, strength)
    return strength


def check_solver(estimator: Any, params: SimpleNamespace, strength: Strength) -> None:
    """Refuse combinations that have no meaning or no method."""
    owner, solver = type(estimator).__name__, params.solver
    if solver in ("newton", "irls", "quasi-newton", "gd") and strength.l1 > 0:
        raise InvalidParameterError(
            f"{owner}: solver={solver!r} needs a smooth penalty; with an l1 part it must be 'auto' or 'cd'."
        )
    if solver in ("cd", "liblinear") and strength.is_none:
        raise InvalidParameterError(f"{owner}: solver={solver!r} needs a penalty; without one (C=inf) it must be 'auto'.")
    if solver == "liblinear" and strength.l1 > 0 and strength.l2 > 0:
        raise InvalidParameterError(f"{owner}: solver='liblinear' has no elastic net; l1_ratio must be 0 or 1 with it.")
    if params.dual and not (solver == "liblinear" and strength.l1 == 0):
        raise InvalidParameterError(
            f"{owner}: dual=True is not valid; it must be False unless solver='liblinear' and the penalty is l2."
        )


class LogisticData:
    """Checked rows and labels, with weights of rows and classes in one; knows how 'liblinear' stands for an intercept."""

    def __init__(
        self,
        owner: Any,
        X: Any,
        classes: npt.NDArray[Any],
        codes: npt.NDArray[np.intp],
        weights: FloatArray | None,
        synthetic: float | None,
        dtype: npt.DTypeLike,
    ) -> None:
        self.owner, self.X, self.classes, self.codes, self.weights = owner, X, classes, codes, weights
        self.n_features, self._synthetic, self._dtype = X.shape[1], synthetic, dtype

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace) -> LogisticData:
        finite: Finite = "check" if sp.issparse(X) else "deferred"
        X, classes, codes = check_X_labels(estimator, X, y, sparse=SPARSE, finite=finite)
        weights = check_weights(sample_weight, X.shape[0], np.float64)
        _check_class_weights(estimator, params.class_weight)
        weights = check_class_weight(params.class_weight, classes, codes, weights, np.float64)
        if params.solver == "liblinear" and len(classes) > 2:
            raise ValueError(
                f"{type(estimator).__name__}: solver='liblinear' solves problems of two classes, and y has {len(classes)}; it "
                "must be another solver, or the estimator be wrapped in a OneVsRestClassifier."
            )
        is_synthetic = params.solver == "liblinear" and params.fit_intercept
        dtype = np.float64 if params.solver == "liblinear" else X.dtype  # as scikit-learn's 'liblinear' gives them
        return cls(estimator, X, classes, codes, weights, params.intercept_scaling if is_synthetic else None, dtype)

    def rows(self, index: npt.NDArray[Any]) -> LogisticData:
        """Some of the rows; all classes stay."""
        X, weights = take_rows(self.X, index), take_rows(self.weights, index)
        return LogisticData(self.owner, X, self.classes, self.codes[index], weights, self._synthetic, self._dtype)

    def problem(self, params: SimpleNamespace) -> LogisticProblem | SeparateProblem:
        X = self.X
        if self._synthetic is not None:
            column = np.full((X.shape[0], 1), self._synthetic, dtype=X.dtype)
            X = sp.hstack([X, column], format="csr") if sp.issparse(X) else np.hstack([X, column])
        given = (self.owner, X, self.codes, self.weights, len(self.classes))
        has_intercept, n_threads = params.fit_intercept and self._synthetic is None, effective_threads(params.n_jobs)
        if params.parametrization == "separate" and len(self.classes) > 2:
            return SeparateProblem(*given, has_intercept=has_intercept, n_threads=n_threads)
        is_reference = params.parametrization != "softmax"
        return LogisticProblem(*given, is_reference=is_reference, has_intercept=has_intercept, n_threads=n_threads)

    def start_of(self, point: Point) -> Point:
        """Where a problem starts for coefficients and intercepts of the user's X."""
        if self._synthetic is None:
            return point
        return Point(np.column_stack([point.coef, point.intercept / self._synthetic]), np.zeros(len(point.coef)))

    def user_point(self, point: Point) -> Point:
        """Coefficients and intercepts of X as the user gave it."""
        if self._synthetic is None:
            return point
        return Point(point.coef[:, :-1], point.coef[:, -1] * self._synthetic)

    def attributes(self, point: Point) -> dict[str, Any]:
        """The fitted attributes, in the type of X; of 'liblinear' in double precision."""
        point = self.user_point(point)
        coef = np.array(point.coef, dtype=self._dtype, order="C")
        return {"classes_": self.classes, "coef_": coef, "intercept_": np.array(point.intercept, dtype=self._dtype)}


def _check_class_weights(estimator: Any, class_weight: Any) -> None:
    if not isinstance(class_weight, Mapping):
        return
    for value in class_weight.values():
        is_weight = isinstance(value, (int, float, np.number)) and np.isfinite(value) and value >= 0
        if not is_weight:
            raise InvalidParameterError(
                f"{type(estimator).__name__}: class_weight={class_weight!r} is not valid; each weight must be a finite number "
                ">= 0."
            )

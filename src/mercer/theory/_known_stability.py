"""What theory says of the stability of a learner, where it says something."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array


@dataclass(frozen=True)
class KnownStability:
    """Upper bounds by theory; None where there is none.

    Attributes
    ----------
    uniform : float or None
        Of the change of the loss anywhere.
    pointwise : float or None
        Of its mean absolute change, in expectation over the rows.
    coefficients : float or None
        Of the norm of the change of the coefficients: 2 rho / (lambda m).
    note : str
        What they go by, or why there is none.
    """

    uniform: float | None
    pointwise: float | None
    coefficients: float | None
    note: str


def known_stability(estimator: Any, X: Any, y: Any, loss: str, mode: str) -> KnownStability:
    """Ridge with the squared loss and linear machines with the hinge loss, without intercepts; votes of k neighbours."""
    name, m = type(estimator).__name__, len(y)
    if name == "KNeighborsClassifier" and loss == "zero_one":
        n_changed = 1 if mode == "leave_out" else 2
        share = min(1.0, n_changed * estimator.n_neighbors / m)
        return KnownStability(None, share, None, "a row is among the k nearest of a share k/m of points; its loss moves by 1")
    if name == "Ridge" and loss == "squared":
        return _of_ridge(estimator, X, y, m)
    if name in ("LinearSVC", "SVC") and loss == "hinge":
        return _of_machine(estimator, X, m)
    return KnownStability(None, None, None, f"nothing is known here of {name} with the {loss} loss")


def _largest_norm(X: Any) -> float:
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.square(X).sum(axis=1)
    return math.sqrt(float(np.max(squares)))


def _of_ridge(estimator: Any, X: Any, y: Any, m: int) -> KnownStability:
    if estimator.fit_intercept:
        return KnownStability(
            None, None, None, "the intercept is not in the penalty; with fit_intercept=False there is a bound"
        )
    if np.ndim(estimator.alpha) or not estimator.alpha > 0:
        return KnownStability(None, None, None, "without a penalty there is no bound")
    b_x, b_y = _largest_norm(X), float(np.abs(y).max())
    strength = float(estimator.alpha) / m
    lipschitz = 2 * b_x * (b_y + b_x * b_y / math.sqrt(strength))
    return _regularised(lipschitz, strength, m, "2 rho^2/(lambda m), with norms of x and |y| no larger than on the rows")


def _of_machine(estimator: Any, X: Any, m: int) -> KnownStability:
    if type(estimator).__name__ == "SVC" or getattr(estimator, "loss", "hinge") != "hinge":
        return KnownStability(None, None, None, "for LinearSVC(loss='hinge', fit_intercept=False) there is a bound")
    if estimator.fit_intercept or estimator.penalty != "l2":
        return KnownStability(
            None, None, None, "the intercept is not in the penalty; with fit_intercept=False there is a bound"
        )
    return _regularised(_largest_norm(X), 1 / (2 * float(estimator.C) * m), m, "2 rho^2/(lambda m), lambda = 1/(2 C m)")


def _regularised(lipschitz: float, strength: float, m: int, note: str) -> KnownStability:
    change = 2 * lipschitz**2 / (strength * m)
    return KnownStability(change, change, 2 * lipschitz / (strength * m), note)

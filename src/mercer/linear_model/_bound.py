"""The penalty that corresponds to a bound on the coefficients of a linear regression."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq
from sklearn.utils import check_X_y

from mercer._arrays import FLOATS, FloatArray, check_weights, require_countable, tidy
from mercer._convex import solve_increasing
from mercer._linear import SPARSE
from mercer._parallel import effective_threads
from mercer._params import Bool, Instance, check_value
from mercer._rows import with_own_structure
from mercer._solvers.coordinate_descent import Penalty
from mercer.linear_model._least_squares.rows import Rows
from mercer.linear_model._ridge.direct import without_noise
from mercer.linear_model._ridge.ridge import make_rows
from mercer.linear_model._sparse.penalised import Problem, elastic_net_penalty, make_problem
from mercer.penalties import L1Ball, L2Ball

LOOSE = 1e-9  # of the least alpha that leaves all coefficients at zero: a bound that asks for less holds nothing back
TOL = 1e-12  # of each lasso on the way, and of the alpha that is found
MAX_ITER = 10_000


def strength_of_bound(
    X: Any, y: Any, bound: L1Ball | L2Ball, *, sample_weight: Any = None, fit_intercept: bool = True
) -> float:
    r"""The alpha for which a penalised regression has the coefficients that least squares has within a bound.

    Least squares over :math:`\|w\|_2 \le r` is `Ridge` with some alpha, and over :math:`\|w\|_1 \le r` it is `Lasso` with some
    alpha: the multiplier of the bound, in the units of these classes.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    bound : L1Ball or L2Ball
        An `L1Ball` asks for the alpha of `Lasso`, an `L2Ball` for that of `Ridge`.
    sample_weight : float or array-like of shape (n_samples,), default=None
    fit_intercept : bool, default=True
        Whether there is an intercept, which is not bounded.

    Returns
    -------
    alpha : float
        0 where least squares (the shortest coefficients of several) lies within the bound.

    Notes
    -----
    For `Ridge` the norm of the coefficients is a sum over the eigenvalues of the smaller products of X, and alpha the root of
    its secular equation: O(n d min(n, d)). For `Lasso` the norm falls piecewise linearly in alpha, and a bracketing secant
    method finds the root with some ten fits, each from the one before.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning", 2nd edition, Springer 2009, section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import Lasso, Ridge, strength_of_bound
    >>> from mercer.penalties import L1Ball, L2Ball
    >>> X, y = np.array([[1.0, 0], [0, 2], [1, 1], [3, 1]]), np.array([1.0, 3, 2, 4])
    >>> alpha = strength_of_bound(X, y, L2Ball(radius=1.0))
    >>> float(np.linalg.norm(Ridge(alpha).fit(X, y).coef_).round(6))
    1.0
    >>> alpha = strength_of_bound(X, y, L1Ball(radius=1.0))
    >>> float(np.abs(Lasso(alpha, tol=1e-12).fit(X, y).coef_).sum().round(6))
    1.0
    """
    owner = "strength_of_bound"
    bound = check_value(owner, "bound", bound, Instance(L1Ball) | Instance(L2Ball))
    fit_intercept = check_value(owner, "fit_intercept", fit_intercept, Bool())
    require_countable(strength_of_bound, X)
    X, y = check_X_y(with_own_structure(X), y, accept_sparse=SPARSE, dtype=FLOATS, y_numeric=True, estimator=owner)
    X, y = tidy(X), y.astype(X.dtype, copy=False)
    weights = check_weights(sample_weight, X.shape[0], X.dtype)
    if isinstance(bound, L2Ball):
        return _of_ridge(
            make_rows(strength_of_bound, X, y, weights, SimpleNamespace(fit_intercept=fit_intercept)), bound.radius
        )
    problem = make_problem(
        strength_of_bound,
        X.tocsc() if hasattr(X, "tocsc") else X,
        y,
        weights,
        is_centred=fit_intercept,
        precompute="auto",
        n_penalties=2,
        n_threads=effective_threads(None),
    )
    return _of_lasso(problem, bound.radius)


def _of_ridge(rows: Rows, radius: float) -> float:
    """The root of |w(alpha)| = radius, for |w(alpha)|^2 = sum_k c_k / (s_k + alpha)^2."""
    values, shares = _spectrum(rows)

    def surplus(alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """1 / |w| - 1 / radius, which is almost linear in alpha, and its slope."""
        sums = values + alpha[:, None]
        norm = np.sqrt((shares / sums**2).sum(axis=1))
        return 1 / norm - 1 / radius, (shares / sums**3).sum(axis=1) / norm**3

    start = np.zeros(1)
    if not shares.any() or surplus(start)[0] >= 0:
        return 0.0
    highest = np.array([np.sqrt(shares.sum()) / radius])
    return float(solve_increasing(surplus, start, highest, start)[0])


def _spectrum(rows: Rows) -> tuple[FloatArray, FloatArray]:
    """The eigenvalues s of A' A that are not rounding, and c = s (u' b)^2 for each left singular vector u."""
    if rows.n_rows < rows.n_features:
        products = rows.row_products()
        values, vectors = eigh(products.gram, check_finite=False)
        shares = values * (products.targets[0] @ vectors) ** 2
    else:
        gram, moments, _ = without_noise(rows.products(), rows.n_features)
        values, vectors = eigh(gram, check_finite=False)
        shares = (moments[0] @ vectors) ** 2
    is_data = values > np.finfo(np.float64).eps * len(values) * values.max(initial=0)
    return values[is_data], shares[is_data]


def _of_lasso(problem: Problem, radius: float) -> float:
    """The root of |w(alpha)|_1 = radius."""
    descent = problem.descent(slice(None), Penalty.ELASTIC_NET, None)
    highest = float(np.abs(descent.moments).max(initial=0)) / problem.weight

    def surplus(alpha: float) -> float:
        descent.begin(elastic_net_penalty(alpha, 1.0, problem.weight), TOL)
        descent.solve(MAX_ITER)
        return float(np.abs(descent.coef).sum()) - radius

    lowest = LOOSE * highest
    if highest == 0 or surplus(lowest) <= 0:
        return 0.0
    return float(brentq(surplus, lowest, highest, xtol=TOL * highest, rtol=TOL))

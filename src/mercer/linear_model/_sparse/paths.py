"""Regularisation paths: the coefficients of lasso and elastic net for many penalties, each started from the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length

from mercer._arrays import FLOATS, FloatArray, require_countable, tidy
from mercer._parallel import effective_threads
from mercer._params import ArrayLike, Bool, Integer, Null, OneOf, RandomState, Real, Rule, Verbosity, check_value
from mercer._random import as_random_state
from mercer._rows import with_own_structure
from mercer._solvers.coordinate_descent import Descent, Penalty
from mercer._trace import log
from mercer.linear_model._sparse.penalised import (
    Columns,
    Problem,
    alpha_grid,
    check_alphas,
    draw_seed,
    elastic_net_penalty,
    make_problem,
)

_N_ALPHAS = 100

RULES: dict[str, Rule] = {
    "l1_ratio": Real(least=0, most=1),
    "eps": Real(above=0),
    "n_alphas": OneOf("deprecated") | Integer(1),
    "alphas": Null() | Integer(1) | ArrayLike(),
    "precompute": OneOf("auto") | Bool() | ArrayLike(),
    "Xy": ArrayLike() | Null(),
    "copy_X": Bool(),
    "coef_init": ArrayLike() | Null(),
    "verbose": Verbosity(),
    "return_n_iter": Bool(),
    "positive": Bool(),
    "max_iter": Integer(1),
    "tol": Real(least=0),
    "random_state": RandomState(),
    "selection": OneOf("cyclic", "random"),
}


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: int | str = "deprecated",
    alphas: Any = None,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: bool | int = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    max_iter: int = 1000,
    tol: float = 1e-4,
    random_state: int | np.random.RandomState | None = None,
    selection: str = "cyclic",
) -> Any:
    r"""The path of the elastic net: its coefficients for many values of alpha, without an intercept.

    Minimises :math:`\frac{1}{2 n} \|y - X w\|^2 + \alpha \rho \|w\|_1 + \frac{\alpha (1 - \rho)}{2} \|w\|_2^2` for each alpha,
    with :math:`\rho` = `l1_ratio`. For several targets, :math:`\|w\|_1` is the sum of the norms of the features' coefficients.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Not centred here.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
    l1_ratio : float, default=0.5
        The share of the l1 penalty, from 0 (ridge; `alphas` must then be given) to 1 (lasso).
    eps : float, default=1e-3
        The ratio of the last alpha to the first, which is the least that leaves all coefficients at zero.
    n_alphas : int, default="deprecated"
        How many values where `alphas` is None: the older way to say it, which scikit-learn still takes.
    alphas : int, array-like or None, default=None
        How many values, or the values themselves; None means 100. They are taken from the largest to the smallest.
    precompute : "auto", bool or array-like of shape (n_features, n_features), default="auto"
        Dense X only. True makes the products X' X at once, "auto" and False leave it to the shape; or X' X itself.
    Xy : array-like of shape (n_features,) or (n_features, n_targets), default=None
        X' y, used where X' X is given too.
    copy_X : bool, default=True
        X is not changed, whatever this says.
    coef_init : array-like of shape (n_features,) or (n_targets, n_features), default=None
        Where to start; None starts at zero.
    verbose : bool or int, default=False
        Log each alpha to the logger `mercer`.
    return_n_iter : bool, default=False
        Whether to return the numbers of iterations.
    positive : bool, default=False
        Whether coefficients must not be negative; for one target only.
    check_input : bool, default=True
        For the peer, False skips the checks of X and y; here they are made either way, for memory's sake.
    max_iter : int, default=1000
        The most iterations for each alpha.
    tol : float, default=1e-4
        Stop when the duality gap is at most `tol` times the mean square of y, and a sweep moves no coefficient by more than
        `tol` times the largest.
    random_state : int, RandomState or None, default=None
        Draws the coordinates for `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Whether coefficients are moved in turn or drawn.

    Returns
    -------
    alphas : array of shape (n_alphas,)
    coefs : array of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
    dual_gaps : array of shape (n_alphas,)
    n_iters : list of int
        Only with `return_n_iter`.

    Notes
    -----
    The products of the columns ever used are kept along the path, and columns whose correlation with the residuals is known to
    stay below alpha are not read.

    References
    ----------
    J. Friedman, T. Hastie, R. Tibshirani, "Regularization paths for generalized linear models via coordinate descent",
    Journal of Statistical Software, 2010.

    Examples
    --------
    >>> from mercer.linear_model import enet_path
    >>> alphas, coefs, gaps = enet_path([[1.0, 0], [0, 1], [1, 1]], [1.0, 2, 3], alphas=[0.5, 0.1])
    >>> coefs.round(3)
    array([[0.714, 0.946],
           [1.286, 1.816]])
    """
    given = {name: value for name, value in locals().items() if name in RULES}
    checked = {name: check_value("enet_path", name, value, RULES[name]) for name, value in given.items()}
    X, y = _check_data(X, y)
    if y.ndim == 2 and positive:
        raise ValueError("enet_path: positive=True is not valid for several targets; pass y of shape (n_samples,).")
    alphas = _wanted_alphas(checked["alphas"], checked["n_alphas"])
    n_penalties = alphas if isinstance(alphas, int) else len(alphas)
    problem = make_problem(
        enet_path,
        X,
        y,
        None,
        is_centred=False,
        precompute=precompute,
        n_penalties=n_penalties,
        n_threads=effective_threads(None),
    )
    if Xy is not None and not isinstance(problem, Columns):
        problem.moments[:] = _check_moments(Xy, problem.moments.shape)
    descent = problem.descent(
        slice(None), penalty_kind(problem, positive=positive), draw_seed(selection, as_random_state(random_state))
    )
    grid = make_grid("enet_path", alphas, descent.moments, problem.weight, l1_ratio, eps, positive=positive)
    coefs = np.empty((len(grid), *descent.moments.shape), dtype=X.dtype)
    start = None if coef_init is None else _check_start(coef_init, descent.moments.shape)
    gaps, n_iters = run_path(descent, grid, l1_ratio, coefs, tol=tol, max_iter=max_iter, start=start, verbose=int(verbose))
    shaped = coefs[:, :, 0].T if y.ndim == 1 else coefs.transpose(2, 1, 0)
    shaped = np.asfortranarray(shaped) if y.ndim == 1 else np.ascontiguousarray(shaped)
    return (grid, shaped, gaps, n_iters) if return_n_iter else (grid, shaped, gaps)


def lasso_path(
    X: Any,
    y: Any,
    *,
    eps: float = 1e-3,
    n_alphas: int | str = "deprecated",
    alphas: Any = None,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: bool | int = False,
    return_n_iter: bool = False,
    positive: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-4,
    random_state: int | np.random.RandomState | None = None,
    selection: str = "cyclic",
) -> Any:
    r"""The path of the lasso: its coefficients for many values of alpha, without an intercept.

    Minimises :math:`\frac{1}{2 n} \|y - X w\|^2 + \alpha \|w\|_1` for each alpha. For several targets, :math:`\|w\|_1` is the
    sum of the norms of the features' coefficients. It is `enet_path` with `l1_ratio=1`; parameters, results, notes are there.

    Examples
    --------
    >>> from mercer.linear_model import lasso_path
    >>> alphas, coefs, gaps = lasso_path([[1.0, 0], [0, 1], [1, 1]], [1.0, 2, 3], alphas=[0.5, 0.1])
    >>> coefs.round(3)
    array([[0.5, 0.9],
           [1.5, 1.9]])
    """
    return enet_path(X, y, l1_ratio=1.0, **{name: value for name, value in locals().items() if name not in ("X", "y")})


def _wanted_alphas(alphas: Any, n_alphas: int | str) -> Any:
    """The values, or how many of them: `alphas` has the first say."""
    if alphas is not None:
        return alphas
    return _N_ALPHAS if n_alphas == "deprecated" else n_alphas


def penalty_kind(problem: Problem, *, positive: bool) -> Penalty:
    """The penalty for all targets of a problem together."""
    if len(problem.y_mean) > 1:
        return Penalty.GROUP
    return Penalty.POSITIVE if positive else Penalty.ELASTIC_NET


def make_grid(
    owner: str, alphas: Any, moments: FloatArray, weight: float, l1_ratio: float, eps: float, *, positive: bool
) -> FloatArray:
    """The values of alpha: given, or as many as asked for."""
    if not isinstance(alphas, int):
        return check_alphas(owner, alphas)
    if l1_ratio == 0:
        raise ValueError(
            f"{owner}: alphas={alphas} is not valid with l1_ratio=0: no alpha leaves all coefficients at zero. Automatic alpha "
            "grid generation is not supported for l1_ratio=0; give the values themselves."
        )
    return alpha_grid(moments, weight, l1_ratio, eps, alphas, positive=positive)


def run_path(
    descent: Descent,
    alphas: FloatArray,
    l1_ratio: float,
    coefs: FloatArray,
    *,
    tol: float,
    max_iter: int,
    start: FloatArray | None = None,
    verbose: int = 0,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> tuple[FloatArray, list[int]]:
    """Write the coefficients for each alpha, in their order; return duality gaps and numbers of iterations."""
    gaps, n_iters = np.zeros(len(alphas)), []
    for k, alpha in enumerate(alphas):
        if is_cancelled():
            break
        descent.begin(elastic_net_penalty(float(alpha), l1_ratio, descent.weight), tol, start if k == 0 else None)
        n_iters.append(descent.solve(max_iter))
        coefs[k] = descent.coef
        gaps[k] = descent.reached.gap / descent.weight
        log(verbose, "path: alpha %.6g (%d of %d), gap %.3g, %d iterations", alpha, k + 1, len(alphas), gaps[k], n_iters[-1])
    return gaps, n_iters


def _check_data(X: Any, y: Any) -> tuple[Any, FloatArray]:
    require_countable(enet_path, X)
    X = with_own_structure(X)
    X = check_array(
        X,
        accept_sparse="csc",
        dtype=FLOATS,
        estimator="enet_path",
        input_name="X",
        ensure_all_finite=sp.issparse(X),  # sums over dense X tell as well, and refuse it then
    )
    X = tidy(X)
    y = check_array(y, accept_sparse="csc", dtype=X.dtype.type, ensure_2d=False, estimator="enet_path", input_name="y")
    y = y.toarray() if sp.issparse(y) else y
    check_consistent_length(X, y)
    return X, np.ascontiguousarray(y)


def _check_moments(Xy: Any, shape: tuple[int, ...]) -> FloatArray:
    moments = check_array(Xy, dtype=np.float64, ensure_2d=False, input_name="Xy")
    moments = moments[:, None] if moments.ndim == 1 else moments
    if moments.shape != shape:
        raise ValueError(f"enet_path: Xy has shape {np.shape(Xy)}; it must be that of X' y, {shape}.")
    return np.asarray(moments)


def _check_start(coef_init: Any, shape: tuple[int, ...]) -> FloatArray:
    coef = np.atleast_2d(check_array(coef_init, dtype=np.float64, ensure_2d=False, input_name="coef_init")).T
    if coef.shape != shape:
        raise ValueError(f"enet_path: coef_init has shape {np.shape(coef_init)}; it must be {shape[::-1]}.")
    return np.ascontiguousarray(coef)

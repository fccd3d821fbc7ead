"""Lasso and elastic net with the penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn import get_config
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from mercer._arrays import Finite, FloatArray, check_weights, check_X_y
from mercer._base import FitTask, fit_method
from mercer._parallel import effective_threads
from mercer._params import (
    ArrayLike,
    Bool,
    Integer,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Splitter,
    Verbosity,
    check_params,
    check_value,
)
from mercer._random import as_random_state
from mercer.linear_model._sparse.elastic_net import METHOD, ElasticNetFit, SparseLinearRegressor, TargetDescents
from mercer.linear_model._sparse.folds import Data, Folds, Split, make_folds, path_errors
from mercer.linear_model._sparse.paths import enet_path, lasso_path, make_grid, penalty_kind
from mercer.linear_model._sparse.penalised import Problem, draw_seed
from mercer.linear_model._sparse.watched import Run, outcome_of


class SparsePathCV(SparseLinearRegressor):
    """A sparse linear regressor whose penalty is chosen by cross-validation along paths. Subclasses say which penalty."""

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Any:
        """Choose the penalty by cross-validation and find the coefficients on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or (n_samples, n_targets) for several tasks
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of rows in fits and in the error of each fold; the mean over folds is not weighted.
        **params : dict
            What the splitter takes, such as `groups`, where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
        """
        checked = check_params(self)
        finite: Finite = "check" if sp.issparse(X) else "deferred"
        X, y = check_X_y(self, X, y, sparse="csc", finite=finite, multi_output=True)
        y = self._check_targets(y)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        splits = self._splits(X, y, sample_weight, params)
        targets = y if y.ndim == 2 else y[:, None]
        data = Data(self, X, targets, weights, checked.fit_intercept, effective_threads(checked.n_jobs))
        precompute = getattr(checked, "precompute", False)
        folds = make_folds(data, splits, precompute)
        problem = folds.whole(precompute)
        chosen = self._choose(folds, problem, len(splits), checked, X.dtype)
        return self._refit(problem, SimpleNamespace(**{**vars(checked), **chosen}), X, y)

    def _splits(self, X: Any, y: FloatArray, sample_weight: Any, params: dict[str, Any]) -> list[Split]:
        if not get_config()["enable_metadata_routing"]:
            if params:
                raise ValueError(
                    f"{type(self).__name__}: fit got {sorted(params)}, which only metadata routing can pass to the splitter; "
                    "enable it with sklearn.set_config(enable_metadata_routing=True)."
                )
            routed: dict[str, Any] = {}
        else:
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params).splitter.split
        splitter = sklearn.model_selection.check_cv(self.cv)
        return [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(X, y, **routed)]

    def _choose(self, folds: Folds, problem: Problem, n_folds: int, params: SimpleNamespace, dtype: Any) -> dict[str, Any]:
        """The best alpha and l1_ratio; leaves the errors and the grids on the estimator."""
        owner, positive = type(self).__name__, getattr(params, "positive", False)
        l1_ratios = self._l1_ratios(params)
        random = as_random_state(params.random_state)
        kind = penalty_kind(problem, positive=positive)
        grids = [
            make_grid(owner, params.alphas, problem.moments, problem.weight, l1_ratio, params.eps, positive=positive)
            for l1_ratio in l1_ratios
        ]
        seeds = [draw_seed(params.selection, random) for _ in range(len(grids) * n_folds)]
        errors = path_errors(folds, n_folds, list(zip(l1_ratios, grids, strict=True)), kind, seeds, params)
        mean = errors.mean(axis=1)
        path, k = np.unravel_index(int(mean.argmin()), mean.shape)
        has_own_grids = isinstance(params.alphas, int) and len(grids) > 1
        self.mse_path_ = np.squeeze(np.moveaxis(errors, 2, 1)).astype(dtype)
        self.alphas_ = np.array(grids) if has_own_grids else grids[0]
        self.alpha_ = grids[path][k]
        if hasattr(params, "l1_ratio"):
            self.l1_ratio_ = np.float64(l1_ratios[path])
        return {"alpha": float(self.alpha_), "l1_ratio": l1_ratios[path]}

    def _l1_ratios(self, params: SimpleNamespace) -> list[float]:
        given: Any = getattr(params, "l1_ratio", 1.0)
        values = [given] if np.ndim(given) == 0 else list(given)
        return [check_value(type(self).__name__, "l1_ratio", value, Real(least=0, most=1)) for value in values]

    def _check_targets(self, y: FloatArray) -> FloatArray:
        if y.ndim == 2 and y.shape[1] > 1:
            owner = type(self).__name__
            raise ValueError(
                f"{owner}: y has {y.shape[1]} columns, and it must have one. For multi-task outputs, use MultiTask{owner}."
            )
        one: FloatArray = column_or_1d(y, warn=True)
        return one

    def _refit(self, problem: Problem, params: SimpleNamespace, X: Any, y: FloatArray) -> Any:
        """The fit on all rows with the penalty that was chosen."""
        task = FitTask.start(self, X, y, n_subtasks=params.max_iter)
        fit = ElasticNetFit(TargetDescents(problem, params), params, y)
        runs: list[Run] = [fit.run(0, None, task)]
        return self._finish(task, fit.attributes(runs), outcome_of(runs, METHOD, tol=params.tol, max_iter=params.max_iter))

    def get_metadata_routing(self) -> MetadataRouter:
        """How metadata are routed to the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        splitter = sklearn.model_selection.check_cv(self.cv)
        return MetadataRouter(owner=self).add_self_request(self).add(splitter=splitter, method_mapping=mapping)


class LassoCV(SparsePathCV):
    r"""Lasso with the penalty chosen by cross-validation.

    Fits the path of `Lasso` without each fold in turn, takes the alpha whose mean squared error over the folds is least, and
    minimises :math:`\frac{1}{2 W} \sum_i s_i (y_i - x_i w - c)^2 + \alpha \|w\|_1` with it on all rows.

    Parameters
    ----------
    eps : float, default=1e-3
        The ratio of the last alpha to the first, which is the least that leaves all coefficients at zero.
    alphas : int or array-like, default=100
        How many values of alpha to try, or the values themselves.
    fit_intercept : bool, default=True
        Whether to fit the intercept, which is not penalised.
    precompute : "auto", bool or array-like of shape (n_features, n_features), default="auto"
        Dense X only. True makes the products of all columns at once; "auto" and False leave it to the shape of X. A given
        matrix of products of all rows serves the last fit.
    max_iter : int, default=1000
        The most iterations for one alpha.
    tol : float, default=1e-4
        A fit stops when the duality gap is at most `tol` times the mean square of (centred) y and a sweep moves no coefficient
        by more than `tol` times the largest.
    copy_X : bool, default=True
        X is not changed, whatever this says.
    cv : int, splitter or iterable, default=None
        How to split the rows: the number of folds (None: five), a splitter of scikit-learn's kind, or pairs of index arrays.
    verbose : bool or int, default=False
        Log each fold, and each iteration of the last fit, to the logger `mercer`.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.
    positive : bool, default=False
        Whether coefficients must not be negative.
    random_state : int, RandomState or None, default=None
        Draws the coordinates for `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Whether coefficients are moved in turn or drawn.

    Attributes
    ----------
    alpha_ : float
        The penalty that was chosen.
    coef_ : array of shape (n_features,)
    intercept_ : float
    sparse_coef_ : sparse matrix of shape (n_targets, n_features)
    mse_path_ : array of shape (n_alphas, n_folds)
        The mean squared error of each fold along the path that was fitted without it.
    alphas_ : array of shape (n_alphas,)
        The grid of penalties.
    dual_gap_ : float
        The duality gap of the last fit, on all rows.
    n_iter_ : int
        The number of iterations of that fit.
    history_ : list of dict
        Its iterations: `objective`, `gap` and `n_active`.
    certificate_ : Certificate
        Its objective, dual value and duality gap.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Where X is tall with few features, one pass over X, in O(n d^2), serves all folds: their products are added up, and errors
    are quadratic forms. Otherwise each fold runs its path on a copy of its rows, as `lasso_path` does. Folds run side by side.

    Differences from scikit-learn: the paths have the tolerance of `tol` and so have their errors; alphas that tie are resolved
    alike, to the largest.

    References
    ----------
    J. Friedman, T. Hastie, R. Tibshirani, "Regularization paths for generalized linear models via coordinate descent",
    Journal of Statistical Software, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import LassoCV
    >>> X = np.random.RandomState(0).randn(60, 5)
    >>> model = LassoCV().fit(X, 3 * X[:, 0] - X[:, 1])
    >>> model.coef_.round(1) + 0.0
    array([ 3., -1.,  0.,  0.,  0.])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "eps": Real(above=0),
        "alphas": Integer(1) | ArrayLike(),
        "fit_intercept": Bool(),
        "precompute": OneOf("auto") | Bool() | ArrayLike(),
        "max_iter": Integer(1),
        "tol": Real(least=0),
        "copy_X": Bool(),
        "cv": Splitter(),
        "verbose": Verbosity(),
        "n_jobs": NumberOfJobs(),
        "positive": Bool(),
        "random_state": RandomState(),
        "selection": OneOf("cyclic", "random"),
    }

    path = staticmethod(lasso_path)

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class ElasticNetCV(SparsePathCV):
    r"""Elastic net with the penalty chosen by cross-validation.

    Fits the paths of `ElasticNet` without each fold in turn, takes the alpha and l1_ratio whose mean squared error over the
    folds is least, and minimises :math:`\frac{1}{2 W} \sum_i s_i (y_i - x_i w - c)^2 + \alpha \rho \|w\|_1 +
    \frac{\alpha (1 - \rho)}{2} \|w\|_2^2` with them on all rows, :math:`\rho` being the l1_ratio.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        The share of the l1 penalty; the best of several values is chosen.
    eps : float, default=1e-3
        The ratio of the last alpha to the first, which is the least that leaves all coefficients at zero.
    alphas : int or array-like, default=100
        How many values of alpha to try, or the values themselves.
    fit_intercept : bool, default=True
        Whether to fit the intercept, which is not penalised.
    precompute : "auto", bool or array-like of shape (n_features, n_features), default="auto"
        Dense X only. True makes the products of all columns at once; "auto" and False leave it to the shape of X. A given
        matrix of products of all rows serves the last fit.
    max_iter : int, default=1000
        The most iterations for one alpha.
    tol : float, default=1e-4
        A fit stops when the duality gap is at most `tol` times the mean square of (centred) y and a sweep moves no coefficient
        by more than `tol` times the largest.
    cv : int, splitter or iterable, default=None
        How to split the rows: the number of folds (None: five), a splitter of scikit-learn's kind, or pairs of index arrays.
    copy_X : bool, default=True
        X is not changed, whatever this says.
    verbose : bool or int, default=0
        Log each fold, and each iteration of the last fit, to the logger `mercer`.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.
    positive : bool, default=False
        Whether coefficients must not be negative.
    random_state : int, RandomState or None, default=None
        Draws the coordinates for `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Whether coefficients are moved in turn or drawn.

    Attributes
    ----------
    alpha_ : float
        The penalty that was chosen.
    l1_ratio_ : float
        The share that was chosen.
    coef_ : array of shape (n_features,)
    intercept_ : float
    sparse_coef_ : sparse matrix of shape (n_targets, n_features)
    mse_path_ : array of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
        The mean squared error of each fold along the path that was fitted without it.
    alphas_ : array of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        The grid of penalties.
    dual_gap_ : float
        The duality gap of the last fit, on all rows.
    n_iter_ : int
        The number of iterations of that fit.
    history_ : list of dict
        Its iterations: `objective`, `gap` and `n_active`.
    certificate_ : Certificate
        Its objective, dual value and duality gap.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Where X is tall with few features, one pass over X, in O(n d^2), serves all folds: their products are added up, and errors
    are quadratic forms. Otherwise each fold runs its path on a copy of its rows, as `enet_path` does. Folds run side by side.

    Differences from scikit-learn: the paths have the tolerance of `tol` and so have their errors; alphas that tie are resolved
    alike, to the largest.

    References
    ----------
    J. Friedman, T. Hastie, R. Tibshirani, "Regularization paths for generalized linear models via coordinate descent",
    Journal of Statistical Software, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import ElasticNetCV
    >>> X = np.random.RandomState(0).randn(60, 5)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 0.9]).fit(X, 3 * X[:, 0] - X[:, 1])
    >>> model.coef_.round(1) + 0.0
    array([ 3., -1.,  0.,  0.,  0.])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "l1_ratio": Real(least=0, most=1) | ArrayLike(),
        "eps": Real(above=0),
        "alphas": Integer(1) | ArrayLike(),
        "fit_intercept": Bool(),
        "precompute": OneOf("auto") | Bool() | ArrayLike(),
        "max_iter": Integer(1),
        "tol": Real(least=0),
        "cv": Splitter(),
        "copy_X": Bool(),
        "verbose": Verbosity(),
        "n_jobs": NumberOfJobs(),
        "positive": Bool(),
        "random_state": RandomState(),
        "selection": OneOf("cyclic", "random"),
    }

    path = staticmethod(enet_path)

    def __init__(
        self,
        *,
        l1_ratio: float | Sequence[float] = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

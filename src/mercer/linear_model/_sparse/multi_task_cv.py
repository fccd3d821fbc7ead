"""Multi-task lasso and elastic net with the penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._base import FitTask
from mercer._params import ArrayLike, Bool, Integer, NumberOfJobs, OneOf, RandomState, Real, Rule, Splitter, Verbosity
from mercer.linear_model._sparse.elastic_net import METHOD
from mercer.linear_model._sparse.elastic_net_cv import SparsePathCV
from mercer.linear_model._sparse.multi_task import (
    joint_descent,
    multi_task_attributes,
    require_several_targets,
    run_multi_task,
)
from mercer.linear_model._sparse.paths import enet_path, lasso_path
from mercer.linear_model._sparse.penalised import Problem
from mercer.linear_model._sparse.watched import outcome_of


class MultiTaskPathCV(SparsePathCV):
    """The same for several tasks."""

    def _check_targets(self, y: FloatArray) -> FloatArray:
        require_several_targets(self, y)
        return y

    def _refit(self, problem: Problem, params: SimpleNamespace, X: Any, y: FloatArray) -> Any:
        task = FitTask.start(self, X, y, n_subtasks=params.max_iter)
        run = run_multi_task(joint_descent(problem, params), problem, None, task, params, y)
        attributes = multi_task_attributes(run.coef, run.reached, problem, params, y)
        return self._finish(task, attributes, outcome_of([run], METHOD, tol=params.tol, max_iter=params.max_iter))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


class MultiTaskLassoCV(MultiTaskPathCV):
    r"""Multi-task lasso with the penalty chosen by cross-validation.

    Fits the path of `MultiTaskLasso` without each fold in turn, takes the alpha whose mean squared error over the folds is
    least, and minimises :math:`\frac{1}{2 V} \sum_i s_i \|y_i - x_i W - c\|^2 + \alpha \sum_j \|W_j\|` with it on all rows.

    Parameters
    ----------
    eps : float, default=1e-3
        The ratio of the last alpha to the first, which is the least that leaves all coefficients at zero.
    alphas : int or array-like, default=100
        How many values of alpha to try, or the values themselves.
    fit_intercept : bool, default=True
        Whether to fit the intercept, which is not penalised.
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
    random_state : int, RandomState or None, default=None
        Draws the coordinates for `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Whether coefficients are moved in turn or drawn.

    Attributes
    ----------
    alpha_ : float
        The penalty that was chosen.
    coef_ : array of shape (n_targets, n_features)
    intercept_ : array of shape (n_targets,)
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
    The methods are those of `LassoCV`, with the coefficients of a feature moved together. y must have two dimensions.

    References
    ----------
    G. Obozinski, B. Taskar, M. Jordan, "Joint covariate selection and joint subspace selection for multiple classification
    problems", Statistics and Computing, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import MultiTaskLassoCV
    >>> X = np.random.RandomState(0).randn(60, 4)
    >>> model = MultiTaskLassoCV().fit(X, np.column_stack([3 * X[:, 0], X[:, 0] - X[:, 1]]))
    >>> model.coef_.round(1) + 0.0
    array([[ 3.,  0.,  0.,  0.],
           [ 1., -1.,  0.,  0.]])
    """

    path = staticmethod(lasso_path)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "eps": Real(above=0),
        "alphas": Integer(1) | ArrayLike(),
        "fit_intercept": Bool(),
        "max_iter": Integer(1),
        "tol": Real(least=0),
        "copy_X": Bool(),
        "cv": Splitter(),
        "verbose": Verbosity(),
        "n_jobs": NumberOfJobs(),
        "random_state": RandomState(),
        "selection": OneOf("cyclic", "random"),
    }

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection


class MultiTaskElasticNetCV(MultiTaskPathCV):
    r"""Multi-task elastic net with the penalty chosen by cross-validation.

    Fits the paths of `MultiTaskElasticNet` without each fold in turn, takes the alpha and l1_ratio whose mean squared error
    over the folds is least, and minimises :math:`\frac{1}{2 V} \sum_i s_i \|y_i - x_i W - c\|^2 + \alpha \rho \sum_j \|W_j\| +
    \frac{\alpha (1 - \rho)}{2} \|W\|_F^2` with them on all rows, :math:`\rho` being the l1_ratio.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        The share of the penalty on norms; the best of several values is chosen.
    eps : float, default=1e-3
        The ratio of the last alpha to the first, which is the least that leaves all coefficients at zero.
    alphas : int or array-like, default=100
        How many values of alpha to try, or the values themselves.
    fit_intercept : bool, default=True
        Whether to fit the intercept, which is not penalised.
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
    coef_ : array of shape (n_targets, n_features)
    intercept_ : array of shape (n_targets,)
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
    The methods are those of `LassoCV`, with the coefficients of a feature moved together. y must have two dimensions.

    References
    ----------
    G. Obozinski, B. Taskar, M. Jordan, "Joint covariate selection and joint subspace selection for multiple classification
    problems", Statistics and Computing, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import MultiTaskElasticNetCV
    >>> X = np.random.RandomState(0).randn(60, 4)
    >>> model = MultiTaskElasticNetCV().fit(X, np.column_stack([3 * X[:, 0], X[:, 0] - X[:, 1]]))
    >>> model.coef_.round(1) + 0.0
    array([[ 3.,  0.,  0.,  0.],
           [ 1., -1.,  0.,  0.]])
    """

    path = staticmethod(enet_path)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "l1_ratio": Real(least=0, most=1) | ArrayLike(),
        "eps": Real(above=0),
        "alphas": Integer(1) | ArrayLike(),
        "fit_intercept": Bool(),
        "max_iter": Integer(1),
        "tol": Real(least=0),
        "cv": Splitter(),
        "copy_X": Bool(),
        "verbose": Verbosity(),
        "n_jobs": NumberOfJobs(),
        "random_state": RandomState(),
        "selection": OneOf("cyclic", "random"),
    }

    def __init__(
        self,
        *,
        l1_ratio: float | Sequence[float] = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection

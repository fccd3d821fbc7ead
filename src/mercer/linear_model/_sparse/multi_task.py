"""Least squares for several targets at once, with penalties that choose the same features for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from mercer._arrays import Finite, FloatArray, check_weights, check_X_y
from mercer._base import FitTask, fit_method
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, OneOf, RandomState, Real, Rule, check_params
from mercer._random import as_random_state
from mercer._solvers.coordinate_descent import Descent, Penalty, Reached
from mercer._tuning import Reals, Space
from mercer.linear_model._sparse.alpha_sweep import AlphaSweep
from mercer.linear_model._sparse.elastic_net import METHOD, SparseLinearRegressor
from mercer.linear_model._sparse.paths import enet_path
from mercer.linear_model._sparse.penalised import Problem, draw_seed, elastic_net_penalty, linear_attributes, make_problem
from mercer.linear_model._sparse.watched import Run, outcome_of, run_descent


class MultiTaskElasticNet(AlphaSweep, SparseLinearRegressor):
    r"""Least squares for several targets with a penalty on the norms of the features' coefficients.

    Minimises :math:`\frac{1}{2 V} \sum_i s_i \|y_i - x_i W - c\|^2 + \alpha \rho \sum_j \|W_j\| +
    \frac{\alpha (1 - \rho)}{2} \|W\|_F^2` over the coefficients :math:`W` (a line :math:`W_j` for each feature) and the
    intercepts :math:`c`, for weights :math:`s_i` of total :math:`V` and :math:`\rho` = `l1_ratio`. A feature is used for all
    targets or for none.

    Parameters
    ----------
    alpha : float, default=1.0
        The strength of the penalty.
    l1_ratio : float, default=0.5
        The share of the penalty on norms, from 0 (ridge) to 1.
    fit_intercept : bool, default=True
        Whether to fit the intercepts, which are not penalised.
    copy_X : bool, default=True
        X is not changed, whatever this says; what is copied are columns in use.
    max_iter : int, default=1000
        The most iterations: six sweeps over the features, or one working set.
    tol : float, default=1e-4
        A fit stops when the duality gap is at most `tol` times the mean squared norm of (centred) y and a sweep moves no
        coefficient by more than `tol` times the largest.
    warm_start : bool, default=False
        Start from the coefficients of the fit before.
    random_state : int, RandomState or None, default=None
        Draws the features for `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Whether features are taken in turn or drawn.

    Attributes
    ----------
    coef_ : array of shape (n_targets, n_features)
    intercept_ : array of shape (n_targets,)
    sparse_coef_ : sparse matrix of shape (n_targets, n_features)
    dual_gap_ : float
        The duality gap: no coefficients have an objective lower by more than that.
    eps_ : float
        `tol` times the sum of squares of (centred) y.
    n_iter_ : int
    history_ : list of dict
        For each iteration `objective`, `gap` and `n_active` (features in use).
    certificate_ : Certificate
        The objective, the dual value and the duality gap.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The methods are those of `ElasticNet`, with the coefficients of a feature moved together: O(d n_targets) for a feature that
    moves. y must have two dimensions.

    References
    ----------
    G. Obozinski, B. Taskar, M. Jordan, "Joint covariate selection and joint subspace selection for multiple classification
    problems", Statistics and Computing, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import MultiTaskElasticNet
    >>> X = np.array([[1.0, 1], [2, 1], [3, 2], [4, 2], [5, 3]])
    >>> model = MultiTaskElasticNet(alpha=0.1).fit(X, np.column_stack([X[:, 0], -2 * X[:, 0]]))
    >>> model.coef_.round(3)
    array([[ 0.913,  0.106],
           [-1.826, -0.212]])
    """

    path = staticmethod(enet_path)
    _search_space: ClassVar[Mapping[str, Space]] = {"alpha": Reals(1e-4, 1e1, log=True), "l1_ratio": Reals(0.05, 1.0)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "alpha": Real(least=0),
        "l1_ratio": Real(least=0, most=1),
        "fit_intercept": Bool(),
        "copy_X": Bool(),
        "max_iter": Integer(1),
        "tol": Real(least=0),
        "warm_start": Bool(),
        "random_state": RandomState(),
        "selection": OneOf("cyclic", "random"),
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows; only the ratios of weights matter.

        Returns
        -------
        self
        """
        params = check_params(self)
        X, y, weights = self._check_data(X, y, sample_weight)
        problem = self._problem(X, y, weights, params, n_penalties=1)
        start = self._start(params, (X.shape[1], y.shape[1]))
        return self._descend(self._descents(problem, params), params, X, y, start)

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, FloatArray, FloatArray | None]:
        finite: Finite = "check" if sp.issparse(X) else "deferred"
        X, y = check_X_y(self, X, y, sparse="csc", finite=finite, multi_output=True)
        require_several_targets(self, y)
        return X, y, check_weights(sample_weight, X.shape[0], X.dtype)

    def _problem(
        self, X: Any, y: FloatArray, weights: FloatArray | None, params: SimpleNamespace, *, n_penalties: int
    ) -> Problem:
        options: dict[str, Any] = {"precompute": False, "n_penalties": n_penalties, "n_threads": effective_threads(None)}
        return make_problem(self, X, y, weights, is_centred=params.fit_intercept, **options)

    def _descents(self, problem: Problem, params: SimpleNamespace) -> tuple[Problem, Descent]:
        return problem, joint_descent(problem, params)

    def _descend(
        self,
        descents: tuple[Problem, Descent],
        params: SimpleNamespace,
        X: Any,
        y: FloatArray,
        start: FloatArray | None,
    ) -> Self:
        problem, descent = descents
        task = FitTask.start(self, X, y, n_subtasks=params.max_iter)
        run = run_multi_task(descent, problem, start, task, params, y)
        attributes = multi_task_attributes(run.coef, run.reached, problem, params, y)
        attributes["eps_"] = params.tol * run.total * problem.weight
        return self._finish(task, attributes, outcome_of([run], METHOD, tol=params.tol, max_iter=params.max_iter))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


def require_several_targets(estimator: Any, y: FloatArray) -> None:
    if y.ndim == 1:
        owner = type(estimator).__name__
        raise ValueError(
            f"{owner}: y has one dimension, and it must have two, a column for each target. For mono-task outputs, use "
            f"{owner.removeprefix('MultiTask')}."
        )


def joint_descent(problem: Problem, params: SimpleNamespace) -> Descent:
    """A descent for all targets together."""
    return problem.descent(slice(None), Penalty.GROUP, draw_seed(params.selection, as_random_state(params.random_state)))


def run_multi_task(
    descent: Descent, problem: Problem, start: FloatArray | None, task: FitTask, params: SimpleNamespace, y: FloatArray
) -> Run:
    """One fit of all targets together."""
    return run_descent(
        descent,
        elastic_net_penalty(params.alpha, getattr(params, "l1_ratio", 1.0), problem.weight),
        start,
        task,
        tol=params.tol,
        max_iter=params.max_iter,
        verbose=getattr(params, "verbose", 0),
        fitted=lambda coef, reached: multi_task_attributes(coef, reached, problem, params, y),
    )


def multi_task_attributes(
    coef: FloatArray, reached: Reached, problem: Problem, params: SimpleNamespace, y: FloatArray
) -> dict[str, Any]:
    fitted = linear_attributes(coef, problem, y.dtype, fit_intercept=params.fit_intercept)
    return {**fitted, "dual_gap_": reached.gap}


class MultiTaskLasso(MultiTaskElasticNet):
    r"""Least squares for several targets with a penalty that chooses the same features for all.

    Minimises :math:`\frac{1}{2 V} \sum_i s_i \|y_i - x_i W - c\|^2 + \alpha \sum_j \|W_j\|` over the coefficients :math:`W` (a
    line :math:`W_j` for each feature) and the intercepts :math:`c`, for weights :math:`s_i` of total :math:`V`.

    Parameters
    ----------
    alpha : float, default=1.0
        The strength of the penalty.
    fit_intercept : bool, default=True
        Whether to fit the intercepts, which are not penalised.
    copy_X : bool, default=True
        X is not changed, whatever this says; what is copied are columns in use.
    max_iter : int, default=1000
        The most iterations: six sweeps over the features, or one working set.
    tol : float, default=1e-4
        A fit stops when the duality gap is at most `tol` times the mean squared norm of (centred) y and a sweep moves no
        coefficient by more than `tol` times the largest.
    warm_start : bool, default=False
        Start from the coefficients of the fit before.
    random_state : int, RandomState or None, default=None
        Draws the features for `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Whether features are taken in turn or drawn.

    Attributes
    ----------
    coef_ : array of shape (n_targets, n_features)
    intercept_ : array of shape (n_targets,)
    sparse_coef_ : sparse matrix of shape (n_targets, n_features)
    dual_gap_ : float
        The duality gap: no coefficients have an objective lower by more than that.
    eps_ : float
        `tol` times the sum of squares of (centred) y.
    n_iter_ : int
    history_ : list of dict
        For each iteration `objective`, `gap` and `n_active` (features in use).
    certificate_ : Certificate
        The objective, the dual value and the duality gap.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    It is `MultiTaskElasticNet` with `l1_ratio=1`, and the notes there hold.

    References
    ----------
    G. Obozinski, B. Taskar, M. Jordan, "Joint covariate selection and joint subspace selection for multiple classification
    problems", Statistics and Computing, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import MultiTaskLasso
    >>> X = np.array([[1.0, 1], [2, 1], [3, 2], [4, 2], [5, 3]])
    >>> model = MultiTaskLasso(alpha=0.1).fit(X, np.column_stack([X[:, 0], -2 * X[:, 0]]))
    >>> model.coef_.round(3)
    array([[ 0.978,  0.   ],
           [-1.955,  0.   ]])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        name: rule for name, rule in MultiTaskElasticNet._parameter_rules.items() if name != "l1_ratio"
    }

    _search_space: ClassVar[Mapping[str, Space]] = {"alpha": Reals(1e-4, 1e1, log=True)}

    l1_ratio = 1.0  # not a parameter here

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection

"""Least squares with l1 and l2 penalties."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from mercer._arrays import Finite, FloatArray, check_weights, check_X_y
from mercer._base import FitTask, fit_method
from mercer._linear import LinearRegressor
from mercer._parallel import effective_threads
from mercer._params import ArrayLike, Bool, Integer, OneOf, RandomState, Real, Rule, check_params
from mercer._random import as_random_state
from mercer._solvers.coordinate_descent import Descent, Penalty, Reached
from mercer._tuning import Reals, Space
from mercer.linear_model._inference.summary import NoSummary
from mercer.linear_model._sparse.alpha_sweep import AlphaSweep
from mercer.linear_model._sparse.paths import enet_path
from mercer.linear_model._sparse.penalised import Problem, draw_seed, elastic_net_penalty, linear_attributes, make_problem
from mercer.linear_model._sparse.watched import Run, outcome_of, run_descent

METHOD = "coordinate descent"


class SparseLinearRegressor(NoSummary, LinearRegressor):
    """A linear regressor many of whose coefficients are zero."""

    @property
    def sparse_coef_(self) -> Any:
        """`coef_` as a sparse matrix of shape (n_targets, n_features)."""
        return sp.csr_matrix(np.atleast_2d(self.coef_))

    def _start(self, params: SimpleNamespace, shape: tuple[int, int]) -> FloatArray | None:
        """The coefficients (features x targets) of the fit before, if they are asked for."""
        if not params.warm_start or not hasattr(self, "coef_"):
            return None
        coef = np.atleast_2d(self.coef_).T
        if coef.shape != shape:
            raise ValueError(
                f"{type(self).__name__}: warm_start=True, but the coefficients of the fit before have shape {coef.shape[::-1]} "
                f"and these data need {shape[::-1]}; fit with warm_start=False."
            )
        return coef.astype(np.float64)


class ElasticNet(AlphaSweep, SparseLinearRegressor):
    r"""Least squares with an l1 and an l2 penalty.

    Minimises :math:`\frac{1}{2 W} \sum_i s_i (y_i - x_i w - c)^2 + \alpha \rho \|w\|_1 + \frac{\alpha (1 - \rho)}{2} \|w\|_2^2`
    over the coefficients :math:`w` and the intercept :math:`c`, for weights :math:`s_i` of total :math:`W` and
    :math:`\rho` = `l1_ratio`. Several targets are fitted one by one.

    Parameters
    ----------
    alpha : float, default=1.0
        The strength of the penalty. 0 is least squares: it then stops when no single coefficient can gain more than the
        tolerance.
    l1_ratio : float, default=0.5
        The share of the l1 penalty, from 0 (ridge) to 1 (lasso).
    fit_intercept : bool, default=True
        Whether to fit the intercept, which is not penalised.
    precompute : bool or array-like of shape (n_features, n_features), default=False
        Dense X only. True makes the products of all columns at once; False leaves it to the shape of X. A given matrix of
        products, weighted as the rows are, saves making it; of centred columns or not, both will do.
    max_iter : int, default=1000
        The most iterations: six sweeps over the coefficients, or one working set.
    copy_X : bool, default=True
        X is not changed, whatever this says; what is copied are columns in use.
    tol : float, default=1e-4
        A fit stops when the duality gap is at most `tol` times the mean square of (centred) y and a sweep moves no coefficient
        by more than `tol` times the largest.
    warm_start : bool, default=False
        Start from the coefficients of the fit before.
    positive : bool, default=False
        Whether coefficients must not be negative.
    random_state : int, RandomState or None, default=None
        Draws the coordinates for `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Whether coefficients are moved in turn or drawn. Cycling can be accelerated, and is faster here.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    sparse_coef_ : sparse matrix of shape (n_targets, n_features)
    dual_gap_ : float or array of shape (n_targets,)
        The duality gap: no coefficients have an objective lower by more than that.
    n_iter_ : int or list of int
        The number of iterations, for each target if there are several.
    history_ : list of dict
        For each iteration `objective`, `gap` and `n_active` (coefficients that are not zero).
    certificate_ : Certificate
        The objective, the dual value and the duality gap; sums over the targets.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Tall X with few features is read once, in O(n d^2), for its centred products; a sweep then costs O(d) for every coefficient
    that moves. Otherwise the problem is solved on a working set of columns by their products, and an iteration reads X once, in
    O(n d), to certify the rest. Five sweeps are extrapolated to the next (Anderson). Everything is summed in double precision.
    Sparse X is neither copied (CSC) nor centred in memory.

    Differences from scikit-learn: X and y are checked with ``check_input=False`` too; iterations are larger and fewer;
    alpha = 0 does not warn.

    References
    ----------
    M. Massias, A. Gramfort, J. Salmon, "Celer: a fast solver for the lasso with dual extrapolation", ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import ElasticNet
    >>> X = np.array([[1.0, 1], [2, 1], [3, 2], [4, 2], [5, 3]])
    >>> model = ElasticNet(alpha=0.1).fit(X, [1.0, 2, 3, 4, 5])
    >>> model.coef_.round(3)
    array([0.951, 0.   ])
    >>> model.certificate_.converged
    True
    """

    _takes_parts = True
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "alpha": Real(least=0),
        "l1_ratio": Real(least=0, most=1),
        "fit_intercept": Bool(),
        "precompute": Bool() | ArrayLike(),
        "max_iter": Integer(1),
        "copy_X": Bool(),
        "tol": Real(least=0),
        "warm_start": Bool(),
        "positive": Bool(),
        "random_state": RandomState(),
        "selection": OneOf("cyclic", "random"),
    }

    _search_space: ClassVar[Mapping[str, Space]] = {"alpha": Reals(1e-4, 1e1, log=True), "l1_ratio": Reals(0.05, 1.0)}

    path = staticmethod(enet_path)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows; only the ratios of weights matter.
        check_input : bool, default=True
            For the peer, False skips the checks of X and y; here they are made either way, for memory's sake.

        Returns
        -------
        self
        """
        params = check_params(self)
        X, y, weights = self._check_data(X, y, sample_weight)
        problem = self._problem(X, y, weights, params, n_penalties=1)
        start = self._start(params, (X.shape[1], len(problem.y_mean)))
        return self._descend(self._descents(problem, params), params, X, y, start)

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, FloatArray, FloatArray | None]:
        finite: Finite = "check" if sp.issparse(X) else "deferred"
        X, y = check_X_y(self, X, y, sparse="csc", finite=finite, multi_output=True)
        return X, y, check_weights(sample_weight, X.shape[0], X.dtype)

    def _problem(
        self, X: Any, y: FloatArray, weights: FloatArray | None, params: SimpleNamespace, *, n_penalties: int
    ) -> Problem:
        return make_problem(
            self,
            X,
            y,
            weights,
            is_centred=params.fit_intercept,
            precompute=params.precompute,
            n_penalties=n_penalties,
            n_threads=effective_threads(None),
            l1=params.alpha * getattr(params, "l1_ratio", 1.0) if n_penalties == 1 else None,
        )

    def _descents(self, problem: Problem, params: SimpleNamespace) -> TargetDescents:
        return TargetDescents(problem, params)

    def _descend(
        self, descents: TargetDescents, params: SimpleNamespace, X: Any, y: FloatArray, start: FloatArray | None
    ) -> Self:
        n_targets = len(descents.problem.y_mean)
        task = FitTask.start(self, X, y, n_subtasks=params.max_iter * n_targets)
        fit = ElasticNetFit(descents, params, y)
        runs = [fit.run(target, None if start is None else start[:, [target]], task) for target in range(n_targets)]
        attributes = fit.attributes(runs)
        if n_targets > 1:
            attributes["n_iter_"] = [len(run.history) for run in runs]
        return self._finish(task, attributes, outcome_of(runs, METHOD, tol=params.tol, max_iter=params.max_iter))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class TargetDescents:
    """A descent for each target of one problem, made when it is first asked for: another penalty goes on where it ended."""

    def __init__(self, problem: Problem, params: SimpleNamespace) -> None:
        self.problem, self._params = problem, params
        self._random = as_random_state(params.random_state)
        self._made: dict[int, Descent] = {}

    def __getitem__(self, target: int) -> Descent:
        if target not in self._made:
            kind = Penalty.POSITIVE if self._params.positive else Penalty.ELASTIC_NET
            seed = draw_seed(self._params.selection, self._random)
            self._made[target] = self.problem.descent(slice(target, target + 1), kind, seed)
        return self._made[target]


class ElasticNetFit:
    """The fits of all targets of one problem."""

    def __init__(self, descents: TargetDescents, params: SimpleNamespace, y: FloatArray) -> None:
        self._descents, self._problem, self._params, self._y = descents, descents.problem, params, y
        self._done: list[Run] = []

    def run(self, target: int, start: FloatArray | None, task: FitTask) -> Run:
        params, problem = self._params, self._problem
        run = run_descent(
            self._descents[target],
            elastic_net_penalty(params.alpha, getattr(params, "l1_ratio", 1.0), problem.weight),
            start,
            task,
            tol=params.tol,
            max_iter=params.max_iter,
            verbose=getattr(params, "verbose", 0),
            fitted=self._attributes_so_far,
        )
        self._done.append(run)
        return run

    def _attributes_so_far(self, coef: FloatArray, reached: Reached) -> dict[str, Any]:
        """With zeros for the targets to come."""
        n_left = len(self._problem.y_mean) - len(self._done) - 1
        coefs = [*(run.coef for run in self._done), coef, *[np.zeros_like(coef)] * n_left]
        return self._attributes(coefs, [*(run.reached.gap for run in self._done), reached.gap, *[np.inf] * n_left])

    def attributes(self, runs: list[Run]) -> dict[str, Any]:
        return self._attributes([run.coef for run in runs], [run.reached.gap for run in runs])

    def _attributes(self, coefs: list[FloatArray], gaps: list[float]) -> dict[str, Any]:
        dtype, is_vector = self._y.dtype, self._y.ndim == 1
        fitted = linear_attributes(np.hstack(coefs), self._problem, dtype, fit_intercept=self._params.fit_intercept)
        if len(coefs) == 1:
            fitted["coef_"] = fitted["coef_"][0]
        if is_vector:
            fitted["intercept_"] = fitted["intercept_"][0] if self._params.fit_intercept else 0.0
        elif not self._params.fit_intercept:
            fitted["intercept_"] = 0.0
        return {**fitted, "dual_gap_": dtype.type(gaps[0]) if len(gaps) == 1 else np.array(gaps, dtype=dtype)}


class Lasso(ElasticNet):
    r"""Least squares with an l1 penalty, which sets coefficients to zero.

    Minimises :math:`\frac{1}{2 W} \sum_i s_i (y_i - x_i w - c)^2 + \alpha \|w\|_1` over the coefficients :math:`w` and the
    intercept :math:`c`, for weights :math:`s_i` of total :math:`W`. Several targets are fitted one by one.

    Parameters
    ----------
    alpha : float, default=1.0
        The strength of the penalty. 0 is least squares: it then stops when no single coefficient can gain more than the
        tolerance.
    fit_intercept : bool, default=True
        Whether to fit the intercept, which is not penalised.
    precompute : bool or array-like of shape (n_features, n_features), default=False
        Dense X only. True makes the products of all columns at once; False leaves it to the shape of X. A given matrix of
        products, weighted as the rows are, saves making it; of centred columns or not, both will do.
    copy_X : bool, default=True
        X is not changed, whatever this says; what is copied are columns in use.
    max_iter : int, default=1000
        The most iterations: six sweeps over the coefficients, or one working set.
    tol : float, default=1e-4
        A fit stops when the duality gap is at most `tol` times the mean square of (centred) y and a sweep moves no coefficient
        by more than `tol` times the largest.
    warm_start : bool, default=False
        Start from the coefficients of the fit before.
    positive : bool, default=False
        Whether coefficients must not be negative.
    random_state : int, RandomState or None, default=None
        Draws the coordinates for `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Whether coefficients are moved in turn or drawn. Cycling can be accelerated, and is faster here.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    sparse_coef_ : sparse matrix of shape (n_targets, n_features)
    dual_gap_ : float or array of shape (n_targets,)
        The duality gap: no coefficients have an objective lower by more than that.
    n_iter_ : int or list of int
        The number of iterations, for each target if there are several.
    history_ : list of dict
        For each iteration `objective`, `gap` and `n_active` (coefficients that are not zero).
    certificate_ : Certificate
        The objective, the dual value and the duality gap; sums over the targets.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    It is `ElasticNet` with `l1_ratio=1`, and the notes there hold.

    References
    ----------
    R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical Society B, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import Lasso
    >>> X = np.array([[1.0, 1], [2, 1], [3, 2], [4, 2], [5, 3]])
    >>> model = Lasso(alpha=0.1).fit(X, [1.0, 2, 3, 4, 5])
    >>> model.coef_.round(6)
    array([0.95, 0.  ])
    >>> model.certificate_.converged
    True
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        name: rule for name, rule in ElasticNet._parameter_rules.items() if name != "l1_ratio"
    }

    _search_space: ClassVar[Mapping[str, Space]] = {"alpha": Reals(1e-4, 1e1, log=True)}

    l1_ratio = 1.0  # not a parameter here

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

"""Least squares with an l_p penalty, 0 < p < 1."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from mercer._arrays import Finite, FloatArray, check_weights, check_X_y
from mercer._base import FitTask, fit_method
from mercer._parallel import effective_threads
from mercer._params import ArrayLike, Bool, Integer, OneOf, RandomState, Real, Rule, check_params
from mercer._random import as_random_state
from mercer._solvers.coordinate_descent import Penalty, Reached
from mercer._tuning import Reals, Space
from mercer.linear_model._sparse.elastic_net import SparseLinearRegressor
from mercer.linear_model._sparse.penalised import Problem, draw_seed, linear_attributes, make_problem
from mercer.linear_model._sparse.watched import Run, outcome_of, run_descent

METHOD = "coordinate descent to a minimum along every coordinate; the penalty is not convex, and the start decides which"
_ROUNDING = 1e-9  # of an objective: starts that reach the same minimum are equal, and the first is kept


class LpRegression(SparseLinearRegressor):
    r"""Least squares with the penalty :math:`|w|^p`, 0 < p < 1, which is sparser and less biased than the lasso.

    Minimises :math:`\frac{1}{2 W} \sum_i s_i (y_i - x_i w - c)^2 + \alpha \sum_j |w_j|^p` over the coefficients :math:`w` and
    the intercept :math:`c`, for weights :math:`s_i` of total :math:`W`, locally: the penalty is not convex, and the result
    depends on where the descent starts.

    Parameters
    ----------
    alpha : float, default=1.0
        The strength of the penalty.
    p : float, default=0.5
        The power, strictly between 0 and 1.
    fit_intercept : bool, default=True
        Whether to fit the intercept, which is not penalised.
    init : {"auto", "zeros", "lasso", "least_squares"} or array-like of shape (n_features,), default="auto"
        Where to start: at zero, at the lasso of the same `alpha`, at least squares, or at given coefficients. "auto" tries the
        three and keeps the lowest objective.
    max_iter : int, default=1000
        The most iterations from each start: six sweeps over the coefficients, or one working set.
    tol : float, default=1e-4
        A descent stops when the best moves of single coefficients would gain, in all, at most `tol` times the mean square of
        (centred) y, and a sweep moves no coefficient by more than `tol` times the largest.
    random_state : int, RandomState or None, default=None
        Draws the coordinates for `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Whether coefficients are moved in turn or drawn.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    sparse_coef_ : sparse matrix of shape (1, n_features)
    init_ : str
        The start that was kept: "zeros", "lasso", "least_squares" or "given".
    n_iter_ : int
        The number of iterations from that start.
    history_ : list of dict
        For each iteration `objective`, `gap` (what moves of single coefficients would gain) and `n_active`.
    certificate_ : Certificate
        The objective, and how far the point is from a minimum along every coordinate. It says nothing about other minima.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Every move sets a coefficient to its exact minimiser, the proximal map of :math:`|w|^p`, which jumps: coefficients are zero
    or at least :math:`(2 \alpha (1 - p) / h)^{1 / (2 - p)}` in size for a column of mean square :math:`h`. At the end no change
    of a single coefficient, however large, lowers the objective by more than the tolerance. Complexity as in `ElasticNet`.

    References
    ----------
    G. Marjanovic, V. Solo, "l_q sparsity penalized linear regression with cyclic descent", IEEE Transactions on Signal
    Processing, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import LpRegression
    >>> X = np.array([[1.0, 1], [2, 1], [3, 2], [4, 2], [5, 3]])
    >>> LpRegression(alpha=0.1).fit(X, [1.0, 2, 3, 4, 5]).coef_.round(3)
    array([0.975, 0.   ])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {"alpha": Reals(1e-4, 1e1, log=True), "p": Reals(0.2, 0.9)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "alpha": Real(least=0),
        "p": Real(above=0, below=1),
        "fit_intercept": Bool(),
        "init": OneOf("auto", "zeros", "lasso", "least_squares") | ArrayLike(),
        "max_iter": Integer(1),
        "tol": Real(least=0),
        "random_state": RandomState(),
        "selection": OneOf("cyclic", "random"),
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        p: float = 0.5,
        fit_intercept: bool = True,
        init: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.p = p
        self.fit_intercept = fit_intercept
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.selection = selection

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LpRegression:
        """Find coefficients that no change of a single one improves.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows; only the ratios of weights matter.

        Returns
        -------
        self
        """
        params = check_params(self)
        finite: Finite = "check" if sp.issparse(X) else "deferred"
        X, y = check_X_y(self, X, y, sparse="csc", finite=finite)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        n_threads = effective_threads(None)
        problem = make_problem(
            self, X, y, weights, is_centred=params.fit_intercept, precompute=False, n_penalties=1, n_threads=n_threads
        )
        starts = self._starts(problem, params, X.shape[1])
        task = FitTask.start(self, X, y, n_subtasks=len(starts))
        runs = {name: self._run(problem, start, params, task, y) for name, start in starts.items()}
        least = min(run.reached.primal for run in runs.values())
        name, best = next(item for item in runs.items() if item[1].reached.primal <= least + _ROUNDING * abs(least))
        attributes = {**_attributes(best.coef, problem, params, y), "init_": name}
        return self._finish(task, attributes, outcome_of([best], METHOD, tol=params.tol, max_iter=params.max_iter))

    def _starts(self, problem: Problem, params: SimpleNamespace, n_features: int) -> dict[str, FloatArray]:
        """The coefficients to start from, by name."""
        zeros = np.zeros((n_features, 1))
        if not isinstance(params.init, str):
            given = check_array(params.init, dtype=np.float64, ensure_2d=False, input_name="init")
            if given.shape != (n_features,):
                raise ValueError(f"LpRegression: init has shape {given.shape}; for this X it must be ({n_features},).")
            return {"given": given[:, None].copy()}
        alphas = {"zeros": None, "lasso": params.alpha, "least_squares": 0.0}
        return {
            name: zeros if alpha is None else _convex_start(problem, alpha, params)
            for name, alpha in alphas.items()
            if params.init in ("auto", name)
        }

    def _run(self, problem: Problem, start: FloatArray, params: SimpleNamespace, fit_task: FitTask, y: FloatArray) -> Run:
        task = fit_task.subtask("start", n_subtasks=params.max_iter)

        def fitted(coef: FloatArray, reached: Reached) -> dict[str, Any]:
            return {**_attributes(coef, problem, params, y), "init_": "unknown"}

        seed = draw_seed(params.selection, as_random_state(params.random_state))
        run = run_descent(
            problem.descent(slice(None), Penalty.LP, seed),
            (params.alpha * problem.weight, params.p),
            start,
            task,
            tol=params.tol,
            max_iter=params.max_iter,
            verbose=0,
            fitted=fitted,
        )
        task.end(lambda: fitted(run.coef, run.reached))
        return run


def _convex_start(problem: Problem, alpha: float, params: SimpleNamespace) -> FloatArray:
    """The lasso's coefficients, to a rough tolerance: any start will do."""
    descent = problem.descent(slice(None), Penalty.ELASTIC_NET, None)
    descent.begin((alpha * problem.weight, 0.0), max(params.tol, 1e-6))
    descent.solve(params.max_iter)
    return descent.coef.copy()


def _attributes(coef: FloatArray, problem: Problem, params: SimpleNamespace, y: FloatArray) -> dict[str, Any]:
    fitted = linear_attributes(coef, problem, y.dtype, fit_intercept=params.fit_intercept)
    return {"coef_": fitted["coef_"][0], "intercept_": fitted["intercept_"][0] if params.fit_intercept else 0.0}

"""Linear support vector regression."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray, check_weights, check_X_y
from mercer._base import fit_method
from mercer._linear import SPARSE, LinearRegressor
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, NumberOfJobs, OneOf, RandomState, Real, Rule, Verbosity, check_params
from mercer._random import as_random_state
from mercer._tuning import Reals, Space
from mercer.svm._linear_machine import LinearMachine, MachineData
from mercer.svm._linear_svm import Machine
from mercer.svm._lock_step import LockStep
from mercer.svm._machine_solvers import make_solver


class LinearSVR(LinearMachine, LinearRegressor):
    r"""Linear support vector regression, solved to a duality gap.

    Minimises

    .. math:: \tfrac12 \|w\|^2 + C \sum_i s_i \max(0, |y_i - x_i^\top w - b| - \epsilon)^p

    with p = 1 (`loss="epsilon_insensitive"`) or p = 2 (`loss="squared_epsilon_insensitive"`). The intercept b has no penalty.

    Parameters
    ----------
    epsilon : float, default=0.0
        Residuals up to this size cost nothing; in the units of y.
    tol : float, default=1e-4
        The fit stops when the duality gap is within `tol` times the objective; less than 1e-12 is taken as 1e-12.
    C : float, default=1.0
        The weight of the losses against the penalty.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss of a residual beyond epsilon.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1.0
        The intercept is this number times a coefficient that has the penalty of the others, if it is other than 1 or with
        `penalize_intercept=True`; else the intercept has no penalty to scale.
    dual : "auto" or bool, default="auto"
        True: dual coordinate descent, whose iterations cost no more than a look at X. False: methods with a matrix of columns
        by columns and few iterations, Newton's for the squared loss and interior points for the other. "auto": the latter up
        to 1000 columns. The solution is the same.
    verbose : int, default=0
        Log each iteration to the logger `mercer`.
    random_state : int, RandomState or None, default=None
        Draws the order in which dual coordinate descent visits rows; nothing else is random.
    max_iter : int, default=1000
        The most iterations.
    penalize_intercept : bool, default=False
        Whether the intercept has a penalty too, as in scikit-learn: the objective is then LIBLINEAR's.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : array of shape (1,), or 0.0 without an intercept
    n_iter_ : int
    history_ : list of dict
        For each iteration: `objective`, `gap` and what the method has beside.
    certificate_ : Certificate
        The objective, its dual value and the duality gap, relative to the objective, against `tol`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration costs O(n d^2) with Newton's method (4 to 12 iterations) and interior points (10 to 30), O(n d) or as many
    operations as X has entries with dual coordinate descent (tens to thousands). Dense X is read in place, whatever its memory
    order, but copied for dual coordinate descent.

    Differences from scikit-learn: the intercept has no penalty unless `penalize_intercept=True` or `intercept_scaling` is other
    than 1; `tol` is a relative duality gap; `loss="epsilon_insensitive"` goes with `dual=False`.

    References
    ----------
    C.-H. Ho and C.-J. Lin, "Large-scale linear support vector regression", JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.svm import LinearSVR
    >>> X = np.arange(6.0)[:, None]
    >>> model = LinearSVR(C=10, tol=1e-8).fit(X, [1, 3, 5, 7, 9, 100])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([2.]), array([1.]))
    >>> model.certificate_.converged
    True
    """

    _search_space: ClassVar[Mapping[str, Space]] = {"C": Reals(1e-4, 1e3, log=True)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "epsilon": Real(least=0),
        "tol": Real(least=0),
        "C": Real(above=0),
        "loss": OneOf("epsilon_insensitive", "squared_epsilon_insensitive"),
        "fit_intercept": Bool(),
        "intercept_scaling": Real(above=0),
        "dual": OneOf("auto") | Bool(),
        "verbose": Verbosity(),
        "random_state": RandomState(),
        "max_iter": Integer(1),
        "penalize_intercept": Bool(),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: str | bool = "auto",
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        max_iter: int = 1000,
        penalize_intercept: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.penalize_intercept = penalize_intercept
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVR:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C: a row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = self._check()
        self._solve(self._check_data(X, y, sample_weight, params), params)
        return self

    def _check(self) -> SimpleNamespace:
        params = check_params(self)
        return params

    def _check_data(self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace) -> MachineData:
        X, y = check_X_y(self, X, y, sparse=SPARSE, finite="check" if sp.issparse(X) else "deferred")
        weights = check_weights(sample_weight, X.shape[0], np.float64)
        machine = Machine.of(X, params, epsilon=params.epsilon, n_threads=effective_threads(params.n_jobs))
        return MachineData(machine, y, weights)

    def _lock_step(self, data: MachineData, params: SimpleNamespace, before: LockStep | None) -> LockStep:
        costs = np.full(data.X.shape[0], params.C) if data.weights is None else params.C * data.weights
        seed = int(as_random_state(params.random_state).randint(np.iinfo(np.int32).max))
        choice = {"penalty": "l2", "dual": params.dual, "tol": params.tol, "seed": seed}
        last = None if before is None else before.solvers[0]
        return LockStep([make_solver(data.machine, data.targets.astype(np.float64), costs, **choice, before=last)])

    def _attributes(self, data: MachineData, params: SimpleNamespace, coef: FloatArray, intercept: Any) -> dict[str, Any]:
        return {"coef_": coef[0], "intercept_": intercept}

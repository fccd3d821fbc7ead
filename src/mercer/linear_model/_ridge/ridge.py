"""Ridge regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import MultiOutputMixin

from mercer._arrays import Finite, FloatArray, check_weights, check_X_y
from mercer._base import FitTask, MercerEstimator, fit_method, run_solver
from mercer._candidates import Candidates
from mercer._linear import SPARSE, LinearRegressor
from mercer._parallel import effective_threads
from mercer._params import (
    ArrayLike,
    Bool,
    Integer,
    InvalidParameterError,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    check_params,
)
from mercer._parts.passes import is_parted
from mercer._trace import Outcome, Record, Status
from mercer._tuning import Reals, Space
from mercer.linear_model._inference.summary import NoSummary
from mercer.linear_model._least_squares.dense_rows import DenseRows
from mercer.linear_model._least_squares.parted_rows import PartedRows
from mercer.linear_model._least_squares.rows import Rows
from mercer.linear_model._least_squares.solvers import non_negative_least_squares
from mercer.linear_model._least_squares.sparse_rows import SparseRows
from mercer.linear_model._ridge.direct import by_active_set, solve_direct
from mercer.linear_model._ridge.fit import RidgeFit
from mercer.linear_model._ridge.iterative import ConjugateGradients, NonNegative
from mercer.linear_model._ridge.shared import SharedDecomposition

ITERATIVE = ("lsqr", "sparse_cg", "sag", "saga")
MOST_SPARSE_PRODUCTS = 1000  # rows or columns up to which sparse data are solved by their products
MOST_ACTIVE_SET = 2000  # columns up to which w >= 0 is solved on the Cholesky factor


Direct = Callable[[FloatArray], RidgeFit]


@dataclass
class RidgeData:
    """Checked rows and targets, and the fitted attributes that say what the targets mean."""

    X: Any
    Y: FloatArray
    weights: FloatArray | None
    labels: Any = None  # what Y codes, in classification
    facts: dict[str, Any] = field(default_factory=dict)
    _rows: Rows | None = None

    def rows(self, estimator: Any, params: SimpleNamespace) -> Rows:
        """As the solvers take them, made once."""
        if self._rows is None:
            self._rows = make_rows(estimator, self.X, self.Y, self.weights, params)
        return self._rows


class RidgeModel(NoSummary, MercerEstimator):
    """What ridge regression and the ridge classifier share: parameters, and the choice of a solver."""

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "alpha": Real(least=0) | ArrayLike(),
        "fit_intercept": Bool(),
        "copy_X": Bool(),
        "max_iter": Integer(1) | Null(),
        "tol": Real(least=0),
        "solver": OneOf("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"),
        "positive": Bool(),
        "random_state": RandomState(),
        "n_jobs": NumberOfJobs(),
    }
    _search_space: ClassVar[Mapping[str, Space]] = {"alpha": Reals(1e-3, 1e4, log=True)}

    def _check(self) -> SimpleNamespace:
        """The parameters, checked one by one and against each other."""
        params, owner = check_params(self), type(self).__name__
        if params.solver == "lbfgs" and not params.positive:
            raise ValueError(f"{owner}: solver='lbfgs' is for positive=True; leave solver='auto', or set positive=True.")
        if params.positive and params.solver not in ("auto", "lbfgs"):
            raise ValueError(f"{owner}: solver={params.solver!r} does not support positive=True; it must be 'auto' or 'lbfgs'.")
        return params

    def _check_data(self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace) -> RidgeData:
        """What a fit is given, checked; what it tells of the target besides is stored."""
        raise NotImplementedError

    def _fit_data(self, data: RidgeData, params: SimpleNamespace, solve: Direct | None = None) -> Self:
        """Solve for the targets and store what was found; `solve` is another way of direct fits (default: on their own)."""
        X, Y = data.X, data.Y
        alphas = _alphas(self, params.alpha, 1 if Y.ndim == 1 else Y.shape[1])
        rows = data.rows(self, params)
        self._store(data.facts)  # callbacks are given an estimator that predicts
        max_iter = params.max_iter or max(1000, 10 * X.shape[1])
        task = FitTask.start(self, X, Y if data.labels is None else data.labels, n_subtasks=max_iter)
        fit, outcome = self._solve(rows, alphas, params, max_iter, task, Y, solve)
        found = {"n_iter_": len(outcome.history) or 1, "solver_": fit.solver}
        attributes = self._fitted({**attributes_of(fit, Y, params.fit_intercept), **found})
        return self._finish(task, attributes, outcome, unset=("history_",))

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes: those of direct methods."""
        return ["alpha"] if self.solver in ("auto", "cholesky", "svd") and not self.positive else []

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each value of alpha in the order given: the products of the columns are taken once.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : {"alpha"}
        values : sequence of float, or of arrays with one for each target

        Returns
        -------
        iterator of estimators
        """
        candidates = Candidates(self, name, values, self.sweep_parameters(), check=type(self)._check)
        first, params = candidates.estimators[0], candidates.params[0]
        data = first._check_data(X, y, sample_weight, params)
        candidates.share_input(first)
        shared = SharedDecomposition(data.rows(first, params), by_svd=params.solver == "svd")
        for place, each in enumerate(candidates.params):
            candidates.fit(place, type(self)._fit_data, data, each, shared.fit)
        return iter(candidates.estimators)

    def _fitted(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """All that a callback's copy of this estimator needs to predict."""
        return attributes

    def _solve(
        self,
        rows: Rows,
        alphas: FloatArray,
        params: SimpleNamespace,
        max_iter: int,
        task: FitTask,
        Y: FloatArray,
        solve: Direct | None,
    ) -> tuple[RidgeFit, Outcome]:
        if params.positive:
            return self._solve_positive(rows, alphas, params, max_iter, task, Y)
        if params.solver in ITERATIVE or (params.solver == "auto" and _is_large_sparse(rows)):
            solver = ConjugateGradients(rows, alphas, params.tol)
            status, history = run_solver(
                solver, task, max_iter=max_iter, verbose=0, fitted=lambda: self._fitted(_current(solver, Y, params))
            )
            method = "conjugate gradients, preconditioned" if solver.is_preconditioned else "conjugate gradients"
            fit = solver.fit(method, "sparse_cg" if params.solver == "auto" else params.solver)
            return fit, _iterated(fit, solver, status, history, max_iter)
        fit = solve_direct(rows, alphas, by_svd=params.solver == "svd") if solve is None else solve(alphas)
        return fit, _direct(fit)

    def _solve_positive(
        self, rows: Rows, alphas: FloatArray, params: SimpleNamespace, max_iter: int, task: FitTask, Y: FloatArray
    ) -> tuple[RidgeFit, Outcome]:
        if params.solver == "auto" and rows.n_features <= MOST_ACTIVE_SET:
            if (alphas > 0).all():
                fit = by_active_set(rows, alphas)
                return fit, _direct(fit)
            if isinstance(rows, DenseRows) and not alphas.any():
                found = non_negative_least_squares(rows)
                nothing, gradients = np.full(len(alphas), np.nan), np.full(len(alphas), found.gradient)
                squares, total = found.residual_squares, found.total_squares
                fit = RidgeFit(alphas, found.coef, found.means, squares, total, nothing, gradients, found.method, "active_set")
                return fit, _direct(fit)
        solver = NonNegative(rows, alphas, params.tol)

        def fitted() -> dict[str, Any]:
            return self._fitted(_current(solver, Y, params))

        last = fitted() if task.is_watched else {}

        def watch(record: Record) -> bool:  # SciPy tells of an iteration when it is over: only then can it begin for others
            nonlocal last
            if not task.is_watched:
                return False
            before, last = last, fitted()
            return task.subtask("iteration", fitted=lambda: before).end(lambda: last)

        status, history = solver.run(max_iter, watch)
        fit = solver.fit("L-BFGS-B", "lbfgs", is_positive=True)
        return fit, _iterated(fit, solver, status, history, max_iter)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.solver != "svd"
        return tags


class Ridge(RidgeModel, MultiOutputMixin, LinearRegressor):  # type: ignore[misc]  # scikit-learn has no types
    r"""Linear least squares with an l2 penalty.

    Minimises :math:`\tfrac12 \sum_i s_i (y_i - x_i^\top w - b)^2 + \tfrac{\alpha}{2} \|w\|^2` over the coefficients :math:`w`
    and the intercept :math:`b`, which is not penalised, for the sample weights :math:`s_i`. The minimiser is that of
    scikit-learn, whose objective is twice this.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        The strength of the penalty, >= 0, for all targets or one for each. Zero is least squares, of least norm.
    fit_intercept : bool, default=True
        Whether there is an intercept; without, :math:`b = 0`.
    copy_X : bool, default=True
        X is never changed, and copied only by `solver="svd"`, whatever this says.
    max_iter : int or None, default=None
        The most iterations of an iterative method; None is ten times the number of features, and at least 1000.
    tol : float, default=1e-4
        Iterative methods end when the norm of the gradient falls to `tol` times that at :math:`w = 0`. Direct methods are exact
        to rounding and do not look at it.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}, default="auto"
        - "auto": "cholesky", and "sparse_cg" for sparse X with more than 1000 rows and columns;
        - "cholesky": direct, on the products of columns or, where there are fewer rows, of rows; refined by the residuals;
        - "svd": direct, by singular values of a copy of X; dense X only;
        - "lsqr", "sparse_cg", "sag", "saga": conjugate gradients on the normal equations, preconditioned by the diagonal where
          there are at least as many rows as columns, unless alpha is next to nothing (scaled columns would then lead to another
          solution than that of least norm); nothing stochastic runs under the names "sag" and "saga";
        - "lbfgs": L-BFGS-B; for `positive=True` only.
    positive : bool, default=False
        Whether to restrict the coefficients to be >= 0: by an active-set method with up to 2000 features, else by L-BFGS-B.
    random_state : int, RandomState or None, default=None
        No method here draws anything; accepted for the sake of programs that pass it.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        A vector also for y of shape (n_samples, 1).
    intercept_ : float or array of shape (n_targets,)
    n_iter_ : int
        The iterations of an iterative method, for all targets together; 1 for direct ones.
    solver_ : str
        What ran: "cholesky", "svd", "lbfgs", "active_set", or the name under which conjugate gradients were asked for
        ("sparse_cg" where they were not); `certificate_.method` says it in words.
    certificate_ : Certificate
        The objective as above, added over targets; the dual value and the duality gap at the solution, where alpha > 0. Direct
        methods have to reach a gap of 1e-10 of the objective at :math:`w = 0`, or that of the relative gradient.
    history_ : list of dict
        For iterative methods: the gradient against that at zero, and the objective, after each iteration.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The dual value is that of the residuals :math:`r`, and the gap :math:`\|A^\top r - \alpha w\|^2 / (2 \alpha)` for the
    centred, weighted rows :math:`A`: never negative. O(n d min(n, d)) for direct methods, O(n d) an iteration otherwise. X is
    read where it lies, in any memory order, and sums are taken in double precision. Of float32 X with 64 columns or more the
    products are summed in single precision first, and the solution is corrected by its residuals in double precision.

    Differences from scikit-learn: "cholesky" takes sparse X with an intercept; `n_iter_` is one number, also for direct
    methods; weights that are all zero are refused.

    References
    ----------
    A. E. Hoerl, R. W. Kennard, "Ridge Regression: Biased Estimation for Nonorthogonal Problems", Technometrics 12 (1970).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import Ridge
    >>> X = np.array([[1.0, 1], [1, 2], [2, 2], [2, 3]])
    >>> model = Ridge(alpha=1.0).fit(X, [6.0, 8, 9, 11])
    >>> model.coef_.round(4), round(float(model.intercept_), 4)
    (array([0.8, 1.4]), 4.5)
    >>> model.certificate_.gap < 1e-20
    True
    """

    _takes_parts = True

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = self._check()
        return self._fit_data(self._check_data(X, y, sample_weight, params), params)

    def _check_data(self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace) -> RidgeData:
        finite: Finite = "check" if sp.issparse(X) else "deferred"
        require_format(self, X, params.solver)
        if is_parted(X) and (params.positive or params.solver not in ("auto", "cholesky", "svd")):
            name = "positive=True" if params.positive else f"solver={params.solver!r}"
            raise TypeError(f"Ridge: {name} is not there for X in parts; take solver='auto' and positive=False.")
        X, y = check_X_y(self, X, y, sparse=SPARSE, finite=finite, multi_output=True)
        return RidgeData(X, y, check_weights(sample_weight, X.shape[0], X.dtype))


def require_format(estimator: Any, X: Any, solver: str) -> None:
    """Refuse sparse X where the solver would have to write its zeros out."""
    if solver == "svd" and sp.issparse(X):
        raise InvalidParameterError(
            f"{type(estimator).__name__}: solver='svd' does not support sparse X, and needs dense data; use solver='auto', or "
            "convert X with '.toarray()'."
        )


def make_rows(estimator: Any, X: Any, Y: FloatArray, weights: FloatArray | None, params: SimpleNamespace) -> Rows:
    """X and its targets for the solvers."""
    if sp.issparse(X):
        return SparseRows(X, Y, weights, is_centred=params.fit_intercept)
    if is_parted(X):
        parted: Any = PartedRows(estimator, X, Y, weights, is_centred=params.fit_intercept)  # what direct solvers ask for
        return parted  # type: ignore[no-any-return]
    n_threads = effective_threads(getattr(params, "n_jobs", None))
    return DenseRows(estimator, X, Y, weights, is_centred=params.fit_intercept, n_threads=n_threads)


def _is_large_sparse(rows: Rows) -> bool:
    return isinstance(rows, SparseRows) and min(rows.n_rows, rows.n_features) > MOST_SPARSE_PRODUCTS


def _alphas(estimator: Any, alpha: Any, n_targets: int) -> FloatArray:
    """One alpha for each target."""
    owner, alphas = type(estimator).__name__, np.asarray(alpha)
    if alphas.dtype.kind not in "fiu" or alphas.ndim > 1:
        raise ValueError(f"{owner}: alpha={alpha!r} is not valid; it must be a number >= 0, or one for each target.")
    alphas = alphas.astype(np.float64)
    if alphas.size not in (1, n_targets):
        raise ValueError(
            f"{owner}: alpha holds {alphas.size} values and y has {n_targets} targets. Number of targets and number of "
            f"penalties do not correspond: {alphas.size} != {n_targets}."
        )
    if not (np.isfinite(alphas).all() and (alphas >= 0).all()):
        raise ValueError(f"{owner}: alpha={alpha!r} is not valid; every value must be a finite number >= 0.")
    return np.broadcast_to(alphas.ravel(), (n_targets,)).copy()


def attributes_of(fit: RidgeFit, Y: FloatArray, fit_intercept: bool) -> dict[str, Any]:
    """coef_ and intercept_ in the type and shape of Y."""
    return _linear_attributes(fit.coef, fit.means, Y, fit_intercept)


def _current(solver: ConjugateGradients | NonNegative, Y: FloatArray, params: SimpleNamespace) -> dict[str, Any]:
    return _linear_attributes(solver.coef, solver.means, Y, params.fit_intercept)


def _linear_attributes(coef: FloatArray, means: FloatArray, Y: FloatArray, fit_intercept: bool) -> dict[str, Any]:
    coef, d = coef.astype(Y.dtype), coef.shape[1]
    intercept: Any = 0.0
    if fit_intercept:  # by the coefficients as rounded, so that the mean of the predictions is that of y
        intercept = (means[d:] - coef @ means[:d]).astype(Y.dtype, copy=False)
    if Y.ndim == 1 and fit_intercept:
        intercept = intercept[0]
    return {"coef_": coef[0] if len(coef) == 1 else coef, "intercept_": intercept}


def _direct(fit: RidgeFit) -> Outcome:
    certificate = fit.certificate()
    if certificate.converged:
        return Outcome(certificate)
    return Outcome(
        certificate,
        warning=f"the {certificate.condition} is {certificate.residual:.3g}, not within {certificate.tol:.3g}: X is badly "
        "conditioned. Scale its columns, raise alpha, or (dense X) use solver='svd'.",
    )


def _iterated(
    fit: RidgeFit, solver: ConjugateGradients | NonNegative, status: Status, history: list[Record], max_iter: int
) -> Outcome:
    status = status.given(is_reached=solver.reached() <= solver.tol)
    certificate = fit.certificate_of_iterations(status, solver.reached(), solver.tol)
    warning = None
    if status in (Status.MAX_ITER, Status.INEXACT):
        ended = f"{max_iter} iterations" if status is Status.MAX_ITER else "no further progress"
        warning = (
            f"after {ended} the gradient is {certificate.residual:.3g} of that at zero, not within tol={solver.tol:.3g}. "
            "Scale the columns of X, raise max_iter, alpha or tol, or use solver='cholesky'."
        )
    return Outcome(certificate, history, warning)

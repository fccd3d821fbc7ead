"""k-means clustering."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X
from mercer._base import FitTask, MercerEstimator, best_of_restarts, fit_method, run_solver
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import (
    ArrayLike,
    Bool,
    Function,
    Integer,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Verbosity,
    check_params,
)
from mercer._random import as_random_state
from mercer._trace import Certificate, Outcome, Record, Status, log, native_progress
from mercer.cluster._lloyd import Labels, Lloyd, Problem, check_enough_rows, seed_plusplus

Init = str | Callable[..., Any] | npt.ArrayLike


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, MercerEstimator):  # type: ignore[misc]
    r"""k-means clustering by exact, accelerated Lloyd iterations.

    Minimises the inertia :math:`\sum_i w_i \min_j \|x_i - c_j\|^2` over the centres :math:`c_1, …, c_k`, locally: each
    iteration assigns every row to its nearest centre and moves each centre to the mean of its rows.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    init : {"k-means++", "random"}, callable or array of shape (n_clusters, n_features), default="k-means++"
        Where to start: greedy k-means++, rows drawn at random, what `init(X, n_clusters, random_state=...)` returns, or
        the given centres.
    n_init : "auto" or int, default="auto"
        How many starts to try; the best inertia wins. "auto" is 1 for k-means++ and given centres, 10 otherwise.
    max_iter : int, default=300
        The most iterations of one run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centres falls to `tol` times the mean variance of the columns.
    verbose : int, default=0
        Log each iteration to the logger `mercer`.
    random_state : int, RandomState or None, default=None
        Draws the starts.
    copy_x : bool, default=True
        X is neither changed nor copied, whatever this says.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Both are exact. "lloyd" begins with full scans and goes over to triangle-inequality bounds when few rows still
        change; "elkan" keeps bounds from the start.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : int32 array of shape (n_samples,)
    inertia_ : float
    n_iter_ : int
    history_ : list of dict
        For each iteration of the best run: `inertia` (of the labels about the centres they were assigned to), `shift` (the
        squared shift of the centres), `n_changed` (rows that changed cluster), `n_scanned` (rows compared with all centres).
    certificate_ : Certificate
        The objective, and the shift left against the tolerance.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration costs at most O(n k d), and O(n) for the rows whose bounds prove that they stay. Memory beyond X: the
    labels, 8 bytes a row for bounds once they pay, and sums of the size of the centres. X may have any memory order.

    Differences from scikit-learn: from the same `random_state` the starts are the same rows, up to ties in rounding. The
    variance that scales `tol` counts the sample weights, so that a weight of two equals a repeated row. A callable `init`
    is given X as it is, not centred.

    References
    ----------
    G. Hamerly, "Making k-means even faster", SDM 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import KMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.cluster_centers_[model.predict([[0, 0], [12, 3]])]
    array([[ 1.,  2.],
           [10.,  2.]])
    >>> model.certificate_.converged
    True
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "n_clusters": Integer(1),
        "init": OneOf("k-means++", "random") | Function() | ArrayLike(),
        "n_init": OneOf("auto") | Integer(1),
        "max_iter": Integer(1),
        "tol": Real(least=0),
        "verbose": Verbosity(),
        "random_state": RandomState(),
        "copy_x": Bool(),
        "algorithm": OneOf("lloyd", "elkan"),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMeans:
        """Find the clusters of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, sparse="csr", finite="deferred")
        check_enough_rows(X.shape[0], params.n_clusters)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        n_threads = effective_threads(params.n_jobs)
        problem = Problem.of(self, X, weights, n_threads)
        starts = _Starts(problem, params, n_threads)
        task = FitTask.start(self, X, n_subtasks=starts.count)
        run = partial(_run_lloyd, problem, params, n_threads)
        best = best_of_restarts(starts, run, task, n_subtasks=params.max_iter)
        return self._finish(task, best.attributes(), best.outcome(params))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Labels:
        """Find the clusters of X and return its labels."""
        labels: Labels = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> FloatArray:
        """Find the clusters of X and return its distances to the centres."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def predict(self, X: Any) -> Labels:
        """The nearest centre of each row."""
        X = self._check_rows(X)
        labels = np.empty(X.shape[0], dtype=np.int32)
        kernels.nearest_centres(*self._rows_and_centres(X), labels, effective_threads(self.n_jobs))
        return labels

    def transform(self, X: Any) -> FloatArray:
        """The distance of each row to each centre."""
        X = self._check_rows(X)
        distances = np.empty((X.shape[0], self.cluster_centers_.shape[0]), dtype=X.dtype)
        kernels.centre_distances(*self._rows_and_centres(X), distances, effective_threads(self.n_jobs))
        return distances

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the inertia of X about the centres: higher is better."""
        X = self._check_rows(X)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        rows, centres = self._rows_and_centres(X)
        labels = np.empty(X.shape[0], dtype=np.int32)
        n_threads = effective_threads(self.n_jobs)
        kernels.nearest_centres(rows, centres, labels, n_threads)
        return -float(kernels.inertia(rows, weights, centres, labels, n_threads))

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_X(self, X, sparse="csr", reset=False)

    def _rows_and_centres(self, X: Any) -> tuple[Any, FloatArray]:
        """X and the centres for the kernels, shifted by the mean of the centres unless X is sparse."""
        centres = self.cluster_centers_.astype(X.dtype, copy=False)
        if sp.issparse(X):
            return native_rows(X), np.ascontiguousarray(centres)
        shift = centres.mean(axis=0)
        return native_rows(X, shift), centres - shift

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _run_lloyd(problem: Problem, params: SimpleNamespace, n_threads: int, start: FloatArray, task: FitTask) -> _Run:
    """One run of Lloyd's iterations."""
    tol = params.tol * problem.mean_variance
    solver = Lloyd(problem, start, tol=tol, always_bounded=params.algorithm == "elkan", n_threads=n_threads)

    def fitted() -> dict[str, Any]:
        return _attributes(*solver.result())

    status, history = run_solver(solver, task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted)
    # Labels may come to rest while a centre without rows is still being moved.
    status = status.given(is_reached=solver.shift <= tol)
    return _Run(*solver.result(), status=status, history=history, shift=solver.shift, tol=tol)


class _Run:
    """A finished run."""

    def __init__(
        self,
        centres: FloatArray,
        labels: Labels,
        inertia: float,
        *,
        status: Status,
        history: list[Record],
        shift: float,
        tol: float,
    ) -> None:
        self.centres, self.labels, self.objective = centres, labels, inertia
        self._status, self._history, self._shift, self._tol = status, history, shift, tol

    def attributes(self) -> dict[str, Any]:
        return _attributes(self.centres, self.labels, self.objective)

    def outcome(self, params: SimpleNamespace) -> Outcome:
        certificate = Certificate(
            method="Lloyd's iterations, a local minimum",
            status=self._status,
            primal=self.objective,
            condition="squared shift of the centres",
            residual=self._shift,
            tol=self._tol,
        )
        return Outcome(certificate, self._history, self._warning(params))

    def _warning(self, params: SimpleNamespace) -> str | None:
        n_found = np.count_nonzero(np.bincount(self.labels))
        if n_found < params.n_clusters:
            return (
                f"Number of distinct clusters ({n_found}) found smaller than n_clusters ({params.n_clusters}). Possibly due "
                "to duplicate points in X; ask for fewer clusters."
            )
        return None


def _attributes(centres: FloatArray, labels: Labels, inertia: float) -> dict[str, Any]:
    return {"cluster_centers_": centres, "labels_": labels, "inertia_": inertia}


class _Starts:
    """The centres to start from, one set a run, shifted as the problem is."""

    def __init__(self, problem: Problem, params: SimpleNamespace, n_threads: int) -> None:
        self._problem, self._n_clusters, self._init, self._n_threads = problem, params.n_clusters, params.init, n_threads
        self._random, self._verbose = as_random_state(params.random_state), params.verbose
        is_given = not isinstance(params.init, str) and not callable(params.init)
        if is_given:
            self._init = self._checked(params.init)
        self.count = self._count(params.n_init, is_given)

    def _count(self, n_init: int | str, is_given: bool) -> int:
        if is_given:
            return 1
        if isinstance(n_init, int):
            return n_init
        return 1 if self._init == "k-means++" else 10

    def _checked(self, centres: Any) -> FloatArray:
        centres = check_array(centres, dtype=self._problem.X.dtype, order="C", input_name="init")
        wanted = (self._n_clusters, self._problem.n_features)
        if centres.shape != wanted:
            raise ValueError(
                f"KMeans: init holds centres of shape {centres.shape}; with n_clusters={wanted[0]} and this X "
                f"it must be {wanted}."
            )
        return self._problem.to_shifted(centres)

    def __iter__(self) -> Any:
        return (self._draw() for _ in range(self.count))

    def _draw(self) -> FloatArray:
        problem, k = self._problem, self._n_clusters
        if callable(self._init):
            return self._checked(self._init(problem.X, k, random_state=self._random))
        if not isinstance(self._init, str):
            return np.array(self._init)
        if self._init == "k-means++":
            with native_progress(lambda done, total: log(self._verbose, "k-means++: %d of %d centres", done + 1, total + 1)):
                return problem.to_shifted(problem.pick(seed_plusplus(problem, k, self._random, self._n_threads)))
        n = problem.X.shape[0]
        share = np.ones(n) if problem.weights is None else problem.weights.astype(np.float64)
        return problem.to_shifted(problem.pick(self._random.choice(n, size=k, replace=False, p=share / share.sum())))

"""Mini-batch k-means."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray, check_weights, check_X, require_finite
from mercer._base import FitTask, fit_method, run_solver
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import (
    ArrayLike,
    Bool,
    Function,
    Integer,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Verbosity,
    check_params,
)
from mercer._random import as_random_state
from mercer._statistics import GroupSums
from mercer._trace import Certificate, Outcome, Record, Status, warn
from mercer.cluster._batch_centres import BatchCentres
from mercer.cluster._centres import CentresModel
from mercer.cluster._kmeans import Init
from mercer.cluster._lloyd import Labels, Problem, check_enough_rows
from mercer.cluster._lloyd_runs import Starts


class MiniBatchKMeans(CentresModel):
    r"""k-means clustering from small batches of rows.

    Lowers the inertia :math:`\sum_i w_i \min_j \|x_i - c_j\|^2`: each row x of a batch moves its nearest centre c by
    :math:`(x - c) / N_c`, where N_c counts the rows that the centre has had, so that a centre is the mean of all its rows.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    init : {"k-means++", "random"}, callable or array of shape (n_clusters, n_features), default="k-means++"
        Where to start, as in `KMeans`.
    max_iter : int, default=100
        The most passes over the data.
    batch_size : int, default=1024
        How many rows a step looks at.
    verbose : int, default=0
        Log each step to the logger `mercer`.
    compute_labels : bool, default=True
        Find the labels and the inertia of all rows at the end.
    random_state : int, RandomState or None, default=None
        Draws the starts, the batches, and the rows that light centres move to.
    tol : float, default=0.0
        Above zero: stop when the squared shift of all centres in a step falls to `tol` times the mean variance of the columns.
    max_no_improvement : int or None, default=10
        Stop after so many steps that did not lower the smoothed inertia of the batches; None never does.
    init_size : int or None, default=None
        How many rows starts are sought among; None means three batches, or three rows a cluster if that is more.
    n_init : "auto" or int, default="auto"
        How many starts to try, of which the best goes on; "auto" is 1 for k-means++ and given centres, 3 otherwise.
    reassignment_ratio : float, default=0.01
        A centre whose weight is below this share of the heaviest one's is moved to a row of the batch.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : int32 array of shape (n_samples,)
        With `compute_labels`; after `partial_fit`, those of the last batch.
    inertia_ : float
        Of the labels; without them, the smoothed inertia of the batches times the weight of the rows.
    n_iter_ : int
        Passes over the data, a started one counting as one.
    n_steps_ : int
        Batches.
    history_ : list of dict
        For each step: `inertia` (the mean over the batch, about the centres before), `smoothed_inertia`, `shift` (the squared
        shift of the centres).
    certificate_ : Certificate
        The inertia, and how far a step of Lloyd over all rows would move the centres (without `compute_labels`: how far the
        last step did) against the tolerance.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A step costs O(batch_size k d), whatever the number of rows. The centres come from sums in double precision.

    Differences from scikit-learn: from the same `random_state` the draws are the same, and so are the centres up to rounding.
    The variance that scales `tol` counts the sample weights. Rows of weight zero are left out before anything is drawn.

    References
    ----------
    D. Sculley, "Web-scale k-means clustering", WWW 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import MiniBatchKMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = MiniBatchKMeans(n_clusters=2, batch_size=6, random_state=0).fit(X)
    >>> bool(model.predict([[0, 0]])[0] == model.labels_[0])
    True
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "n_clusters": Integer(1),
        "init": OneOf("k-means++", "random") | Function() | ArrayLike(),
        "max_iter": Integer(1),
        "batch_size": Integer(1),
        "verbose": Verbosity(),
        "compute_labels": Bool(),
        "random_state": RandomState(),
        "tol": Real(least=0),
        "max_no_improvement": Integer(0) | Null(),
        "init_size": Integer(1) | Null(),
        "n_init": OneOf("auto") | Integer(1),
        "reassignment_ratio": Real(least=0),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        random_state: int | np.random.RandomState | None = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: int | str = "auto",
        reassignment_ratio: float = 0.01,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MiniBatchKMeans:
        """Find the clusters of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How often rows are drawn, and how much they count in the inertia.

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, sparse="csr", finite="deferred")
        given, weights = X, check_weights(sample_weight, X.shape[0], X.dtype)
        X, weights = _present(X, weights)
        if given is not X:
            require_finite(self, given)
        check_enough_rows(X.shape[0], params.n_clusters)
        params.batch_size = min(params.batch_size, X.shape[0])
        n_steps = max(1, params.max_iter * X.shape[0] // params.batch_size)
        task = FitTask.start(self, given, n_subtasks=n_steps)
        n_threads = effective_threads(params.n_jobs)
        problem = Problem.of(self, X, weights, n_threads)
        random = as_random_state(params.random_state)
        centres = BatchCentres.start(problem.shift, _best_start(self, problem, params, random, n_threads), random)
        solver = _Batches(problem, centres, params, n_threads)
        unlabelled = {"n_steps_": 0, "n_iter_": 0}

        def fitted() -> dict[str, Any]:
            return unlabelled | {"cluster_centers_": problem.from_shifted(centres.centres), "_state": centres}

        status, history = run_solver(solver, task, max_iter=n_steps, verbose=params.verbose, fitted=fitted)
        counts = {"n_steps_": len(history), "n_iter_": -(-len(history) * params.batch_size // X.shape[0])}
        found, outcome = solver.outcome(status, history)
        if params.compute_labels and given is not X:
            found["labels_"] = _nearest(given, centres, n_threads)
        return self._finish(task, fitted() | counts | found, outcome, unset=("labels_",))

    @fit_method
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MiniBatchKMeans:
        """Learn from one batch, which goes on where the last one ended.

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
        state: BatchCentres | None = getattr(self, "_state", None)
        X = check_X(self, X, sparse="csr", reset=state is None)
        given, weights = X, check_weights(sample_weight, X.shape[0], X.dtype)
        X, weights = _present(X, weights)
        n_threads = effective_threads(params.n_jobs)
        task = FitTask.start(self, given, n_subtasks=0)
        if state is None:
            check_enough_rows(X.shape[0], params.n_clusters)
            params.batch_size = min(params.batch_size, X.shape[0])
            problem = Problem.of(self, X, weights, n_threads)
            random = as_random_state(params.random_state)
            start = _drawn_start(self, problem, params, random, n_threads, _init_size(self, params, X.shape[0]))
            state = BatchCentres.start(problem.shift, start.draw(), random)
        else:
            state = state.copy().astype(X.dtype)
        record = state.step(X, weights, reassignment_ratio=params.reassignment_ratio, n_threads=n_threads)
        found: dict[str, Any] = {"n_steps_": getattr(self, "n_steps_", 0) + 1, "_state": state}
        found["cluster_centers_"] = state.centres + state.shift
        if params.compute_labels:
            found["labels_"] = labels = _nearest(given, state, n_threads)
            all_weights = None if sample_weight is None else check_weights(sample_weight, given.shape[0], given.dtype)
            rows = native_rows(given, None if sp.issparse(given) else state.shift)
            found["inertia_"] = kernels.inertia(rows, all_weights, state.centres, labels, n_threads)
        certificate = Certificate(
            "a step of mini-batch k-means", Status.MAX_ITER, None, "squared shift of the centres", record["shift"], 0.0
        )
        return self._finish(task, found, Outcome(certificate), unset=("n_iter_", "history_", "labels_", "inertia_"))


class _Batches:
    """Steps over drawn batches until the smoothed inertia falls no further."""

    def __init__(self, problem: Problem, centres: BatchCentres, params: SimpleNamespace, n_threads: int) -> None:
        self._problem, self._centres, self._params, self._n_threads = problem, centres, params, n_threads
        self._n_rows = problem.X.shape[0]
        share = np.ones(self._n_rows, problem.X.dtype) if problem.weights is None else problem.weights
        # What `RandomState.choice` adds up anew at each draw.
        below = (share / share.sum()).astype(np.float64).cumsum()
        self._below = below / below[-1]
        self._tol = params.tol * problem.mean_variance
        self._smoothed = self._least = np.inf
        self._n_steps = self._n_worse = 0
        self._shift = np.inf

    def step(self) -> Record:
        params = self._params
        drawn = self._below.searchsorted(self._centres.random.random_sample(params.batch_size), side="right")
        record = self._centres.step(
            self._problem.X[drawn], None, reassignment_ratio=params.reassignment_ratio, n_threads=self._n_threads
        )
        self._n_steps += 1
        self._shift = record["shift"]
        self._smooth(record["inertia"])
        smoothed = self._smoothed if np.isfinite(self._smoothed) else record["inertia"]
        return {"inertia": record["inertia"], "smoothed_inertia": smoothed, "shift": self._shift}

    def _smooth(self, inertia: float) -> None:
        """The first step, whose centres are the start, is left out, as by the peer."""
        if self._n_steps <= 1:
            return
        share = min(2.0 * self._params.batch_size / (self._n_rows + 1), 1.0)
        self._smoothed = inertia if self._n_steps == 2 else self._smoothed * (1 - share) + inertia * share
        if self._smoothed < self._least:
            self._least, self._n_worse = self._smoothed, 0
        else:
            self._n_worse += 1

    @property
    def _is_still(self) -> bool:
        return self._n_steps > 1 and self._tol > 0 and self._shift <= self._tol

    @property
    def is_done(self) -> bool:
        most = self._params.max_no_improvement
        return self._is_still or (self._n_steps > 1 and most is not None and self._n_worse >= most)

    def outcome(self, status: Status, history: list[Record]) -> tuple[dict[str, Any], Outcome]:
        """Labels and inertia of all rows if they are wanted, and what was reached."""
        if status is Status.CONVERGED and not self._is_still:
            status = Status.SETTLED
        if self._params.compute_labels:
            labels, inertia, shift = self._labelled()
            found = {"labels_": labels, "inertia_": inertia}
            condition = "squared shift of the centres in a step over all rows"
        else:
            weights = self._problem.weights
            weight = float(self._n_rows if weights is None else weights.sum(dtype=np.float64))
            last = self._smoothed if np.isfinite(self._smoothed) else history[-1]["inertia"]
            inertia, shift, condition = last * weight, self._shift, "squared shift of the centres"
            found = {"inertia_": inertia}
        status = status.given(is_reached=shift <= self._tol)
        return found, Outcome(Certificate("mini-batch k-means", status, inertia, condition, shift, self._tol), history)

    def _labelled(self) -> tuple[Labels, float, float]:
        problem, centres = self._problem, self._centres.centres
        labels: Labels = np.full(self._n_rows, -1, dtype=np.int32)
        sums = GroupSums.zeros(*centres.shape)
        arguments = (problem.rows, problem.weights, centres)
        kernels.lloyd_step(*arguments, problem.total, None, None, None, labels, *sums, self._n_threads)
        inertia = kernels.inertia(*arguments, labels, self._n_threads)
        has_rows = sums.weights > 0
        moves = sums.sums[has_rows] / sums.weights[has_rows, None] - centres[has_rows]
        return labels, inertia, float(np.sum(moves**2))


def _present(X: Any, weights: FloatArray | None) -> tuple[Any, FloatArray | None]:
    """Without the rows of weight zero."""
    if weights is None or (weights > 0).all():
        return X, weights
    kept = np.flatnonzero(weights > 0)
    return X[kept], weights[kept]


def _init_size(estimator: MiniBatchKMeans, params: SimpleNamespace, n_rows: int) -> int:
    size, k = params.init_size, params.n_clusters
    if size is None:
        size = 3 * params.batch_size if 3 * params.batch_size >= k else 3 * k
    elif size < k:
        warn(
            f"{type(estimator).__name__}: init_size={size} should be larger than n_clusters={k}; "
            f"{min(3 * k, n_rows)} rows are taken.",
            RuntimeWarning,
        )
        size = 3 * k
    return int(min(size, n_rows))


def _drawn_start(
    estimator: MiniBatchKMeans,
    problem: Problem,
    params: SimpleNamespace,
    random: np.random.RandomState,
    n_threads: int,
    size: int,
) -> Starts:
    """Starts among `size` rows drawn."""
    n_rows = problem.X.shape[0]
    part = problem.part(random.randint(0, n_rows, size)) if size < n_rows else problem
    return Starts(type(estimator).__name__, part, params, n_threads, random=random, n_auto=3)


def _best_start(
    estimator: MiniBatchKMeans, problem: Problem, params: SimpleNamespace, random: np.random.RandomState, n_threads: int
) -> FloatArray:
    """The start of least inertia on rows drawn to judge by."""
    size = _init_size(estimator, params, problem.X.shape[0])
    judged = problem.part(random.randint(0, problem.X.shape[0], size))

    def inertia(centres: FloatArray) -> float:
        labels = np.empty(size, dtype=np.int32)
        kernels.nearest_centres(judged.rows, centres, labels, n_threads)
        return float(kernels.inertia(judged.rows, judged.weights, centres, labels, n_threads))

    starts = _drawn_start(estimator, problem, params, random, n_threads, size)
    others = (_drawn_start(estimator, problem, params, random, n_threads, size) for _ in range(starts.count - 1))
    return min((each.draw() for each in itertools.chain([starts], others)), key=inertia)


def _nearest(X: Any, state: BatchCentres, n_threads: int) -> npt.NDArray[np.int32]:
    labels = np.empty(X.shape[0], dtype=np.int32)
    kernels.nearest_centres(native_rows(X, None if sp.issparse(X) else state.shift), state.centres, labels, n_threads)
    return labels

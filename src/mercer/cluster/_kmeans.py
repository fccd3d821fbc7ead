"""k-means clustering."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import check_weights, check_X
from mercer._base import FitTask, best_of_restarts, fit_method
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
    check_value,
)
from mercer._parts.passes import is_parted
from mercer.cluster._centres import CentresModel
from mercer.cluster._lloyd import Problem, check_enough_rows
from mercer.cluster._lloyd_runs import Starts, run_lloyd
from mercer.cluster._parted_lloyd import fit_parts

Init = str | Callable[..., Any] | npt.ArrayLike


class KMeans(CentresModel):
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

    _takes_parts = True
    _scores_add_up = True
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
        if is_parted(X):
            ended = fit_parts(self, X, check_weights(sample_weight, X.shape[0], X.dtype), params)
            return self._finish(*ended, unset=("labels_",))
        check_enough_rows(X.shape[0], params.n_clusters)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        n_threads = effective_threads(params.n_jobs)
        problem = Problem.of(self, X, weights, n_threads)
        starts = Starts(type(self).__name__, problem, params, n_threads)
        task = FitTask.start(self, X, n_subtasks=starts.count)
        run = partial(run_lloyd, problem, params, n_threads)
        best = best_of_restarts(starts, run, task, n_subtasks=params.max_iter)
        return self._finish(task, best.attributes(), best.outcome(params))


def k_means(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    init: Init = "k-means++",
    n_init: int | str = "auto",
    max_iter: int = 300,
    verbose: int = False,
    tol: float = 1e-4,
    random_state: int | np.random.RandomState | None = None,
    copy_x: bool = True,
    algorithm: str = "lloyd",
    return_n_iter: bool = False,
) -> tuple[Any, ...]:
    """`KMeans` as a function.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    n_clusters, init, n_init, max_iter, verbose, tol, random_state, copy_x, algorithm
        As in `KMeans`.
    sample_weight : array-like of shape (n_samples,), default=None
    return_n_iter : bool, default=False
        Return the number of iterations too.

    Returns
    -------
    centroid : array of shape (n_clusters, n_features)
    label : int32 array of shape (n_samples,)
    inertia : float
    best_n_iter : int
        With `return_n_iter`.

    Examples
    --------
    >>> from mercer.cluster import k_means
    >>> _, label, inertia = k_means([[1.0], [1.2], [9.0]], 2, random_state=0)
    >>> bool(label[0] == label[1] != label[2])
    True
    """
    wants_n_iter = check_value("k_means", "return_n_iter", return_n_iter, Bool())
    model = KMeans(
        n_clusters,
        init=init,
        n_init=n_init,
        max_iter=max_iter,
        verbose=verbose,
        tol=tol,
        random_state=random_state,
        copy_x=copy_x,
        algorithm=algorithm,
    ).fit(X, sample_weight=sample_weight)
    found = model.cluster_centers_, model.labels_, model.inertia_
    return (*found, model.n_iter_) if wants_n_iter else found

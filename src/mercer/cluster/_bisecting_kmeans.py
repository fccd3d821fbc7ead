"""Bisecting k-means: clusters halved one after another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray, check_weights, check_X
from mercer._base import FitTask, best_of_restarts, fit_method
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Bool, Function, Integer, NumberOfJobs, OneOf, RandomState, Real, Rule, Verbosity, check_params
from mercer._random import as_random_state
from mercer._statistics import GroupSums
from mercer._trace import Certificate, Outcome, Record, Status
from mercer.cluster._centres import CentresModel
from mercer.cluster._kmeans import Init
from mercer.cluster._lloyd import Labels, Problem, check_enough_rows
from mercer.cluster._lloyd_runs import Run, Starts, run_lloyd

IntArray = npt.NDArray[np.int64]


class BisectingKMeans(CentresModel):
    r"""k-means clustering from the top down: the worst cluster is halved by k-means until there are enough.

    A halving of cluster C minimises :math:`\sum_{i \in C} w_i \min_{j \in \{1, 2\}} \|x_i - c_j\|^2`, locally.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    init : {"k-means++", "random"} or callable, default="random"
        Where each halving starts, as in `KMeans` with two clusters.
    n_init : int, default=1
        How many starts of a halving to try; the best inertia wins.
    random_state : int, RandomState or None, default=None
        Draws the starts.
    max_iter : int, default=300
        The most iterations of a run.
    verbose : int, default=0
        Log each iteration to the logger `mercer`.
    tol : float, default=1e-4
        A run stops when the squared shift of its centres falls to `tol` times the mean variance of the columns of its cluster.
    copy_x : bool, default=True
        X is neither changed nor copied as a whole, whatever this says.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        As in `KMeans`.
    bisecting_strategy : {"biggest_inertia", "largest_cluster"}, default="biggest_inertia"
        Which cluster is halved next: that of the largest inertia, or that of the most rows by weight.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        In the order of the tree's leaves; fewer where no cluster is left that has two different rows.
    labels_ : int32 array of shape (n_samples,)
    inertia_ : float
    n_iter_ : int
        The number of halvings.
    history_ : list of dict
        For each halving: `inertia` (of all clusters after it), `n_rows` (of the cluster that was halved), `n_iter` (of the best
        run).
    certificate_ : Certificate
        The inertia, and how far a step of Lloyd within its halving would move a centre, squared, against the tolerance: the
        worst halving's.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    O(n d log k) for halvings of even clusters. `predict` goes down the tree: a row belongs to the nearer of two centres at each
    halving, which need not lead to the nearest of all.

    Differences from scikit-learn: `tol` is scaled by the variance, as in `KMeans`, and "largest_cluster" counts weights. Where
    no cluster can be halved, as with duplicates, there are fewer clusters, and a warning.

    References
    ----------
    M. Steinbach, G. Karypis and V. Kumar, "A comparison of document clustering techniques", KDD workshop on text mining 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import BisectingKMeans
    >>> X = np.array([[1.0, 1], [10, 1], [3, 1], [10, 0], [2, 1], [10, 2], [10, 8], [10, 9], [10, 10]])
    >>> model = BisectingKMeans(n_clusters=3, random_state=0).fit(X)
    >>> bool(model.predict([[9, 9]])[0] == model.labels_[7])
    True
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "n_clusters": Integer(1),
        "init": OneOf("k-means++", "random") | Function(),
        "n_init": Integer(1),
        "random_state": RandomState(),
        "max_iter": Integer(1),
        "verbose": Verbosity(),
        "tol": Real(least=0),
        "copy_x": Bool(),
        "algorithm": OneOf("lloyd", "elkan"),
        "bisecting_strategy": OneOf("biggest_inertia", "largest_cluster"),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "random",
        n_init: int = 1,
        random_state: int | np.random.RandomState | None = None,
        max_iter: int = 300,
        verbose: int = 0,
        tol: float = 1e-4,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        bisecting_strategy: str = "biggest_inertia",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.tol = tol
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bisecting_strategy = bisecting_strategy
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BisectingKMeans:
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
        task = FitTask.start(self, X, n_subtasks=params.n_clusters - 1)
        halving = _Halving(self, problem, params, n_threads)
        status = Status.CONVERGED
        while len(halving.leaves) < params.n_clusters and halving.can_go_on:
            subtask = task.subtask("halving")
            halving.step()
            if subtask.end(lambda: self._fitted(halving)):
                status = Status.STOPPED
                break
        attributes = self._fitted(halving)
        return self._finish(
            task, attributes | {"n_iter_": len(halving.history)}, halving.outcome(status, attributes["inertia_"])
        )

    def predict(self, X: Any) -> Labels:
        """The cluster of each row, found down the tree: at each halving it goes to the nearer of the two centres."""
        return self._labels_of(self._check_rows(X))

    def _fitted(self, halving: _Halving) -> dict[str, Any]:
        """Attributes: the tree first, down which rows that no halving saw find their labels."""
        problem, order = halving.problem, halving.leaves_in_order()
        nodes = halving.nodes
        children = np.array([node.children or (-1, -1) for node in nodes], dtype=np.int32).reshape(-1, 2)
        label_of = np.full(len(nodes), -1, dtype=np.int32)
        label_of[order] = np.arange(len(order))
        labels: Labels = np.full(problem.X.shape[0], -1, dtype=np.int32)
        for node in order:
            labels[nodes[node].rows] = label_of[node]
        tree = {"_children": children, "_label_of": label_of, "_node_centres": np.stack([node.centre for node in nodes])}
        tree["_shift"] = problem.shift
        if (missing := np.flatnonzero(labels < 0)).size:
            labels[missing] = _descend(problem.X[missing], tree, halving.n_threads)
        centres = np.ascontiguousarray(tree["_node_centres"][order])
        inertia = kernels.inertia(problem.rows, problem.weights, centres, labels, halving.n_threads)
        return tree | {"cluster_centers_": problem.from_shifted(centres), "labels_": labels, "inertia_": inertia}

    def _labels_of(self, X: Any) -> Labels:
        return _descend(X, vars(self), effective_threads(self.n_jobs))


@dataclass
class _Node:
    """A cluster: its rows, its centre (shifted), its inertia, its weight, and the numbers of its halves."""

    rows: IntArray
    centre: FloatArray
    inertia: float
    weight: float
    children: tuple[int, int] | None = None


class _Halving:
    """The tree of clusters, halved one by one. Rows of weight zero are in none."""

    def __init__(self, estimator: BisectingKMeans, problem: Problem, params: SimpleNamespace, n_threads: int) -> None:
        self.problem, self.n_threads, self._estimator, self._params = problem, n_threads, estimator, params
        self._random = as_random_state(params.random_state)
        n, weights = problem.X.shape[0], problem.weights
        rows = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
        self.nodes = [self._root(rows)]
        self.leaves = [0]
        self.history: list[Record] = []
        self._worst = (0.0, 0.0)  # shift and tolerance of the halving that is farthest above its tolerance

    def _root(self, rows: IntArray) -> _Node:
        problem = self.problem
        labels = np.zeros(problem.X.shape[0], dtype=np.int32)
        sums = GroupSums.of(problem.X, labels, 1, problem.weights)
        centre = (sums.sums[0] / sums.weights[0]).astype(problem.X.dtype) - problem.shift
        inertia = kernels.inertia(problem.rows, problem.weights, centre[None], labels, self.n_threads)
        return _Node(rows, centre, float(inertia), float(sums.weights[0]))

    def _score(self, leaf: int) -> float:
        node = self.nodes[leaf]
        if node.inertia <= 0 or len(node.rows) < 2:
            return 0.0
        return node.inertia if self._params.bisecting_strategy == "biggest_inertia" else node.weight

    @property
    def can_go_on(self) -> bool:
        return any(self._score(leaf) > 0 for leaf in self.leaves)

    def step(self) -> None:
        """Halve the leaf of the highest score, the first of equals in the order of the tree."""
        leaf = max(self.leaves_in_order(), key=self._score)
        node = self.nodes[leaf]
        part = Problem.of(self._estimator, self._rows_of(node), self._weights_of(node), self.n_threads)
        run = self._run(part)
        halves = self._halves(node, part, run)
        if not all(len(half.rows) for half in halves):  # its rows are equal but for rounding
            node.inertia = 0.0
            return
        node.children = (len(self.nodes), len(self.nodes) + 1)
        self.nodes.extend(halves)
        self.leaves = [each for each in self.leaves if each != leaf] + list(node.children)
        certificate = run.outcome(SimpleNamespace(n_clusters=0)).certificate
        self._worst = max(self._worst, (certificate.residual, certificate.tol), key=lambda pair: pair[0] - pair[1])
        inertia = sum(self.nodes[each].inertia for each in self.leaves)
        self.history.append({"inertia": inertia, "n_rows": len(node.rows), "n_iter": len(run.history)})

    def _rows_of(self, node: _Node) -> Any:
        X = self.problem.X
        return X if len(node.rows) == X.shape[0] else X[node.rows]

    def _weights_of(self, node: _Node) -> FloatArray | None:
        weights = self.problem.weights
        return None if weights is None else weights[node.rows]

    def _run(self, part: Problem) -> Run:
        params = SimpleNamespace(**{**vars(self._params), "n_clusters": 2})
        starts = Starts(type(self._estimator).__name__, part, params, self.n_threads, random=self._random)
        unseen = FitTask(self._estimator, None, {})  # two centres of one cluster are no estimator that callbacks could use
        return best_of_restarts(starts, partial(run_lloyd, part, params, self.n_threads), unseen, n_subtasks=params.max_iter)

    def _halves(self, node: _Node, part: Problem, run: Run) -> list[_Node]:
        halves = []
        for label in (0, 1):
            is_member = run.labels == label
            weights = is_member.astype(part.X.dtype) if part.weights is None else np.where(is_member, part.weights, 0)
            inertia = kernels.inertia(part.rows, weights, part.to_shifted(run.centres), run.labels, self.n_threads)
            centre = run.centres[label] - self.problem.shift
            halves.append(_Node(node.rows[is_member], centre, float(inertia), float(weights.sum(dtype=np.float64))))
        return halves

    def leaves_in_order(self) -> list[int]:
        """The leaves from left to right."""
        found, pending = [], [0]
        while pending:
            node = pending.pop()
            children = self.nodes[node].children
            if children is None:
                found.append(node)
            else:
                pending.extend(reversed(children))
        return found

    def outcome(self, status: Status, inertia: float) -> Outcome:
        shift, tol = self._worst
        status = status.given(is_reached=shift <= tol)
        condition = "squared shift of the centres of a halving"
        certificate = Certificate(
            "halvings by Lloyd's iterations, each a local minimum", status, inertia, condition, shift, tol
        )
        n_found, wanted = len(self.leaves), self._params.n_clusters
        warning = None
        if n_found < wanted and status is not Status.STOPPED:
            warning = (
                f"Number of distinct clusters ({n_found}) found smaller than n_clusters ({wanted}): no cluster is left that "
                "has two different rows. Ask for fewer clusters."
            )
        return Outcome(certificate, self.history, warning)


def _descend(X: Any, tree: Mapping[str, Any], n_threads: int) -> Labels:
    """The label of each row by the nearer centres of the tree."""
    children, label_of, centres = tree["_children"], tree["_label_of"], tree["_node_centres"].astype(X.dtype, copy=False)
    shift = None if sp.issparse(X) else tree["_shift"].astype(X.dtype, copy=False)
    if shift is None:
        centres = centres + tree["_shift"].astype(X.dtype, copy=False)
    labels: Labels = np.zeros(X.shape[0], dtype=np.int32)
    pending: list[tuple[int, IntArray]] = [(0, np.arange(X.shape[0]))]
    while pending:
        node, rows = pending.pop()
        if label_of[node] >= 0:
            labels[rows] = label_of[node]
        elif len(rows):
            if not (children[node] > node).all():  # a file that was changed: rows would go round for ever
                raise ValueError("BisectingKMeans: the tree of halvings is damaged; fit again.")
            sides = np.empty(len(rows), dtype=np.int32)
            part = X if len(rows) == X.shape[0] else X[rows]
            kernels.nearest_centres(native_rows(part, shift), np.ascontiguousarray(centres[children[node]]), sides, n_threads)
            pending.extend((int(children[node, side]), rows[sides == side]) for side in (0, 1))
    return labels

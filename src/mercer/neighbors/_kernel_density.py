"""Kernel density estimates: what they are, and how wide their kernel is."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammainc
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._params import Bool, Instance, Integer, Null, OneOf, Real, Rule, check_params
from mercer._trace import warn
from mercer.neighbors._bandwidth import leave_one_out_bandwidth
from mercer.neighbors._density_kernels import KERNELS
from mercer.neighbors._measures import metrics_of
from mercer.neighbors._search_tree import SearchTree
from mercer.neighbors._trees import BallTree, KDTree

TREES: dict[str, type[SearchTree]] = {"kd_tree": KDTree, "ball_tree": BallTree}


class KernelDensity(MercerEstimator):
    """Density as a sum of kernels: log p(x) = log sum_i w_i K(d(x, x_i) / h) - log sum_i w_i.

    Parameters
    ----------
    bandwidth : float or {"scott", "silverman", "leave-one-out"}, default=1.0
        h. "scott" is n^(-1 / (d + 4)) and "silverman" (n (d + 2) / 4)^(-1 / (d + 4)), whatever the units of X; "leave-one-out"
        maximises the likelihood of each row under the density of all others.
    algorithm : {"auto", "kd_tree", "ball_tree"}, default="auto"
        The search tree; "auto" is a k-d tree where the metric allows one.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
    metric : str, default="euclidean"
        A metric of the tree. The density integrates to one for Euclidean distances alone.
    atol, rtol : float, default=0
        The error that a density may have, absolute and relative. With zeros it is exact to the last digits.
    breadth_first : bool, default=True
        The order in which scikit-learn visits nodes; without a meaning here, where the nearest come first.
    leaf_size : int, default=40
        How many rows a leaf of the tree has.
    metric_params : dict, default=None
        Parameters of the metric.

    Attributes
    ----------
    tree_ : KDTree or BallTree
    bandwidth_ : float
    log_likelihood_ : float
        The mean over all rows of the log density without them. With `bandwidth="leave-one-out"` alone.
    n_features_in_ : int
    feature_names_in_ : array of str

    Notes
    -----
    Nodes of the tree that cannot change the result are left out, and rows of a leaf are measured eight at a time. The bandwidth
    by leave-one-out costs some twenty-five passes; a weighted row is left out as a whole.

    Examples
    --------
    >>> from mercer.neighbors import KernelDensity
    >>> density = KernelDensity(bandwidth=0.5).fit([[0.0], [1.0], [1.5]])
    >>> density.score_samples([[1.0]]).round(3).tolist()
    [-0.769]

    References
    ----------
    Silverman, "Density Estimation for Statistics and Data Analysis", 1986.
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "bandwidth": Real(above=0) | OneOf("scott", "silverman", "leave-one-out"),
        "algorithm": OneOf("auto", *TREES),
        "kernel": OneOf(*KERNELS),
        "metric": OneOf(*metrics_of("ball_tree")),
        "atol": Real(least=0),
        "rtol": Real(least=0),
        "breadth_first": Bool(),
        "leaf_size": Integer(1),
        "metric_params": Null() | Instance(dict),
    }

    def __init__(
        self,
        *,
        bandwidth: float | str = 1.0,
        algorithm: str = "auto",
        kernel: str = "gaussian",
        metric: str = "euclidean",
        atol: float = 0,
        rtol: float = 0,
        breadth_first: bool = True,
        leaf_size: int = 40,
        metric_params: Mapping[str, Any] | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelDensity:
        """Grow the tree, and choose the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : KernelDensity
        """
        params = check_params(self)
        X = check_X(self, X)
        task = FitTask.start(self, X)
        weights = check_weights(sample_weight, len(X), np.float64)
        tree = _grow(params, X, weights)
        attributes: dict[str, Any] = {"tree_": tree}
        if params.bandwidth == "leave-one-out":
            found = leave_one_out_bandwidth(tree, params.kernel)
            if found.warning is not None:
                warn(f"KernelDensity: {found.warning}")
            attributes |= {"bandwidth_": found.bandwidth, "log_likelihood_": found.log_likelihood}
        else:
            attributes["bandwidth_"] = _rule_of_thumb(params.bandwidth, *X.shape)
        return self._finish(task, attributes, unset=("log_likelihood_",))

    def score_samples(self, X: Any) -> FloatArray:
        """The log density at each row of X.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        log_density : array of shape (n_queries,)
        """
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        total = self.tree_.sum_weight
        logs = self.tree_.kernel_density(
            X, self.bandwidth_, kernel=self.kernel, atol=self.atol * total, rtol=self.rtol, return_log=True
        )
        return np.asarray(logs - np.log(total))

    def score(self, X: Any, y: Any = None) -> np.float64:
        """The log likelihood of all rows of X: the sum of their log densities.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
        y : ignored

        Returns
        -------
        log_likelihood : float
        """
        return np.float64(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> FloatArray:
        """Rows drawn from the density; of Euclidean distances, and of the kernels "gaussian" and "tophat".

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState or None, default=None

        Returns
        -------
        X : array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if self.kernel not in ("gaussian", "tophat"):
            raise NotImplementedError(f"rows are drawn for kernel='gaussian' and kernel='tophat', not for {self.kernel!r}.")
        data, weights = self.tree_.data, self.tree_.sample_weight
        random = check_random_state(random_state)
        places = random.uniform(0, 1, size=n_samples)
        if weights is None:
            rows = (places * len(data)).astype(np.int64)
        else:
            sums = np.cumsum(weights)
            rows = np.searchsorted(sums, places * sums[-1])
        if self.kernel == "gaussian":
            return np.atleast_2d(random.normal(data[rows], self.bandwidth_))
        return np.asarray(data[rows] + self.bandwidth_ * _points_in_ball(random, n_samples, data.shape[1]))


def _grow(params: SimpleNamespace, X: FloatArray, weights: FloatArray | None) -> SearchTree:
    algorithm = params.algorithm
    if algorithm == "auto":
        algorithm = "kd_tree" if params.metric in KDTree.valid_metrics else "ball_tree"
    if params.metric not in TREES[algorithm].valid_metrics:
        raise ValueError(
            f"invalid metric for algorithm={algorithm!r}: metric={params.metric!r}; use algorithm='ball_tree', or one of "
            f"{TREES[algorithm].valid_metrics}."
        )
    tree: Any = TREES[algorithm]
    grown: SearchTree = tree(
        X, leaf_size=params.leaf_size, metric=params.metric, sample_weight=weights, **(params.metric_params or {})
    )
    return grown


def _rule_of_thumb(bandwidth: float | str, n: int, d: int) -> float:
    if bandwidth == "scott":
        return float(n ** (-1 / (d + 4)))
    if bandwidth == "silverman":
        return float((n * (d + 2) / 4) ** (-1 / (d + 4)))
    return float(bandwidth)


def _points_in_ball(random: np.random.RandomState, n: int, d: int) -> FloatArray:
    """Evenly in the unit ball: normal directions, their lengths mapped by the distribution of a chi-square."""
    directions = random.normal(size=(n, d))
    squares = (directions**2).sum(axis=1)
    lengths = gammainc(0.5 * d, 0.5 * squares) ** (1 / d) / np.sqrt(squares)
    return np.asarray(directions * lengths[:, None])

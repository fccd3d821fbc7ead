"""Nearest neighbours as an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from sklearn.base import MultiOutputMixin

from mercer._base import FitTask, fit_method
from mercer._params import Integer, Null, Rule, check_params
from mercer.neighbors._base import SEARCH_RULES
from mercer.neighbors._questions import RADIUS, NearestOf, WithinOf


class NearestNeighbors(MultiOutputMixin, NearestOf, WithinOf):  # type: ignore[misc]  # scikit-learn has no types
    """The nearest rows of a query, and all rows within a radius of it.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows `kneighbors` gives.
    radius : float, default=1.0
        How far `radius_neighbors` looks.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How rows are searched; it changes the time, and nothing of the answer. "auto" chooses by the shape of X, the metric and
        the number of neighbours.
    leaf_size : int, default=30
        How many rows a leaf of a tree holds at most.
    metric : str, callable or DistanceMetric, default="minkowski"
        The distance: a name, "precomputed" for X that holds distances, or a function of two rows.
    p : float, default=2
        The power of Minkowski's distance: 1, 2 and infinity are the Manhattan, the Euclidean and the maximum distance.
    metric_params : dict, default=None
        Parameters of the metric, such as `w`, weights of the features of Minkowski's distance.
    n_jobs : int or None, default=None
        The number of threads; None is as many as there are processors. Answers do not depend on it.

    Attributes
    ----------
    effective_metric_ : str or callable
        The metric, Minkowski's by its own name for 1, 2 and infinity.
    effective_metric_params_ : dict
        Its parameters.
    effective_algorithm_ : {"ball_tree", "kd_tree", "brute"}
        The algorithm that was chosen.
    n_samples_fit_ : int
        The number of fitted rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Rows are in order by distance and then by number, and distances are computed in double precision from differences: answers
    are the same for every algorithm and any number of threads. Rows asked for their own neighbours (`X=None`) leave themselves
    out, and nothing but themselves.

    References
    ----------
    J. H. Friedman, J. L. Bentley, R. A. Finkel: An algorithm for finding best matches in logarithmic expected time. ACM
    Transactions on Mathematical Software 3, 1977.

    Examples
    --------
    >>> from mercer.neighbors import NearestNeighbors
    >>> search = NearestNeighbors(n_neighbors=2, radius=0.4).fit([[0, 0, 2], [1, 0, 0], [0, 0, 1]])
    >>> search.kneighbors([[0, 0, 1.3]], return_distance=False)
    array([[2, 0]])
    >>> search.radius_neighbors([[0, 0, 1.3]], return_distance=False)[0]
    array([2])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "n_neighbors": Integer(1) | Null(),
        "radius": RADIUS | Null(),
        **SEARCH_RULES,
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Make rows ready to be searched.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With `metric="precomputed"`, the distances between all rows.
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = self._check_rows(X)
        task = FitTask.start(self, X)
        return self._finish(task, self._searched(X, params, params.n_neighbors))

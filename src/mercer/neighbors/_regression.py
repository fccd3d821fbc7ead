"""Regression by the mean of the neighbours' targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer._arrays import FloatArray
from mercer._base import FitTask, fit_method
from mercer._params import Integer, Rule, check_params
from mercer._trace import warn
from mercer._tuning import Choices, Integers, Reals, Space
from mercer.neighbors._base import SEARCH_RULES, NeighborsEstimator, joined
from mercer.neighbors._questions import RADIUS, NearestOf, WithinOf
from mercer.neighbors._sweep import NeighborsSweep
from mercer.neighbors._targets import number_attributes
from mercer.neighbors._votes import WEIGHT_RULES, Neighbourhoods, Weighting, weighting_of


class AveragingNeighbors(RegressorMixin, MultiOutputMixin, NeighborsEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What regressors by neighbours share, whichever rows they take for neighbours."""

    weights: Any
    bandwidth: float
    _targets: FloatArray
    _dtype: Any
    _is_vector: bool

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Make rows ready to be searched.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With `metric="precomputed"`, the distances between all rows.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_outputs)

        Returns
        -------
        self
        """
        params = check_params(self)
        X, y = self._check_rows(X, y)
        targets = number_attributes(y)
        task = FitTask.start(self, X, y)
        return self._finish(task, {**targets, **self._searched(X, params, getattr(params, "n_neighbors", None))})

    def _weighting(self) -> Weighting:
        return weighting_of(self)

    def _means(self, parts: Iterable[Neighbourhoods]) -> FloatArray:
        by, n_threads = self._weighting(), self._n_threads
        means = joined([part.means(by, self._targets, n_threads) for part in parts]).astype(self._dtype, copy=False)
        return means[:, 0] if self._is_vector else means


class NearestMeans(NearestOf, AveragingNeighbors):
    """Regressors by the k nearest rows."""

    def predict(self, X: Any) -> FloatArray:
        """The mean of the targets of each row's neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            None predicts the fitted rows, each by others than itself.

        Returns
        -------
        y : array of shape (n_queries,) or (n_queries, n_outputs)
        """
        return self._means(self._neighbourhoods(X))


class KNeighborsRegressor(NeighborsSweep, NearestMeans):
    r"""The weighted mean of the targets of the k nearest rows.

    With the neighbours :math:`N(x)` of a row, their distances :math:`d_i` and weights :math:`w(d_i)`,

    .. math:: f(x) = \frac{\sum_{i \in N(x)} w(d_i)\, y_i}{\sum_{i \in N(x)} w(d_i)}.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number k of neighbours.
    weights : {"uniform", "distance", "gaussian"}, callable or None, default="uniform"
        How much each counts: one; :math:`1/d` (where a distance is zero, only such rows count);
        :math:`\exp(-d^2/h)`; or what a function gives for an array of distances, of the same shape. None is "uniform".
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How rows are searched; it changes the time, and nothing of the answer.
    leaf_size : int, default=30
        How many rows a leaf of a tree holds at most.
    p : float, default=2
        The power of Minkowski's distance.
    metric : str, callable or DistanceMetric, default="minkowski"
        The distance: a name, "precomputed" for X that holds distances, or a function of two rows.
    metric_params : dict, default=None
        Parameters of the metric, such as `w`, weights of the features of Minkowski's distance.
    n_jobs : int or None, default=None
        The number of threads; None is as many as there are processors. Answers do not depend on it.
    bandwidth : float, default=1.0
        The h of "gaussian" weights.

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
    Queries are answered some at a time: memory does not grow with their number. `tune` and `KNeighborsRegressorCV` search once
    for all numbers of neighbours and all weights.

    References
    ----------
    N. S. Altman: An introduction to kernel and nearest-neighbor nonparametric regression. The American Statistician 46, 1992.

    Examples
    --------
    >>> from mercer.neighbors import KNeighborsRegressor
    >>> KNeighborsRegressor(n_neighbors=2).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]])
    array([0.5])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {"n_neighbors": Integer(1), **WEIGHT_RULES, **SEARCH_RULES}
    _search_space: ClassVar[Mapping[str, Space]] = {
        "n_neighbors": Integers(1, 50, log=True),
        "weights": Choices("uniform", "distance"),
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str | Callable[[Any], Any] | None = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        bandwidth: float = 1.0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.bandwidth = bandwidth


class RadiusNeighborsRegressor(WithinOf, AveragingNeighbors):
    r"""The weighted mean of the targets of all rows within a radius.

    With the rows :math:`N(x)` within the radius, their distances :math:`d_i` and weights :math:`w(d_i)`,

    .. math:: f(x) = \frac{\sum_{i \in N(x)} w(d_i)\, y_i}{\sum_{i \in N(x)} w(d_i)}.

    Parameters
    ----------
    radius : float, default=1.0
        How far neighbours are away at most.
    weights : {"uniform", "distance", "gaussian"}, callable or None, default="uniform"
        How much each counts: one; :math:`1/d` (where a distance is zero, only such rows count);
        :math:`\exp(-d^2/h)`; or what a function gives for an array with an array of distances for each query. None is
        "uniform".
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How rows are searched; it changes the time, and nothing of the answer.
    leaf_size : int, default=30
        How many rows a leaf of a tree holds at most.
    p : float, default=2
        The power of Minkowski's distance.
    metric : str, callable or DistanceMetric, default="minkowski"
        The distance: a name, "precomputed" for X that holds distances, or a function of two rows.
    metric_params : dict, default=None
        Parameters of the metric, such as `w`, weights of the features of Minkowski's distance.
    n_jobs : int or None, default=None
        The number of threads; None is as many as there are processors. Answers do not depend on it.
    bandwidth : float, default=1.0
        The h of "gaussian" weights.

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
    A row without neighbours is predicted as NaN, with one warning. Queries are answered some at a time: memory is bounded by
    what one of them finds.

    References
    ----------
    N. S. Altman: An introduction to kernel and nearest-neighbor nonparametric regression. The American Statistician 46, 1992.

    Examples
    --------
    >>> from mercer.neighbors import RadiusNeighborsRegressor
    >>> RadiusNeighborsRegressor(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]])
    array([0.5])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "radius": Reals(0.1, 100.0, log=True),
        "weights": Choices("uniform", "distance"),
    }
    _no_candidate: ClassVar[str | None] = "its radius depends on the units of the data: no default suits all"
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {"radius": RADIUS, **WEIGHT_RULES, **SEARCH_RULES}

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: str | Callable[[Any], Any] | None = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        bandwidth: float = 1.0,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.bandwidth = bandwidth

    def predict(self, X: Any) -> FloatArray:
        """The mean of the targets of each row's neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            None predicts the fitted rows, each by others than itself.

        Returns
        -------
        y : array of shape (n_queries,) or (n_queries, n_outputs)
            NaN for a row without neighbours.
        """
        means = self._means(self._surroundings(X))
        if np.isnan(means).any():
            n_alone = int(np.isnan(means if self._is_vector else means[:, 0]).sum())
            warn(
                "One or more samples have no neighbors within specified radius; predicting NaN. They are "
                f"{n_alone} of {len(means)}; raise radius."
            )
        return means

"""Classification by a vote of the neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, MultiOutputMixin

from mercer._arrays import FloatArray
from mercer._base import FitTask, fit_method
from mercer._labels import Labels
from mercer._params import Integer, Rule, check_params, check_value
from mercer._tuning import Choices, Integers, Reals, Space
from mercer.neighbors._base import SEARCH_RULES, NeighborsEstimator, joined
from mercer.neighbors._outlier_labels import OUTLIER_LABEL, find_outlier_labels, label_outliers, share_outliers
from mercer.neighbors._questions import RADIUS, NearestOf, WithinOf
from mercer.neighbors._sweep import NeighborsSweep
from mercer.neighbors._targets import ClassTargets, Codes
from mercer.neighbors._votes import TIE_RULES, WEIGHT_RULES, Neighbourhoods, Weighting, weighting_of


class VotingNeighbors(ClassifierMixin, MultiOutputMixin, NeighborsEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What classifiers by neighbours share, whichever rows they take for neighbours."""

    weights: Any
    bandwidth: float
    ties: str
    classes_: Any
    outputs_2d_: bool
    _codes: list[Codes]

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Make rows ready to be searched.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With `metric="precomputed"`, the distances between all rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Returns
        -------
        self
        """
        params = check_params(self)
        X, y = self._check_rows(X, y)
        targets = ClassTargets.of(y)
        learnt = self._learnt(targets, params)
        task = FitTask.start(self, X, y)
        return self._finish(task, {**learnt, **self._searched(X, params, getattr(params, "n_neighbors", None))})

    def _learnt(self, targets: ClassTargets, params: SimpleNamespace) -> dict[str, Any]:
        """What a fit stores of the classes."""
        return targets.attributes()

    @property
    def _classes(self) -> list[Labels]:
        return self.classes_ if self.outputs_2d_ else [self.classes_]

    def _vote(self) -> tuple[Weighting, str]:
        """How neighbours vote: parameters may have been set since the fit."""
        weighting, ties = self._weighting(), self.ties
        return weighting, ties if ties == "first" else check_value(type(self).__name__, "ties", ties, TIE_RULES["ties"])

    def _weighting(self) -> Weighting:
        return weighting_of(self)

    def _winners(self, parts: Iterable[Neighbourhoods]) -> list[npt.NDArray[np.int64]]:
        """The place of each query's class, for each output; -1 for a query without neighbours."""
        (by, ties), n_threads = self._vote(), self._n_threads
        outputs = list(zip(self._codes, map(len, self._classes), strict=True))
        found = [[part.winners(by, codes, n_classes, ties, n_threads) for codes, n_classes in outputs] for part in parts]
        return [joined(list(of_output)) for of_output in zip(*found, strict=True)]

    def _shares(self, parts: Iterable[Neighbourhoods]) -> list[FloatArray]:
        """The share of each class among each query's neighbours, a matrix for each output."""
        by, n_threads = self._vote()[0], self._n_threads
        outputs = list(zip(self._codes, map(len, self._classes), strict=True))
        found = [[part.shares(by, codes, n_classes, n_threads) for codes, n_classes in outputs] for part in parts]
        return [joined(list(of_output)) for of_output in zip(*found, strict=True)]

    def _labels(self, winners: list[npt.NDArray[np.int64]]) -> Labels:
        """Labels of places, a column for each output, or of the one output a vector."""
        columns = [classes.take(places) for classes, places in zip(self._classes, winners, strict=True)]
        return np.stack(columns, axis=1).astype(self._classes[0].dtype, copy=False) if self.outputs_2d_ else columns[0]


class NearestVotes(NearestOf, VotingNeighbors):
    """Classifiers by the k nearest rows."""

    def predict(self, X: Any) -> Labels:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            None predicts the fitted rows, each by others than itself.

        Returns
        -------
        y : array of shape (n_queries,) or (n_queries, n_outputs)
        """
        return self._labels(self._winners(self._neighbourhoods(X)))

    def predict_proba(self, X: Any) -> Any:
        """The share of each class in the weight of each row's neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            None predicts the fitted rows, each by others than itself.

        Returns
        -------
        p : array of shape (n_queries, n_classes), or a list of them
            One for each output where there are several.
        """
        shares = self._shares(self._neighbourhoods(X))
        return shares if self.outputs_2d_ else shares[0]


class KNeighborsClassifier(NeighborsSweep, NearestVotes):
    r"""The class that has most weight among the k nearest rows.

    With the neighbours :math:`N(x)` of a row, their distances :math:`d_i` and weights :math:`w(d_i)`,

    .. math:: p_c(x) = \frac{\sum_{i \in N(x),\, y_i = c} w(d_i)}{\sum_{i \in N(x)} w(d_i)}.

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
    ties : {"first", "closest"}, default="first"
        Which of several classes of equal weight wins: the first, or that of the closest neighbour.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or a list of such arrays
        The sorted classes, of each output where there are several.
    outputs_2d_ : bool
        Whether y had several outputs.
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
    Queries are answered some at a time: memory does not grow with their number. `tune` and `KNeighborsClassifierCV` search once
    for all numbers of neighbours and all weights.

    References
    ----------
    T. M. Cover, P. E. Hart: Nearest neighbor pattern classification. IEEE Transactions on Information Theory 13, 1967.

    Examples
    --------
    >>> from mercer.neighbors import KNeighborsClassifier
    >>> X, y = [[3.0], [-4.0], [-1.0]], [1, 1, 0]
    >>> KNeighborsClassifier(n_neighbors=3).fit(X, y).predict([[0.0]])
    array([1])
    >>> KNeighborsClassifier(n_neighbors=3, weights="distance").fit(X, y).predict([[0.0]])
    array([0])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {"n_neighbors": Integer(1), **WEIGHT_RULES, **TIE_RULES, **SEARCH_RULES}
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
        ties: str = "first",
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
        self.ties = ties


class RadiusNeighborsClassifier(WithinOf, VotingNeighbors):
    r"""The class that has most weight among all rows within a radius.

    With the rows :math:`N(x)` within the radius, their distances :math:`d_i` and weights :math:`w(d_i)`,

    .. math:: p_c(x) = \frac{\sum_{i \in N(x),\, y_i = c} w(d_i)}{\sum_{i \in N(x)} w(d_i)}.

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
    outlier_label : label, "most_frequent", list of labels or None, default=None
        The class of a row without neighbours: a label (one for each output, in a list, where there are several) or that of most
        rows. None is an error that names such rows.
    metric_params : dict, default=None
        Parameters of the metric, such as `w`, weights of the features of Minkowski's distance.
    n_jobs : int or None, default=None
        The number of threads; None is as many as there are processors. Answers do not depend on it.
    bandwidth : float, default=1.0
        The h of "gaussian" weights.
    ties : {"first", "closest"}, default="first"
        Which of several classes of equal weight wins: the first, or that of the closest neighbour.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or a list of such arrays
        The sorted classes, of each output where there are several.
    outlier_label_ : list of labels or None
        The label of rows without neighbours, for each output.
    outputs_2d_ : bool
        Whether y had several outputs.
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
    Queries are answered some at a time: memory is bounded by what one of them finds.

    References
    ----------
    E. Fix, J. L. Hodges: Discriminatory analysis, nonparametric discrimination. USAF School of Aviation Medicine, 1951.

    Examples
    --------
    >>> from mercer.neighbors import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5]])
    array([0])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "radius": Reals(0.1, 100.0, log=True),
        "weights": Choices("uniform", "distance"),
    }
    _no_candidate: ClassVar[str | None] = "its radius depends on the units of the data: no default suits all"
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "radius": RADIUS,
        **WEIGHT_RULES,
        **TIE_RULES,
        "outlier_label": OUTLIER_LABEL,
        **SEARCH_RULES,
    }

    outlier_label_: list[Any] | None

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: str | Callable[[Any], Any] | None = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        outlier_label: Any = None,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        bandwidth: float = 1.0,
        ties: str = "first",
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.bandwidth = bandwidth
        self.ties = ties

    def _learnt(self, targets: ClassTargets, params: SimpleNamespace) -> dict[str, Any]:
        return {**targets.attributes(), "outlier_label_": find_outlier_labels(params.outlier_label, targets)}

    def predict(self, X: Any) -> Labels:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            None predicts the fitted rows, each by others than itself.

        Returns
        -------
        y : array of shape (n_queries,) or (n_queries, n_outputs)
        """
        winners = self._winners(self._surroundings(X, sort=self.ties == "closest"))
        is_alone = winners[0] < 0
        labels = self._labels([np.maximum(places, 0) for places in winners])
        if is_alone.any():
            labels = label_outliers(labels, is_alone, self.outlier_label_)
        return labels

    def predict_proba(self, X: Any) -> Any:
        """The share of each class in the weight of each row's neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            None predicts the fitted rows, each by others than itself.

        Returns
        -------
        p : array of shape (n_queries, n_classes), or a list of them
            One for each output where there are several. A row without neighbours has the share one of `outlier_label_`, or
            zeros where that is none of the classes.
        """
        alone: list[npt.NDArray[np.bool_]] = []

        def watched(parts: Iterable[Neighbourhoods]) -> Iterable[Neighbourhoods]:
            for part in parts:
                alone.append(part.is_empty)
                yield part

        shares = self._shares(watched(self._surroundings(X)))
        is_alone = joined(alone)
        if is_alone.any():
            share_outliers(shares, self._classes, is_alone, self.outlier_label_)
        return shares if self.outputs_2d_ else shares[0]

"""The clusters of all rows and the model that labels new ones, as the script of a run makes them anew."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from mercer._arrays import FloatArray
from mercer._runs.clustering.measures import by_size
from mercer._runs.clustering.methods import Data, Labels, Method, Trial
from mercer._runs.clustering.table import ClusterTable
from mercer._runs.pipelines import PREPARER
from mercer.cluster import KMeans
from mercer.neighbors import KNeighborsClassifier, NearestCentroid

CLUSTERER = "clusterer"
_NUMBERED = ("cluster_centers_", "weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_")


@dataclass(frozen=True)
class FinalClusters:
    """What a run came to."""

    labels: Labels  # of all rows
    estimator: Any  # not fitted, as the script names it
    rule: Any  # fitted: it labels rows that are made ready
    how: str  # in words
    agreement: float  # share of the rows to which the rule gives the label that they have
    warnings: list[str]

    def pipeline(self, table: ClusterTable) -> Pipeline:
        """What labels new rows of the table."""
        return Pipeline([(PREPARER, table.preparer), (CLUSTERER, self.rule)])


def final_clusters(table: ClusterTable, trial: Trial | None, seed: int) -> FinalClusters:
    """Fit the chosen clustering to all rows, or to the rows compared where the method is quadratic. None: one cluster."""
    if trial is None:
        model = KMeans(1, n_init=1, random_state=seed)
        labels = np.zeros(len(table.X), dtype=np.intp)
        return FinalClusters(
            labels, KMeans(1, n_init=1, random_state=seed), model.fit(table.X), "There is one cluster.", 1.0, []
        )
    rows = np.arange(len(table.X)) if trial.method.takes_all else table.compared
    data = Data(table.X if len(rows) == len(table.X) else table.X[rows])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, model = trial.method.fit(trial.settings, data, seed)
    labels = by_size(found)
    rule, how = _rule(trial.method, model, data.X, found, labels)
    predicted = np.asarray(rule.predict(table.X), dtype=np.intp)
    agreement = float(np.mean(predicted[rows] == labels))
    predicted[rows] = labels
    messages = sorted({str(warning.message) for warning in caught})
    return FinalClusters(predicted, trial.method.estimator(trial.settings, data.X, seed), rule, how, agreement, messages)


def _rule(method: Method, model: Any, X: FloatArray, found: Labels, labels: Labels) -> tuple[Any, str]:
    """What labels new rows, and in words."""
    if method.takes_all and np.array_equal(numbered(model, found, labels).predict(X), labels):
        return model, (
            "A new row is in the cluster of its nearest centre."
            if hasattr(model, "cluster_centers_")
            else "A new row is in the component that is most probable for it; `mercer predict` gives the probabilities of all."
        )
    if method.has_number:
        words = f"{method.name} itself cannot label new rows: a new row is in the cluster whose centroid is nearest."
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a column is constant within clusters: centroids do not mind
            return NearestCentroid().fit(X, labels), words
    words = f"{method.name} itself cannot label new rows: a new row is with the row that is nearest, noise if that is noise."
    return KNeighborsClassifier(1).fit(X, labels), words


def numbered(model: Any, found: Labels, labels: Labels) -> Any:
    """The model with its clusters in the order of their sizes, so that its predictions are the numbers that labels have."""
    order = np.zeros(int(found.max()) + 1, dtype=np.intp)
    order[labels] = found  # labels are numbered without gaps
    is_tied = getattr(model, "covariance_type", None) == "tied"
    n_clusters = len(np.unique(found))
    if n_clusters < len(order):  # an empty component has no rows to be numbered by
        return model
    for name in _NUMBERED:
        if hasattr(model, name) and not (is_tied and name not in ("weights_", "means_")):
            setattr(model, name, getattr(model, name)[order])
    if hasattr(model, "labels_"):
        model.labels_ = labels.astype(model.labels_.dtype)
    return model

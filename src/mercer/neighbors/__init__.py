"""Nearest neighbours: one search engine (`_search`), what stands on it, and scikit-learn's other estimators, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.neighbors import *  # noqa: F403

    from mercer.neighbors._centroid import NearestCentroid as NearestCentroid
    from mercer.neighbors._choice import (
        KNeighborsClassifierCV as KNeighborsClassifierCV,
        KNeighborsRegressorCV as KNeighborsRegressorCV,
    )
    from mercer.neighbors._classification import (
        KNeighborsClassifier as KNeighborsClassifier,
        RadiusNeighborsClassifier as RadiusNeighborsClassifier,
    )
    from mercer.neighbors._concentration import (
        DistanceConcentration as DistanceConcentration,
        distance_concentration as distance_concentration,
    )
    from mercer.neighbors._condensed import CondensedNearestNeighbor as CondensedNearestNeighbor
    from mercer.neighbors._graphs import (
        KNeighborsTransformer as KNeighborsTransformer,
        RadiusNeighborsTransformer as RadiusNeighborsTransformer,
        kneighbors_graph as kneighbors_graph,
        radius_neighbors_graph as radius_neighbors_graph,
    )
    from mercer.neighbors._kernel_density import KernelDensity as KernelDensity
    from mercer.neighbors._lsh import LSH as LSH
    from mercer.neighbors._metric_learning.components import NeighborhoodComponentsAnalysis as NeighborhoodComponentsAnalysis
    from mercer.neighbors._metric_learning.margins import LMNN as LMNN
    from mercer.neighbors._outliers import LocalOutlierFactor as LocalOutlierFactor
    from mercer.neighbors._regression import (
        KNeighborsRegressor as KNeighborsRegressor,
        RadiusNeighborsRegressor as RadiusNeighborsRegressor,
    )
    from mercer.neighbors._trees import BallTree as BallTree, KDTree as KDTree
    from mercer.neighbors._unsupervised import NearestNeighbors as NearestNeighbors

__getattr__, __dir__ = exports(
    __name__,
    {
        "._centroid": ("NearestCentroid",),
        "._choice": ("KNeighborsClassifierCV", "KNeighborsRegressorCV"),
        "._classification": ("KNeighborsClassifier", "RadiusNeighborsClassifier"),
        "._concentration": ("DistanceConcentration", "distance_concentration"),
        "._condensed": ("CondensedNearestNeighbor",),
        "._graphs": ("KNeighborsTransformer", "RadiusNeighborsTransformer", "kneighbors_graph", "radius_neighbors_graph"),
        "._outliers": ("LocalOutlierFactor",),
        "._regression": ("KNeighborsRegressor", "RadiusNeighborsRegressor"),
        "._unsupervised": ("NearestNeighbors",),
        "._kernel_density": ("KernelDensity",),
        "._lsh": ("LSH",),
        "._trees": ("BallTree", "KDTree"),
        "._metric_learning.components": ("NeighborhoodComponentsAnalysis",),
        "._metric_learning.margins": ("LMNN",),
    },
)

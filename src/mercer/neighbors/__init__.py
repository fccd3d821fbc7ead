"""Nearest neighbours: one search engine (`_search`), what stands on it, and scikit-learn's other estimators, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.neighbors import *  # noqa: F403

    from mercer.neighbors._centroid import NearestCentroid as NearestCentroid
    from mercer.neighbors._concentration import (
        DistanceConcentration as DistanceConcentration,
        distance_concentration as distance_concentration,
    )

__getattr__, __dir__ = exports(
    __name__,
    {
        "._centroid": ("NearestCentroid",),
        "._concentration": ("DistanceConcentration", "distance_concentration"),
    },
)

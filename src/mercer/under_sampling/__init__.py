"""Resamplers that leave out rows of common classes, under imbalanced-learn's names."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from mercer.under_sampling._condensed import CondensedNearestNeighbour as CondensedNearestNeighbour
    from mercer.under_sampling._edited import EditedNearestNeighbours as EditedNearestNeighbours
    from mercer.under_sampling._near_miss import NearMiss as NearMiss
    from mercer.under_sampling._random import RandomUnderSampler as RandomUnderSampler
    from mercer.under_sampling._tomek import TomekLinks as TomekLinks

__getattr__, __dir__ = exports(
    __name__,
    {
        "._condensed": ("CondensedNearestNeighbour",),
        "._edited": ("EditedNearestNeighbours",),
        "._near_miss": ("NearMiss",),
        "._random": ("RandomUnderSampler",),
        "._tomek": ("TomekLinks",),
    },
    peers=(),
)

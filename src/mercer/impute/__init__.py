"""Imputation of missing values."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.impute import *  # noqa: F403

    from mercer.impute._knn import KNNImputer as KNNImputer

__getattr__, __dir__ = exports(__name__, {"._knn": ("KNNImputer",)})

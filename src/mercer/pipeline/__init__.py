"""Pipelines that may resample while they are fitted; scikit-learn's unions of features are passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.pipeline import *  # noqa: F403

    from mercer.pipeline._pipeline import Pipeline as Pipeline, make_pipeline as make_pipeline

__getattr__, __dir__ = exports(__name__, {"._pipeline": ("Pipeline", "make_pipeline")})

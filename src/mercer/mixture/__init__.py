"""Mixture models."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.mixture import *  # noqa: F403

    from mercer.mixture._bayesian import BayesianGaussianMixture as BayesianGaussianMixture
    from mercer.mixture._likelihood import GaussianMixture as GaussianMixture
    from mercer.mixture._selection import ComponentsCurve as ComponentsCurve, select_n_components as select_n_components

__getattr__, __dir__ = exports(
    __name__,
    {
        "._bayesian": ("BayesianGaussianMixture",),
        "._likelihood": ("GaussianMixture",),
        "._selection": ("ComponentsCurve", "select_n_components"),
    },
)

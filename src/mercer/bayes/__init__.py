"""The Bayes classifier, from known densities and priors."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from mercer.bayes._classifier import BayesClassifier as BayesClassifier, BayesRisk as BayesRisk

__getattr__, __dir__ = exports(__name__, {"._classifier": ("BayesClassifier", "BayesRisk")}, peers=())

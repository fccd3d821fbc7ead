"""Hidden Markov models, in hmmlearn's interface."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from mercer.hmm._categorical import CategoricalHMM as CategoricalHMM
    from mercer.hmm._gaussian import GaussianHMM as GaussianHMM
    from mercer.hmm._gmm import GMMHMM as GMMHMM
    from mercer.hmm._poisson import PoissonHMM as PoissonHMM

__getattr__, __dir__ = exports(
    __name__,
    {
        "._categorical": ("CategoricalHMM",),
        "._gaussian": ("GaussianHMM",),
        "._gmm": ("GMMHMM",),
        "._poisson": ("PoissonHMM",),
    },
    peers=(),
)

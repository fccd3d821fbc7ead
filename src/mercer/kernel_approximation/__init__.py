"""Feature maps whose inner products come close to a kernel, each with its error measured."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.kernel_approximation import *  # noqa: F403

    from mercer.kernel_approximation._chi_squared import (
        AdditiveChi2Sampler as AdditiveChi2Sampler,
        SkewedChi2Sampler as SkewedChi2Sampler,
    )
    from mercer.kernel_approximation._fourier import RBFSampler as RBFSampler
    from mercer.kernel_approximation._nystroem import Nystroem as Nystroem
    from mercer.kernel_approximation._sketch import PolynomialCountSketch as PolynomialCountSketch

__getattr__, __dir__ = exports(
    __name__,
    {
        "._chi_squared": ("AdditiveChi2Sampler", "SkewedChi2Sampler"),
        "._fourier": ("RBFSampler",),
        "._nystroem": ("Nystroem",),
        "._sketch": ("PolynomialCountSketch",),
    },
)

"""Kernels: one small object each, with its values, its diagonal, its feature map where there is one, and an algebra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mercer._params import InvalidParameterError
from mercer.kernels._base import Constant, Kernel, Normalized, OnFeatures, Power, Product, Scaled, Sum
from mercer.kernels._given import Function, Precomputed
from mercer.kernels._matrix import KernelMatrix
from mercer.kernels._numeric import (
    RBF,
    AdditiveChiSquared,
    ChiSquared,
    Cosine,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
)
from mercer.kernels._positive import is_psd
from mercer.kernels._sequences import Spectrum, Subsequence

__all__ = [  # noqa: RUF022  the order of `sorted`, as in every module
    "AdditiveChiSquared",
    "ChiSquared",
    "Constant",
    "Cosine",
    "Function",
    "KERNELS",
    "Kernel",
    "KernelMatrix",
    "Laplacian",
    "Linear",
    "Normalized",
    "OnFeatures",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RBF",
    "Scaled",
    "Sigmoid",
    "Spectrum",
    "Subsequence",
    "Sum",
    "as_kernel",
    "is_psd",
]

# Every kernel that estimators take by name, which is scikit-learn's.
KERNELS: dict[str, type[Kernel]] = {
    "additive_chi2": AdditiveChiSquared,
    "chi2": ChiSquared,
    "cosine": Cosine,
    "laplacian": Laplacian,
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "precomputed": Precomputed,
    "rbf": RBF,
    "sigmoid": Sigmoid,
}


def as_kernel(
    kernel: Any,
    X: Any = None,
    *,
    gamma: float | str | None = None,
    degree: float = 3,
    coef0: float = 1,
    by: str = "matrices",
    params: Mapping[str, Any] | None = None,
) -> Kernel:
    """The kernel that a name, a function or a `Kernel` stands for, with the parameters that an estimator has for names.

    Parameters
    ----------
    kernel : str, callable or Kernel
        A key of `KERNELS`; a function (see `Function`); a `Kernel`, which has its own parameters.
    X : rows, default=None
        Those of a fit: parameters that are said in terms of the rows (gamma="scale") become numbers. They stay as they are
        if None.
    gamma, degree, coef0 : default=None, 3 and 1
        Parameters of a kernel that is named, of those that it has. `gamma=None` is the kernel's own default.
    by, params : default="matrices" and None
        What a function takes (see `Function`).

    Returns
    -------
    kernel : Kernel

    Examples
    --------
    >>> from mercer.kernels import as_kernel
    >>> as_kernel("rbf", [[0.0, 2.0], [2.0, 0.0]], gamma="scale")
    RBF(gamma=0.5)
    """
    if isinstance(kernel, str) and kernel in KERNELS:
        kind = KERNELS[kernel]
        given = {"gamma": gamma, "degree": degree, "coef0": coef0}
        own = {name: given[name] for name in kind._rules if name in given}
        if own.get("gamma", 0.0) is None:
            del own["gamma"]
        made = kind(**own)
    elif isinstance(kernel, Kernel):
        made = kernel
    elif callable(kernel) and not isinstance(kernel, type):
        made = Function(kernel, by=by, params=params)
    else:
        names = ", ".join(map(repr, sorted(KERNELS)))
        raise InvalidParameterError(f"kernel={kernel!r} is not valid; it must be a Kernel, a callable or one of {names}.")
    return made if X is None else made.resolved(X)

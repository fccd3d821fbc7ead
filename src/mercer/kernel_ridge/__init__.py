"""Kernel ridge regression, and scikit-learn's other names, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.kernel_ridge import *  # noqa: F403

    from mercer.kernel_ridge._model import KernelRidge as KernelRidge

__getattr__, __dir__ = exports(__name__, {"._model": ("KernelRidge",)})

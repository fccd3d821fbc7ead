"""Regression by the rows around a query, weighted by a kernel of their distance."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from mercer.kernel_regression._model import KernelRegression as KernelRegression

__getattr__, __dir__ = exports(__name__, {"._model": ("KernelRegression",)}, peers=())

"""Functions of sparse matrices, compiled: scikit-learn's, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.utils.sparsefuncs_fast import *  # noqa: F403

__getattr__, __dir__ = exports(__name__)

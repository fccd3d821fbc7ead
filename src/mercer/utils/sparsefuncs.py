"""Functions of sparse matrices: scikit-learn's, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.utils.sparsefuncs import *  # noqa: F403

__getattr__, __dir__ = exports(__name__)

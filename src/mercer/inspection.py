"""Partial dependence, permutation importance, decision boundaries: scikit-learn's, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.inspection import *  # noqa: F403

__getattr__, __dir__ = exports(__name__)

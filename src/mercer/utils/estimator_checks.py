"""Checks of estimators: scikit-learn's, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.utils.estimator_checks import *  # noqa: F403

__getattr__, __dir__ = exports(__name__)

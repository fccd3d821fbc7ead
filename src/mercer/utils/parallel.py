"""Parallel loops that keep scikit-learn's configuration: scikit-learn's, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.utils.parallel import *  # noqa: F403

__getattr__, __dir__ = exports(__name__)

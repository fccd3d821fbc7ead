"""Support vector machines."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.svm import *  # noqa: F403

    from mercer.svm._linear_svc import LinearSVC as LinearSVC
    from mercer.svm._linear_svr import LinearSVR as LinearSVR
    from mercer.svm._margins import Margins as Margins

__getattr__, __dir__ = exports(
    __name__,
    {
        "._linear_svc": ("LinearSVC",),
        "._linear_svr": ("LinearSVR",),
        "._margins": ("Margins",),
    },
)

"""Support vector machines."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.svm import *  # noqa: F403

    from mercer.svm._choice import SVCCV as SVCCV, SVRCV as SVRCV
    from mercer.svm._linear_svc import LinearSVC as LinearSVC
    from mercer.svm._linear_svr import LinearSVR as LinearSVR
    from mercer.svm._margins import Margins as Margins
    from mercer.svm._nu_svc import NuSVC as NuSVC
    from mercer.svm._one_class import OneClassSVM as OneClassSVM
    from mercer.svm._svc import SVC as SVC
    from mercer.svm._svr import SVR as SVR, NuSVR as NuSVR

__getattr__, __dir__ = exports(
    __name__,
    {
        "._choice": ("SVCCV", "SVRCV"),
        "._linear_svc": ("LinearSVC",),
        "._linear_svr": ("LinearSVR",),
        "._margins": ("Margins",),
        "._nu_svc": ("NuSVC",),
        "._one_class": ("OneClassSVM",),
        "._svc": ("SVC",),
        "._svr": ("NuSVR", "SVR"),
    },
)

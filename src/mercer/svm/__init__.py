"""Support vector machines."""

from mercer.svm._linear_svc import LinearSVC
from mercer.svm._linear_svr import LinearSVR

__all__ = ["LinearSVC", "LinearSVR"]

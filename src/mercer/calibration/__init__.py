"""Calibration of probabilities."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.calibration import *  # noqa: F403

    from mercer.calibration._classifier import CalibratedClassifierCV as CalibratedClassifierCV
    from mercer.calibration._curve import calibration_curve as calibration_curve

__getattr__, __dir__ = exports(
    __name__,
    {
        "._classifier": ("CalibratedClassifierCV",),
        "._curve": ("calibration_curve",),
    },
)

"""Calibration of probabilities."""

from mercer.calibration._classifier import CalibratedClassifierCV
from mercer.calibration._curve import calibration_curve

__all__ = ["CalibratedClassifierCV", "calibration_curve"]

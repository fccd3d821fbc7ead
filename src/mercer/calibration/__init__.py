"""Calibration of probabilities."""

__all__: list[str] = []

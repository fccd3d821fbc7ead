"""Regression by losses other than the square: Huber, log-cosh, quantiles."""

"""Measures of a test set and their confidence intervals: what `evaluate` and the report share."""

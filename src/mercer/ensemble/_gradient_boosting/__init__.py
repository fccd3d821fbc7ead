"""Gradient boosting of exact trees (Friedman)."""

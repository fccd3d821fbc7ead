"""Tuning against grid search."""

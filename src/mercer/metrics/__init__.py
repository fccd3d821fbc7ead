"""Measures of how good predictions are."""

__all__: list[str] = []

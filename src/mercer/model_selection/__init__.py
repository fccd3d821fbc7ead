"""Splits, searches and the whole protocol of learning."""

__all__: list[str] = []

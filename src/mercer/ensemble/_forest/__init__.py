"""Forests: bags of rows, trees in one store, and what the rows left out of the bags say."""

"""Distances and kernels between all rows of two matrices: the files behind `mercer.metrics.pairwise`."""

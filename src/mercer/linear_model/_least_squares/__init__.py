"""Ordinary least squares: the estimator, its solvers, and the sums over rows that they need."""

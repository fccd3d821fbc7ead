"""Least squares with an l2 penalty: direct and iterative solvers, leave-one-out, classifiers."""

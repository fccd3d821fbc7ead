"""Least squares with penalties that set coefficients to zero: l1, elastic net, groups, lp; paths and cross-validation."""

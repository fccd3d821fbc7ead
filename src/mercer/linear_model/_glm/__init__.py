"""Generalised linear models: families, links, and the regressors over them."""

"""Importing this enables `IterativeImputer` of `mercer.impute`."""

import sklearn.experimental.enable_iterative_imputer  # noqa: F401

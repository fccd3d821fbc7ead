"""Importing this enables `HalvingGridSearchCV` and `HalvingRandomSearchCV` of `mercer.model_selection`."""

import sklearn.experimental.enable_halving_search_cv  # noqa: F401

"""Importing this is not needed: histogram boosting is no longer experimental."""

import sklearn.experimental.enable_hist_gradient_boosting  # noqa: F401

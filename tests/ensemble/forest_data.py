"""Data sets for forests and bagging: real ones, and generated ones with categories and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
    make_friedman1,
)


def with_categories(n: int = 600, *, is_regression: bool = False) -> tuple[Any, Any]:
    """A table whose target hangs on the set that a category is in, and on a number."""
    random = np.random.RandomState(0)
    letters = np.array(list("abcdefghij"))[random.randint(10, size=n)]
    table = pd.DataFrame({"letter": pd.Categorical(letters), "x": random.randn(n), "noise": random.randn(n)})
    value = 2.0 * np.isin(letters, list("acegi")) + table["x"].to_numpy() + 0.3 * random.randn(n)
    return table, value if is_regression else np.where(value > 1, "high", "low")


def with_missing(n: int = 600) -> tuple[Any, Any]:
    """Numbers of which a fifth is missing, and more often so in one class."""
    X, y = make_classification(n, 10, n_informative=5, random_state=0)
    random = np.random.RandomState(1)
    X[random.rand(*X.shape) < 0.1 + 0.2 * y[:, None]] = np.nan
    return X, y


CLASSIFICATION = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: tuple(part[:500] for part in load_digits(return_X_y=True)),
    "missing": with_missing,
    "categories": with_categories,
}
REGRESSION = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman": lambda: make_friedman1(400, noise=1.0, random_state=0),
    "categories": lambda: with_categories(is_regression=True),
}


def for_the_peer(X: Any) -> Any:
    """The table as scikit-learn's trees can have it: categories as ones and zeros."""
    return pd.get_dummies(X).to_numpy(dtype=float) if hasattr(X, "columns") else X

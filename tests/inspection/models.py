"""Models of every way in which answers follow from sums, and one of which nothing is known, on the same small table."""

from __future__ import annotations

import numpy as np

from mercer.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from mercer.linear_model import LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier
from mercer.naive_bayes import GaussianNB
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor

RANDOM = np.random.RandomState(0)
X = RANDOM.randn(150, 5)
NUMBERS = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.2 * RANDOM.randn(150)
PAIRS = np.column_stack([NUMBERS, X[:, 1]])
TWO = (NUMBERS > 0).astype(int)
THREE = np.array(["low", "mid", "high"])[np.digitize(NUMBERS, [-1, 1])]
WITH_MISSING = np.where(RANDOM.rand(*X.shape) < 0.1, np.nan, X)

TREES = {
    "forest of numbers": (RandomForestRegressor(10, random_state=0), WITH_MISSING, NUMBERS),
    "forest of two targets": (RandomForestRegressor(10, random_state=0), WITH_MISSING, PAIRS),
    "random thresholds": (ExtraTreesRegressor(10, random_state=0), X, NUMBERS),
    "forest of two classes": (RandomForestClassifier(10, random_state=0), WITH_MISSING, TWO),
    "forest of three classes": (RandomForestClassifier(10, random_state=0), X, THREE),
    "forest of weighted trees": (
        RandomForestClassifier(20, random_state=0, oob_score=True, tree_weights="oob"),
        X.astype(np.float32),
        THREE,
    ),
    "histogram boosting of numbers": (HistGradientBoostingRegressor(max_iter=10), WITH_MISSING, NUMBERS),
    "histogram boosting of two classes": (HistGradientBoostingClassifier(max_iter=10), np.asfortranarray(WITH_MISSING), TWO),
    "histogram boosting of three classes": (HistGradientBoostingClassifier(max_iter=10), X.astype(np.float32), THREE),
    "boosting of numbers": (GradientBoostingRegressor(n_estimators=10, random_state=0), X, NUMBERS),
    "boosting of three classes": (GradientBoostingClassifier(n_estimators=10, random_state=0), X, THREE),
    "tree of numbers": (DecisionTreeRegressor(random_state=0), WITH_MISSING, NUMBERS),
    "tree of three classes": (DecisionTreeClassifier(random_state=0), X, THREE),
}
OTHERS = {
    "ridge": (Ridge(), X, NUMBERS),
    "ridge of two targets": (Ridge(), X, PAIRS),
    "ridge of labels": (RidgeClassifier(), X, TWO),
    "counts": (PoissonRegressor(), X, np.exp(X[:, 0])),
    "logistic, two classes": (LogisticRegression(), X, TWO),
    "logistic, three classes": (LogisticRegression(), X, THREE),
    "naive Bayes": (GaussianNB(), X, THREE),
}
ALL = {**TREES, **OTHERS}


def fitted(name):
    """The model of a name, with its rows and what is true of them."""
    model, rows, target = ALL[name]
    return model.fit(rows, target), rows, target

"""Makes the files that every later version has to load: `python -m tests.persistence.make_golden`, once a release.

Beside each model lie a few rows and what it says of them.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures

import mercer
from mercer.calibration import CalibratedClassifierCV
from mercer.cluster import KMeans
from mercer.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestRegressor,
    StackingClassifier,
)
from mercer.linear_model import (
    GeneralizedLinearRegressor,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    Ridge,
    SGDRegressor,
)
from mercer.preprocessing import RobustScaler, StandardScaler, TablePreparer
from mercer.svm import LinearSVC
from mercer.tree import ID3, DecisionTreeClassifier
from tests.common.state import outputs

FOLDER = Path(__file__).parent / "golden"
N_ROWS, N_KEPT = 40, 10


def models() -> dict[str, Any]:
    """Models that between them hold every kind of object. Names stay: later versions add to them."""
    members = [("logistic", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    columns = ColumnTransformer(
        [("numbers", make_pipeline(SimpleImputer(), StandardScaler()), [0, 1]), ("more", RobustScaler(), slice(2, 4))]
    )
    return {
        "ridge": Ridge(alpha=0.5),
        "linear_regression": LinearRegression(),
        "lasso_cv": LassoCV(alphas=5, cv=2),
        "glm": GeneralizedLinearRegressor(),
        "sgd": SGDRegressor(random_state=0, average=True, max_iter=5, tol=None),
        "logistic": LogisticRegression(class_weight={"a": 1.0, "bé": 2.0, "c": 1.5}),
        "linear_svc": LinearSVC(random_state=0),
        "kmeans": KMeans(3, random_state=0, n_init=1),
        "tree": DecisionTreeClassifier(max_depth=3),
        "id3": ID3(max_depth=2),
        "forest": RandomForestRegressor(3, max_depth=3, random_state=0),
        "isolation_forest": IsolationForest(n_estimators=3, random_state=0),
        "boosting": GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=np.random.RandomState(0)),
        "histogram_boosting": HistGradientBoostingClassifier(max_iter=3, categorical_features=[3]),
        "adaboost": AdaBoostClassifier(n_estimators=3, random_state=0),
        "bagging": BaggingRegressor(Ridge(), 3, random_state=0),
        "stacking": StackingClassifier(members, cv=2),
        "pipeline": make_pipeline(columns, FeatureUnion([("same", "passthrough"), ("two", PolynomialFeatures(2))]), Ridge()),
        "target": TransformedTargetRegressor(Ridge(), func=np.cbrt, inverse_func=np.exp, check_inverse=False),
        "sigmoid": CalibratedClassifierCV(LogisticRegression(), cv=2),
        "isotonic": CalibratedClassifierCV(DecisionTreeClassifier(max_depth=2), cv=2, method="isotonic"),
        "temperature": CalibratedClassifierCV(LogisticRegression(), cv=2, method="temperature"),
        "prepared": make_pipeline(TablePreparer(), Ridge()),
        "encoders": ColumnTransformer([("one", OneHotEncoder(handle_unknown="ignore"), [3]), ("two", OrdinalEncoder(), [3])]),
    }


def make_rows() -> tuple[Any, Any, Any]:
    """Rows whose last column is a category, a number for each, and a class for each."""
    random = np.random.RandomState(0)
    X = np.column_stack([random.randn(N_ROWS, 3).round(2), random.randint(3, size=N_ROWS)])
    values = X[:, 0] + 0.5 * X[:, 1] + (X[:, 3] == 1)
    return X, values, np.array(["a", "bé", "c"])[np.digitize(values, [-0.3, 0.7])]


def main() -> None:
    folder = FOLDER / mercer.__version__
    folder.mkdir(parents=True, exist_ok=True)
    missing = {name: model for name, model in models().items() if not (folder / f"{name}.mercer").exists()}
    if not missing:
        sys.exit(f"{folder} is complete: files of a release are never made again.")
    X, values, classes = make_rows()
    for name, model in missing.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, classes if is_classifier(model) else values)
        mercer.save(model, folder / f"{name}.mercer")
        said = {method: np.asarray(answer) for method, answer in outputs(model, X[:N_KEPT]).items()}
        np.savez_compressed(folder / f"{name}.npz", X=X[:N_KEPT], **said)


if __name__ == "__main__":
    main()

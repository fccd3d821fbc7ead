"""Fits a peer of the command. A script for an environment of its own: FLAML asks for older packages than Mercer's other peers.

It reads what to do from a JSON file, and writes predictions for the test rows (`.npy`) and facts of the fit (JSON).
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

_MOST_CATEGORIES = 255  # of a column of scikit-learn's histogram boosting
_N_FOLDS = 5


def flaml(X: Any, y: Any, task: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """As its documentation shows it; the list of estimators is its own choice."""
    from flaml import AutoML

    search = AutoML()
    log = str(Path(task["folder"]) / "flaml.log")
    kind = "classification" if task["is_classification"] else "regression"
    options = {"time_budget": task["seconds"], "metric": task["measure"], "n_jobs": 1, "seed": task["seed"], "verbose": 0}
    search.fit(X, y, task=kind, log_file_name=log, **options)
    trials = [json.loads(line) for line in Path(log).read_text().splitlines()]
    facts = {
        "winner": search.best_estimator,
        "settings": {name: str(value) for name, value in (search.best_config or {}).items()},
        "best_after_seconds": search.time_to_find_best_model,
        "n_improvements": sum("record_id" in trial for trial in trials),
        "has_catboost": _version("catboost") is not None,
        "bytes": len(pickle.dumps(search.model)),
    }
    return search, facts


def boosting(X: Any, y: Any, task: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """scikit-learn's histogram boosting with its defaults."""
    model = _new_boosting(task).fit(X, y)
    return model, {"winner": type(model).__name__, "bytes": len(pickle.dumps(model))}


def random_search(X: Any, y: Any, task: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The same with settings drawn at random, as many as the time allows, each scored by five folds; the best is fitted."""
    from scipy.stats import loguniform, randint
    from sklearn.base import clone
    from sklearn.model_selection import ParameterSampler, cross_val_score

    space = {
        "learning_rate": loguniform(0.01, 0.3),
        "max_leaf_nodes": randint(8, 64),
        "min_samples_leaf": randint(5, 50),
        "l2_regularization": loguniform(1e-3, 10),
        "max_iter": randint(50, 300),
    }
    scoring = {"r2": "r2", "roc_auc": "roc_auc", "log_loss": "neg_log_loss"}[task["measure"]]
    base, best, n_tried, started = _new_boosting(task), (-np.inf, {}), 0, time.perf_counter()
    for settings in ParameterSampler(space, 1_000_000, random_state=task["seed"]):
        begun = time.perf_counter()
        value = cross_val_score(clone(base).set_params(**settings), X, y, scoring=scoring, cv=_N_FOLDS).mean()
        best, n_tried = max(best, (value, settings), key=lambda pair: pair[0]), n_tried + 1
        last = time.perf_counter() - begun
        if time.perf_counter() - started + last * (1 + 1 / (_N_FOLDS - 1)) > task["seconds"]:
            break
    model = base.set_params(**best[1]).fit(X, y)
    return model, {"winner": f"the best of {n_tried}", "settings": best[1], "bytes": len(pickle.dumps(model))}


PEERS = {"flaml": flaml, "boosting": boosting, "random search": random_search}


def _new_boosting(task: dict[str, Any]) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    new = HistGradientBoostingClassifier if task["is_classification"] else HistGradientBoostingRegressor
    return new(random_state=task["seed"])


def _read(task: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The features of both parts, words as categories (those of the training rows), and the target."""
    train, test = (pd.read_parquet(task[part]) for part in ("train", "test"))
    y = train.pop(task["target"])
    for name in train.columns:
        if not (pd.api.types.is_numeric_dtype(train[name]) or pd.api.types.is_bool_dtype(train[name])):
            kind = pd.CategoricalDtype(sorted(train[name].dropna().astype(object).unique()))
            train[name], test[name] = (part[name].astype(object).astype(kind) for part in (train, test))
    return train, test, y.to_numpy()


def _codes_of_many(frame: Any) -> Any:
    """Columns with more categories than histogram boosting takes are numbers."""
    many = [name for name in frame.select_dtypes("category") if len(frame[name].cat.categories) > _MOST_CATEGORIES]
    return frame.assign(**{name: frame[name].cat.codes.replace(-1, np.nan) for name in many})


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def main() -> None:
    warnings.simplefilter("ignore")
    task = json.loads(Path(sys.argv[1]).read_text())
    train, test, y = _read(task)
    if task["peer"] != "flaml":
        train, test = _codes_of_many(train), _codes_of_many(test)
    started = time.perf_counter()
    model, facts = PEERS[task["peer"]](train, y, task)
    facts["seconds_taken"] = time.perf_counter() - started
    if task["is_classification"]:
        values, facts["classes"] = model.predict_proba(test), [str(label) for label in model.classes_]
    else:
        values = model.predict(test)
    np.save(task["values"], np.asarray(values, dtype=np.float64))
    packages = ("flaml", "scikit-learn", "lightgbm", "xgboost", "catboost", "pandas", "numpy")
    facts["versions"] = {package: _version(package) for package in packages}
    facts["n_threads_allowed"] = os.environ.get("OMP_NUM_THREADS")
    Path(task["facts"]).write_text(json.dumps(facts, default=float))


if __name__ == "__main__":
    main()

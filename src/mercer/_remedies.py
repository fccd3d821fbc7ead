"""What is wrong with X, told so that it can be mended: which column, which estimators take it, and what to do.

scikit-learn's checks find what is wrong. Here their errors get what a user asks next; nothing runs unless there is an error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.utils import get_tags

from mercer._rows import with_own_structure


def explained(error: ValueError, estimator: Any, X: Any) -> ValueError:
    """An error of a check of X as one that names the column and the remedy; others are given back as they are."""
    text = str(error)
    if text.startswith("Input X contains NaN"):
        return ValueError(f"Input X contains NaN.\n{_missing(estimator, X)}")
    if text.startswith("Input X contains infinity"):
        place = _first_place(estimator, X, np.isinf)
        return ValueError(f"{text} It is in {place}." if place else text)
    if "could not convert string to float" in text or "not compatible with arrays of bytes/strings" in text:
        return ValueError(f"{text}\n{_text(estimator, X)}")
    return error


# ---- missing values


def _missing(estimator: Any, X: Any) -> str:
    place = _first_place(estimator, X, np.isnan)
    others = ", ".join(_that_take_missing_values(_kind(estimator)))
    return (
        (f"It is in {place}. " if place else "")
        + f"{_name_of(estimator)} does not accept missing values encoded as NaN natively. "
        + (f"Of Mercer's {_kind(estimator)}s these do: {others}. Or fill" if others else "Fill")
        + " them in first: mercer.preprocessing.prepare_pipeline(estimator, X) makes a pipeline that does, and "
        "mercer.impute.SimpleImputer is a step for a pipeline of your own."
    )


def _kind(estimator: Any) -> str:
    if not hasattr(estimator, "fit"):  # a function
        return "estimator"
    if is_classifier(estimator):
        return "classifier"
    if is_regressor(estimator):
        return "regressor"
    if is_outlier_detector(estimator):
        return "outlier detector"
    return "transformer" if hasattr(estimator, "transform") and not hasattr(estimator, "predict") else "estimator"


@functools.cache
def _that_take_missing_values(kind: str) -> tuple[str, ...]:
    """Mercer's estimators of a kind that say of themselves that they take NaN, by name."""
    from mercer._discovery import public_estimators

    return tuple(sorted(cls.__name__ for cls in set(public_estimators().values()) if _takes_missing_values(cls, kind)))


def _takes_missing_values(cls: type, kind: str) -> bool:
    try:
        estimator = cls()
    except TypeError:  # made of other estimators: what it takes is up to them
        return False
    return _kind(estimator) == kind and bool(get_tags(estimator).input_tags.allow_nan)


# ---- text


def _text(estimator: Any, X: Any) -> str:
    column = next(_columns_of_text(estimator, X), "X")
    # None is a tree model's table, of which some columns are categories.
    takes_categories = estimator is None or "categorical_features" in getattr(estimator, "_parameter_rules", ())
    category = (
        'X.astype({name: "category"}) (pandas) or X.cast({name: pl.Categorical}) (polars) makes a category of a column, which '
        "is taken as it is. "
    )
    return (
        f"{_name_of(estimator)} wants numbers, and {column} holds text. {category if takes_categories else ''}"
        "mercer.preprocessing.prepare_pipeline(estimator, X) makes a pipeline that encodes text."
    )


def _columns_of_text(estimator: Any, X: Any) -> Iterator[str]:
    for name, column in _columns(estimator, X):
        try:
            np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            yield name


# ---- places


def _first_place(estimator: Any, X: Any, is_bad: Callable[[Any], Any]) -> str:
    """The column and row of the first value that is NaN or infinite; empty where it cannot be told."""
    for name, column in _columns(estimator, X):
        try:
            found = np.flatnonzero(is_bad(np.asarray(column, dtype=np.float64)))
        except (TypeError, ValueError):
            continue
        if len(found):
            return f"{name}, row {found[0]}"
    return ""


def _columns(estimator: Any, X: Any) -> Iterator[tuple[str, Any]]:
    """The columns of a table or matrix with what to call them."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        for j, name in enumerate(X.columns):
            yield f"column {name!r}", X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
        return
    matrix: Any = with_own_structure(X).tocsc() if sp.issparse(X) else np.asarray(X)
    if matrix.ndim != 2:
        return
    names = getattr(estimator, "feature_names_in_", ())
    for j in range(matrix.shape[1]):
        column = matrix[:, [j]].toarray().ravel() if sp.issparse(matrix) else matrix[:, j]
        yield f"column {names[j]!r}" if len(names) == matrix.shape[1] else f"column {j}", column


def _name_of(estimator: Any) -> str:
    return "This estimator" if estimator is None else str(getattr(estimator, "__name__", type(estimator).__name__))

"""A model and data in place of predictions. Whoever gives something else hears what would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mercer._rows import count_rows


def is_model(value: Any) -> bool:
    """Whether a value is an estimator that can predict."""
    return hasattr(value, "predict") and not isinstance(value, type)


def name_of(model: Any) -> str:
    return type(model).__name__


def takes_model(owner: str, given: str, first: Any, second: Any, y: Any, *, many: bool = False) -> bool:
    """Whether the arguments are a model (or a mapping of models), X and y; if not, they are the arrays called `given`."""
    is_first = is_model(first) or (many and isinstance(first, Mapping))
    calls = f"{owner}(model, X, y) or {owner}({given})"
    if isinstance(first, type):
        raise TypeError(f"{owner}: {first.__name__} is a class; give a fitted model, as in {calls}.")
    if any(is_model(each) for value in (second, y) for each in (value.values() if isinstance(value, Mapping) else [value])):
        raise TypeError(f"{owner}: the model comes first, as in {calls}.")
    if is_first and y is None:
        raise TypeError(f"{owner}: a model needs rows and what is true of them; call {calls}.")
    if not is_first and y is not None:
        raise TypeError(f"{owner}: three arguments are a model, its rows and what is true of them; call {calls}.")
    return is_first


def predictions(owner: str, y_true: Any, y_pred: Any, y: Any) -> tuple[Any, Any]:
    """What is true and what is predicted: as given, or of a model, its rows and `y`."""
    if not takes_model(owner, "y_true, y_pred", y_true, y_pred, y):
        return y_true, y_pred
    model, X = y_true, y_pred
    require_rows(owner, X, y)
    return y, model.predict(X)


def require_rows(owner: str, X: Any, y: Any) -> None:
    if count_rows(X) != count_rows(y):
        raise ValueError(f"{owner}: X has {count_rows(X)} rows and y {count_rows(y)}; they must have as many.")

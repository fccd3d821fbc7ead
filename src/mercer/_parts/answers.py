"""Predictions and transformations of tables in parts: each part by itself, lazily where the table is lazy.

A Dask collection gives a Dask array. A table in files gives an array of predictions, as these are small beside it, and for a
transformation what further steps and fits go over part by part.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._parts.entry import is_collection, lies_in_parts, parted
from mercer._parts.passes import Parted, each, load

_ROWWISE = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples", "predict_joint_log_proba",
    "transform", "inverse_transform",
)  # fmt: skip
_LAZY = ("transform", "inverse_transform")


def answer_parts(cls: type) -> None:
    """Have the methods of an estimator's class that take rows take them in parts too."""
    for name in (*_ROWWISE, "score", "fit_transform", "fit_predict"):
        method = inspect.getattr_static(cls, name, None)
        if inspect.isfunction(method) and not hasattr(method, "_answers_parts"):
            wrapper = _BY_NAME.get(name, _rowwise)(method)
            wrapper._answers_parts = True  # type: ignore[attr-defined]
            setattr(cls, name, wrapper)


def _rowwise(method: Callable[..., Any]) -> Callable[..., Any]:
    """Each row has its answer, whatever the others are."""

    @functools.wraps(method)
    def answer(self: Any, X: Any, *arguments: Any, **keywords: Any) -> Any:
        if not lies_in_parts(X):
            return method(self, X, *arguments, **keywords)
        of_part = functools.partial(_answer, self, method.__name__, arguments, keywords)
        rows = parted(X)
        sample = of_part(_sample(rows))
        if is_collection(X):
            return _lazily(X, of_part, sample)
        answers = rows.then(of_part, dtype=sample.dtype, n_columns=sample.shape[1] if sample.ndim == 2 else None)
        return answers if method.__name__ in _LAZY else np.asarray(answers)

    return answer


def _answer(estimator: Any, name: str, arguments: Any, keywords: Any, rows: Any) -> Any:
    return np.asarray(getattr(estimator, name)(rows, *arguments, **keywords))


def _sample(rows: Parted) -> Any:
    block = rows.source.sample()
    return load(block if rows.columns is None else block[list(rows.columns)], rows.steps)


def _lazily(X: Any, of_part: Callable[[Any], Any], sample: Any) -> Any:
    """As a Dask array, whose blocks are made when they are asked for."""
    import dask.array

    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        meta = np.empty((0,) * sample.ndim, dtype=sample.dtype)
        of_rows = functools.partial(_unless_empty, of_part, sample)
        if sample.ndim == 1:
            return dask.array.map_blocks(of_rows, X, drop_axis=1, dtype=sample.dtype, meta=meta)
        return dask.array.map_blocks(of_rows, X, chunks=(X.chunks[0], (sample.shape[1],)), dtype=sample.dtype, meta=meta)
    blocks = [dask.delayed(_unless_empty, pure=False)(of_part, sample, block) for block in X.to_delayed()]
    shape = (np.nan, *sample.shape[1:])
    return dask.array.concatenate([dask.array.from_delayed(block, shape, dtype=sample.dtype) for block in blocks])


def _unless_empty(of_part: Callable[[Any], Any], sample: Any, rows: Any) -> Any:
    return of_part(rows) if len(rows) else sample[:0]


def _score(method: Callable[..., Any]) -> Callable[..., Any]:
    """Of the predictions in memory; of models whose scores add up over rows, the sum over the parts."""

    @functools.wraps(method)
    def score(self: Any, X: Any, y: Any = None, *arguments: Any, **keywords: Any) -> Any:
        if not lies_in_parts(X):
            return method(self, X, y, *arguments, **keywords)
        if getattr(self, "_scores_add_up", False):
            return float(sum(each(_score_of_part, self, parted(X), *map(parted, arguments), **_parted_values(keywords))))
        arguments, keywords = tuple(map(_in_memory, arguments)), {name: _in_memory(value) for name, value in keywords.items()}
        return method(self, parted(X), _in_memory(y), *arguments, **keywords)

    return score


def _score_of_part(estimator: Any, X: Any, *arguments: Any, **keywords: Any) -> float:
    return float(estimator.score(X, None, *arguments, **keywords))


def _parted_values(keywords: dict[str, Any]) -> dict[str, Any]:
    return {name: parted(value) for name, value in keywords.items()}


def _in_memory(value: Any) -> Any:
    return np.asarray(parted(value)) if lies_in_parts(value) else value


def _fit_then(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A fit, and then the answer for the same parts: no vector of all rows is kept in between."""

    def wrap(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def fit_and_answer(self: Any, X: Any, *arguments: Any, **keywords: Any) -> Any:
            if not lies_in_parts(X):
                return method(self, X, *arguments, **keywords)
            return getattr(self.fit(X, *arguments, **keywords), name)(X)

        return fit_and_answer

    return wrap


_BY_NAME = {"score": _score, "fit_transform": _fit_then("transform"), "fit_predict": _fit_then("predict")}

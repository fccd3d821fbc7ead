"""What each column of a table gave to each prediction: Shapley values that add up to it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from mercer._arrays import FloatArray
from mercer._explaining.table_model import TableModel, Unit
from mercer._tables import as_table
from mercer.inspection import (
    ExactExplainer,
    Explanation,
    KernelExplainer,
    LinearExplainer,
    PermutationExplainer,
    TreeExplainer,
)

METHODS = ("auto", "tree", "linear", "exact", "kernel", "permutation")
MOST_EXACT = 8  # columns whose coalitions are no more than the permutation explainer asks for
_FEWEST_EVALUATIONS = 500  # of the permutation explainer, for one row
_SAME = 1e-6  # how far two figures that are the same may be apart, relative to the larger of them and one


class Unexplained(ValueError):
    """The method cannot explain the model; the message says why."""


def contributions(
    found: TableModel, X: Any, background: Any, method: str = "auto", seed: int = 0, n_evaluations: int | None = None
) -> tuple[Explanation, Unit]:
    """An explanation with the axes row, feature and output, in the columns of X, and the unit that it is in.

    What trees and linear models give by their structure is given to what the preparation made of the columns, and added up for
    each column; methods by coalitions put rows together in the columns of the table itself. "auto" takes the structure where
    that gives the same (`by_structure`), and coalitions otherwise: `n_evaluations` of them for a row, where it is given.
    """
    if method in ("tree", "linear"):
        return _by_structure(found, X, background, method)
    if method == "auto":
        if (structural := by_structure(found, X, background)) is not None:
            return structural, found.unit
        is_whole = background.shape[1] <= MOST_EXACT and (n_evaluations is None or n_evaluations >= 2 ** background.shape[1])
        method = "exact" if is_whole else "permutation"
    return _by_coalitions(found, X, background, method, seed, n_evaluations), found.unit


def by_structure(found: TableModel, X: Any, background: Any) -> Explanation | None:
    """The Shapley values of the columns from trees or coefficients, where these give them; None where they do not.

    Trees give them where every column became one column and what the trees add up to is what is predicted. What a linear model
    gives to the columns that one became adds up to what it gives to that one.
    """
    for method in ("tree", "linear"):
        if method == "tree" and any(len(column.outputs) > 1 for column in found.reports().values()):
            continue
        try:
            explanation, unit = _by_structure(found, X, background, method, is_raw=True)
        except Unexplained:
            continue
        if unit == found.unit:
            return explanation
    return None


def _by_coalitions(
    found: TableModel, X: Any, background: Any, method: str, seed: int, n_evaluations: int | None
) -> Explanation:
    """From rows that are partly the row and partly those of the background."""
    n_evaluations = n_evaluations or max(_FEWEST_EVALUATIONS, 2 * (2 * background.shape[1] + 1))
    try:
        if method == "exact":
            explanation = ExactExplainer(found, background)(X)
        elif method == "kernel":
            explanation = KernelExplainer(found, background, random_state=seed)(X)
        else:
            explanation = PermutationExplainer(found, background, random_state=seed)(X, max_evals=n_evaluations)
    except (ValueError, TypeError) as error:
        raise Unexplained(str(error)) from error
    return _with_outputs(explanation)


def _by_structure(found: TableModel, X: Any, background: Any, method: str, *, is_raw: bool = False) -> tuple[Explanation, Unit]:
    """From the trees or the coefficients of the model, added up over what became of each column."""
    if found.preparation is None:
        raise Unexplained(
            "the model is not one estimator behind a preparation of its columns; exact, permutation and kernel take any"
        )
    preparer, estimator = found.preparation
    made, made_background = preparer.transform(X), preparer.transform(background)
    if method == "tree":
        part, total = _from_trees(estimator, made, made_background, is_raw=is_raw)
    else:
        part, total = _from_coefficients(estimator, made, made_background)
    part = _with_outputs(part, total if found.n_outputs == 2 else None)
    if part.values.shape[2] != found.n_outputs:
        raise Unexplained(f"it has {part.values.shape[2]} outputs where the model has {found.n_outputs}")
    names = as_table(X, "X").names
    place = {name: number for number, name in enumerate(preparer.get_feature_names_out())}
    values = np.zeros((len(part), len(names), found.n_outputs))
    for column in preparer.report_:
        if column.used:
            values[:, names.index(column.name)] = part.values[:, [place[name] for name in column.outputs]].sum(axis=1)
    outputs = found(X)
    whole = Explanation(values, part.base_values, feature_names=names, method=part.method, predictions=outputs)
    if (whole.additivity_error or 0.0) <= _SAME:
        return whole, found.unit
    return replace(whole, predictions=part.predictions), "raw score"


def _from_trees(estimator: Any, X: FloatArray, background: FloatArray, *, is_raw: bool) -> tuple[Explanation, float]:
    """Interventional values, of probabilities where the trees can be explained in them, else of what they add up to.

    Those of probabilities that are a function of that sum are rescaled ones, as shap has them; `is_raw` leaves them out. The
    second figure is what the outputs of two classes add up to.
    """
    if reason := TreeExplainer.unsuited(estimator, background):
        raise Unexplained(reason)
    if is_classifier(estimator) and not is_raw:
        with suppress(ValueError):
            return TreeExplainer(estimator, background, model_output="probability")(X), 1.0
    try:
        return TreeExplainer(estimator, background)(X), 0.0
    except (ValueError, TypeError) as error:
        raise Unexplained(str(error)) from error


def _from_coefficients(estimator: Any, X: FloatArray, background: FloatArray) -> tuple[Explanation, float]:
    """Values of the linear predictor; the second figure as of trees."""
    try:
        return LinearExplainer(estimator, background)(X), 0.0
    except (ValueError, TypeError) as error:
        raise Unexplained(str(error)) from error


def _with_outputs(explanation: Explanation, total: float | None = None) -> Explanation:
    """With an axis of outputs, also of one; where two outputs have a known total, the one that is there becomes both."""
    values, base = explanation.values, explanation.base_values
    predictions, errors = explanation.predictions, explanation.standard_errors
    if values.ndim == 2:
        values, base = values[..., None], base[:, None]
        predictions = None if predictions is None else predictions[:, None]
        errors = None if errors is None else errors[..., None]
    if total is not None and values.shape[2] == 1:
        values = np.concatenate([-values, values], axis=2)
        base = np.concatenate([total - base, base], axis=1)
        predictions = None if predictions is None else np.concatenate([total - predictions, predictions], axis=1)
        errors = None if errors is None else np.concatenate([errors, errors], axis=2)
    return Explanation(
        values,
        base,
        explanation.data,
        feature_names=explanation.feature_names,
        method=explanation.method,
        predictions=predictions,
        standard_errors=errors,
        n_evaluations=explanation.n_evaluations,
    )

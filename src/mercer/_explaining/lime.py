"""The weights of a linear surrogate near each row, in the columns of a table."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from mercer._arrays import FloatArray
from mercer._explaining.contributions import Unexplained
from mercer._explaining.table_model import TableModel
from mercer.inspection import Explanation, LimeExplainer

if TYPE_CHECKING:
    import polars as pl

POOR_FIT = 0.2  # a weighted R2 below it says that the surrogate says little
_FEWEST_ROWS = 10


def lime_weights(found: TableModel, X: pl.DataFrame, training: pl.DataFrame, seed: int) -> tuple[Explanation, FloatArray]:
    """Coefficients with the axes row, feature and output, in place of values that add up, and the weighted R2 of each.

    Those of numbers are by standard deviation of their column, those of words say what the row's own word does.
    """
    numbers = [name for name, kind in training.schema.items() if kind.is_numeric()]
    whole = training.drop_nulls(numbers).drop_nans([name for name in numbers if training.schema[name].is_float()])
    if whole.height < _FEWEST_ROWS:
        raise Unexplained("too few training rows have a number in every column of numbers; Shapley values take missing ones")
    for name in numbers:
        if not np.isfinite(X[name].to_numpy().astype(np.float64)).all():
            raise Unexplained(f"column {name!r} has no number in every row; Shapley values take missing ones")
    mode = "regression" if found.classes is None else "classification"
    n_outputs = found.n_outputs
    try:
        explainer = LimeExplainer(whole, mode=mode, random_state=seed, feature_selection="none")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # how well it fits is said in what is returned
            said = explainer.explain_instances(
                X,
                found if found.classes is not None else lambda rows: found(rows)[:, 0],
                labels=range(n_outputs),
                num_features=X.shape[1],
            )
    except (ValueError, TypeError) as error:
        raise Unexplained(str(error)) from error
    values, base = np.zeros((X.height, X.width, n_outputs)), np.zeros((X.height, n_outputs))
    fidelity = np.zeros((X.height, n_outputs))
    for i, each in enumerate(said):
        for output, label in enumerate(each.scores):
            for j, weight in each.local_exp[label]:
                values[i, j, output] = weight
            base[i, output], fidelity[i, output] = each.intercept[label], each.scores[label]
    words = "LIME, a linear surrogate of 5,000 samples about the training rows"
    return Explanation(values, base, feature_names=X.columns, method=words, predictions=found(X)), fidelity

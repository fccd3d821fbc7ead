"""A pipeline of a TablePreparer and an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mercer._params import check_params
from mercer.preprocessing._table.needs import categorical_parameter, needs_of
from mercer.preprocessing._table.preparer import TablePreparer


def prepare_pipeline(estimator: Any, X: Any, **params: Any) -> Pipeline:
    """A pipeline of a `TablePreparer` and the estimator, which is told what columns are categories.

    The kinds of the columns are inferred from X once and written down in the preparer's parameters: every fold of a
    cross-validation then has the same columns, and the pipeline can be cloned, searched and saved like any other.

    Parameters
    ----------
    estimator : estimator
        It is cloned. If it has a parameter `categorical_features`, that is set.
    X : as in `TablePreparer.fit`
    **params
        Parameters of `TablePreparer`.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Not fitted; its steps are "preparer" and "estimator".

    Examples
    --------
    >>> from mercer.datasets import load_penguins
    >>> from mercer.ensemble import RandomForestClassifier
    >>> from mercer.preprocessing import prepare_pipeline
    >>> penguins = load_penguins(frame=None)
    >>> X, y = penguins.split()
    >>> pipeline = prepare_pipeline(RandomForestClassifier(random_state=0), X).fit(X, y)
    >>> pipeline.named_steps["estimator"].categorical_features
    [0, 1]
    """
    preparer = TablePreparer(estimator, **params).fit(X)
    needs = needs_of(check_params(preparer))
    names = list(preparer.kinds_) if hasattr(preparer, "feature_names_in_") else list(range(preparer.n_features_in_))
    is_used = [column.used for column in preparer.report_]
    model = clone(estimator)
    parameter = categorical_parameter(model)
    if parameter is not None:
        codes = np.flatnonzero(preparer.categorical_features_).tolist()
        model.set_params(**{parameter: codes or None})
    fixed = clone(preparer).set_params(
        estimator=None,
        kinds={name: column.kind for name, column in zip(names, preparer.report_, strict=True) if column.used},
        drop=[name for name, used in zip(names, is_used, strict=True) if not used],
        categories="codes" if needs.codes_categories else "one-hot",
        scaling=needs.scales,
        missing="keep" if needs.keeps_missing else "impute",
        max_categories=needs.max_categories,
    )
    return Pipeline([("preparer", fixed), ("estimator", model)])

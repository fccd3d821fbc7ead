"""What errors say: the class that the user wrote, the column, and what would do."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from mercer._remedies import explained
from mercer.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from mercer.linear_model import Lasso, LinearRegression, LogisticRegression
from mercer.preprocessing import StandardScaler
from mercer.svm import LinearSVC
from mercer.tree import DecisionTreeClassifier
from tests.common.cases import ESTIMATORS

X = pd.DataFrame(np.random.RandomState(0).randn(30, 3), columns=["age", "income", "height"])
Y = (X["age"] > 0).astype(int).to_numpy()
WITH_TEXT = X.assign(city=["rome", "paris", "lyon"] * 10)


def _with(value, X=X):
    out = X.copy()
    out.iloc[4, 1] = value
    return out


# ---- missing and infinite values


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(), LinearRegression()], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "convert", [lambda X: X, pl.DataFrame, np.asarray, sp.csr_matrix], ids=["pandas", "polars", "array", "sparse"]
)
def test_missing_values_name_the_column_and_the_estimators_that_take_them(estimator, convert):
    bad = convert(_with(np.nan) if convert is not pl.DataFrame else _with(np.nan).to_dict("list"))
    column = "'income'" if hasattr(bad, "columns") else "1"
    with pytest.raises(ValueError, match=rf"Input X contains NaN\.\nIt is in column {column}, row 4\.") as raised:
        estimator.fit(bad, Y)
    message = str(raised.value)
    assert f"{type(estimator).__name__} does not accept missing values" in message
    kind = "Regressor" if isinstance(estimator, LinearRegression) else "Classifier"
    assert f"HistGradientBoosting{kind}" in message
    assert f"DecisionTree{kind}" in message
    assert "prepare_pipeline" in message
    assert "sklearn" not in message


def test_the_estimators_that_are_named_take_missing_values():
    from mercer._remedies import _that_take_missing_values

    for kind, target in (("classifier", Y), ("regressor", X["age"])):
        named = _that_take_missing_values(kind)
        assert len(named) > 5
        for cls in ESTIMATORS:
            if cls.__name__ in named and cls.__name__ != "ID3":  # which takes categories
                cls().fit(_with(np.nan).to_numpy(), target)


def test_predictions_say_where_a_value_is_missing():
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match=r"column 'income', row 4"):
        model.predict(_with(np.nan))
    with pytest.raises(ValueError, match=r"column 1, row 4"):
        LogisticRegression().fit(X.to_numpy(), Y).predict(_with(np.nan).to_numpy())


def test_infinite_values_name_the_column():
    with pytest.raises(ValueError, match=r"Input X contains infinity.* It is in column 'income', row 4\."):
        LogisticRegression().fit(_with(np.inf), Y)


# ---- text


TREES = [HistGradientBoostingClassifier(max_iter=2), RandomForestClassifier(2), DecisionTreeClassifier()]


@pytest.mark.parametrize("wrong", [2**31 - 1, -(2**31)])
def test_the_search_for_an_infinite_value_survives_indices_that_were_overwritten(wrong):
    """Another thread may have written to sparse X after it was checked; SciPy's conversions follow any index."""
    X = sp.random(50, 4, density=0.5, format="csr", random_state=0)
    X.data[3], X.indices[5] = np.inf, wrong
    with pytest.raises(ValueError, match=r"ind(ices|ex values) must be"):
        explained(ValueError("Input X contains infinity."), None, X)


@pytest.mark.parametrize("estimator", TREES, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("convert", [lambda X: X, lambda X: pl.DataFrame(X.to_dict("list"))], ids=["pandas", "polars"])
def test_text_in_models_of_categories_names_the_column_and_both_remedies(estimator, convert):
    with pytest.raises(ValueError, match=r"column 'city' holds text") as raised:
        estimator.fit(convert(WITH_TEXT), Y)
    assert type(estimator).__name__ in str(raised.value)
    assert '"category"' in str(raised.value)
    assert "prepare_pipeline" in str(raised.value)
    estimator.fit(WITH_TEXT.astype({"city": "category"}), Y)  # the advice works


def test_text_beside_categories_is_named_too():
    table = WITH_TEXT.assign(street="a").astype({"city": "category"})
    with pytest.raises(ValueError, match=r"column 'street' holds text.*\"category\""):
        HistGradientBoostingClassifier(max_iter=2).fit(table, Y)


@pytest.mark.parametrize("estimator", [LogisticRegression(), StandardScaler()], ids=lambda e: type(e).__name__)
def test_text_elsewhere_names_the_column_and_the_pipeline(estimator):
    with pytest.raises(ValueError, match=r"column 'city' holds text.*prepare_pipeline") as raised:
        estimator.fit(WITH_TEXT, Y)
    assert "category" not in str(raised.value)
    with pytest.raises(ValueError, match=r"column 3 holds text"):
        estimator.fit(WITH_TEXT.to_numpy(), Y)


# ---- arguments


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_a_wrong_keyword_names_the_class_and_the_parameter_that_was_meant(cls):
    name = next(iter(inspect.signature(cls).parameters))
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\.__init__\(\) got an unexpected keyword argument '{name}z'"):
        cls(**{f"{name}z": 3})


def test_a_wrong_keyword_says_what_was_meant_or_what_there_is():
    with pytest.raises(TypeError, match=r"Did you mean 'n_estimators'\?$"):
        RandomForestClassifier(n_estimatorz=3)
    with pytest.raises(TypeError, match=r"It takes: alpha, fit_intercept, "):
        Lasso(xyzzy=3)
    with pytest.raises(TypeError, match=r"^RandomForestClassifier.__init__\(\) takes 1 positional argument but 2 were given"):
        RandomForestClassifier(10, "gini")


class Renamed(HistGradientBoostingRegressor):
    pass


class WithOptions(Lasso):
    def __init__(self, strength=1.0, *others, **options):
        super().__init__(alpha=strength)
        self.strength, self.others, self.options = strength, others, options


def test_users_subclasses_are_named_and_keep_their_own_arguments():
    with pytest.raises(TypeError, match=r"^Renamed\.__init__\(\) got an unexpected keyword argument 'max_iters'"):
        Renamed(max_iters=3)
    made = WithOptions(2.0, 1, anything=3)
    assert (made.alpha, made.options) == (2.0, {"anything": 3})
    assert pickle.loads(pickle.dumps(Renamed(max_iter=3))).max_iter == 3
    assert clone(Renamed(max_iter=3)).max_iter == 3
    assert next(iter(inspect.signature(Renamed).parameters)) == "loss"

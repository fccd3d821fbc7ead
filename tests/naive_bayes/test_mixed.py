"""Naive Bayes of tables: the laws that are chosen, missing cells, and the evidence of each column."""

import numpy as np
import pandas as pd
import polars
import pytest
from scipy import stats

from mercer.naive_bayes import CategoricalNB, GaussianNB, NaiveBayes
from mercer.neighbors import KernelDensity


def _table(n=300):
    random = np.random.default_rng(0)
    y = random.integers(2, size=n)
    return {
        "size": random.normal(size=n) + y,
        "count": random.poisson(3 + 2 * y).astype(float),
        "colour": np.where(random.random(n) < 0.3 + 0.4 * y, "red", "blue").astype(object),
        "flag": random.random(n) < 0.2 + 0.5 * y,
        "skewed": np.exp(2 * random.normal(size=n) + y),
        "same": np.ones(n),
    }, y


LAWS = {
    "size": "gaussian",
    "count": "poisson",
    "colour": "categorical",
    "flag": "bernoulli",
    "skewed": "kernel",
    "same": "constant",
}


@pytest.mark.parametrize("library", [dict, pd.DataFrame, polars.DataFrame])
def test_each_column_has_the_law_that_suits_it_in_every_library(library):
    table, y = _table()
    model = NaiveBayes().fit(library(table), y)
    assert model.laws_ == LAWS
    expected = NaiveBayes().fit(pd.DataFrame(table), y).predict_proba(pd.DataFrame(table))
    np.testing.assert_allclose(model.predict_proba(library(table)), expected, rtol=1e-12)


def test_laws_that_are_given_are_taken():
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = np.arange(100) % 3
    model = NaiveBayes(laws=dict.fromkeys(range(3), "gaussian")).fit(X, y)
    variance = 1e-9 * X.var(axis=0)  # each column's own, where GaussianNB adds the largest to all
    expected = GaussianNB(var_smoothing=0).fit(X, y).predict_proba(X)
    assert variance.max() < 1e-8
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-7)
    codes = np.random.default_rng(1).integers(4, size=(100, 2)).astype(float)
    model = NaiveBayes(laws={0: "categorical", "x1": "categorical"}).fit(codes, y)
    np.testing.assert_allclose(model.predict_proba(codes), CategoricalNB().fit(codes, y).predict_proba(codes), rtol=1e-10)


def test_laws_are_those_of_the_textbook():
    table, y = _table()
    of_one = {name: np.asarray(values)[y == 1] for name, values in table.items()}
    of_none = {name: np.asarray(values)[y == 0] for name, values in table.items()}
    model = NaiveBayes(alpha=0, var_smoothing=0).fit(table, y)
    found = model.log_odds(table)
    expected = {
        "size": [stats.norm(group["size"].mean(), group["size"].std()).logpdf(table["size"]) for group in (of_one, of_none)],
        "count": [stats.poisson(group["count"].mean()).logpmf(table["count"]) for group in (of_one, of_none)],
        "colour": [np.log((group["colour"][:, None] == table["colour"]).mean(axis=0)) for group in (of_one, of_none)],
        "flag": [np.log((group["flag"][:, None] == table["flag"]).mean(axis=0)) for group in (of_one, of_none)],
        "same": [np.zeros(len(y))] * 2,
    }
    for name, (one, none) in expected.items():
        np.testing.assert_allclose(found[:, list(table).index(name)], one - none, rtol=1e-9, atol=1e-12, err_msg=name)


def test_a_kernel_density_counts_the_normal_law_as_one_more_row():
    table, y = _table()
    values = table["skewed"][y == 1]
    quarters = [np.sort(values)[np.searchsorted(np.arange(1, len(values) + 1), q * len(values))] for q in (0.25, 0.75)]
    width = 0.9 * min(values.std(), (quarters[1] - quarters[0]) / 1.34) * len(values) ** -0.2
    density = np.exp(KernelDensity(bandwidth=width).fit(values[:, None]).score_samples(table["skewed"][:, None]))
    mixed = (len(values) * density + stats.norm(values.mean(), values.std()).pdf(table["skewed"])) / (len(values) + 1)
    model = NaiveBayes(laws={"skewed": "kernel"}, var_smoothing=0).fit({"skewed": table["skewed"]}, y)
    other = NaiveBayes(laws={"skewed": "kernel"}, var_smoothing=0).fit({"skewed": table["skewed"]}, 1 - y)
    np.testing.assert_allclose(
        model.log_odds({"skewed": table["skewed"]}), -other.log_odds({"skewed": table["skewed"]}), rtol=1e-9
    )
    joint = model.predict_joint_log_proba({"skewed": table["skewed"]})[:, 1] - np.log(y.mean())
    np.testing.assert_allclose(joint, np.log(mixed), rtol=1e-6)


def test_the_evidence_of_the_columns_adds_up_to_the_posterior():
    table, y = _table()
    model = NaiveBayes().fit(table, y)
    shares = model.predict_proba(table)
    odds = model.log_odds(table).sum(axis=1) + np.log(model.class_prior_[1] / model.class_prior_[0])
    np.testing.assert_allclose(odds, np.log(shares[:, 1] / shares[:, 0]), rtol=1e-8)
    np.testing.assert_allclose(model.log_odds(table, of=0), -model.log_odds(table), rtol=1e-12)
    np.testing.assert_allclose(model.log_odds(table, against=1), -model.log_odds(table), rtol=1e-12)
    with pytest.raises(ValueError, match="of='x'"):
        model.log_odds(table, of="x")


def test_with_more_classes_the_predicted_one_is_held_against_the_next():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    model = NaiveBayes().fit(X, y)
    ranked = np.sort(model.predict_log_proba(X), axis=1)
    np.testing.assert_allclose(model.log_odds(X).sum(axis=1), ranked[:, 2] - ranked[:, 1], atol=1e-9)


def test_missing_cells_are_left_out():
    table, y = _table()
    frame = pd.DataFrame(table)
    for place, name in enumerate(("size", "count", "colour", "flag", "skewed")):
        frame[name] = frame[name].astype(object).where(np.arange(len(y)) % 7 != place, None)
    frame = frame.infer_objects()
    model = NaiveBayes(laws=LAWS | {"same": "gaussian"}).fit(frame, y)
    is_missing = frame.isna().to_numpy()
    assert (model.log_odds(frame)[is_missing] == 0).all()
    there = np.asarray(frame["size"].notna())
    alone = NaiveBayes(laws={"size": "gaussian"}).fit(frame[["size"]][there].astype(float), y[there])
    np.testing.assert_allclose(
        model.log_odds(frame)[there, 0], alone.log_odds(frame[["size"]][there].astype(float))[:, 0], rtol=1e-10
    )


def test_a_class_or_a_row_or_a_column_of_missing_cells_says_nothing():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, np.nan], [np.nan, np.nan]])
    model = NaiveBayes().fit(X, ["a", "a", "b", "b"])
    assert model.laws_["x1"] == "constant"
    np.testing.assert_allclose(model.predict_proba([[np.nan, 3.0], [1.5, np.nan]])[0], [0.5, 0.5])
    np.testing.assert_allclose(model.predict_proba([[1.5, np.nan]]), [[0.5, 0.5]])  # b has the law of all rows


def test_levels_and_values_that_a_law_does_not_know_say_nothing():
    table, y = _table()
    model = NaiveBayes().fit(table, y)
    strange = {"size": ["much"], "count": [2.5], "colour": ["green"], "flag": [7.0], "skewed": [None], "same": [9.0]}
    assert (model.log_odds(strange) == 0).all()
    np.testing.assert_allclose(model.predict_proba(strange), [model.class_prior_])


@pytest.mark.parametrize(
    ("laws", "message"),
    [
        ({"length": "gaussian"}, "length"),
        ({"size": "normal"}, "must be one of 'gaussian'"),
        ({"colour": "gaussian"}, "holds words"),
        ({"size": "poisson"}, "whole numbers"),
        ({"count": "bernoulli"}, "0 and 1"),
    ],
)
def test_laws_that_cannot_be_are_refused_with_the_column(laws, message):
    table, y = _table()
    with pytest.raises(ValueError, match=message):
        NaiveBayes(laws=laws).fit(table, y)


def test_weights_are_repetitions():
    table, y = _table(120)
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    one = NaiveBayes().fit(table, y, sample_weight=weights)
    other = NaiveBayes().fit({name: np.repeat(values, weights) for name, values in table.items()}, np.repeat(y, weights))
    assert one.laws_ == other.laws_
    np.testing.assert_allclose(one.log_odds(table), other.log_odds(table), rtol=1e-6, atol=1e-8)


def test_columns_must_be_those_of_the_fit():
    table, y = _table()
    model = NaiveBayes().fit(table, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict({name: table[name] for name in reversed(table)})

"""Naive Bayes of tables: the laws that are chosen, missing cells, and the evidence of each column."""

import numpy as np
import pandas as pd
import polars
import pytest
from scipy import stats

import mercer
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


def _parts(table, n_parts):
    """Lines of a table, a part at a time."""
    n = len(table["size"])
    for part in np.array_split(np.arange(n), n_parts):
        yield {name: np.asarray(values)[part] for name, values in table.items()}, part


@pytest.mark.parametrize("n_parts", [1, 4, 30])
def test_parts_add_up_to_all_rows(n_parts):
    table, y = _table()
    laws = LAWS | {"skewed": "gaussian", "same": "poisson"}
    table["size"][::5] = np.nan
    weights = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    at_once = NaiveBayes(laws=laws).fit(table, y, sample_weight=weights)
    in_parts = NaiveBayes(laws=laws)
    for part, rows in _parts(table, n_parts):
        in_parts.partial_fit(part, y[rows], classes=[0, 1], sample_weight=weights[rows])
    assert in_parts.laws_ == at_once.laws_
    np.testing.assert_allclose(in_parts.log_odds(table), at_once.log_odds(table), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(in_parts.class_prior_, at_once.class_prior_, rtol=1e-12)
    more = at_once.partial_fit(*next((part, y[rows]) for part, rows in _parts(table, 2)))
    assert more.class_count_.sum() == weights.sum() + len(y) // 2


def test_a_column_has_its_law_chosen_once_it_has_two_values_and_the_rows_before_count():
    n = 40
    y = np.arange(n) % 2
    table = {
        "flag": np.r_[np.zeros(n // 2), y[n // 2 :]],
        "word": np.array(["a"] * (n // 2) + ["b", "a"] * (n // 4), dtype=object),
        "late": np.r_[np.full(n // 2, np.nan), np.linspace(0, 1, n // 2) + y[n // 2 :]],
        "gone": np.full(n, np.nan),
    }
    model = NaiveBayes()
    first, second = (({name: values[half] for name, values in table.items()}, y[half]) for half in np.split(np.arange(n), 2))
    model.partial_fit(*first, classes=[0, 1])
    assert model.laws_ == {"flag": "constant", "word": "categorical", "late": "constant", "gone": "constant"}
    assert (model.log_odds(first[0]) == 0).all()
    model.partial_fit(*second)
    at_once = NaiveBayes().fit(table, y)
    assert model.laws_ == at_once.laws_ == {"flag": "bernoulli", "word": "categorical", "late": "gaussian", "gone": "constant"}
    np.testing.assert_allclose(model.log_odds(table), at_once.log_odds(table), rtol=1e-10)


def test_what_parts_cannot_add_up_to_is_refused_with_the_reason():
    table, y = _table()
    with pytest.raises(ValueError, match="kernel density of column 'skewed', which keeps all rows"):
        NaiveBayes(laws={"skewed": "kernel"}).partial_fit(table, y, classes=[0, 1])
    fitted = NaiveBayes().fit(table, y)
    with pytest.raises(ValueError, match="kernel density of column 'skewed'"):
        fitted.partial_fit(table, y)
    assert NaiveBayes().partial_fit(table, y, classes=[0, 1]).laws_["skewed"] == "gaussian"

    model = NaiveBayes().partial_fit({"a": [0.0, 1.0], "b": [1.0, 2.0]}, [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="column 'a' holds 2, which the bernoulli law that was chosen"):
        model.partial_fit({"a": [0.0, 2.0], "b": [1.0, 2.0]}, [0, 1])
    with pytest.raises(ValueError, match="column 'b' holds words, and the parts before held numbers"):
        model.partial_fit({"a": [0.0, 1.0], "b": ["x", "y"]}, [0, 1])
    with pytest.raises(ValueError, match="sums of the parts before are those of its law 'bernoulli'"):
        model.set_params(laws={"a": "gaussian"}).partial_fit({"a": [0.0], "b": [1.0]}, [0])
    with pytest.raises(ValueError, match="which is not among classes"):
        model.set_params(laws=None).partial_fit({"a": [0.0], "b": [1.0]}, [2])
    assert model.class_count_.tolist() == [1, 1]  # an error leaves all as it was


def test_a_model_in_parts_goes_on_from_a_file(tmp_path):
    table, y = _table()
    (one, rows), (other, more) = _parts(table, 2)
    model = NaiveBayes().partial_fit(one, y[rows], classes=[0, 1])
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer").partial_fit(other, y[more])
    np.testing.assert_array_equal(loaded.predict_proba(table), model.partial_fit(other, y[more]).predict_proba(table))

"""What a report says of the table: distributions, missing values, outliers, associations, drift."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.stats import ks_2samp, kstwobign, spearmanr

from mercer._report.data.association import associations_of, of_pair
from mercer._report.data.columns import Feature, Sample
from mercer._report.data.content import Drift, Profile
from mercer._report.data.distributions import distribution_of
from mercer._report.data.drift import drift_of
from mercer._report.data.missing import missing_of
from mercer._report.data.outliers import outliers_of
from mercer._report.data.profile import describe_table
from mercer._report.multiplicity import holm
from mercer._report.schema import check_value
from mercer._tables import as_table

N = 400
RNG = np.random.default_rng(0)
NEVER = float("inf")


def _feature(train, test=None, levels=()):
    train = np.asarray(train, dtype=float)
    return Feature("x", train, train if test is None else np.asarray(test, dtype=float), tuple(levels))


def _words(codes, levels="abcdefgh"):
    return _feature(codes, levels=levels)


def _described(table, y, *, classes=None, seconds=10.0, leading=()):
    half = len(y) // 2
    parts = [as_table(table[:half], "X"), y[:half], as_table(table[half:], "X"), y[half:]]
    return describe_table(*parts, name="y", classes=classes, leading=list(leading), seed=0, seconds=seconds)


def test_bins_hold_all_known_rows_and_ends_hold_what_is_beyond():
    values = np.r_[RNG.normal(size=N), np.nan, 1e9]
    found = distribution_of(_feature(values, [-1e9, 0.0, np.nan]))
    assert found["edges"][0] > -10
    assert found["edges"][-1] < 10
    assert sum(found["train"]) == pytest.approx(1, abs=1e-3)
    assert found["train"][-1] > 0
    assert found["test"][0] == 0.5
    assert found["high"] == 1e9


def test_words_are_counted_and_the_rare_ones_put_together():
    codes = np.r_[np.zeros(50), np.ones(30), np.arange(2, 30)]
    found = distribution_of(_feature(codes, levels=[f"w{i}" for i in range(30)]))
    assert found["values"][:2] == ["w0", "w1"]
    assert len(found["train"]) == len(found["values"]) + 1
    assert found["n_others"] == 30 - len(found["values"])
    assert found["train"][0] == pytest.approx(50 / 108, abs=1e-4)


@pytest.mark.parametrize("values", [[1e308, -1e308] * 20, [1.0, np.nextafter(1.0, 2)] * 20, [5.0], [np.inf, 1.0], range(100)])
def test_any_numbers_have_a_distribution(values):
    found = distribution_of(_feature([value for value in values if np.isfinite(value)]))
    assert sum(found["train"]) == pytest.approx(1, abs=1e-2)
    json.dumps(found, allow_nan=False)


def test_numbers_go_together_by_their_ranks():
    x, y = RNG.normal(size=(2, N))
    y = np.exp(x + y)
    value, measure = of_pair(_feature(x), _feature(y))
    assert measure == "rank correlation"
    assert value == pytest.approx(spearmanr(x, y).statistic)
    gappy = np.where(RNG.random(N) < 0.3, np.nan, x)
    kept = ~np.isnan(gappy)
    assert of_pair(_feature(gappy), _feature(y))[0] == pytest.approx(spearmanr(x[kept], y[kept]).statistic)


def test_words_and_mixed_pairs_go_from_nothing_to_one():
    codes = RNG.integers(0, 4, N)
    assert of_pair(_words(codes), _words((codes + 1) % 4)) == (pytest.approx(1), "Cramér's V")
    assert of_pair(_words(codes), _words(RNG.integers(0, 4, N)))[0] < 0.1
    value, measure = of_pair(_words(codes), _feature(codes))
    assert (value, measure) == (pytest.approx(1), "correlation ratio")
    assert of_pair(_feature(RNG.normal(size=N)), _words(codes))[0] < 0.2


def test_what_cannot_be_measured_has_no_measure():
    x = _feature(RNG.normal(size=N))
    assert of_pair(x, _feature(np.ones(N))) is None
    assert of_pair(x, _feature(np.full(N, np.nan))) is None
    assert of_pair(x, _words(np.zeros(N))) is None


def test_the_matrix_is_symmetric_and_close_pairs_are_listed():
    x = RNG.normal(size=N)
    features = [
        Feature("a", x, x),
        Feature("b", -x + 0.1 * RNG.normal(size=N), x),
        Feature("c", RNG.normal(size=N), x),
    ]
    found, note = associations_of(features, Feature("y", x**3, x), NEVER)
    assert note is None
    assert found["names"] == ["y", "a", "b", "c"]
    assert found["matrix"][0][1] == 1.0
    assert np.array_equal(found["matrix"], np.transpose(found["matrix"]))
    assert [(pair["first"], pair["second"]) for pair in found["pairs"]] == [("a", "b")]
    assert found["pairs"][0]["value"] < -0.9
    found, note = associations_of(features, Feature("y", x**3, x), 0.0)
    assert found["names"] == ["y", "a"]
    assert "the time allowed 1 of 3" in note


def test_missing_values_are_ranked_with_what_is_missing_together():
    gone, rare = RNG.random(N) < 0.4, RNG.random(N) < 0.05
    y = Feature("y", gone.astype(float), gone.astype(float), ("no", "yes"))
    x = RNG.normal(size=N)
    features = [
        Feature("whole", x, x),
        Feature("few", np.where(rare, np.nan, x), x),
        Feature("a", np.where(gone, np.nan, x), x),
        Feature("b", np.where(gone, np.nan, x), np.full(N, np.nan)),
    ]
    lines, n_missing, patterns = missing_of(features, y)
    assert [line["column"] for line in lines] == ["a", "b", "few"]
    assert n_missing == 3
    assert lines[0]["target"] == pytest.approx(1)
    assert lines[2]["target"] < 0.2
    assert (lines[1]["train"], lines[1]["test"]) == (pytest.approx(gone.mean()), 1.0)
    assert patterns[0] == {"columns": ["a", "b"], "n_others": 0, "n": int((gone & ~rare).sum())}


def test_outliers_are_a_few_values_far_off_and_no_long_tail():
    far = np.r_[RNG.normal(size=N), 40.0, -25.0]
    found = outliers_of([_feature(far), _feature(RNG.normal(size=N)), _feature(np.exp(4 * RNG.normal(size=N)))])
    assert len(found) == 1
    assert (found[0]["n"], found[0]["farthest"]) == (2, 40.0)
    assert found[0]["low"] < -2 < 2 < found[0]["high"] < 10


def test_a_column_that_moved_is_found_among_those_that_did_not():
    x, moved = RNG.normal(size=N), RNG.normal(1, 1, N)
    others = [Feature(f"c{i}", RNG.normal(size=N), RNG.normal(size=N)) for i in range(5)]
    found, note = drift_of([*others, Feature("x", x, moved)], 0, NEVER)
    assert note is None
    assert found["n_different"] == 1
    assert found["columns"][0]["column"] == "x"
    assert found["columns"][0]["distance"] == pytest.approx(ks_2samp(x, moved).statistic)
    assert found["auc_low"] > 0.6
    assert "they are not alike" in found["reading"]
    check_value(found, Drift, "")


def test_tables_that_are_alike_are_said_to_be():
    features = [Feature(f"c{i}", RNG.normal(size=N), RNG.normal(size=N)) for i in range(6)]
    found, _ = drift_of(features, 0, NEVER)
    assert found["n_different"] == 0
    largest = max(found["columns"], key=lambda line: line["distance"])
    assert largest["p"] == pytest.approx(min(1, 6 * kstwobign.sf(largest["distance"] * np.sqrt(N / 2))))
    assert found["auc"] == pytest.approx(0.5, abs=0.1)
    assert "no better than guessing" in found["reading"]


def test_shares_of_words_and_gaps_drift_too():
    train, test = RNG.integers(0, 3, N), np.minimum(RNG.integers(0, 4, N), 2)
    gaps = np.where(RNG.random(N) < 0.3, np.nan, RNG.normal(size=N))
    features = [Feature("w", train.astype(float), test.astype(float), ("a", "b", "c")), Feature("g", RNG.normal(size=N), gaps)]
    found, _ = drift_of(features, 0, NEVER)
    assert found["n_different"] == 2
    words = {line["column"]: line for line in found["columns"]}
    assert words["w"]["distance"] == pytest.approx((test == 2).mean() - (train == 2).mean(), abs=0.02)
    assert words["w"]["words"].startswith("c: ")
    assert "missing" in words["g"]["words"]


def test_a_table_of_mixed_kinds_has_a_profile():
    table = pl.DataFrame(
        {
            "number": RNG.normal(size=N),
            "word": RNG.choice(["a", "b"], N),
            "flag": RNG.random(N) < 0.5,
            "day": pl.Series(np.arange(N)).cast(pl.Date),
            "list": [[1, 2]] * N,
            "empty": pl.Series([None] * N, dtype=pl.Float64),
            "text": [f"a row of its own {i}" for i in range(N)],
            "inf": np.where(np.arange(N) == 3, np.inf, 1.0 * np.arange(N)),
        }
    )
    found = _described(table, np.where(RNG.random(N) < 0.5, "yes", "no"), classes=["no", "yes"], leading=["word"])
    check_value(found.profile, Profile, "")
    json.dumps([found.profile, found.drift], allow_nan=False)
    names = [column["column"] for column in found.profile["columns"]]
    assert names == ["word", "number", "flag", "day", "text", "inf"]
    assert found.profile["target"]["values"] == ["yes", "no"] or found.profile["target"]["values"] == ["no", "yes"]
    assert next(column for column in found.profile["columns"] if column["column"] == "day")["kind"] == "date"
    assert found.drift["columns"][0]["column"] == "day"


@pytest.mark.parametrize("kind", ["pandas", "array", "sparse"])
def test_tables_of_any_library_have_a_profile(kind):
    X = RNG.normal(size=(N, 3)) * (RNG.random((N, 3)) < 0.5)
    table = {"pandas": pd.DataFrame(X, columns=["a", "b", "c"]), "array": X, "sparse": sp.csr_matrix(X)}[kind]
    found = _described(table, X[:, 0])
    assert len(found.profile["columns"]) == 3
    assert found.profile["associations"]["matrix"][0][1] == 1.0


def test_large_tables_are_looked_at_in_part_and_time_ends_it():
    table = as_table(np.zeros((50_000, 2)), "X")
    sample = Sample.of(table, table, (), 0)
    assert len(sample.train_rows) == len(sample.test_rows) == 20_000
    wide = as_table(np.zeros((3000, 5000)), "X")
    assert len(Sample.of(wide, wide, ("x7",), 0).train_rows) == 2_000
    assert Sample.of(wide, wide, ("x7",), 0).names[:2] == ("x7", "x0")
    found = _described(RNG.normal(size=(N, 300)), RNG.normal(size=N), seconds=1e-9)
    assert found.notes[0] == "Distributions: the time allowed 1 of 300 columns."


def test_corrected_values_bound_the_chance_of_one_false_finding():
    n_false = 0
    for seed in range(200):
        p = np.random.default_rng(seed).random(50)
        n_false += min(holm(p.tolist())) < 0.05
    assert n_false < 20

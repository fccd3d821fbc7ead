"""What TablePreparer makes of columns, and what it says of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import skew
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.preprocessing import OneHotEncoder as PeerOneHotEncoder, StandardScaler as PeerStandardScaler

import mercer.preprocessing as preprocessing
from mercer._exports import own_names
from mercer.ensemble import BaggingClassifier, HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier
from mercer.linear_model import LogisticRegression, Ridge
from mercer.preprocessing import ColumnReport, TablePreparer
from mercer.tree import ID3, DecisionTreeClassifier

N = 40
random = np.random.RandomState(0)
NUMBERS = random.randn(N) * 3 + 1
COLOURS = np.array(["red", "green", "blue", "red"] * 10, dtype=object)


def _with_gaps(values, gap=np.nan):
    values = np.array(values)
    values[::5] = gap
    return values


def _fit(values, /, **params):
    return TablePreparer(**params).fit({"x": values})


def _output(values, /, **params):
    return _fit(values, **params).transform({"x": values})


# ---- treatments


def test_numbers_are_standardised_as_scikit_learn_does():
    np.testing.assert_allclose(_output(NUMBERS), PeerStandardScaler().fit_transform(NUMBERS[:, None]), rtol=1e-12)


def test_missing_numbers_become_the_median_and_are_marked():
    values = _with_gaps(NUMBERS)
    out = _output(values, scaling=False)
    expected = SimpleImputer(strategy="median", add_indicator=True).fit_transform(values[:, None])
    np.testing.assert_array_equal(out, expected)
    assert list(_fit(values).get_feature_names_out()) == ["x", "x__missing"]


def test_missing_values_that_training_had_none_of_are_filled_without_a_mark():
    preparer = _fit(NUMBERS, scaling=False)
    out = preparer.transform({"x": np.array([np.nan, 2.0])})
    np.testing.assert_array_equal(out, [[np.median(NUMBERS)], [2.0]])


def test_very_skewed_numbers_are_bent_and_keep_their_order():
    values = np.exp(2 * random.randn(200))
    out = _output(values)[:, 0]
    assert skew(values) > 2 > abs(skew(out))
    np.testing.assert_array_equal(np.argsort(out), np.argsort(values))
    np.testing.assert_allclose([out.mean(), out.std()], [0, 1], atol=1e-12)
    np.testing.assert_allclose(_output(values, skew_limit=np.inf)[:, 0], (values - values.mean()) / values.std(), rtol=1e-10)
    assert "arsinh" in _fit(values).report_[0].treatment


def test_a_rare_mark_has_no_spread_between_its_quartiles_and_is_bent_all_the_same():
    values = np.zeros(100)
    values[3] = 1.0
    assert np.isfinite(_output(values)).all()


def test_huge_numbers_do_not_overflow():
    out = _output(NUMBERS * 1e300)
    np.testing.assert_allclose(out, _output(NUMBERS), rtol=1e-10)


def test_booleans_are_zero_and_one_and_missing_ones_the_more_frequent():
    values = np.array([True, True, False, None], dtype=object)
    np.testing.assert_array_equal(_output(values), [[1, 0], [1, 0], [0, 0], [1, 1]])


def test_categories_have_a_column_each_as_in_scikit_learn():
    expected = PeerOneHotEncoder(sparse_output=False, handle_unknown="ignore").fit(COLOURS[:, None])
    preparer = _fit(COLOURS)
    np.testing.assert_array_equal(preparer.transform({"x": COLOURS}), expected.transform(COLOURS[:, None]))
    other = np.array(["red", "violet"], dtype=object)
    np.testing.assert_array_equal(preparer.transform({"x": other}), expected.transform(other[:, None]))


def test_missing_categories_are_a_category():
    preparer = _fit(_with_gaps(COLOURS, None))
    assert list(preparer.get_feature_names_out()) == ["x=blue", "x=green", "x=red", "x=(missing)"]
    np.testing.assert_array_equal(
        preparer.transform({"x": np.array([None, "violet", "red"])}), [[0, 0, 0, 1], [0] * 4, [0, 0, 1, 0]]
    )


def test_rare_categories_are_joined_and_unseen_ones_go_with_them():
    values = np.array(["a"] * 60 + ["b"] * 30 + ["c"] * 4 + ["d"] * 3 + ["e"] * 3, dtype=object)
    preparer = _fit(values)
    assert list(preparer.get_feature_names_out()) == ["x=a", "x=b", "x=(other)"]
    np.testing.assert_array_equal(preparer.transform({"x": np.array(["d", "new", "b"])}), [[0, 0, 1], [0, 0, 1], [0, 1, 0]])
    assert "3 rare ones joined" in preparer.report_[0].treatment
    assert list(_fit(values, min_frequency=4).get_feature_names_out()) == ["x=a", "x=b", "x=c", "x=(other)"]
    assert list(_fit(values, max_categories=1).get_feature_names_out()) == ["x=a", "x=(other)"]


def test_codes_are_places_with_nan_for_missing_and_unseen():
    preparer = _fit(_with_gaps(COLOURS, None), categories="codes", missing="keep")
    out = preparer.transform({"x": np.array(["blue", "green", "red", None, "violet"])})
    np.testing.assert_array_equal(out[:, 0], [0, 1, 2, np.nan, np.nan])
    np.testing.assert_array_equal(preparer.categorical_features_, [True])


def test_codes_without_nan_have_a_code_for_missing_and_unseen():
    preparer = _fit(_with_gaps(COLOURS, None), categories="codes", missing="impute")
    out = preparer.transform({"x": np.array(["blue", "red", None, "violet"])})
    np.testing.assert_array_equal(out[:, 0], [0, 2, 3, 3])


def test_unseen_categories_have_the_code_of_the_joined():
    values = np.array(["a"] * 60 + ["b"] * 37 + ["c"] * 3, dtype=object)
    preparer = _fit(values, categories="codes", missing="keep")
    np.testing.assert_array_equal(preparer.transform({"x": np.array(["c", "new", "a", None])})[:, 0], [2, 2, 0, np.nan])


def test_thousands_of_categories_stay_within_bounds():
    values = np.array([f"level{row % 2000}" for row in range(20_000)], dtype=object)
    assert _output(values).shape == (20_000, 33)
    forest = _fit(values, estimator=RandomForestClassifier())
    assert forest.transform({"x": values}).max() == 254
    boosting = _fit(values, estimator=HistGradientBoostingClassifier(max_bins=16))
    assert boosting.transform({"x": values}).max() == 14


def test_dates_are_taken_apart():
    days = np.array(["2024-01-01", "2024-02-29", "2025-12-25", "NaT"], dtype="datetime64[D]")
    preparer = _fit(days, scaling=False, missing="keep")
    out = preparer.transform({"x": days})
    assert list(preparer.get_feature_names_out()) == [
        f"x__{part}" for part in ("elapsed_days", "year", "month", "day", "weekday")
    ]
    np.testing.assert_array_equal(out, [[0, 2024, 1, 1, 0], [59, 2024, 2, 29, 3], [724, 2025, 12, 25, 3], [np.nan] * 5])


def test_moments_before_1970_have_their_parts_too():
    moments = np.array(["1969-12-31T18:30", "1969-07-20T20:17", "1958-03-02T00:00"], dtype="datetime64[m]")
    out = _output(moments, scaling=False)
    expected = [[1969, 12, 31, 2, 18.5], [1969, 7, 20, 6, 20 + 17 / 60], [1958, 3, 2, 6, 0]]
    np.testing.assert_allclose(out[:, 1:], expected)


def test_for_models_that_scale_the_repeating_parts_lie_on_circles():
    days = np.datetime64("2023-12-31") + np.arange(800)
    preparer = _fit(days)
    out = dict(zip(preparer.get_feature_names_out(), preparer.transform({"x": days}).T, strict=True))
    for part in ("month", "day", "weekday"):
        np.testing.assert_allclose(out[f"x__{part}_sin"] ** 2 + out[f"x__{part}_cos"] ** 2, 1)
    np.testing.assert_allclose([out["x__elapsed_days"].mean(), out["x__elapsed_days"].std()], [0, 1], atol=1e-12)
    december, january = out["x__month_cos"][0], out["x__month_cos"][1]
    assert january == 1
    np.testing.assert_allclose(december, np.cos(2 * np.pi * 11 / 12))


def test_missing_dates_are_in_the_middle_and_marked():
    days = _with_gaps(np.datetime64("2024-01-01") + 31 * np.arange(N), np.datetime64("NaT"))
    preparer = _fit(days)
    row = dict(zip(preparer.get_feature_names_out(), preparer.transform({"x": days})[0], strict=True))
    assert row.pop("x__missing") == 1
    assert row["x__month_sin"] == row["x__month_cos"] == 0
    assert abs(row["x__elapsed_days"]) < 0.2


def test_parts_of_dates_that_say_nothing_are_left_out():
    first_days = np.array([f"{year}-01-01" for year in range(1970, 2000)], dtype="datetime64[D]")
    assert list(_fit(first_days).get_feature_names_out()) == ["x__elapsed_days"]
    months = np.arange("2020-01", "2023-01", dtype="datetime64[M]").astype("datetime64[D]")
    assert list(_fit(months, scaling=False).get_feature_names_out()) == ["x__elapsed_days", "x__year", "x__month"]


def test_durations_are_seconds():
    spans = np.array([60, 90, "NaT"], dtype="timedelta64[s]")
    np.testing.assert_array_equal(_output(spans, scaling=False, missing="keep"), [[60], [90], [np.nan]])


VOCABULARY = [f"word{number}" for number in range(15)]
TEXTS = np.array([f"{' '.join(random.choice(VOCABULARY, size=6))} nr{row}" for row in range(N)], dtype=object)


def test_text_is_projected_on_the_leading_directions_of_tf_idf():
    out = _output(TEXTS, scaling=False, text_components=4)
    peer = TfidfVectorizer(min_df=2).fit_transform(TEXTS).toarray()
    left, singular, _ = np.linalg.svd(peer, full_matrices=False)
    np.testing.assert_allclose(np.sort(np.linalg.norm(out, axis=0)), np.sort(singular[:4]), rtol=1e-8)
    np.testing.assert_allclose(out[:, 0], np.abs(left[:, 0] * singular[0]), rtol=1e-6)
    np.testing.assert_allclose(out @ out.T, (left[:, :4] * singular[:4] ** 2) @ left[:, :4].T, atol=1e-8)


def test_text_keeps_its_distances_when_all_directions_are_kept():
    out = _output(TEXTS, scaling=False, text_components=100)
    peer = TfidfVectorizer(min_df=2).fit_transform(TEXTS).toarray()
    np.testing.assert_allclose(out @ out.T, peer @ peer.T, atol=1e-8)


def test_a_text_that_comes_again_counts_again():
    texts = np.concatenate([TEXTS, TEXTS[:7], TEXTS[:7]])
    out = _output(texts, scaling=False, text_components=100, kinds={"x": "text"})
    peer = TfidfVectorizer(min_df=2).fit_transform(texts).toarray()
    np.testing.assert_allclose(out @ out.T, peer @ peer.T, atol=1e-8)


def test_missing_and_unknown_text_is_zero():
    values = _with_gaps(TEXTS, None)
    preparer = _fit(values)
    out = preparer.transform({"x": np.array([None, "quite other words", values[1]], dtype=object)})
    np.testing.assert_array_equal(out[0, :-1], 0)
    np.testing.assert_array_equal(out[1], 0)
    np.testing.assert_array_equal(out[:, -1], [1, 0, 0])
    assert out[2, :-1].any()
    assert np.isnan(_fit(values, missing="keep").transform({"x": np.array([None], dtype=object)})).all()


def test_text_without_a_word_in_two_rows_gives_nothing():
    values = np.array([f"only{row} once{row}" for row in range(N)], dtype=object)
    preparer = _fit(values)
    assert preparer.kinds_ == {"x": "text"}
    assert preparer.transform({"x": values}).shape == (N, 0)


def test_text_may_hold_any_character():
    values = np.array([f"zero\0byte line\nbreak ünï çödé nr {row}" for row in range(N)], dtype=object)
    out = _output(values)
    np.testing.assert_allclose(out, out[:1].repeat(N, axis=0), atol=1e-12)


# ---- what an estimator gets

MIXED = {"number": _with_gaps(NUMBERS), "colour": _with_gaps(COLOURS, None), "flag": np.arange(N) % 3 == 0}


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(),
        HistGradientBoostingClassifier(),
        DecisionTreeClassifier(),
        ID3(),
        BaggingClassifier(DecisionTreeClassifier()),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_that_split_categories_get_codes_and_nothing_else(estimator):
    preparer = TablePreparer(estimator).fit(MIXED)
    out = preparer.transform(MIXED)
    assert list(preparer.get_feature_names_out()) == ["colour", "number", "flag"]
    np.testing.assert_array_equal(preparer.categorical_features_, [True, False, False])
    np.testing.assert_array_equal(out[:, 1], MIXED["number"])
    np.testing.assert_array_equal(np.isnan(out[:, 0]), [value is None for value in MIXED["colour"]])


@pytest.mark.parametrize("estimator", [None, Ridge(), LogisticRegression(), PeerRidge()], ids=repr)
def test_other_estimators_get_scaled_numbers_and_a_column_a_category(estimator):
    preparer = TablePreparer(estimator).fit(MIXED)
    out = preparer.transform(MIXED)
    assert np.isfinite(out).all()
    expected = ["number", "number__missing", "colour=blue", "colour=green", "colour=red", "colour=(missing)", "flag"]
    assert list(preparer.get_feature_names_out()) == expected
    assert not preparer.categorical_features_.any()


def test_estimators_that_take_missing_values_get_them():
    preparer = TablePreparer(IsolationForest()).fit(MIXED)
    assert list(preparer.get_feature_names_out())[:2] == ["number", "colour=blue"]
    np.testing.assert_array_equal(np.isnan(preparer.transform(MIXED)[:, 0]), np.isnan(MIXED["number"]))


def test_the_estimator_is_left_alone_and_the_preparer_can_be_cloned():
    estimator = RandomForestClassifier(n_estimators=3)
    preparer = TablePreparer(estimator).fit(MIXED)
    assert not hasattr(estimator, "classes_")
    twin = clone(preparer)
    assert not hasattr(twin, "report_")
    np.testing.assert_array_equal(twin.fit_transform(MIXED), preparer.transform(MIXED))


# ---- the report


def test_the_report_says_of_every_column_what_was_done_and_why():
    table = {**MIXED, "key": np.arange(N), "same": MIXED["number"], "one": np.ones(N), "none": np.full(N, np.nan)}
    preparer = TablePreparer(drop=["flag"]).fit(table)
    report = {column.name: column for column in preparer.report_}
    assert all(isinstance(column, ColumnReport) for column in preparer.report_)
    assert list(report) == list(table)
    number = report["number"]
    assert (number.kind, number.used, number.n_distinct, number.missing_share) == ("number", True, 32, 0.2)
    assert number.outputs == ("number", "number__missing")
    assert number.treatment == "standardised; missing values become the median and are marked in a column"
    assert "drop=['number']" in number.override
    assert report["key"].reason == "the whole numbers from 0 to 39, each once: a numbering of the rows"
    assert "kinds={'key': " in report["key"].override
    assert report["same"].reason == "equal to column 'number' in every row"
    assert report["one"].reason == "every value is '1'"
    assert report["none"].reason == "every value is missing"
    assert report["flag"].kind == "dropped"
    assert not any(report[name].used or report[name].outputs for name in ("key", "same", "one", "none", "flag"))
    outputs = [name for column in preparer.report_ for name in column.outputs]
    assert sorted(outputs) == sorted(preparer.get_feature_names_out())


def test_the_summary_has_a_line_a_column():
    lines = TablePreparer().fit(MIXED).summary().splitlines()
    assert len(lines) == 2 + len(MIXED)
    assert [line.split()[0] for line in lines[2:]] == list(MIXED)
    assert "20.0%" in lines[2]
    assert "a category of their own" in lines[3]


def test_mixed_types_are_told():
    preparer = _fit(np.array(["a", 1, 2.5, "b"] * 10, dtype=object))
    assert "mixed types (float, int, str)" in preparer.report_[0].reason
    assert list(preparer.get_feature_names_out()) == ["x=1", "x=2.5", "x=a", "x=b"]


# ---- other rows


def test_values_of_a_wrong_type_are_refused_by_column_and_value_or_are_missing():
    preparer = TablePreparer(scaling=False, missing="keep").fit({"age": NUMBERS, "flag": NUMBERS > 0})
    wrong = {"age": np.array(["12", "old", "7 %"], dtype=object), "flag": np.array([1.0, 0.0, 1.0])}
    with pytest.raises(ValueError, match=r"column 'age' holds 'old' in row 1, which is not a number.*invalid='missing'"):
        preparer.transform(wrong)
    out = preparer.set_params(invalid="missing").transform(wrong)
    np.testing.assert_array_equal(out, [[12, 1], [np.nan, 0], [0.07, 1]])
    with pytest.raises(ValueError, match=r"column 'flag' holds '0\.5' in row 0, which is not true or false"):
        preparer.set_params(invalid="error").transform({"age": [1.0], "flag": [0.5]})


def test_infinity_is_refused_by_column_or_missing():
    values = NUMBERS.copy()
    values[3] = -np.inf
    with pytest.raises(ValueError, match="column 'x' holds infinity in row 3"):
        _fit(values)
    out = _output(values, invalid="missing", scaling=False)
    assert out[3, 0] == np.median(np.delete(NUMBERS, 3))
    assert out[3, 1] == 1


def test_dates_and_numbers_do_not_pass_for_each_other():
    days = np.datetime64("2024-01-01") + np.arange(N)
    with pytest.raises(ValueError, match="which is not a date"):
        _fit(days).transform({"x": NUMBERS})
    with pytest.raises(ValueError, match="which is not a number"):
        _fit(NUMBERS).transform({"x": days})
    with pytest.raises(ValueError, match="'red' in row 0, which is not a duration"):
        _fit(np.arange(N).astype("timedelta64[s]")).transform({"x": COLOURS})


def test_columns_are_found_by_name_and_asked_for_by_name():
    preparer = TablePreparer().fit({**MIXED, "key": np.arange(N)})
    expected = preparer.transform(MIXED)  # the identifier has no use
    swapped = {"extra": NUMBERS, **{name: MIXED[name] for name in reversed(MIXED)}}
    np.testing.assert_array_equal(preparer.transform(swapped), expected)
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing:\n- number\n- flag\n"):
        preparer.transform({"colour": MIXED["colour"], "number ": NUMBERS})


def test_one_row_is_as_good_as_many():
    preparer = TablePreparer().fit(MIXED)
    expected = preparer.transform(MIXED)
    for row in (0, 7):
        np.testing.assert_array_equal(
            preparer.transform({name: values[[row]] for name, values in MIXED.items()}), expected[[row]]
        )


def test_one_row_of_training_is_all_constants():
    preparer = TablePreparer().fit({name: values[1:2] for name, values in MIXED.items()})
    assert set(preparer.kinds_.values()) == {"constant"}
    assert preparer.transform(MIXED).shape == (N, 0)


def test_no_rows_are_refused():
    preparer = TablePreparer().fit(MIXED)
    nothing = {name: values[:0] for name, values in MIXED.items()}
    for method in (preparer.transform, TablePreparer().fit):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            method(nothing)
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        TablePreparer().fit({})


def test_the_order_of_rows_changes_no_bit_of_what_is_learned():
    order = np.random.RandomState(1).permutation(N)
    table = {**MIXED, "text": np.resize(TEXTS, N), "day": np.datetime64("2024-01-01") + np.arange(N) ** 2}
    shuffled = {name: values[order] for name, values in table.items()}
    np.testing.assert_array_equal(TablePreparer().fit(shuffled).transform(table), TablePreparer().fit_transform(table))


def test_outputs_have_different_names_even_where_columns_play_tricks():
    table = {"x": _with_gaps(NUMBERS), "x__missing": np.arange(N) % 3}
    names = list(TablePreparer().fit(table).get_feature_names_out())
    assert names == ["x", "x__missing", "x__missing (2)"]


def test_an_array_has_numbers_for_names():
    X = np.column_stack([NUMBERS, _with_gaps(NUMBERS) ** 2])
    preparer = TablePreparer().fit(X)
    assert list(preparer.get_feature_names_out()) == ["x0", "x1", "x1__missing"]
    assert list(preparer.get_feature_names_out(["a", "b"])) == ["a", "b", "b__missing"]
    with pytest.raises(ValueError, match="input_features should have length equal to number of features"):
        preparer.get_feature_names_out(["a"])
    with pytest.raises(ValueError, match="X has 3 features, but TablePreparer is expecting 2 features"):
        preparer.transform(np.column_stack([X, X[:, 0]]))


# ---- parameters


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kinds": {"x": "colour"}}, r"kinds=\{'x': 'colour'\} is not valid; it must be None or a dict from columns to kinds"),
        ({"kinds": {"z": "number"}}, "kinds names the column 'z', which X does not have; it must be one of 'x'"),
        ({"drop": ["z"]}, "drop names the column 'z', which X does not have"),
        ({"drop": [3]}, "drop names the column 3"),
        ({"drop": "x"}, "drop='x' is not valid"),
        ({"drop": ["x"], "kinds": {"x": "number"}}, "'x' is in kinds and in drop"),
        ({"categories": "ordinal"}, "categories='ordinal' is not valid"),
        ({"scaling": "robust"}, "scaling='robust' is not valid"),
        ({"missing": "drop"}, "missing='drop' is not valid"),
        ({"invalid": "ignore"}, "invalid='ignore' is not valid"),
        ({"estimator": Ridge}, "estimator=.* is not valid; it must be None or an estimator"),
        ({"min_frequency": 0}, "min_frequency=0 is not valid"),
        ({"max_categories": 0}, "max_categories=0 is not valid"),
        ({"skew_limit": 0.0}, "skew_limit=0.0 is not valid"),
        ({"identifier_share": 1.5}, "identifier_share=1.5 is not valid"),
        ({"text_components": 0}, "text_components=0 is not valid"),
    ],
)
def test_wrong_parameters_are_refused_by_name(params, message):
    with pytest.raises(ValueError, match=message):
        _fit(NUMBERS, **params)


def test_what_a_column_cannot_be_is_refused_by_its_name_and_may_be_dropped():
    nested = np.empty(3, dtype=object)
    nested[:] = [[1], [2, 3], []]
    table = {"a": np.array([1.0, 2.0, 4.0]), "nested": nested}
    with pytest.raises(ValueError, match=r"column 'nested' holds values of the type list.*drop=\['nested'\]"):
        TablePreparer().fit(table)
    assert TablePreparer(drop=["nested"]).fit_transform(table).shape == (3, 1)
    with pytest.raises(ValueError, match="column 'c' holds values of the type complex128"):
        TablePreparer().fit({"c": np.array([1j, 2.0])})
    with pytest.raises(ValueError, match="one-dimensional arrays of one length"):
        TablePreparer().fit({"a": [1, 2], "b": [1]})


# ---- what is passed on


def test_encoders_and_imputers_are_scikit_learns():
    import sklearn.impute
    import sklearn.preprocessing

    for name in set(preprocessing.__all__) - set(own_names(preprocessing)):
        source = sklearn.impute if hasattr(sklearn.impute, name) else sklearn.preprocessing
        assert getattr(preprocessing, name) is getattr(source, name)
    assert {"OneHotEncoder", "PolynomialFeatures", "SimpleImputer", "KNNImputer", "TargetEncoder"} <= set(preprocessing.__all__)

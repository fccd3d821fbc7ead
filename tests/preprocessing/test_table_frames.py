"""pandas and polars tables: every dtype, and the same bits from both."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pytest

from mercer.ensemble import HistGradientBoostingClassifier
from mercer.preprocessing import TablePreparer
from tests.common.state import bits

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
N = 60
random = np.random.RandomState(0)


def _content():
    """A table as lists of Python values, None where one is missing."""
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=17 * row) for row in range(N)]
    moments = [datetime.datetime(2020, 1, 1, 12) + datetime.timedelta(hours=31 * row, microseconds=row) for row in range(N)]
    content = {
        "number": random.randn(N).tolist(),
        "skewed": np.exp(3 * random.randn(N)).tolist(),
        "whole": random.randint(5, size=N).tolist(),
        "minus zero": np.where(np.arange(N) % 2 == 0, -0.0, 1.0).tolist(),
        "decimal": [Decimal(row * row) / 100 for row in range(N)],
        "flag": (random.rand(N) > 0.5).tolist(),
        "colour": random.choice(["red", "grün", "blue"], size=N).tolist(),
        "as text": [f"{value:.3f}" for value in random.randn(N)],
        "answer": random.choice(["yes", "no"], size=N).tolist(),
        "day": days,
        "moment": moments,
        "span": [datetime.timedelta(minutes=row * row) for row in range(N)],
        "time": [datetime.time(row % 24, row) for row in range(N)],
        "comment": [
            f"{colour} thing of {place} nr {row}"
            for row, (colour, place) in enumerate([("red", "rome"), ("blue", "oslo")] * (N // 2))
        ],
        "key": [f"k{row}" for row in range(N)],
        "row": list(range(N)),
        "constant": ["x"] * N,
        "nothing": [None] * N,
    }
    content["twin"] = content["number"]
    for place, name in enumerate(
        ("number", "flag", "colour", "as text", "day", "moment", "span", "comment", "whole", "decimal")
    ):
        content[name] = [None if row % 11 == place else value for row, value in enumerate(content[name])]
    content["twin"] = content["number"]
    return content


@pytest.mark.parametrize("estimator", [None, HistGradientBoostingClassifier()], ids=["scaled", "codes"])
def test_pandas_and_polars_give_the_same_bits(estimator):
    content = _content()
    frames = {
        "polars": pl.DataFrame(content),
        "pandas": pd.DataFrame(content),
        "pandas objects": pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in content.items()}),
        "pandas nullable": pd.DataFrame(content).convert_dtypes(),
        "dict": {name: np.array(values, dtype=object) for name, values in content.items()},
    }
    expected = TablePreparer(estimator).fit(frames["polars"])
    outputs = expected.transform(frames["polars"])
    assert set(expected.kinds_.values()) >= {
        "number",
        "boolean",
        "category",
        "date",
        "datetime",
        "duration",
        "text",
        "identifier",
    }
    assert {expected.kinds_[name] for name in ("constant", "nothing", "twin")} == {"constant", "empty", "duplicate"}
    for name, frame in frames.items():
        preparer = TablePreparer(estimator).fit(frame)
        assert bits(preparer.report_) == bits(expected.report_), name
        assert bits(preparer.transform(frame)) == bits(outputs), name
        assert bits(expected.transform(frame)) == bits(outputs), name


def _kind_and_output(series, **params):
    frame = pd.DataFrame({"x": series}) if isinstance(series, pd.Series) else pl.DataFrame({"x": series})
    preparer = TablePreparer(scaling=False, missing="keep", **params).fit(frame)
    return preparer.kinds_["x"], preparer.transform(frame)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1, 2, None, 5], dtype="Int64"),
        pd.Series([1, 2, None, 5], dtype="Float32"),
        pd.Series([1, 2, np.nan, 5], dtype=np.float32),
        pd.Series(pd.arrays.SparseArray([1.0, 2.0, np.nan, 5.0])),
        pl.Series([1, 2, None, 5], dtype=pl.UInt8),
        pl.Series([1, 2, float("nan"), 5], dtype=pl.Float32),
        pl.Series([Decimal(1), Decimal(2), None, Decimal(5)], dtype=pl.Decimal(10, 2)),
        pl.Series([1, 2, None, 5], dtype=pl.Int128),
    ],
    ids=lambda series: str(series.dtype),
)
def test_numbers_of_every_dtype_are_numbers(series):
    kind, out = _kind_and_output(series)
    assert kind == "number"
    np.testing.assert_array_equal(out, [[1], [2], [np.nan], [5]])


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([True, False, None, True], dtype="boolean"),
        pd.Series([True, False, None, True], dtype=object),
        pl.Series([True, False, None, True]),
    ],
    ids=lambda series: str(series.dtype),
)
def test_booleans_of_every_dtype_are_booleans(series):
    kind, out = _kind_and_output(series)
    assert kind == "boolean"
    np.testing.assert_array_equal(out, [[1], [0], [np.nan], [1]])


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["b", "a", None, "b"], dtype="category"),
        pd.Series(["b", "a", None, "b"], dtype="string"),
        pd.Series(["b", "a", None, "b"], dtype=pd.CategoricalDtype(["c", "b", "a"], ordered=True)),
        pl.Series(["b", "a", None, "b"]),
        pl.Series(["b", "a", None, "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", None, "b"], dtype=pl.Enum(["c", "b", "a"])),
    ],
    ids=lambda series: str(series.dtype),
)
def test_categories_of_every_dtype_are_categories(series):
    kind, out = _kind_and_output(series, categories="codes")
    assert kind == "category"
    np.testing.assert_array_equal(out, [[1], [0], [np.nan], [1]])


def test_a_categorical_dtype_makes_a_category_of_numbers_and_of_distinct_words():
    frame = pd.DataFrame({"n": pd.Categorical([3, 1, 2] * 10), "key": pd.Categorical([f"k{row}" for row in range(30)])})
    preparer = TablePreparer().fit(frame)
    assert preparer.kinds_ == {"n": "category", "key": "category"}
    assert preparer.report_[0].outputs == ("n=1", "n=2", "n=3")
    plain = frame.assign(n=frame["n"].astype(float))
    np.testing.assert_array_equal(preparer.transform(plain), preparer.transform(frame))


def test_unseen_levels_of_a_categorical_dtype_are_unseen_categories():
    train = pd.DataFrame({"x": pd.Categorical(["a", "b"] * 10)})
    other = pd.DataFrame({"x": pd.Categorical(["b", "c", "a"], categories=["c", "b", "a"])})
    np.testing.assert_array_equal(TablePreparer().fit(train).transform(other), [[0, 1], [0, 0], [1, 0]])


def test_times_of_a_zone_are_those_of_its_clocks():
    wall = pd.Series(pd.date_range("2024-03-30 22:00", periods=30, freq="7h"))
    zoned = pd.DataFrame({"x": wall.dt.tz_localize("Europe/Rome")})
    expected = TablePreparer(scaling=False).fit_transform(pd.DataFrame({"x": wall}))
    np.testing.assert_array_equal(TablePreparer(scaling=False).fit_transform(zoned), expected)
    polars = pl.DataFrame({"x": wall.tolist()}).with_columns(pl.col("x").dt.replace_time_zone("Europe/Rome"))
    np.testing.assert_array_equal(TablePreparer(scaling=False).fit_transform(polars), expected)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_unit_of_moments_makes_no_difference(unit):
    moments = pd.Series(pd.date_range("1950-01-01 06:30", periods=30, freq="400D"))
    expected = TablePreparer().fit_transform(pd.DataFrame({"x": moments}))
    np.testing.assert_array_equal(
        TablePreparer().fit_transform(pd.DataFrame({"x": moments.astype(f"datetime64[{unit}]")})), expected
    )


def test_periods_and_intervals_of_pandas_are_dates_and_categories():
    frame = pd.DataFrame({"p": pd.period_range("2024-01", periods=30, freq="M"), "i": pd.cut(np.arange(30), 3)})
    frame["q"] = frame["i"].astype(pd.IntervalDtype(frame["i"].cat.categories.dtype.subtype, closed="right"))
    kinds = TablePreparer().fit(frame.drop(columns="q")).kinds_
    assert kinds == {"p": "date", "i": "category"}
    assert TablePreparer().fit(frame[["q"]]).kinds_ == {"q": "category"}


@pytest.mark.parametrize(
    ("series", "dtype"),
    [
        (pl.Series([[1], [2, 3]]), "List"),
        (pl.Series([{"a": 1}, {"a": 2}]), "Struct"),
        (pl.Series([b"a", b"b"]), "Binary"),
        (pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)), "Array"),
        (pd.Series([[1], [2, 3]]), "list"),
        (pd.Series([{1}, {2}]), "set"),
        (pd.Series([1j, 2j]), "complex"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nested_columns_are_refused_by_name(series, dtype):
    frame = (pd if isinstance(series, pd.Series) else pl).DataFrame({"good": [1.0, 2.0], "bad": series})
    with pytest.raises(ValueError, match=rf"column 'bad' holds .*{dtype}.*drop=\['bad'\]"):
        TablePreparer().fit(frame)
    assert TablePreparer(drop=["bad"]).fit_transform(frame).shape == (2, 1)


def test_duplicate_names_are_refused_and_names_that_are_no_strings_are_positions():
    with pytest.raises(ValueError, match="two columns are named 'a'"):
        TablePreparer().fit(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]))
    with pytest.raises(TypeError, match="only supported if all are strings"):
        TablePreparer().fit(pd.DataFrame([[1, 2], [3, 4]], columns=["a", 1]))
    preparer = TablePreparer(kinds={1: "category"}).fit(pd.DataFrame([[1, 2], [3, 4]], columns=[7, 8]))
    assert not hasattr(preparer, "feature_names_in_")
    assert list(preparer.get_feature_names_out()) == ["x0", "x1=2", "x1=4"]


def test_lazy_frames_and_series_are_refused():
    with pytest.raises(TypeError, match=r"collect\(\)"):
        TablePreparer().fit(pl.LazyFrame({"a": [1, 2]}))
    with pytest.raises(ValueError, match=r"2-dimensional|2D"):
        TablePreparer().fit(pd.Series([1.0, 2.0]))


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_no_rows_of_a_frame_are_refused_and_one_row_is_enough(library):
    content = _content()
    preparer = TablePreparer().fit(library.DataFrame(content))
    frame = library.DataFrame(content)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        preparer.transform(frame[:0])
    np.testing.assert_array_equal(preparer.transform(frame[5:6]), preparer.transform(frame)[5:6])


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_set_output_gives_frames_with_the_names_of_the_outputs(library):
    frame = library.DataFrame({"n": [1.0, 2.0, 4.0], "c": ["a", "b", "a"]})
    name = library.__name__
    out = TablePreparer().set_output(transform=name).fit_transform(frame)
    assert isinstance(out, library.DataFrame)
    assert list(out.columns) == ["n", "c=a", "c=b"]

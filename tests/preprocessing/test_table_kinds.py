"""What a column is taken for, by its values alone."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pytest

from mercer._words import moment_of, number_of, truth_of
from mercer.preprocessing import TablePreparer

N = 40


def _words(values):
    return np.array(values, dtype=object)


COLUMNS = {
    "whole numbers": (np.arange(N) % 7, "number"),
    "fractions": (np.linspace(0, 1, N) ** 2, "number"),
    "numbers with a gap": (np.append(np.arange(N - 1), 2 * N), "number"),
    "a numbering from one": (np.arange(1, N + 1), "identifier"),
    "a shuffled numbering": (np.random.RandomState(0).permutation(N) - 3.0, "identifier"),
    "python numbers": (_words([1, 2.5, Decimal("3.5"), None] * 10), "number"),
    "numbers as words": (_words(["1", "-2.5", "1e3", "NA"] * 10), "number"),
    "numbers with thousands": (_words(["1,234", "12", "1,234,567.5", "7"] * 10), "number"),
    "amounts": (_words(["€ 5", "$1,000", "7 £", "-€3"] * 10), "number"),
    "shares": (_words(["12 %", "5%", "100 %", ""] * 10), "number"),
    "keys with leading zeros": (_words(["007", "012", "100", "200"] * 10), "category"),
    "booleans": (np.arange(N) % 2 == 0, "boolean"),
    "booleans with gaps": (_words([True, False, None, True] * 10), "boolean"),
    "yes and no": (_words(["Yes", "no", "NO", "yes"] * 10), "boolean"),
    "true and false": (_words(["true", "False", "?", "true"] * 10), "boolean"),
    "yes alone": (_words(["yes", None] * 20), "category"),
    "yes and false": (_words(["yes", "false"] * 20), "category"),
    "days": (np.datetime64("2024-01-01") + np.arange(N), "date"),
    "python dates": (_words([datetime.date(2024, 1, 1 + row % 9) for row in range(N)]), "date"),
    "days as words": (_words([f"2024-02-{1 + row % 9:02d}" for row in range(N)]), "date"),
    "days with dots": (_words([f"{1 + row % 9}.2.2024" for row in range(N)]), "date"),
    "moments": (np.datetime64("2024-01-01T12:00") + np.arange(N), "datetime"),
    "moments as words": (_words([f"2024-02-{1 + row % 9:02d}T10:30:00+02:00" for row in range(N)]), "datetime"),
    "no days": (_words(["2024-13-45", "2024-01-01"] * 20), "category"),
    "american days": (_words(["01/31/2024", "02/01/2024"] * 20), "category"),
    "spans": (np.arange(N).astype("timedelta64[m]"), "duration"),
    "python spans": (_words([datetime.timedelta(days=row % 5) for row in range(N)]), "duration"),
    "times of day": (_words([datetime.time(row % 24, 30) for row in range(N)]), "duration"),
    "colours": (_words(["red", "green", "blue", None] * 10), "category"),
    "mixed types": (_words(["red", 1, 2.5, None] * 10), "category"),
    "sentences": (_words([f"the quick fox number {row} jumps" for row in range(N)]), "text"),
    "sentences that repeat": (_words(["a nice day", "not so nice"] * 20), "category"),
    "codes": (_words([f"A{row:03d}" for row in range(N)]), "identifier"),
    "constant number": (np.full(N, 7.0), "constant"),
    "constant word": (_words(["x"] * N), "constant"),
    "one number or none": (np.where(np.arange(N) % 2 == 0, 7.0, np.nan), "number"),
    "nothing": (np.full(N, np.nan), "empty"),
    "words for nothing": (_words(["NA", "?", "", "null", " n/a ", "None", "-", "nan"] * 5), "empty"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_kind_of_a_column_follows_from_its_values(name):
    values, kind = COLUMNS[name]
    preparer = TablePreparer().fit({name: values})
    assert preparer.kinds_ == {name: kind}
    report = preparer.report_[0]
    assert report.used == (kind in ("number", "category", "boolean", "date", "datetime", "duration", "text"))
    assert np.isfinite(preparer.transform({name: values})).all()


def test_few_rows_that_all_differ_are_no_identifiers():
    table = {"number": np.arange(19), "word": _words([f"w{row}" for row in range(19)])}
    assert TablePreparer().fit(table).kinds_ == {"number": "number", "word": "category"}


def test_a_column_equal_to_an_earlier_one_is_a_duplicate():
    x = np.array([1.0, -0.0, np.nan, 4.0])
    table = {"a": x, "b": x + 0.0, "c": x * 2, "word": _words(list("abab")), "again": _words(list("abab"))}
    preparer = TablePreparer().fit(table)
    assert preparer.kinds_ == {"a": "number", "b": "duplicate", "c": "number", "word": "category", "again": "duplicate"}
    assert preparer.report_[1].reason == "equal to column 'a' in every row"


def test_every_nan_is_the_same_nan():
    x = np.array([1.0, np.nan, 3.0, np.nan])
    other = x.copy()
    other.view(np.uint64)[[1, 3]] ^= 1 << 63  # another NaN, as some operations leave it
    assert TablePreparer().fit({"a": x, "b": other}).kinds_ == {"a": "number", "b": "duplicate"}


def test_python_moments_with_a_zone_are_read_by_the_clock_on_the_wall():
    zone = datetime.timezone(datetime.timedelta(hours=5))
    moments = [datetime.datetime(2024, 1, 1 + row, row, 30) for row in range(20)]
    outputs = [
        TablePreparer(scaling=False).fit_transform({"x": _words([moment.replace(tzinfo=tz) for moment in moments])})
        for tz in (None, zone)
    ]
    np.testing.assert_array_equal(outputs[0], outputs[1])


def test_thresholds_decide_between_category_identifier_and_text():
    words = {"word": _words([f"key{row // 2}" for row in range(N)])}
    assert TablePreparer().fit(words).kinds_["word"] == "category"
    assert TablePreparer(identifier_share=0.5).fit(words).kinds_["word"] == "identifier"
    pairs = {"word": _words([f"two words{row}" for row in range(N)])}
    assert TablePreparer().fit(pairs).kinds_["word"] == "text"
    assert TablePreparer(text_words=2.5).fit(pairs).kinds_["word"] == "identifier"
    assert TablePreparer(text_share=1.0, identifier_share=1.0).fit(pairs).kinds_["word"] == "identifier"


def test_kinds_and_drop_overrule_what_would_be_inferred():
    table = {
        "n": np.arange(N),
        "constant": np.ones(N),
        "word": _words(["1", "2"] * 20),
        "x": np.arange(N) % 3,
        "y": np.zeros(N),
    }
    kinds = {"n": "number", "constant": "number", "word": "category", 3: "category"}
    preparer = TablePreparer(kinds=kinds, drop=["y"]).fit(table)
    assert preparer.kinds_ == {"n": "number", "constant": "number", "word": "category", "x": "category", "y": "dropped"}
    assert list(preparer.get_feature_names_out()) == ["n", "constant", "word=1", "word=2", "x=0", "x=1", "x=2"]
    assert [column.reason for column in preparer.report_] == ["given by kinds"] * 4 + ["given by drop"]


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("12", 12),
        (" 1.5 ", 1.5),
        ("1e-3", 1e-3),
        ("1,234.5", 1234.5),
        ("€ 5", 5),
        ("-$3", -3),
        ("$-3", -3),
        ("5 €", 5),
        ("12 %", 0.12),
    ],
)
def test_numbers_are_read_as_people_write_them(word, number):
    assert number_of(word) == number


@pytest.mark.parametrize("word", ["1,23", "12,34", "1_000", "--5", "-€-5", "5 apples", "1.2.3", "", "e5", "0x10"])
def test_what_is_not_a_number_is_not_read_as_one(word):
    assert np.isnan(number_of(word))


def test_dates_and_truths_are_read_or_refused():
    assert moment_of("2024-02-29") == np.datetime64("2024-02-29")
    assert moment_of("29.2.2024") == np.datetime64("2024-02-29")
    assert moment_of("2024/02/29 10:30Z") == np.datetime64("2024-02-29T10:30")
    assert moment_of("2024-02-29T10:30:15.5+01:00") == np.datetime64("2024-02-29T10:30:15.500000")
    for word in ("2023-02-29", "2024-1-1", "2024-01/01", "tomorrow", "2024-01-01T25:00"):
        assert np.isnat(moment_of(word)), word
    assert (truth_of(" YES "), truth_of("f")) == (1.0, 0.0)
    assert np.isnan(truth_of("maybe"))

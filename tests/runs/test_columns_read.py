"""Columns of texts that are numbers, or nearly."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from mercer._runs.columns_read import numbers_among_texts
from mercer._runs.errors import RunError
from mercer._runs.reading import FileOptions, read_table

NUMBERS = [str(number) for number in range(100)]


def _read(table, kinds=None, hint=None):
    return numbers_among_texts(pl.DataFrame(table), np.arange(2, 2 + len(next(iter(table.values())))), kinds or {}, hint)


def test_a_few_values_that_are_no_numbers_are_missing_and_named_with_their_rows():
    found = _read({"a": [*NUMBERS, "n/a!", "x", "n/a!"]})
    assert found.table["a"].to_list() == [*range(100), None, None, None]
    (alert,) = [alert for alert in found.alerts if alert.level == "warning"]
    assert alert.message == "3 values are no number: 'n/a!' in rows 102 and 104, 'x' in row 103; taken as missing"
    assert alert.flag == "--kind a=category"


def test_a_column_of_which_too_many_are_no_numbers_stays_words_and_that_is_said():
    found = _read({"a": [*NUMBERS, *["none yet"] * 20]})
    assert found.table["a"].dtype == pl.String
    (alert,) = found.alerts
    assert alert.message.endswith("'none yet' in rows 102, 103, 104 and 17 others, so the column is taken as words")
    assert alert.flag == "--kind a=number"


def test_few_numbers_among_words_are_classes():
    assert _read({"a": ["1", "2"] * 50 + ["other"]}).table["a"].dtype == pl.String
    assert _read({"a": ["Köln", "Oslo 3"] * 50}).alerts == ()


def test_the_user_says_what_a_column_is():
    texts = [*NUMBERS, *["none yet"] * 20]
    assert _read({"a": texts}, {"a": "number"}).table["a"].null_count() == 20
    assert _read({"a": ["1,5 €", "2,5 €"]}, {"a": "category"}).table["a"].dtype == pl.String


def test_marks_of_missing_values_are_no_strange_values():
    found = _read({"a": ["1,5", "-", "N/a", " ", "2,5"]})
    assert found.table["a"].to_list() == [1.5, None, None, None, 2.5]
    assert [alert.level for alert in found.alerts] == ["info"]


def test_another_column_decides_what_a_comma_is():
    table = {"a": ["1,234", "5,678"], "b": ["0,5", "2,25"]}
    assert _read(table).table["a"].to_list() == [1.234, 5.678]
    assert _read({"a": table["a"]}).table["a"].to_list() == [1234.0, 5678.0]
    assert "--decimal-comma" in _read({"a": table["a"]}).notes["a"]


def test_columns_that_are_written_alike_share_a_line():
    found = _read({name: ["1,5 €", "22,50 €"] for name in "abc"})
    (alert,) = found.alerts
    assert alert.message == "'1,5 €' is read as 1.5 (and 2 other columns: b, c)"
    assert set(found.notes) == set(found.marks) == {"a", "b", "c"}


def test_infinity_is_missing_and_said():
    found = _read({"a": [1.0, np.inf, -np.inf, None]})
    assert found.table["a"].to_list() == [1.0, None, None, None]
    assert found.alerts[0].message == "2 values are infinite, in rows 3 and 4; taken as missing"


def test_points_part_thousands_where_another_column_has_decimal_commas(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("km;price;share\n12.500;1,5;0.25\n900;2,25;0.5\n")
    read = read_table(path)
    assert read.table.to_dict(as_series=False) == {"km": [12500.0, 900.0], "price": [1.5, 2.25], "share": [0.25, 0.5]}
    assert read.marks == {"km": "comma", "price": "comma"}
    path.write_text("km;price\n12.500;1\n900;2\n")
    assert read_table(path).table["km"].to_list() == [12.5, 900.0]


@pytest.mark.parametrize("separator", ["", "ab", "é", '"', "\n"])
def test_separators_that_cannot_be_are_refused(separator):
    with pytest.raises(RunError, match="--separator"):
        FileOptions(separator=separator)


def test_separators_have_names_and_are_found_by_most_lines(tmp_path):
    assert FileOptions(separator="tab").separator == "\t"
    path = tmp_path / "table.csv"
    path.write_text("name, first;b\nx;1,5\ny;2\n")
    assert read_table(path).table.columns == ["name, first", "b"]
    with pytest.raises(RunError, match="--decimal-comma"):
        FileOptions(separator=",", decimal_comma=True)

"""A file of test rows, read as the table that learns was."""

from __future__ import annotations

import pytest

from mercer._runs.reading import read_table
from mercer._runs.settings import Settings
from mercer._runs.sources import Sources, in_test_file

LEARNING = "zip;price;n\n007;1.037,72 €;1\nAB1;960,37 €;2\n010;980 €;3\n"


@pytest.fixture
def both(tmp_path):
    def make(testing, learning=LEARNING):
        (tmp_path / "a.csv").write_text(learning)
        (tmp_path / "b.csv").write_text(testing)
        settings = Settings(str(tmp_path / "a.csv"), "n", test_file=str(tmp_path / "b.csv"))
        sources = Sources.of(settings)
        return sources.read_test(settings, read_table(sources.data, settings.file, settings.kinds))

    return make


def test_words_of_the_table_are_words_in_the_test_file_as_they_are_written(both):
    test = both("zip;price;n\n008;980,50 €;1\n;990,25 €;2\n012;;3\n")
    assert test.table["zip"].to_list() == ["008", None, "012"]
    assert test.table["price"].to_list() == [980.5, 990.25, None]


def test_numbers_of_the_test_file_have_the_decimal_mark_of_the_table(both):
    test = both("zip;price;n\nA;1.200;1\n\nB;1.300;2\n")
    assert test.table["price"].to_list() == [1200.0, 1300.0]
    assert test.numbers.tolist() == [1, 3]
    assert not test.is_plain


def test_what_was_met_in_the_test_file_says_so(both):
    learning = "zip,price\n" + "".join(f"a,{i}.5\n" for i in range(40))
    test = both("zip,price\n" + "".join(f"a,{i}.5\n" for i in range(40)) + "a,none yet\n", learning)
    said = [alert.message for alert in in_test_file(test)]
    assert all(message.startswith("in the test file: ") for message in said)
    assert any("none yet" in message for message in said)
    assert in_test_file(None) == ()

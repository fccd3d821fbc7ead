"""Numbers as people write them."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from mercer._runs import figures
from mercer._runs.figures import MARKS, figures_of, read_figures


@pytest.mark.parametrize(
    ("texts", "mark", "values"),
    [
        (["1.234,50 €", "-3,20 €", "€ 5", None, "12"], "comma", [1234.5, -3.2, 5.0, None, 12.0]),
        (["$1,200", "$ 3.5", "-$2", "($300)"], "point", [1200.0, 3.5, -2.0, -300.0]),
        (["12 %", "3.5%", "n/a", " -"], "point", [0.12, 0.035, None, None]),
        (["1 234,5", "2\u00a0000"], "comma", [1234.5, 2000.0]),
        (["1'234.50 CHF", "7.25 CHF"], "point", [1234.5, 7.25]),
        (["1,-", "2,50"], "comma", [1.0, 2.5]),
        (["\u22125,5", "+1,25"], "comma", [-5.5, 1.25]),
        (["kr 5", "7 kr.", "1 000,5 kr"], "comma", [5.0, 7.0, 1000.5]),
        (["1e-3", "2.5", "x"], "point", [0.001, 2.5, None]),
        (["12.34,5", "1,2,3", "()", "€", "5-", "--5", "$5€", "030 123 456", "inf", "7 x"], "point", [None] * 10),
    ],
)
def test_figures_are_read_by_the_mark_that_reads_most(texts, mark, values):
    (found,) = read_figures([pl.Series("a", texts)])
    assert found.mark() == mark
    assert found.values(mark).to_list() == values


def test_one_group_of_three_figures_says_nothing_of_the_mark_and_the_hint_decides():
    def reading(*texts):
        return read_figures([pl.Series("a", texts)])[0]

    found = reading("1,234", "5,678")
    assert found.sure_mark is None
    assert found.is_either
    assert found.values(found.mark()).to_list() == [1234.0, 5678.0]
    assert found.values(found.mark("comma")).to_list() == [1.234, 5.678]
    assert reading("1,234", "5,67").sure_mark == "comma"
    assert reading("1,234", "5.67").sure_mark == "point"
    assert reading("1,234", "much").sure_mark is None
    assert reading("", "-").sure_mark is None


def test_columns_are_read_together_as_each_by_itself(monkeypatch):
    monkeypatch.setattr(figures, "_MOST_CELLS", 7)  # three stacks
    columns = [pl.Series(name, [f"{place},{name}5", None, "x"]) for place, name in enumerate("01234")]
    together = read_figures(columns)
    assert [each.texts.name for each in together] == list("01234")
    for column, each in zip(columns, together, strict=True):
        assert each.values("comma").equals(read_figures([column])[0].values("comma"))


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_plain_floats_keep_every_bit(values):
    texts = pl.Series("a", [repr(value) for value in values])
    assert figures_of(texts, "point").to_list() == values


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=20),
    mark=st.sampled_from(MARKS),
    around=st.sampled_from(["{}", "$ {}", "{} €", " {} ", "{} USD"]),
)
def test_hundredths_that_are_written_are_read_again(values, mark, around):
    words = [f"{value / 100:,.2f}" for value in values]
    if mark == "comma":
        words = [word.translate(str.maketrans(",.", ".,")) for word in words]
    found = figures_of(pl.Series("a", [around.format(word).strip() for word in words]), mark)
    assert found.to_list() == pytest.approx([value / 100 for value in values], rel=1e-15)

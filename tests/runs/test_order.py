"""Which orders of rows are taken for time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from mercer._runs.order import find_order

N = 400


def _series(seed, n=N):
    """A way that goes up and down, with a season."""
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(size=n)) + 3 * np.sin(2 * np.pi * np.arange(n) / 12)


def _table(n=N, seed=0, **columns):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"a": rng.normal(size=n), "b": rng.integers(0, 3, n), **columns})


def _days(n=N):
    return pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 1) + pl.duration(days=n - 1), eager=True)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", [None, "%d.%m.%Y", "%Y/%m/%d"])
def test_a_date_that_tells_of_the_target_is_an_order_wherever_its_rows_lie(seed, form):
    days = _days() if form is None else _days().dt.strftime(form)
    place = np.random.default_rng(seed).permutation(N)
    found = find_order(_table(day=days)[place], _series(seed)[place], None)
    assert found.order.column == "day"
    np.testing.assert_array_equal(np.argsort(found.times, kind="stable"), np.argsort(place))
    shuffled = np.random.default_rng(seed).permutation(_series(seed))
    assert find_order(_table(day=days), shuffled, None) is None


def test_a_date_of_which_each_has_many_rows_is_an_order():
    rng = np.random.default_rng(0)
    days, level = _days(40), _series(0, 40)
    number = rng.integers(0, 40, 2000)
    y = level[number] + 4 * rng.normal(size=2000)
    assert find_order(_table(2000, day=days[number]), y, None).order.column == "day"


def test_months_without_a_day_are_dates():
    months = pl.date_range(pl.date(2000, 1, 1), pl.date(2009, 12, 1), "1mo", eager=True).dt.strftime("%Y-%m")
    found = find_order(_table(120, month=months), _series(1, 120), None)
    assert found.order.column == "month"
    assert found.order.code == "(pl.col('month') + '-01').str.to_datetime('%Y-%m-%d')"


@pytest.mark.parametrize("seed", range(10))
def test_a_series_without_a_date_is_in_the_order_of_its_file_until_it_is_shuffled(seed):
    y = _series(seed)
    found = find_order(_table(), y, None)
    assert found.order.column is None
    np.testing.assert_array_equal(found.times, np.arange(N))
    assert find_order(_table(), np.random.default_rng(seed).permutation(y), None) is None


def test_classes_that_last_are_an_order():
    rng = np.random.default_rng(0)
    y = np.where(np.cumsum(rng.random(N) < 0.15) % 2, "up", "down")  # some stay for long, some for one row
    assert find_order(_table(), y, ["down", "up"]) is not None
    assert find_order(_table(), rng.permutation(y), ["down", "up"]) is None


def test_tables_in_no_order_are_hardly_ever_taken_for_time():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(50, 300))
        y = rng.standard_t(2, size=n)
        assert find_order(_table(n, day=rng.permutation(_days(n).to_numpy())), y, None) is None
        assert find_order(_table(n), y, None) is None
        codes = rng.integers(0, 4, n)
        assert find_order(_table(n), codes, [0, 1, 2, 3]) is None


def _grouped(rng, size, n_groups=40):
    group = np.repeat(np.arange(n_groups), size)
    return group, (5 * rng.normal(size=n_groups))[group] + rng.normal(size=len(group))


@pytest.mark.parametrize("size", [2, 3, 5, 10, 30])
@pytest.mark.parametrize("is_named", [True, False])
def test_rows_in_groups_are_not_taken_for_time(size, is_named):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        group, y = _grouped(rng, size)
        names = {"group": rng.permutation(40)[group].astype(str)} if is_named else {}
        assert find_order(_table(len(y), **names), y, None) is None


def test_a_file_that_is_sorted_is_not_taken_for_time():
    rng = np.random.default_rng(0)
    y = rng.normal(size=N)
    assert find_order(_table(), np.sort(y), None) is None
    assert find_order(_table(), -np.sort(y), None) is None
    within = np.sort(y.reshape(10, 40), axis=1).ravel()
    assert find_order(_table(group=np.repeat(np.arange(10), 40)), within, None) is None
    assert find_order(_table(), np.sort(rng.integers(0, 3, N)), [0, 1, 2]) is None
    blocks = np.repeat(rng.integers(0, 3, 80), 5)
    assert find_order(_table(), blocks, [0, 1, 2]) is None
    x = np.sort(rng.normal(size=N))
    assert find_order(_table(x=x), np.sin(3 * x) + 0.1 * y, None) is None


def test_a_numbering_of_rows_does_not_hide_their_order():
    assert find_order(_table(row=np.arange(N)), _series(0), None) is not None
    year = 2000 + np.arange(N) // 12
    assert find_order(_table(year=year, month=np.arange(N) % 12), _series(0), None) is not None


def test_few_rows_tell_nothing():
    assert find_order(_table(40), _series(0, 40), None) is None

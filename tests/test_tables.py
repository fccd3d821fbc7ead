"""Tables of any library: a column with other values is of the same type."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer._tables import as_table

DAY = datetime.date(2020, 1, 1)
COLUMNS = {
    "whole": [1, None, 3],
    "real": [1.5, None, -2.0],
    "day": [DAY, None, datetime.date(2021, 1, 1)],
    "moment": [datetime.datetime(2020, 1, 1, 3), None, datetime.datetime(2021, 1, 1)],
    "span": [datetime.timedelta(1), None, datetime.timedelta(2)],
    "word": ["a", None, "b"],
    "flag": [True, None, False],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_put_back_into_polars_are_as_they_were(name):
    table = as_table(pl.DataFrame(COLUMNS), "X")
    place = table.names.index(name)
    found = table.with_values([place], [table.column(place)])
    assert found.schema == table.data.schema
    missing = [None if value != value else value for value in found[name].to_list()]
    assert missing == COLUMNS[name]
    turned = table.with_values([place], [table.column(place)[::-1]])
    assert [None if value != value else value for value in turned[name].to_list()] == COLUMNS[name][::-1]
    assert table.data[name].to_list() == COLUMNS[name]


def test_values_of_several_columns_are_put_in_together():
    for frame in (pl.DataFrame, pd.DataFrame):
        table = as_table(frame({"a": [1.0, 2.0], "b": ["x", "y"]}), "X")
        found = as_table(table.with_values([0, 1], [np.array([3.0, 4.0]), np.array(["z", "z"], dtype=object)]), "X")
        assert [found.cell(1, 0), found.cell(0, 1)] == [4.0, "z"]

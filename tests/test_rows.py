"""Rows of any table: the same rows, in the same kind of table, whatever the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from mercer._rows import count_rows, size_in_bytes, take_rows, with_own_structure

VALUES = np.arange(12.0).reshape(6, 2)
ROWS = np.array([4, 0, 0, -1])

TABLES = {
    "array": VALUES,
    "fortran": np.asfortranarray(VALUES),
    **{kind.__name__: kind(VALUES) for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.csr_matrix)},
    "pandas": pd.DataFrame(VALUES, columns=["a", "b"], index=[5, 4, 3, 2, 1, 0]),  # positions count, not labels
    "polars": pl.DataFrame(VALUES, schema=["a", "b"]),
    "list": VALUES.tolist(),
    "tuple": tuple(map(tuple, VALUES)),
}
COLUMNS = {
    "array": VALUES[:, 0],
    "pandas": pd.Series(VALUES[:, 0], index=[5, 4, 3, 2, 1, 0]),
    "polars": pl.Series(VALUES[:, 0]),
    "list": VALUES[:, 0].tolist(),
}


def dense(table: Any) -> Any:
    return table.toarray() if sp.issparse(table) else np.asarray(table)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("rows", [ROWS, ROWS.tolist(), np.arange(6), ROWS[:0]], ids=["array", "list", "all", "none"])
def test_rows_come_in_the_order_asked_for(table: Any, rows: Any) -> None:
    wanted = VALUES[np.asarray(rows, dtype=np.intp)]
    taken = take_rows(table, rows)
    np.testing.assert_array_equal(dense(taken).reshape(-1, 2), wanted)
    assert count_rows(taken) == len(wanted)


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_values_of_one_column_are_taken_alike(column: Any) -> None:
    np.testing.assert_array_equal(np.asarray(take_rows(column, ROWS)), VALUES[ROWS, 0])
    assert count_rows(column) == 6


@pytest.mark.parametrize("name", ["array", "csr_array", "csr_matrix", "pandas", "polars", "list"])
def test_the_kind_of_table_stays(name: str) -> None:
    assert type(take_rows(TABLES[name], ROWS)) is type(TABLES[name])


def test_the_labels_and_types_of_a_frame_stay() -> None:
    frame = pd.DataFrame({"x": pd.Categorical(["u", "v", "u"]), "n": [1, 2, 3]}, index=["i", "j", "k"])
    taken = take_rows(frame, [2, 0])
    assert list(taken.index) == ["k", "i"]
    assert (taken.dtypes == frame.dtypes).all()


def test_no_table_has_no_rows_to_take() -> None:
    assert take_rows(None, ROWS) is None


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_all_tables_count_six_rows(table: Any) -> None:
    assert count_rows(table) == 6


def test_the_size_of_a_table_is_that_of_its_values() -> None:
    n_bytes = VALUES.nbytes
    assert size_in_bytes(VALUES) == n_bytes
    assert size_in_bytes(sp.csr_array(VALUES)) == n_bytes - 8  # the zero is not stored
    assert size_in_bytes(TABLES["polars"]) == n_bytes
    assert size_in_bytes(TABLES["pandas"]) >= n_bytes  # with its index
    assert size_in_bytes(VALUES.tolist()) == 0  # unknown


@pytest.mark.parametrize("end", [0, -1_677_604_936])  # differences of int32 overflow
def test_sparse_rows_that_point_outside_are_refused_even_where_nothing_is_stored(end):
    hollow = sp.csr_matrix((2, 3))
    hollow.indptr = np.array([0, 1_473_904_642, end], dtype=np.int32)
    with pytest.raises(ValueError, match="decreas"):
        with_own_structure(hollow)

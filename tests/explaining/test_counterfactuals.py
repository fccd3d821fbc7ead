"""What would change a prediction."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from mercer._explaining.counterfactuals import Goal, nearest_row, smallest_changes
from mercer._explaining.scales import Distances
from mercer._explaining.table_model import TableModel

KINDS = {"size": "number", "colour": "category", "note": "text"}


class _Rule:
    """A model whose answers can be told by hand: yes from size 6 on, and always if it is red."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X):
        yes = ((X["size"].fill_null(0) >= 6) | (X["colour"] == "red").fill_null(False)).to_numpy().astype(float)
        return np.stack([1 - yes, yes], axis=1)


class _Sum:
    """A model of numbers: the size, and ten more if it is red."""

    def predict(self, X):
        return X["size"].to_numpy() + 10.0 * (X["colour"] == "red").to_numpy()


def _table(sizes, colours):
    return pl.DataFrame({"size": sizes, "colour": colours, "note": [f"note {i}" for i in range(len(sizes))]})


TABLE = _table([1.0, 2.0, 5.0, 6.0, 7.0, 9.0, None], ["blue", "blue", "blue", "blue", "green", "red", "blue"])
FOUND = TableModel.of(_Rule(), ["no", "yes"])


def _goal(row, **options):
    return Goal(FOUND, FOUND(row)[0], **options)


def test_the_smallest_change_of_each_column_is_found():
    row = _table([4.0], ["blue"])
    changes = smallest_changes(_goal(row), row, TABLE, KINDS)
    by_column = {change.column: change for change in changes}
    assert set(by_column) == {"size", "colour"}
    assert by_column["size"].value == 6.0
    assert by_column["size"].distance == pytest.approx(2.0 / np.nanstd(TABLE["size"].to_numpy()))
    assert by_column["colour"].value == "red"
    assert by_column["colour"].distance == 1.0
    assert [change.distance for change in changes] == sorted(change.distance for change in changes)


def test_no_column_is_named_where_none_changes_it():
    row = _table([9.0], ["red"])
    assert smallest_changes(_goal(row), row, TABLE, KINDS) == []


@pytest.mark.parametrize("n_values", [5, 150, 3000])
def test_of_many_values_the_nearest_is_found(n_values):
    sizes = np.linspace(0, 10, n_values)
    table = _table(sizes.tolist(), ["blue"] * n_values)
    row = _table([1.234], ["blue"])
    (change,) = smallest_changes(_goal(row), row, table, KINDS)
    assert change.value == sizes[sizes >= 6].min()


def test_the_nearest_row_is_the_nearest_of_those_that_are_predicted_otherwise():
    row = _table([4.0], ["blue"])
    nearest = nearest_row(_goal(row), row, TABLE, KINDS)
    assert nearest.place == 3
    assert nearest.n_reached == 3
    assert set(nearest.changed) == {"size", "note"}
    distances = Distances(row, TABLE, KINDS).total
    assert nearest.distance == distances[[3, 4, 5]].min()
    assert nearest_row(_goal(row, target=0), row, TABLE[3:6], KINDS) is None


def test_another_number_is_one_that_is_beyond_the_margin():
    found = TableModel.of(_Sum(), None)
    table, row = TABLE[:6], _table([4.0], ["blue"])
    goal = Goal(found, found(row)[0], margin=3.0)
    nearest = nearest_row(goal, row, table, KINDS)
    assert abs(nearest.outputs[0] - 4.0) >= 3.0
    changes = {change.column: change for change in smallest_changes(goal, row, table, KINDS)}
    assert changes["size"].value in (1.0, 7.0)
    assert changes["colour"].value == "red"


def test_a_certain_class_can_be_asked_for():
    row = _table([8.0], ["blue"])
    assert nearest_row(_goal(row, target=0), row, TABLE[:6], KINDS).place == 2
    assert nearest_row(_goal(row, target=0), row, TABLE, KINDS).place == 6  # a missing number is one apart, no more
    changes = smallest_changes(_goal(row, target=0), row, TABLE, KINDS)
    assert changes[0].column == "size"
    assert changes[0].value == 5.0


def test_distances_are_in_the_units_of_each_column():
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 11), None]
    table = pl.DataFrame({"a": [0.0, 2.0, None], "day": days, "word": ["x", None, "y"], "code": [1, 2, 3], "one": [5, 5, 5]})
    kinds = {"a": "number", "day": "date", "word": "category", "code": "category", "one": "number"}
    found = Distances(table[:1], table, kinds)
    np.testing.assert_allclose(found.of("a"), [0.0, 2.0, 1.0])
    np.testing.assert_allclose(found.of("day"), [0.0, 2.0, 1.0])
    np.testing.assert_allclose(found.of("word"), [0.0, 1.0, 1.0])
    np.testing.assert_allclose(found.of("code"), [0.0, 1.0, 1.0])
    np.testing.assert_allclose(found.of("one"), [0.0, 0.0, 0.0])
    assert Distances(table[2:], table, kinds).of("a").tolist() == [1.0, 1.0, 0.0]

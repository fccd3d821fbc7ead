"""The space of a search: points, tokens, grids."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from sklearn.model_selection import ParameterGrid

from mercer.model_selection import Choices, Integers, Reals
from mercer.model_selection._tune.candidates import Layout
from mercer.model_selection._tune.fingerprint import describe
from mercer.model_selection._tune.proposals import Grid
from mercer.model_selection._tune.space import make_space
from tests.model_selection.fakes import Shrunken, SweptShrunken

SPACE = {"power": [1, 2, 3], "alpha": Choices(5.0, 1.0)}


@pytest.mark.parametrize("swept", [(), ("alpha",), ("power",), ("power", "alpha")])
def test_candidates_are_numbered_as_in_the_grid_whatever_is_swept(swept):
    space = make_space(SPACE, Shrunken())
    combinations = Grid(Layout(space, swept)).ask(100)
    assert len(combinations) == {(): 6, ("alpha",): 3, ("power",): 2}.get(swept, 1)
    by_number = {one.number: dict(one.params) for combination in combinations for one in combination.candidates}
    expected = list(ParameterGrid({"power": [1, 2, 3], "alpha": [5.0, 1.0]}))
    assert [by_number[number] for number in range(6)] == expected


def test_numbers_and_points_of_the_grid_are_inverse():
    space = make_space(SPACE, Shrunken())
    assert [space.number_of(space.point_at(number)) for number in range(6)] == list(range(6))


def test_equal_points_have_equal_keys():
    layout = Layout(make_space({"alpha": Reals(0.1, 1)}, Shrunken()), ())
    keys = [layout.combination(number, {"alpha": value}).candidates[0].key for number, value in enumerate([0.3, 0.3, 0.31])]
    assert keys[0] == keys[1] != keys[2]


def test_values_may_be_anything_that_the_estimator_takes():
    marker = object()
    space = make_space({"alpha": [marker, None, np.array([1, 2])]}, Shrunken())
    assert space.decode({"alpha": 0})["alpha"] is marker
    assert space.decode({"alpha": 1})["alpha"] is None


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([], "must be a non-empty list"),
        ("auto", "must be a non-empty list"),
        (3.0, "must be a non-empty list"),
        ({"a": 1}, "must be a non-empty list"),
    ],
)
def test_values_that_are_no_list_are_refused(values, match):
    with pytest.raises(ValueError, match=match):
        make_space({"alpha": values}, Shrunken())


def test_a_description_is_equal_for_equal_things_only():
    same = [
        (np.arange(3), np.arange(3)),
        (Shrunken(2.0), Shrunken(2.0)),
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
        (scipy.stats.norm(1, 2), scipy.stats.norm(1, 2)),
        (Reals(1, 2), Reals(1, 2)),
        (np.array(["x", None], dtype=object), np.array(["x", None], dtype=object)),
    ]
    for one, other in same:
        assert describe(one) == describe(other)
    different = [np.arange(3), np.arange(3.0), [1, 2], [12], "12", 12, Shrunken(1.0), Shrunken(2.0), SweptShrunken(1.0), None]
    different += [scipy.stats.norm(1, 2), scipy.stats.norm(1, 3), Reals(1, 2), Integers(1, 2), Choices(1, 2), np.mean, np.std]
    assert len({describe(value) for value in different}) == len(different)

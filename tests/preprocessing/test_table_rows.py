"""A row by itself, which a service asks for, is prepared as it is in its table; and what a preparer tells of its categories."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._columns import Table
from mercer.ensemble import HistGradientBoostingClassifier
from mercer.linear_model import LogisticRegression
from mercer.preprocessing import TablePreparer


@pytest.fixture(scope="module")
def table():
    rng, n = np.random.default_rng(0), 120
    colours = np.array(["red", "green", "blue", None], dtype=object)
    words = np.array(["a", "big", "old", "car", "with", "new", "wheels", "and", "seats", "no", "radio"])
    return {
        "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "colour": colours[rng.integers(0, 4, n)],
        "rare": np.array(["often"] * (n - 3) + ["once", "twice", "thrice"], dtype=object),
        "note": np.array([" ".join(rng.choice(words, 6)) for _ in range(n)], dtype=object),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 400, n),
    }


@pytest.mark.parametrize("estimator", [LogisticRegression(), HistGradientBoostingClassifier()])
def test_a_row_by_itself_has_the_bits_that_it_has_in_its_table(table, estimator):
    preparer = TablePreparer(estimator, kinds={"note": "text"}).fit(table)
    whole = preparer.transform(table)
    for row in range(0, 120, 7):
        alone = preparer.transform({name: values[row : row + 1] for name, values in table.items()})
        np.testing.assert_array_equal(alone[0], whole[row])


def test_several_may_read_one_table(table):
    shared = Table.of(table, "test")
    for estimator in (LogisticRegression(), HistGradientBoostingClassifier()):
        preparer = TablePreparer(estimator, kinds={"note": "text"}).fit(table)
        np.testing.assert_array_equal(preparer.transform(shared), preparer.transform(table))


def test_a_text_without_a_known_word_and_an_empty_one_are_zeros(table):
    preparer = TablePreparer(kinds={"note": "text"}).fit({"note": table["note"]})
    assert not preparer.transform({"note": np.array(["zebra quagga", "!"], dtype=object)}).any()


def test_levels_are_the_categories_with_a_place_of_their_own(table):
    levels = TablePreparer(kinds={"note": "text"}).fit(table).levels()
    assert levels == {"colour": (("blue", "green", "red"), 0), "rare": (("often",), 3)}


def test_trees_of_categories_still_refuse_infinity(table):
    X = np.column_stack([np.arange(40) % 3, np.linspace(0, 1, 40)]).astype(float)
    model = HistGradientBoostingClassifier(categorical_features=[0], max_iter=2).fit(X, np.arange(40) % 2)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X)

from __future__ import annotations

import pickle

import numpy as np
import pytest

from mercer.inspection import surrogate_tree
from mercer.tree import DecisionTreeClassifier, export_text
from tests.inspection.models import NUMBERS, PAIRS, THREE, TWO, X, fitted


def test_a_tree_mimics_a_tree_without_loss():
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, TWO)
    found = surrogate_tree(model, np.random.RandomState(0).randn(5000, 5), max_depth=2)
    assert found.fidelity > 0.99
    assert found.n_train + found.n_test == 5000


def test_fidelity_is_told_on_rows_held_out():
    model, rows, _ = fitted("forest of numbers")
    found = surrogate_tree(model, rows, max_depth=3, random_state=1)
    order = np.random.RandomState(1).permutation(len(rows))
    held_out = np.sort(order[: found.n_test])
    answers = model.predict(rows)[held_out]
    mimicked = found.tree.predict(rows[held_out])
    expected = 1 - np.sum((answers - mimicked) ** 2) / np.sum((answers - answers.mean()) ** 2)
    assert found.fidelity == pytest.approx(expected)
    assert found.tree.get_depth() <= 3
    text = str(found)
    assert text.startswith(export_text(found.tree, feature_names=found.feature_names).rstrip())
    assert f"R2 {found.fidelity:.3f} on {found.n_test} rows held out" in text


def test_labels_and_the_numbers_of_one_class_are_mimicked():
    model, rows, _ = fitted("forest of three classes")
    labels = surrogate_tree(model, rows)
    assert set(labels.tree.classes_) <= set(THREE)
    assert labels.measure == "share of equal labels"
    assert 1 / 3 < labels.baseline <= labels.fidelity
    high = surrogate_tree(model, rows, response_method="predict_proba", target="high")
    train = high.tree.predict(rows)
    assert np.corrcoef(train, model.predict_proba(rows)[:, list(model.classes_).index("high")])[0, 1] > 0.7
    with pytest.raises(ValueError, match="target=None is not valid"):
        surrogate_tree(model, rows, response_method="predict_proba")
    with pytest.raises(ValueError, match="target='tall' is not valid"):
        surrogate_tree(model, rows, response_method="predict_proba", target="tall")


def test_several_targets_are_mimicked_together_or_one_of_them():
    model, rows, _ = fitted("ridge of two targets")
    assert surrogate_tree(model, rows).tree.predict(rows).shape == PAIRS.shape
    assert surrogate_tree(model, rows, target=1).tree.predict(rows).shape == NUMBERS.shape


def test_a_surrogate_is_pickled():
    model, rows, _ = fitted("ridge")
    found = surrogate_tree(model, rows)
    assert str(pickle.loads(pickle.dumps(found))) == str(found)


def test_wrong_parameters_are_named():
    model, rows, _ = fitted("ridge")
    with pytest.raises(ValueError, match="max_depth=0 is not valid"):
        surrogate_tree(model, rows, 0)
    with pytest.raises(AttributeError, match="no predict_proba"):
        surrogate_tree(model, rows, response_method="predict_proba")
    with pytest.raises(ValueError, match="two at least"):
        surrogate_tree(model, rows[:1])

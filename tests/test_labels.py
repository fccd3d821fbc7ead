"""Labels as codes, labels from scores, and columns for classes that a model has not seen."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._labels import choose_codes, choose_labels, code_labels, pad_classes, require_two_classes
from mercer._stand_in import stand_in

CLASSES = np.array(["a", "b", "c"])


def test_labels_are_places_among_the_sorted_classes():
    classes, codes = code_labels(np.array(["c", "a", "c", "b"]))
    assert classes.tolist() == ["a", "b", "c"]
    assert codes.tolist() == [2, 0, 2, 1]
    assert codes.dtype == np.intp


@pytest.mark.parametrize(("classes", "message"), [([], "y is empty, 0 samples"), (["x"], "Some: y holds 1 class only, .*'x'")])
def test_fewer_than_two_classes_are_refused(classes, message):
    with pytest.raises(ValueError, match=message):
        require_two_classes("Some", np.array(classes))


def test_one_score_goes_by_its_sign_and_several_by_the_largest():
    one = np.array([-1.0, 0.0, 2.0])
    assert choose_codes(one, 2).tolist() == choose_codes(one[:, None], 2).tolist() == [0, 0, 1]
    assert choose_codes(one, 2, zero_is_second=True).tolist() == [0, 1, 1]
    assert choose_labels(np.array([[0.2, 0.5, 0.3], [1.0, 1.0, 0.0]]), CLASSES).tolist() == ["b", "a"]
    assert choose_labels(np.array([[0.2, 0.8], [0.5, 0.5]]), CLASSES[:2]).tolist() == ["b", "a"]


def test_a_class_that_is_alone_is_always_chosen():
    assert choose_labels(np.ones((3, 1)), CLASSES[:1]).tolist() == ["a"] * 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_class_that_was_not_seen_has_zeros(dtype):
    given = np.array([[0.25, 0.75], [1.0, 0.0]], dtype=dtype)
    full = pad_classes(given, np.array([0, 2]), 3)
    assert full.dtype == dtype
    assert full.tolist() == [[0.25, 0.0, 0.75], [1.0, 0.0, 0.0]]
    assert pad_classes(given, np.array([0, 2]), 3, dtype=np.float64).dtype == np.float64


def test_a_stand_in_says_what_it_was_given_and_nothing_else():
    X = np.zeros((2, 1))
    assert stand_in([1.0, 2.0]).predict(X) == [1.0, 2.0]
    sure, decided = stand_in("ab", classes=CLASSES, probability="p"), stand_in("ab", classes=CLASSES, decision="d")
    assert (sure.predict_proba(X), decided.decision_function(X), decided.classes_[0]) == ("p", "d", "a")
    assert not hasattr(sure, "decision_function")
    assert not hasattr(decided, "predict_proba")

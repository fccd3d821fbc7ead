"""Where rows lie relative to the margin of a linear support vector machine."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.svm import LinearSVC

ROWS = np.array([[0.0, 0], [1, 1], [3, 3], [4, 4]])
LABELS = np.array(["a", "a", "b", "b"])


def test_the_margin_of_two_points_is_their_distance():
    model = LinearSVC(loss="hinge", C=10, tol=1e-9).fit(ROWS, LABELS)
    assert model.margin_ == pytest.approx(2 * np.sqrt(2))
    assert model.half_margin_ == pytest.approx(np.sqrt(2))
    assert model.margin_ == pytest.approx(2 / np.linalg.norm(model.coef_))


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_matrix])
def test_every_row_has_its_place(as_rows):
    model = LinearSVC(loss="hinge", C=10, tol=1e-9).fit(ROWS, LABELS)
    more = np.vstack([ROWS, [[2.5, 2.5], [2.0, 2.0], [0.5, 0.6]]])
    margins = model.margins(as_rows(more), np.append(LABELS, ["b", "b", "b"]))
    expected = ["outside", "on", "on", "outside", "inside", "misclassified", "misclassified"]
    assert margins.place.tolist() == expected
    np.testing.assert_allclose(margins.functional, [2, 1, 1, 2, 0.5, 0, -1.45], atol=1e-8)
    np.testing.assert_allclose(margins.geometric, margins.functional * np.sqrt(2), atol=1e-8)


def test_a_loss_is_where_a_row_is_not_outside_and_classes_have_columns():
    random = np.random.RandomState(0)
    X, y = random.randn(80, 3), random.randint(3, size=80)
    model = LinearSVC(tol=1e-8).fit(X, y)
    margins = model.margins(X, y)
    assert margins.functional.shape == margins.place.shape == (80, 3)
    np.testing.assert_allclose(model.margin_, 2 / np.linalg.norm(model.coef_, axis=1))
    signs = np.where(y[:, None] == model.classes_, 1, -1)
    np.testing.assert_allclose(margins.functional, signs * model.decision_function(X))
    np.testing.assert_array_equal(margins.place == "misclassified", margins.functional <= 0)
    loss = np.maximum(0, 1 - margins.functional)
    assert (loss[margins.place == "outside"] == 0).all()
    assert (loss[margins.place == "inside"] > 0).all()


def test_what_has_no_margin_says_so():
    random = np.random.RandomState(0)
    X, y = random.randn(30, 2), random.randint(3, size=30)
    assert not hasattr(LinearSVC(), "margin_")
    joint = LinearSVC(multi_class="crammer_singer").fit(X, y)
    assert not hasattr(joint, "margin_")
    with pytest.raises(AttributeError, match="multi_class='ovr'"):
        joint.margins(X, y)
    model = LinearSVC().fit(ROWS, LABELS)
    with pytest.raises(ValueError, match=r"y holds 'c'; it must hold one label a row, each among \['a', 'b'\]"):
        model.margins(ROWS, ["a", "a", "b", "c"])
    with pytest.raises(ValueError, match="3 labels and X 4 rows"):
        model.margins(ROWS, ["a", "a", "b"])

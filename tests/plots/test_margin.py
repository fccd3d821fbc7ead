"""The picture of a margin."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.plots import plot_margin
from mercer.svm import SVC, LinearSVC

ROWS, LABELS = np.array([[0.0, 0], [1, 1], [3, 3], [4, 4], [2.5, 2.6]]), np.array(["a", "a", "b", "b", "a"])


@pytest.mark.parametrize("model", [SVC(kernel="linear", C=1), LinearSVC(loss="hinge")], ids=["SVC", "LinearSVC"])
def test_every_row_is_drawn_where_the_model_says_it_lies(model):
    model.fit(ROWS, LABELS)
    ax = plot_margin(model, ROWS, LABELS, n_points=20)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    places = model.margins(ROWS, LABELS).place
    pairs = list(zip(LABELS, places, strict=True))
    expected = {f"{label}: {place} ({pairs.count((label, place))})" for label, place in pairs}
    assert texts[:2] == ["boundary", "margin"]
    assert set(texts[2:]) == expected


def test_what_has_no_margin_of_two_classes_is_refused():
    from mercer.linear_model import LogisticRegression

    with pytest.raises(TypeError, match="LogisticRegression has no margins"):
        plot_margin(LogisticRegression().fit(ROWS, LABELS), ROWS, LABELS)
    three = SVC().fit(ROWS, [0, 0, 1, 1, 2])
    with pytest.raises(ValueError, match="3 classes apart; there must be 2"):
        plot_margin(three, ROWS, [0, 0, 1, 1, 2])

"""Plots of losses, penalties and elbows draw what they name."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.cluster import elbow
from mercer.losses import LOSSES, Hinge, Huber, SoftmaxCrossEntropy
from mercer.penalties import L1, Box, GroupL2, Lp
from mercer.plots import plot_elbow, plot_losses, plot_penalties


@pytest.mark.parametrize("kind", ["margin", "residual", "positive"])
def test_plot_of_losses_draws_every_loss_of_a_kind(ax, kind):
    assert plot_losses(kind, ax=ax) is ax
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [cls.__name__ for cls in LOSSES.values() if cls.kind == kind]
    assert all(np.isfinite(line.get_ydata()).all() for line in ax.lines)


def test_plot_of_losses_draws_what_it_is_given(ax):
    plot_losses("residual", losses=[Huber(), Huber(delta=0.5)], ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Huber", "Huber(delta=0.5)"]
    x, value = ax.lines[1].get_data()
    np.testing.assert_array_equal(value, Huber(delta=0.5).value(0.0, x))
    with pytest.raises(ValueError, match="is of kind 'margin'; every loss must be of kind 'residual'"):
        plot_losses("residual", losses=[Hinge()], ax=ax)
    with pytest.raises(ValueError, match="kind='multiclass' is not valid"):
        plot_losses("multiclass", losses=[SoftmaxCrossEntropy()], ax=ax)


def test_plot_of_penalties_draws_curves(ax):
    assert plot_penalties(ax=ax) is ax
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["Lp(p=0.5)", "L1", "ElasticNet(l1_ratio=0.5)", "L2", "Box(low=-1, high=1)"]
    w, value = ax.lines[1].get_data()
    np.testing.assert_allclose(value, np.abs(w))


def test_plot_of_penalties_draws_balls(ax):
    plot_penalties("balls", penalties=[Lp(p=0.5), L1(), Box(low=-1, high=1)], ax=ax)
    (a, b), (c, d), (e, f) = (line.get_data() for line in ax.lines)
    np.testing.assert_allclose(np.sqrt(np.abs(a)) + np.sqrt(np.abs(b)), 1, atol=1e-6)
    np.testing.assert_allclose(np.abs(c) + np.abs(d), 1, atol=1e-9)
    np.testing.assert_allclose(np.maximum(np.abs(e), np.abs(f)), 1, atol=1e-9)
    with pytest.raises(ValueError, match=r"GroupL2.* is not a sum over single coefficients"):
        plot_penalties("balls", penalties=[GroupL2()], ax=ax)
    with pytest.raises(ValueError, match="view='pie' is not valid"):
        plot_penalties("pie", ax=ax)


def test_plot_marks_the_suggestion(ax):
    corners = np.array([[0.0, 0.0], [0, 9], [9, 0], [9, 9]])
    X = np.repeat(corners, 20, axis=0) + np.random.RandomState(0).randn(80, 2) / 4
    assert plot_elbow(elbow(X, range(1, 8)), ax=ax) is ax
    assert ax.get_xlabel() == "number of clusters"
    assert any("elbow at 4" in text.get_text() for text in ax.texts)

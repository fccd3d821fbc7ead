"""Plots of components: bars, sums, points and arrows hold the figures of the model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA as PeerPCA

from mercer.decomposition import PCA, TruncatedSVD
from mercer.plots import plot_biplot, plot_explained_variance

IRIS = load_iris(as_frame=True)


def arrows(ax):
    return np.array([text.xy for text in ax.texts if not text.get_text()])


def words(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_bars_and_line_are_the_shares_and_their_sums(ax):
    model = PCA().fit(IRIS.data)
    plot_explained_variance(model, ax=ax)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], model.explained_variance_ratio_)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.cumsum(model.explained_variance_ratio_))
    assert words(ax) == ["2 components explain 97.8 %"]


@pytest.mark.parametrize(("share", "expected"), [(0.5, "1 component explains 92.5 %"), (0.99, "3 components explain 99.5 %")])
def test_the_least_number_that_reaches_the_share_is_marked(ax, share, expected):
    assert words(plot_explained_variance(PCA().fit(IRIS.data), share=share, ax=ax)) == [expected]


def test_a_share_that_is_not_reached_is_not_marked(ax):
    assert words(plot_explained_variance([0.5, 0.2], ax=ax)) == []
    assert words(plot_explained_variance([0.5, 0.5], share=None)) == []


def test_what_is_left_out_is_said(ax):
    plot_explained_variance(np.full(50, 0.02), max_components=10, ax=ax)
    assert len(ax.patches) == 10
    assert "40 more are not shown" in ax.get_title()


@pytest.mark.parametrize("model", [PCA(), PeerPCA(), TruncatedSVD(3, random_state=0)], ids=["PCA", "peer", "TruncatedSVD"])
def test_points_are_scores_and_arrows_are_loadings_in_one_unit(ax, model):
    model.fit(IRIS.data)
    plot_biplot(model, IRIS.data, components=(0, 2), ax=ax)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), model.transform(IRIS.data)[:, [0, 2]])
    loadings = (model.components_[[0, 2]] * np.sqrt(model.explained_variance_[[0, 2]])[:, None]).T
    loadings = loadings[np.argsort(-np.hypot(*loadings.T))]
    tips = arrows(ax)
    factor = np.hypot(*tips[0]) / np.hypot(*loadings[0])
    np.testing.assert_allclose(tips, factor * loadings, rtol=1e-9)
    reach = np.abs(model.transform(IRIS.data)[:, [0, 2]]).max(axis=0)
    assert (np.abs(tips) <= reach).all()


def test_names_are_those_of_the_table_and_do_not_lie_on_one_another(ax):
    plot_biplot(PCA().fit(IRIS.data), IRIS.data, IRIS.target, ax=ax)
    assert sorted(words(ax)) == sorted(IRIS.data.columns)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    inside = ax.get_window_extent()
    assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes)


def test_classes_have_their_entries_in_the_legend(ax):
    plot_biplot(PCA().fit(IRIS.data), IRIS.data, IRIS.target_names[IRIS.target], ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(IRIS.target_names)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_explained_variance([0.5, np.nan]), "vector of shares"),
        (lambda: plot_explained_variance([0.5], share=1.5), "share=1.5"),
        (lambda: plot_explained_variance([0.5], max_components=0), "max_components=0"),
        (lambda: plot_biplot(PCA(2).fit(IRIS.data), IRIS.data, components=(0, 2)), "from 0 to 1"),
        (lambda: plot_biplot(PCA(2).fit(IRIS.data), IRIS.data, components=(1, 1)), "different"),
        (lambda: plot_biplot(PCA(2).fit(IRIS.data), IRIS.data, names=["a"]), "one for 4 features"),
        (lambda: plot_biplot(PCA(2).fit(IRIS.data), IRIS.data, y=[1, 2]), "y has 2 labels"),
    ],
)
def test_what_cannot_be_drawn_says_why(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_model_without_components_is_refused():
    with pytest.raises(TypeError, match="components_"):
        plot_biplot(KMeans(2, n_init=1).fit(IRIS.data), IRIS.data)

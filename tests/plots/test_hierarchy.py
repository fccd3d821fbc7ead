"""Pictures of hierarchies and silhouettes show what they are of."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.cluster import DBSCAN, AgglomerativeClustering, linkage
from mercer.plots import plot_dendrogram, plot_silhouette

X = np.concatenate([centre + np.random.default_rng(0).normal(size=(20, 2)) for centre in ([0, 0], [12, 0], [0, 12])])


def test_a_dendrogram_has_a_bracket_for_each_merge_and_a_place_for_each_row():
    ax = plot_dendrogram(linkage(X[:10], "average"), max_leaves=None, labels=[f"r{i}" for i in range(10)])
    brackets = [line for line in ax.lines if len(line.get_xdata()) == 4]
    assert len(brackets) == 9
    assert sorted(text.get_text() for text in ax.get_xticklabels()) == [f"r{i}" for i in range(10)]
    heights = sorted(line.get_ydata()[1] for line in brackets)
    np.testing.assert_allclose(heights, linkage(X[:10], "average")[:, 2])


def test_a_truncated_dendrogram_counts_the_rows_that_it_does_not_show():
    model = AgglomerativeClustering(3).fit(X)
    ax = plot_dendrogram(model, max_leaves=6, n_clusters=3)
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert len(texts) == 6
    assert sum(int(text.strip("()")) if text.startswith("(") else 1 for text in texts) == len(X)
    assert ax.get_title() == "Dendrogram: cut into 3 clusters"
    assert len({line.get_color() for line in ax.lines if len(line.get_xdata()) == 4}) == 4  # three clusters and what is above


def test_cuts_and_names_that_do_not_fit_are_refused():
    Z = linkage(X)
    with pytest.raises(TypeError, match="two cuts"):
        plot_dendrogram(Z, n_clusters=2, height=1.0)
    with pytest.raises(ValueError, match="labels holds 2 names"):
        plot_dendrogram(Z, labels=["a", "b"])
    with pytest.raises(TypeError, match="no linkage_matrix_"):
        plot_dendrogram(DBSCAN().fit(X))


def test_a_silhouette_plot_has_a_knife_for_each_cluster_and_leaves_out_noise():
    labels = np.repeat([0, 1, 2], 20)
    ax = plot_silhouette(X, labels)
    assert len(ax.collections) == 3
    labels[0] = -1
    ax = plot_silhouette(X, labels)
    assert [text.get_text() for text in ax.texts] == ["0 (19)", "1 (20)", "2 (20)"]

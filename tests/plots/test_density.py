"""Pictures of density clustering."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from mercer.cluster import OPTICS, estimate_eps
from mercer.plots import plot_k_distances, plot_reachability


def test_the_curve_of_k_distances_is_drawn_with_its_radius():
    X = make_blobs(100, 2, random_state=0)[0]
    curve = estimate_eps(X, 4, method="knee")
    for ax in (plot_k_distances(curve), plot_k_distances(X, 4, method="knee")):
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve.distances)
        assert ax.lines[2].get_xydata().tolist() == [[curve.place, curve.eps]]
        assert "4th nearest" in ax.get_ylabel()
    with pytest.raises(TypeError, match="go with data"):
        plot_k_distances(curve, 4)


def test_reachability_is_drawn_in_order_and_coloured_by_cluster():
    X = make_blobs(90, 2, centers=[[0, 0], [9, 9]], random_state=0)[0]
    model = OPTICS(cluster_method="dbscan", eps=2.0).fit(X)
    ax = plot_reachability(model)
    assert len(ax.collections) == len(np.unique(model.labels_))
    largest = max(path.vertices[:, 1].max() for collection in ax.collections for path in collection.get_paths())
    assert largest == pytest.approx(1.1 * model.reachability_[1:][np.isfinite(model.reachability_[1:])].max())
    with pytest.raises(TypeError, match="a fitted OPTICS comes first"):
        plot_reachability(X)

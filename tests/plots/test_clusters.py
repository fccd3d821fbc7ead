from __future__ import annotations

import numpy as np
import pytest

from mercer.cluster import SelfOrganizingMap, gap_statistic
from mercer.plots import plot_gap, plot_umatrix

X = np.concatenate([centre + np.random.RandomState(0).randn(30, 2) for centre in ([0, 0], [12, 0], [0, 12])])


def test_the_gap_is_drawn_with_its_errors():
    curve = gap_statistic(X, range(1, 6), n_references=5)
    ax = plot_gap(curve)
    assert ax.texts[0].get_text() == "3 clusters suggested"
    np.testing.assert_allclose(ax.lines[0].get_ydata(), curve.gap)
    with pytest.raises(TypeError, match="go with data"):
        plot_gap(curve, range(3))


@pytest.mark.parametrize("topology", ["rectangular", "hexagonal"])
def test_the_u_matrix_is_drawn_unit_by_unit(topology):
    model = SelfOrganizingMap((4, 5), topology=topology).fit(X)
    ax = plot_umatrix(model, labels=np.repeat(["a", "b", "c"], 30))
    np.testing.assert_allclose(ax.collections[0].get_array(), model.umatrix_.ravel())
    assert {text.get_text() for text in ax.texts} == {"a", "b", "c"}
    with pytest.raises(ValueError, match="90 rows"):
        plot_umatrix(model, labels=["a"])

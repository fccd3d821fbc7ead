"""The picture of a kernel matrix has the rows of each class together."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.kernels import RBF, Linear, Sigmoid
from mercer.plots import plot_kernel


def test_plot_of_a_kernel_is_its_matrix_sorted_by_class(ax):
    X = np.random.RandomState(0).randn(12, 3)
    y = np.array(["b", "a", "c"])[np.arange(12) % 3]
    assert plot_kernel("rbf", X, y, gamma=0.5, ax=ax) is ax
    order = np.argsort(y, kind="stable")
    np.testing.assert_allclose(ax.images[0].get_array(), RBF(0.5)(X[order]))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]
    np.testing.assert_allclose(ax.get_xticks(), [1.5, 5.5, 9.5])
    assert len(ax.lines) == 4
    assert ax.get_title() == "rbf kernel (gamma = 0.5)"


def test_plot_of_a_kernel_without_classes_keeps_the_order(ax):
    X = np.random.RandomState(0).randn(6, 3)
    plot_kernel(RBF(0.5) + Linear(), X, ax=ax)
    np.testing.assert_allclose(ax.images[0].get_array(), RBF(0.5)(X) + X @ X.T)
    assert ax.get_xlabel() == "row"
    K = Sigmoid()(X)
    plot_kernel("precomputed", K, ax=ax)
    np.testing.assert_array_equal(ax.images[-1].get_array(), K)
    with pytest.raises(ValueError, match="y has 2 labels and X 6 rows"):
        plot_kernel("rbf", X, [0, 1], ax=ax)

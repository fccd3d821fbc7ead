"""Products with centred rows and sparse rows refuse shapes that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mercer._matrix import native_rows
from mercer._native import kernels


@pytest.mark.parametrize("width", [3, 200])
def test_shapes_that_do_not_fit_are_refused(width):
    X, centre = np.ones((5, 4)), np.zeros(4)
    for wrong in [
        (np.zeros(3), np.ones((4, width)), np.empty((5, width))),
        (centre, np.ones((3, width)), np.empty((5, width))),
    ]:
        with pytest.raises(ValueError, match="multiply_centred"):
            kernels.multiply_centred(X, *wrong, 1)
    for out in [(4, width), (5, width + 1)]:
        with pytest.raises(ValueError, match="shapes"):
            kernels.multiply_centred(X, centre, np.ones((4, width)), np.empty(out), 1)
    with pytest.raises(ValueError, match="centre"):
        kernels.multiply_centred_transposed(X, np.zeros(5), np.ones((5, width)), np.empty((4, width)), 1)
    with pytest.raises(ValueError, match="shapes"):
        kernels.multiply_centred_transposed(X, centre, np.ones((4, width)), np.empty((4, width)), 1)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("width", [1, 4, 9, 14, 20, 24, 25, 44, 48, 60])
@pytest.mark.parametrize("depth", [1, 19, 700])
def test_the_product_is_that_of_the_centred_rows_and_a_row_has_the_bits_it_has_alone(dtype, width, depth):
    random = np.random.RandomState(0)
    X = (random.randn(85, depth) + 100).astype(dtype)
    centre, right = X.mean(axis=0), random.randn(depth, width).astype(dtype)
    out, alone = np.empty((85, width), dtype), np.empty((1, width), dtype)
    kernels.multiply_centred(X, centre, right, out, 2)
    exact = (X - centre).astype(np.float64) @ right.astype(np.float64)
    np.testing.assert_allclose(out, exact, atol=depth * np.finfo(dtype).eps * 30)
    for i in (0, 35, 36, 37, 83, 84):
        kernels.multiply_centred(X[[i]], centre, right, alone, 1)
        np.testing.assert_array_equal(alone[0], out[i])


def test_shapes_of_sparse_products_are_checked():
    rows = native_rows(sp.csr_array(np.eye(4)))
    for b, c in [((3, 2), (4, 2)), ((4, 2), (3, 2)), ((4, 2), (4, 3))]:
        with pytest.raises(ValueError, match="multiply_sparse"):
            kernels.multiply_sparse(rows, np.ones(b), np.empty(c), 1)

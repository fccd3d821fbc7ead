"""Ridge regression on the training rows of folds, from products of all rows that are taken once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._statistics import Products
from mercer.linear_model._least_squares.rows import RowProducts, Rows
from mercer.linear_model._ridge.spectrum import ColumnSpectrum, RowSpectrum

Index = npt.NDArray[np.intp]


class ColumnFolds:
    """The products of the training rows are those of all rows less those of the rows left out."""

    def __init__(self, rows: Rows, products: Products) -> None:
        self._rows, self._all = rows, products

    def coefs(self, train: Index, test: Index, alphas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The solutions (alphas x targets x features) on the training rows, and the means of [X, y] there."""
        if _is_split(train, test, self._rows.n_rows):
            products = self._all.without(self._rows.of_rows(test).products())
        else:
            products = self._rows.of_rows(train).products()
        return ColumnSpectrum.of(products, self._rows.n_features).coefs(alphas), products.means


class RowFolds:
    """The products of the training rows are a part of those of all rows, centred anew."""

    def __init__(self, rows: Rows, products: RowProducts) -> None:
        self._rows, self._all = rows, products

    def coefs(self, train: Index, test: Index, alphas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `ColumnFolds.coefs`."""
        whole, rows, d = self._all, self._rows, self._rows.n_features
        roots, means = whole.roots[train], whole.means.copy()
        gram, b, weight = whole.gram[np.ix_(train, train)], whole.targets[:, train], float(roots @ roots)
        if rows.is_centred:
            gram, b = _centred(_centred(gram, roots, weight).T, roots, weight), _centred(b, roots, weight)
        part = RowProducts(gram, means, weight, roots, np.ascontiguousarray(b), whole.noise)
        duals = RowSpectrum.of(part, is_centred=rows.is_centred).duals(alphas)
        if rows.is_centred:
            duals = _centred(duals, roots, weight)
            means[:d] += rows.of_rows(train).adjoint(means, roots[None, :] / weight)[0]
            means[d:] += whole.targets[:, train] @ roots / weight
        found = rows.of_rows(train).adjoint(whole.means, duals.reshape(-1, len(train)))
        return found.reshape(*duals.shape[:2], d), means


def _is_split(train: Index, test: Index, n_rows: int) -> bool:
    """Whether every row is in one of the two, once."""
    counts = np.bincount(train, minlength=n_rows) + np.bincount(test, minlength=n_rows)
    return bool((counts == 1).all())


def _centred(values: FloatArray, roots: FloatArray, weight: float) -> FloatArray:
    """values less their part along the roots of the weights, over the last axis."""
    return values - (values @ roots)[..., None] * (roots / weight)

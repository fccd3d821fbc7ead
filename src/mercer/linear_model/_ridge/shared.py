"""Direct ridge fits of the same rows for one penalty after another: what costs most is made once."""

from __future__ import annotations

from typing import Any

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer.linear_model._least_squares.rows import Rows
from mercer.linear_model._ridge.direct import SingularValues, by_products, by_row_products, solve_direct
from mercer.linear_model._ridge.fit import RidgeFit


class SharedDecomposition:
    """The products of columns or, where there are fewer rows, of rows (`by_svd`: the singular values), for any alphas."""

    def __init__(self, rows: Rows, *, by_svd: bool = False) -> None:
        self.rows, self._by_svd = rows, by_svd
        self.is_wide = rows.n_rows < rows.n_features

    @lazy_property
    def products(self) -> Any:
        return self.rows.row_products() if self.is_wide else self.rows.products()

    @lazy_property
    def _singular_values(self) -> SingularValues:
        return SingularValues(self.rows, *self.rows.centre())

    def fit(self, alphas: FloatArray) -> RidgeFit:
        """The minimiser for each target."""
        if (alphas == 0).any():
            return solve_direct(self.rows, alphas, by_svd=self._by_svd)
        if self._by_svd:
            return self._singular_values.fit(alphas)
        if not self.is_wide:
            return by_products(self.rows, self.products, alphas)
        return by_row_products(self.rows, self.products, alphas)

"""The squared hinge with an l1 penalty where X is sparse or wide: what `WorkingSetNewton` asks of the losses of rows.

The loss of row i is (1 - y_i v_i)^2 / (2 curvature_i) where that is positive inside, for the linear value v_i.
"""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.descent import dot
from mercer._solvers.dual_descent import DualTerms, without_sum
from mercer._solvers.working_set import WorkingSetNewton


class HingeRows:
    """Targets and costs of rows, and what the squared loss of their linear values is."""

    def __init__(self, terms: DualTerms, *, has_intercept: bool) -> None:
        self._terms, self._has_intercept = terms, has_intercept
        self._rates = np.where(terms.low + terms.up > 0, 1 / terms.curvature, 0.0)
        # The model is damped by shares of a quarter of this, from 1e-4 on. As the loss is quadratic between its kinks, a
        # hundredth of the most that a row can curve will do: more would slow the last steps.
        self.row_weights = 0.04 * self._rates
        self.total_weight = float(self._rates.sum()) / 2

    def loss(self, raw: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Value, slopes of the rows, and the second derivative in the intercept, for linear values of shape (n_rows, 1)."""
        under, over = self._terms.excess(raw[:, 0])
        slopes = self._rates * (over - under)
        value = dot(slopes, over - under) / 2
        return value, slopes[:, None], np.array([[self._rates[slopes != 0].sum()]])

    def model(self, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The curvatures of the rows, as probabilities of zero and weights times what softmax would have."""
        return np.zeros((1, len(slopes))), np.where(slopes[:, 0] != 0, self._rates, 0.0)[None, :]

    def optimal_intercept(self, raw: FloatArray) -> FloatArray:
        """What to add to the linear values so that their loss is least."""
        return np.array([self._terms.best_intercept(raw[:, 0], 0.0)])

    def dual(self, slopes: FloatArray, products: FloatArray, l1: float, l2: float) -> float:
        """The best dual value among multiples of the slopes that the penalty can hold."""
        duals = -slopes[:, 0]
        if self._has_intercept:  # rounding alone is left of their sum
            duals = without_sum(duals)
        linear, square = dot(duals, self._terms.target), dot(self._terms.curvature, duals**2)
        if square == 0:
            return 0.0
        largest = float(np.abs(products).max(initial=0.0))
        scale = min(linear / square, l1 / largest if largest > 0 else np.inf)
        return scale * linear - scale**2 * square / 2


class HingeNewton(WorkingSetNewton):
    """It is done when the duality gap is within `tol` of the objective."""

    @property
    def residual(self) -> float:
        return self.gap / max(self.objective, self._labels.total_weight * np.finfo(np.float64).eps / self._tol)

"""What a ridge fit found and how near it is to the minimum.

For the residuals r = b - A w, the dual value at r is b' r - ||r||^2 / 2 - ||A' r||^2 / (2 alpha), and the duality gap comes out
as ||A' r - alpha w||^2 / (2 alpha): a sum of squares, so that it is never negative and loses nothing to cancellation. Among
w >= 0 only the positive part of A' r counts in the dual, and the gap is a sum of terms >= 0 again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._trace import Certificate, Status

DIRECT_TOL = 1e-10  # what a direct method has to reach, of the relative gap or gradient


@dataclass
class RidgeFit:
    """One entry (or row) for each target."""

    alphas: FloatArray
    coef: FloatArray
    means: FloatArray  # of X, then of y
    residual_squares: FloatArray
    total_squares: FloatArray
    gaps: FloatArray  # not a number where alpha is zero: there is no dual
    gradients: FloatArray  # relative: at most the largest |gradient_j| / (||a_j|| ||b||), with sqrt(alpha) joined to a_j
    method: str
    solver: str

    @classmethod
    def of(
        cls,
        alphas: FloatArray,
        coef: FloatArray,
        means: FloatArray,
        correlations: FloatArray,
        residual_squares: FloatArray,
        total_squares: FloatArray,
        column_squares: FloatArray,
        *,
        method: str,
        solver: str,
        is_positive: bool = False,
    ) -> RidgeFit:
        """From the correlations A' r, with the squared norms of the columns of A."""
        pull = alphas[:, None] * coef
        gradient = correlations - pull
        scale = np.sqrt(total_squares)[:, None] * np.sqrt(column_squares + alphas[:, None])
        if is_positive:
            # For a correlation c <= 0 the term is alpha w^2 / 2 - w c; for c > 0 it is the square as without the restriction.
            terms = np.where(correlations > 0, gradient**2 / 2, pull * (pull / 2 - correlations))
            violation = np.where(coef > 0, gradient, np.maximum(gradient, 0))
        else:
            terms, violation = gradient**2 / 2, gradient
        relative = np.divide(np.abs(violation), scale, out=np.zeros_like(scale), where=scale > 0).max(axis=1)
        return cls(
            alphas, coef, means, residual_squares, total_squares, _over(terms.sum(axis=1), alphas), relative, method, solver
        )

    @classmethod
    def of_norms(
        cls,
        alphas: FloatArray,
        coef: FloatArray,
        means: FloatArray,
        gradient_norms: FloatArray,
        residual_squares: FloatArray,
        total_squares: FloatArray,
        matrix_square: float,
        *,
        method: str,
        solver: str,
    ) -> RidgeFit:
        """From the norms of the gradients, with the squared norm of all of A in place of that of a column."""
        scale = np.sqrt(total_squares * (matrix_square + alphas))
        relative = np.divide(gradient_norms, scale, out=np.zeros_like(scale), where=scale > 0)
        gaps = _over(gradient_norms**2 / 2, alphas)
        return cls(alphas, coef, means, residual_squares, total_squares, gaps, relative, method, solver)

    @classmethod
    def joined(cls, parts: Sequence[tuple[npt.NDArray[np.intp], RidgeFit]]) -> RidgeFit:
        """The fits of several groups of targets as one."""
        order = np.argsort(np.concatenate([targets for targets, _ in parts]))
        fits = [fit for _, fit in parts]
        d = fits[0].coef.shape[1]

        def gather(name: str) -> FloatArray:
            values: FloatArray = np.concatenate([getattr(fit, name) for fit in fits])[order]
            return values

        means = np.append(fits[0].means[:d], np.concatenate([fit.means[d:] for fit in fits])[order])
        method, solver = (
            " and ".join(dict.fromkeys(words)) for words in zip(*((f.method, f.solver) for f in fits), strict=True)
        )
        return cls(
            gather("alphas"), gather("coef"), means, gather("residual_squares"), gather("total_squares"), gather("gaps"),
            gather("gradients"), method, solver,
        )  # fmt: skip

    @property
    def primal(self) -> float:
        penalty = self.alphas @ np.einsum("ij,ij->i", self.coef, self.coef)
        return float(self.residual_squares.sum() + penalty) / 2

    @property
    def gap(self) -> float | None:
        gap = float(self.gaps.sum())
        return gap if np.isfinite(gap) else None

    @property
    def relative_gap(self) -> float | None:
        """The gap against the objective at w = 0."""
        start = float(self.total_squares.sum()) / 2
        return None if self.gap is None else self.gap / start if start > 0 else 0.0

    def certificate(self, tol: float = DIRECT_TOL) -> Certificate:
        """Of a direct method: by the gap, or by the gradient where there is no gap or a tiny alpha blows it up."""
        condition, residual = "duality gap relative to the objective at zero", self.relative_gap
        if residual is None or residual > tol:
            condition, residual = "relative gradient", float(self.gradients.max())
        status = Status.CONVERGED if residual <= tol else Status.INEXACT
        return self._certificate(status, condition, residual, tol)

    def certificate_of_iterations(self, status: Status, gradient: float, tol: float) -> Certificate:
        """Of an iterative method, with what is left of the gradient."""
        return self._certificate(status, "gradient relative to that at zero", gradient, tol)

    def _certificate(self, status: Status, condition: str, residual: float, tol: float) -> Certificate:
        gap = self.gap
        dual = None if gap is None else self.primal - gap
        return Certificate(self.method, status, self.primal, condition, residual, tol, dual, gap)


def _over(values: FloatArray, alphas: FloatArray) -> FloatArray:
    """values / alpha, not a number where alpha is zero."""
    return np.divide(values, alphas, out=np.full_like(values, np.nan), where=alphas > 0)

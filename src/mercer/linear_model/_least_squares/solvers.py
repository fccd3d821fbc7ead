"""Least squares: normal equations where they are as good as any method, an orthogonal method where they are not.

Every method minimises ||b - A w||^2 / 2 for the A and b of `rows` and measures how far it got by the relative gradient: the
largest |a_j' r| / (||a_j|| ||b||) over the columns a_j of A, for the residuals r = b - A w. It is zero at a minimum, does not
depend on the units of X and y, and is at most one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, lstsq, qr, solve_triangular
from scipy.optimize import nnls
from scipy.sparse.linalg import lsqr

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._saved import saved
from mercer._statistics import Products
from mercer.linear_model._least_squares.dense_rows import DenseRows
from mercer.linear_model._least_squares.dual import DualSystem
from mercer.linear_model._least_squares.rows import Rows, column_norms
from mercer.linear_model._least_squares.sparse_rows import SparseRows

EPS = float(np.finfo(np.float64).eps)

# The reciprocal condition number of the Gram matrix (unit diagonal) from which Cholesky alone has lost no more than three
# digits, and that from which refinement by the true gradient restores what an orthogonal method would give.
WELL_CONDITIONED = 1e-3
REFINABLE = 1e-12
MAX_REFINEMENTS = 8
FACTORABLE = 1e-8  # from which the Cholesky factor stands for the data in non-negative least squares, without refinement
MOST_SPARSE_PRODUCTS = 500  # features up to which sparse data are solved by their products
SMALLEST = float(np.finfo(np.float64).tiny) / EPS  # below it sums of squares lose digits by underflow
SMALL_STEP = 1e-3  # a correction that is this large against the coefficients is no correction
CANCELLED = 1e-6  # a residual sum of squares that is this small against the total is not taken from the products


@saved("LeastSquaresSolution")
@dataclass
class Solution:
    """Coefficients (targets x features), what is known about them, and what inference needs."""

    coef: FloatArray
    means: FloatArray  # of X, then of y
    weight: float
    residual_squares: FloatArray  # r' r for each target
    total_squares: FloatArray  # b' b for each target
    gradient: float  # the relative gradient, or the relative violation of the optimality conditions
    method: str
    rank: int | None = None
    singular: FloatArray | None = field(default=None, repr=False)
    # Lower triangular with A' A = S^-1 factor factor' S^-1, S = diag(scales); None where A was not factored or lacks rank.
    factor: FloatArray | None = field(default=None, repr=False)
    scales: FloatArray | None = field(default=None, repr=False)
    row_gram: FloatArray | None = field(default=None, repr=False)  # A A', in place of these where there are fewer rows


def least_squares(rows: Any, tol: float) -> Solution:
    """The minimiser; of least norm where there are many. Directions that change A less than `tol` count as none.

    `rows` are `DenseRows` or `PartedRows`: what gives products, rough ones if they are worth it, and matrices.
    """
    if isinstance(rows, DenseRows) and rows.n_rows < rows.n_features:
        return _interpolation(rows, tol) or _orthogonal(rows, *rows.centre(), tol)
    rough = rows.rough_products()
    if rough is not None and (solution := _corrected(rows, rough)) is not None:
        return solution
    products = rows.products()
    solution = _normal_equations(rows, products, max(REFINABLE, tol * tol))
    return solution or _orthogonal(rows, products.means, products.weight, tol)


def sparse_least_squares(rows: SparseRows, tol: float) -> Solution:
    """As above without densifying A: by its products where it has few columns, by LSQR to the precision `tol` otherwise."""
    if rows.n_features <= min(MOST_SPARSE_PRODUCTS, rows.n_rows):
        products = rows.products()
        solution = _normal_equations(rows, products, max(REFINABLE, tol * tol), accepted=np.inf)
        if solution is not None:
            solution.rank = None
            return solution
    return _lsqr(rows, tol)


def non_negative_least_squares(rows: DenseRows) -> Solution:
    """The minimiser among w >= 0."""
    products = rows.products()
    system = _System.of(products, rows.n_features)
    if system is not None and system.rcond >= FACTORABLE:
        return _non_negative_by_factor(rows, products, system)
    return _non_negative_by_data(rows, products)


def relative_gradient(gradient: FloatArray, column_norms: FloatArray, target_norms: FloatArray) -> float:
    """max |gradient| / (column norm times target norm), zero where a norm is zero."""
    scale = target_norms[:, None] * column_norms
    return float(np.divide(np.abs(gradient), scale, out=np.zeros_like(gradient), where=scale > 0).max())


def _total_squares(products: Products, n_features: int) -> FloatArray:
    """b' b for each target; zero where the target is constant up to rounding."""
    total = products.gram.diagonal()[n_features:]
    return np.where(total > products.noise[n_features:], total, 0.0)


def _violation(gradient: FloatArray, coef: FloatArray) -> FloatArray:
    """What is left of the conditions for w >= 0: no gradient where w > 0, none that would lower the objective where w = 0."""
    return np.where(coef > 0, gradient, np.maximum(gradient, 0))


class _System:
    """A' A with its Cholesky factor after scaling to unit diagonal, and the solution for A' b."""

    def __init__(self, coef: FloatArray, factor: FloatArray, scales: FloatArray, rcond: float) -> None:
        self.coef, self.factor, self.scales, self.rcond = coef, factor, scales, rcond

    @classmethod
    def of(cls, products: Products, n_features: int) -> _System | None:
        """None where A' A is not positive definite, or a column is constant up to rounding or too small to square."""
        d, gram = n_features, products.gram
        if (gram.diagonal()[:d] <= products.noise[:d] + SMALLEST).any():
            return None
        coef, factor, scales = np.empty((gram.shape[0] - d, d)), np.empty((d, d)), np.empty(d)
        rcond = kernels.solve_scaled(gram[:d, :d], gram[d:, :d], factor, scales, coef, effective_threads(None))
        return cls(coef, factor, scales, rcond) if rcond > 0 else None

    def solve(self, gradient: FloatArray) -> FloatArray:
        step: FloatArray = cho_solve((self.factor, True), (gradient * self.scales).T, check_finite=False).T
        return np.ascontiguousarray(step * self.scales)

    def solution(
        self,
        products: Products,
        coef: FloatArray,
        *,
        gradient: FloatArray,
        squares: FloatArray,
        total: FloatArray,
        method: str,
    ) -> Solution:
        """These coefficients, with the gradient and the sums of squares of residuals and targets."""
        condition = relative_gradient(gradient, 1 / self.scales, np.sqrt(total))
        place, rank = (coef, products.means, products.weight), coef.shape[1]
        return Solution(*place, squares, total, condition, method, rank=rank, factor=self.factor, scales=self.scales)


def _normal_equations(
    rows: Rows, products: Products, least_rcond: float, accepted: float = WELL_CONDITIONED
) -> Solution | None:
    """Cholesky, refined below `accepted`; None where A is too badly conditioned for it."""
    d, gram = rows.n_features, products.gram
    system = _System.of(products, d)
    if system is None or system.rcond < least_rcond:
        return None
    total = _total_squares(products, d)
    coef, method = system.coef, "normal equations, Cholesky"
    if system.rcond >= accepted:
        gradient = gram[d:, :d] - coef @ gram[:d, :d]
        squares = total - np.einsum("ij,ij->i", coef, gram[d:, :d] + gradient)
        if (squares < CANCELLED * total).any():
            gradient, squares = rows.residuals(products.means, coef)
    else:
        refined = _refine(rows, products.means, system)
        if refined is None:
            return None
        coef, gradient, squares = refined
        method = "normal equations, Cholesky with refinement"
    return system.solution(products, coef, gradient=gradient, squares=squares, total=total, method=method)


def _corrected(rows: Rows, products: Products) -> Solution | None:
    """Cholesky on products that are right to single precision, then one step by the true gradient; None if that is too little.

    The step is so small that the rough products tell what it leaves of the gradient and of the residuals.
    """
    d = rows.n_features
    system = _System.of(products, d)
    if system is None or system.rcond < WELL_CONDITIONED:
        return None
    before, squares = rows.residuals(products.means, system.coef)
    step = system.solve(before)
    coef, gradient = system.coef + step, before - step @ products.gram[:d, :d]
    squares = squares - np.einsum("ij,ij->i", step, before + gradient)
    total = _total_squares(products, d)
    if np.abs(step).max() > SMALL_STEP * np.abs(coef).max() or (squares < CANCELLED * total).any():
        return None
    method = "normal equations in single precision, Cholesky, corrected"
    return system.solution(products, coef, gradient=gradient, squares=squares, total=total, method=method)


def _refine(rows: Rows, means: FloatArray, system: _System) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Newton steps by the true gradient until they no longer shrink; None where they never did. Each reads the rows once."""
    coef, last = system.coef, np.inf
    for _ in range(MAX_REFINEMENTS):
        gradient, squares = rows.residuals(means, coef)
        step = system.solve(gradient)
        size = np.abs(step / system.scales).max() / max(np.abs(coef / system.scales).max(), np.finfo(np.float64).tiny)
        if size <= 4 * EPS or size > last / 4:
            break
        coef, last = coef + step, size
    return (coef, gradient, squares) if min(size, last) < 1e-4 else None


def _interpolation(rows: DenseRows, tol: float) -> Solution | None:
    """For fewer rows than columns, through the products of rows; None where rows depend on others, or nearly so.

    The solution of least norm is A' v, and as A has full row rank nothing is left of b: ||r|| / ||b|| bounds the relative
    gradient, and no column needs to be looked at for it.
    """
    n_rows, rows = rows.n_rows, rows.without_weightless()
    system = DualSystem(rows, rows.row_products(), 0.0)
    if not system.is_definite or system.rcond < max(REFINABLE, tol * tol):
        return None
    fit = system.solve()
    if fit is None:
        return None
    total = np.einsum("ij,ij->i", system.products.targets, system.products.targets)
    squares = np.einsum("ij,ij->i", fit.residuals, fit.residuals)
    products = system.products
    return Solution(
        fit.coef,
        products.means,
        products.weight,
        squares,
        total,
        float(np.sqrt(np.divide(squares, total, out=np.zeros_like(total), where=total > 0).max())),
        "products of rows, Cholesky with refinement",
        rank=rows.n_rows - rows.is_centred,
        row_gram=np.pad(products.gram, (0, n_rows - rows.n_rows)),
    )


def _orthogonal(rows: Any, means: FloatArray, weight: float, tol: float) -> Solution:
    """Singular values of A; of A with columns of norm one instead, where that leaves less of the gradient."""
    A, b = rows.matrices(means, weight)
    norms = column_norms(A)
    target_norms = column_norms(b)
    scales = 1 / np.where(norms > 0, norms, 1)
    unit = A * scales
    cutoff = max(tol, EPS * max(A.shape))

    def attempt(matrix: FloatArray, scales: FloatArray | float) -> tuple[float, FloatArray, FloatArray, int, FloatArray]:
        w, _, rank, singular = lstsq(matrix, b, cond=cutoff, check_finite=False)
        residual = b - matrix @ w
        condition = relative_gradient((unit.T @ residual).T, (norms > 0).astype(float), target_norms)
        return condition, w.T * scales, residual, int(rank), singular

    best = attempt(A, 1.0)
    singular, method = best[-1], "singular value decomposition"
    if best[0] > cutoff and (scaled := attempt(unit, scales))[0] < best[0]:
        best, method = scaled, "singular value decomposition, columns of norm one"
    condition, coef, residual, rank, _ = best
    coef = np.where(norms > 0, coef, 0.0)  # not just nearly so
    factor = qr(unit, mode="economic", check_finite=False)[1].T if rank == rows.n_features else None
    return Solution(
        coef,
        means,
        weight,
        np.einsum("ij,ij->j", residual, residual),
        target_norms**2,
        condition,
        method,
        rank=rank,
        singular=singular,
        factor=factor,
        scales=scales,
    )


def _non_negative_by_factor(rows: Rows, products: Products, system: _System) -> Solution:
    """On the triangular factor: d rows in place of n."""
    d, gram = rows.n_features, products.gram
    right = solve_triangular(system.factor, (gram[d:, :d] * system.scales).T, lower=True, check_finite=False)
    upper = np.ascontiguousarray(system.factor.T)
    coef = np.array([nnls(upper, column, maxiter=30 * d)[0] for column in right.T]) * system.scales
    gradient, squares = rows.residuals(products.means, coef)
    total = _total_squares(products, d)
    condition = relative_gradient(_violation(gradient, coef), 1 / system.scales, np.sqrt(total))
    return Solution(coef, products.means, products.weight, squares, total, condition, "active set on the Cholesky factor")


def _non_negative_by_data(rows: DenseRows, products: Products) -> Solution:
    A, b = rows.matrices(products.means, products.weight)
    norms, target_norms = column_norms(A), column_norms(b)
    divisors = np.where(norms > 0, norms, 1)
    A /= divisors
    scaled = np.array([nnls(A, column, maxiter=30 * A.shape[1])[0] for column in b.T])
    residual = b - A @ scaled.T
    violation = _violation((A.T @ residual).T, scaled)
    condition = relative_gradient(violation, (norms > 0).astype(float), target_norms)
    squares = np.einsum("ij,ij->j", residual, residual)
    return Solution(
        scaled / divisors, products.means, products.weight, squares, target_norms**2, condition, "active set on the data"
    )


def _lsqr(rows: SparseRows, tol: float) -> Solution:
    """LSQR for each target, taken up again with a smaller tolerance while the gradient is not within `tol`."""
    A, b = rows.operator()
    target_norms = np.linalg.norm(b, axis=0)
    scale = np.array([np.linalg.norm(rows.column_norms())])
    coef = np.zeros((rows.n_targets, rows.n_features))
    for attempt in range(4):
        inner = tol * 0.1**attempt
        for target in range(rows.n_targets):
            coef[target] = lsqr(A, b[:, target], atol=inner, btol=inner, x0=coef[target] if attempt else None)[0]
        gradient, squares = rows.residuals(rows.means, coef)
        condition = relative_gradient(np.linalg.norm(gradient, axis=1)[:, None], scale, target_norms)
        if condition <= tol:
            break
    return Solution(coef, rows.means, rows.weight, squares, target_norms**2, condition, "LSQR")

"""Ridge regression by direct methods: Cholesky on the products of columns or of rows, singular values, active sets.

Every method minimises ||b - A w||^2 / 2 + alpha ||w||^2 / 2 for the A and b of `rows`, target by target, and hands back what
`RidgeFit` needs to tell how far it got.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, solve_triangular, svd
from scipy.optimize import nnls

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._statistics import Products
from mercer.linear_model._least_squares.dense_rows import DenseRows
from mercer.linear_model._least_squares.dual import DualSystem
from mercer.linear_model._least_squares.parted_rows import PartedRows
from mercer.linear_model._least_squares.rows import RowProducts, Rows
from mercer.linear_model._least_squares.solvers import (
    CANCELLED,
    EPS,
    MAX_REFINEMENTS,
    SMALL_STEP,
    WELL_CONDITIONED,
    least_squares,
    sparse_least_squares,
)
from mercer.linear_model._least_squares.sparse_rows import SparseRows
from mercer.linear_model._ridge.fit import RidgeFit

REFINABLE = 1e-14  # the reciprocal condition number from which refinement makes up for what Cholesky lost
ROUGHLY_REFINABLE = 1e-5  # the same for products in single precision: each step gains two digits at least
REFINED = 1e-11  # a last step of the duals, against the largest, that shows refinement on rough products to have converged
LEAST_SQUARES_TOL, SPARSE_TOL = 1e-6, 1e-10  # where alpha is zero: of what counts as dependent, and of LSQR


def groups_of(alphas: FloatArray) -> list[tuple[float, npt.NDArray[np.intp]]]:
    """Each alpha with the numbers of its targets."""
    return [(float(alpha), np.flatnonzero(alphas == alpha)) for alpha in np.unique(alphas)]


def solve_direct(rows: Rows, alphas: FloatArray, *, by_svd: bool = False) -> RidgeFit:
    """The minimiser for each target by the smaller products; by singular values where those lose too much, or if asked for."""
    is_plain = alphas == 0
    if is_plain.any():
        plain, others = np.flatnonzero(is_plain), np.flatnonzero(~is_plain)
        parts = [(plain, _least_squares(rows.of_targets(plain), alphas[plain]))]
        if len(others):
            parts.append((others, solve_direct(rows.of_targets(others), alphas[others], by_svd=by_svd)))
        return RidgeFit.joined(parts)
    if by_svd:
        return by_singular_values(rows, alphas, *rows.centre())
    if not _lie_in_parts(rows) and rows.n_rows < rows.n_features:
        return _by_rows(rows, alphas)
    if isinstance(rows, DenseRows) and (rough := rows.rough_products()) is not None:
        fit = _by_rough_products(rows, rough, alphas)
        if fit is not None:
            return fit
    return by_products(rows, rows.products(), alphas)


def _lie_in_parts(rows: Any) -> bool:
    """Whether products of rows, which are as many as the rows, are out of the question."""
    return isinstance(rows, PartedRows)


def _by_rows(rows: Rows, alphas: FloatArray) -> RidgeFit:
    if isinstance(rows, DenseRows) and (rough := rows.rough_row_products()) is not None:
        fit = _by_rough_row_products(rows, rough, alphas)
        if fit is not None:
            return fit
    return by_row_products(rows, rows.row_products(), alphas)


def _by_rough_products(rows: Rows, products: Products, alphas: FloatArray) -> RidgeFit | None:
    """On products that are right to single precision, with one step by the true gradient; None where that is too little.

    The step is so small that the rough products tell what it leaves of the gradient and of the residuals.
    """
    gram, moments, total = without_noise(products, rows.n_features)
    coef, correlations, squares = np.empty_like(moments), np.empty_like(moments), np.empty_like(total)
    for alpha, targets in groups_of(alphas):
        system = _Shifted(gram, moments[targets], alpha)
        if system.rcond < WELL_CONDITIONED:
            return None
        means = _means_of(products.means, rows.n_features, targets)
        before, rest = rows.of_targets(targets).residuals(means, np.ascontiguousarray(system.coef))
        step = system.solve(before - alpha * system.coef)
        after = before - step @ gram
        coef[targets], correlations[targets] = system.coef + step, after
        squares[targets] = rest - np.einsum("ij,ij->i", step, before + after)
        is_large = np.abs(step).max() > SMALL_STEP * np.abs(system.coef).max()
        if is_large or (squares[targets] < CANCELLED * total[targets]).any():
            return None
    method, columns = "normal equations in single precision, Cholesky, corrected", gram.diagonal()
    return RidgeFit.of(alphas, coef, products.means, correlations, squares, total, columns, method=method, solver="cholesky")


def by_products(rows: Rows, products: Products, alphas: FloatArray) -> RidgeFit:
    """By A' A + alpha I: O(n d^2 + d^3)."""
    gram, moments, total = without_noise(products, rows.n_features)
    coef, correlations, squares = np.empty_like(moments), np.empty_like(moments), np.empty_like(total)
    method = "normal equations, Cholesky"
    for alpha, targets in groups_of(alphas):
        system = _Shifted(gram, moments[targets], alpha)
        if system.rcond < REFINABLE:
            return by_singular_values(rows, alphas, products.means, products.weight)
        w = system.coef
        c = moments[targets] - w @ gram
        rest = total[targets] - np.einsum("ij,ij->i", w, moments[targets] + c)
        if system.rcond < WELL_CONDITIONED or (rest < CANCELLED * total[targets]).any():
            method = "normal equations, Cholesky with refinement"
            refined = _refine(rows.of_targets(targets), _means_of(products.means, rows.n_features, targets), system)
            if refined is None:
                return by_singular_values(rows, alphas, products.means, products.weight)
            w, c, rest = refined
        coef[targets], correlations[targets], squares[targets] = w, c, rest
    columns = gram.diagonal()
    return RidgeFit.of(alphas, coef, products.means, correlations, squares, total, columns, method=method, solver="cholesky")


def by_row_products(rows: Rows, products: RowProducts, alphas: FloatArray) -> RidgeFit:
    """By A A' + alpha I: O(n^2 d + n^3)."""
    b = products.targets
    coef, norms, squares = np.empty((len(b), rows.n_features)), np.empty(len(b)), np.empty(len(b))
    for alpha, targets in groups_of(alphas):
        system = DualSystem(rows, products, alpha, b[targets])
        dual = system.solve() if system.is_definite else None
        if dual is None:
            return by_singular_values(rows, alphas, products.means, products.weight)
        # The gradient is A' (r - alpha v): its norm comes from the products, with no further look at the rows.
        of_products = np.einsum("ij,ij->i", dual.violation @ products.gram, dual.violation)
        norms[targets] = np.sqrt(np.maximum(of_products, 0))
        squares[targets] = np.einsum("ij,ij->i", dual.residuals, dual.residuals)
        coef[targets] = dual.coef
    return _of_duals(products, alphas, coef, norms, squares, method="products of rows, Cholesky with refinement")


def _by_rough_row_products(rows: Rows, products: RowProducts, alphas: FloatArray) -> RidgeFit | None:
    """On products of rows that are right to single precision; None where refinement would make up for that too slowly.

    The rows themselves, in double precision, tell what is left of the equations; rough products only say where to step.
    """
    b = products.targets
    coef, norms, squares = np.empty((len(b), rows.n_features)), np.empty(len(b)), np.empty(len(b))
    for alpha, targets in groups_of(alphas):
        system = DualSystem(rows, products, alpha, b[targets])
        dual = system.solve(REFINED) if system.rcond >= ROUGHLY_REFINABLE else None
        if dual is None or dual.last_step > REFINED:
            return None
        # ||A' v||^2 <= trace(A A') ||v||^2, and of the trace rough products tell enough.
        norms[targets] = np.linalg.norm(dual.violation, axis=1) * np.sqrt(1.001 * products.gram.trace())
        squares[targets] = np.einsum("ij,ij->i", dual.residuals, dual.residuals)
        coef[targets] = dual.coef
    method = "products of rows in single precision, Cholesky with refinement"
    return _of_duals(products, alphas, coef, norms, squares, method=method)


def _of_duals(
    products: RowProducts, alphas: FloatArray, coef: FloatArray, norms: FloatArray, squares: FloatArray, *, method: str
) -> RidgeFit:
    """The fit from the norms of the gradients and the sums of squares that were left."""
    total = np.einsum("ij,ij->i", products.targets, products.targets)
    size = float(products.gram.trace())
    return RidgeFit.of_norms(alphas, coef, products.means, norms, squares, total, size, method=method, solver="cholesky")


def by_singular_values(rows: Rows, alphas: FloatArray, means: FloatArray, weight: float) -> RidgeFit:
    """By the singular values of A."""
    return SingularValues(rows, means, weight).fit(alphas)


class SingularValues:
    """A = U S V', for any alphas: w = V S / (S^2 + alpha) U' b. Copies the data; loses nothing to squaring them."""

    def __init__(self, rows: Rows, means: FloatArray, weight: float) -> None:
        self._means = means
        self._A, self._b = rows.matrices(means, weight)
        left, self._singular, self._right = svd(self._A, full_matrices=False, check_finite=False)
        noise = EPS * max(self._A.shape) * self._singular.max(initial=0)
        self._singular[self._singular <= noise] = 0  # else a tiny alpha would take rounding for a direction of the data
        self._moments = left.T @ self._b

    def fit(self, alphas: FloatArray) -> RidgeFit:
        A, b, singular = self._A, self._b, self._singular[:, None]
        coef = np.ascontiguousarray((self._moments * (singular / (singular**2 + alphas))).T @ self._right)
        residual = b - A @ coef.T
        total, columns, squares = (np.einsum("ij,ij->j", M, M) for M in (b, A, residual))
        correlations, method = (A.T @ residual).T, "singular value decomposition"
        return RidgeFit.of(alphas, coef, self._means, correlations, squares, total, columns, method=method, solver="svd")


def by_active_set(rows: Rows, alphas: FloatArray) -> RidgeFit:
    """The minimiser among w >= 0 on the Cholesky factor of A' A + alpha I: d rows in place of n."""
    products, d = rows.products(), rows.n_features
    gram, moments, total = without_noise(products, d)
    coef = np.zeros((len(alphas), d))
    for alpha, targets in groups_of(alphas):
        system = _Shifted(gram, moments[targets], alpha)
        if system.rcond == 0:
            raise ValueError(f"alpha={alpha:g} is too small for positive=True on X whose columns depend on others; raise it.")
        right = solve_triangular(system.factor, (moments[targets] * system.scales).T, lower=True, check_finite=False)
        upper = np.ascontiguousarray(system.factor.T)
        coef[targets] = np.array([nnls(upper, column, maxiter=30 * d)[0] for column in right.T]) * system.scales
    correlations, squares = rows.residuals(products.means, coef)
    return RidgeFit.of(
        alphas, coef, products.means, correlations, squares, total, gram.diagonal(),
        method="active set on the Cholesky factor", solver="active_set", is_positive=True,
    )  # fmt: skip


def without_noise(products: Products, d: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A' A, b' A and the diagonal of b' b; zero for columns and targets that are constant up to rounding."""
    total = products.gram.diagonal().copy()
    is_noise = total <= products.noise
    gram, moments = products.gram[:d, :d], products.gram[d:, :d]
    if is_noise.any():
        gram, moments = gram.copy(), moments.copy()
        gram[is_noise[:d]] = 0
        gram[:, is_noise[:d]] = 0
        moments[:, is_noise[:d]] = 0
        moments[is_noise[d:]] = 0
        total[is_noise] = 0
    return gram, moments, total[d:]


def _means_of(means: FloatArray, n_features: int, targets: npt.NDArray[np.intp]) -> FloatArray:
    """The means of X and of some targets."""
    return np.append(means[:n_features], means[n_features + targets])


class _Shifted:
    """A' A + alpha I with its Cholesky factor after scaling to unit diagonal, and the solution for some targets."""

    def __init__(self, gram: FloatArray, moments: FloatArray, alpha: float) -> None:
        d = len(gram)
        self.alpha, matrix = alpha, gram.copy()
        matrix.flat[:: d + 1] += alpha
        self.factor, self.scales, self.coef = np.empty((d, d)), np.empty(d), np.empty_like(moments)
        self.rcond = kernels.solve_scaled(matrix, moments, self.factor, self.scales, self.coef, effective_threads(None))

    def solve(self, gradient: FloatArray) -> FloatArray:
        step: FloatArray = cho_solve((self.factor.T, False), (gradient * self.scales).T, check_finite=False).T * self.scales
        return step


def _refine(rows: Rows, means: FloatArray, system: _Shifted) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Newton steps by the true gradient until they no longer shrink; None where they never did. Each reads the rows once."""
    coef, last = np.ascontiguousarray(system.coef), np.inf
    for _ in range(MAX_REFINEMENTS):
        correlations, squares = rows.residuals(means, coef)
        step = system.solve(correlations - system.alpha * coef)
        size = np.abs(step / system.scales).max() / max(np.abs(coef / system.scales).max(), np.finfo(np.float64).tiny)
        if size <= 4 * EPS or size > last / 4:
            break
        coef, last = np.ascontiguousarray(coef + step), size
    return (coef, correlations, squares) if min(size, last) < 1e-4 else None


def _least_squares(rows: Rows, alphas: FloatArray) -> RidgeFit:
    """Where alpha is zero: of least norm where there are many solutions."""
    if isinstance(rows, SparseRows):
        found = sparse_least_squares(rows, SPARSE_TOL)
    else:
        assert isinstance(rows, DenseRows) or _lie_in_parts(rows)
        found = least_squares(rows, LEAST_SQUARES_TOL)
    solver = "svd" if found.method.startswith("singular") else "lsqr" if found.method == "LSQR" else "cholesky"
    gaps, gradients = np.full(len(alphas), np.nan), np.full(len(alphas), found.gradient)
    squares, total = found.residual_squares, found.total_squares
    return RidgeFit(alphas, found.coef, found.means, squares, total, gaps, gradients, found.method, solver)

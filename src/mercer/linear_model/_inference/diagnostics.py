"""Residual diagnostics: do the residuals speak against one of the four assumptions of linear regression?

Everything is computed from the residuals e, the fitted values f and an orthonormal basis of the columns of the design
Z = [1, X], rows times the roots of their weights. An auxiliary regression is one projection more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.special import chdtrc, fdtrc, ndtri
from scipy.stats import kurtosis, normaltest, skew

from mercer._aligned import aligned
from mercer._arrays import FloatArray

MOST_LAGS = 10
MOST_WHITE = 500  # columns of White's auxiliary regression
LEAST_ROWS = 8  # below it the test of skewness and kurtosis has no distribution to speak of

REMEDIES = {
    "linearity": "add powers or interactions of features, or transform them",
    "homoscedasticity": "transform y (its logarithm, say) or weight the rows; standard errors are off",
    "independence": "rows next to each other are alike: add what explains their order; standard errors are off",
    "normality": "look for outliers (Cook's distance), transform y, or use a robust loss; with many rows tests still hold",
}


@dataclass(frozen=True)
class Check:
    """One test: the hypothesis is that the assumption holds."""

    assumption: str
    test: str
    statistic: float
    p_value: float


@dataclass(frozen=True, repr=False)
class Diagnostics:
    """What residuals say about the assumptions of a linear regression; its text is a table with a verdict on each.

    Attributes
    ----------
    checks : list of Check
        Each with `assumption`, `test`, `statistic` and `p_value`.
    alpha : float
        A p-value below it speaks against the assumption.
    durbin_watson, autocorrelation : float
        About 2 and 0 where neighbouring residuals are not correlated.
    skewness, kurtosis : float
        0 and 3 for normal residuals.
    names : list of str
        Of the features.
    vif : array of shape (n_features,)
        Variance inflation: how much larger the variance of a coefficient is than without the other columns.
    residuals, fitted, leverage, studentised, cooks_distance : arrays of shape (n_obs,)
        For each row of positive weight; residuals and fitted values are times the roots of the weights. Studentised residuals
        are internal: divided by their own standard errors.
    n_obs, n_parameters : int
    """

    checks: list[Check]
    alpha: float
    durbin_watson: float
    autocorrelation: float
    skewness: float
    kurtosis: float
    names: list[str]
    vif: FloatArray = field(repr=False)
    residuals: FloatArray
    fitted: FloatArray
    leverage: FloatArray
    studentised: FloatArray
    cooks_distance: FloatArray
    n_obs: int
    n_parameters: int

    @property
    def violated(self) -> list[str]:
        """The assumptions that some test rejects."""
        return list(dict.fromkeys(check.assumption for check in self.checks if check.p_value < self.alpha))

    def verdict(self, assumption: str) -> str:
        """One line on an assumption, with what to do if it is violated."""
        least = min(check.p_value for check in self.checks if check.assumption == assumption)
        if least >= self.alpha:
            return f"no evidence against (p = {least:.3g})"
        return f"violated, p = {least:.3g}: {REMEDIES[assumption]}"

    def to_frame(self) -> Any:
        """The tests as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Diagnostics.to_frame needs pandas; install it, or read `checks`.") from error
        return pd.DataFrame([vars(check) for check in self.checks])

    def __repr__(self) -> str:
        head = ("assumption", "test", "statistic", "p")
        body = [(check.assumption, check.test, f"{check.statistic:.5g}", f"{check.p_value:.3g}") for check in self.checks]
        verdicts = aligned([(name, self.verdict(name)) for name in REMEDIES], left=(0, 1))
        worst, largest = int(np.argmax(self.cooks_distance)), int(np.argmax(self.vif))
        figures = [
            ("Durbin-Watson", f"{self.durbin_watson:.4g}", "autocorrelation", f"{self.autocorrelation:.3g}"),
            ("skewness", f"{self.skewness:.3g}", "kurtosis", f"{self.kurtosis:.3g}"),
            ("largest Cook's distance", f"{self.cooks_distance[worst]:.3g}", "in row", f"{worst}"),
            ("largest VIF", f"{self.vif[largest]:.4g}", "of", self.names[largest]),
        ]
        table, extra = aligned([head, *body], left=(0, 1)), aligned(figures, left=(0, 2))
        rule = "-" * max(map(len, [*table, *extra]))
        title = f"Residual diagnostics ({self.n_obs} rows, {self.n_parameters} parameters)"
        return "\n".join([title, rule, *table, rule, *extra, rule, *verdicts])

    def plot(self, axes: Any = None) -> Any:
        """Four pictures, one for each assumption: residuals against fitted values, normal quantiles, spread, order.

        Parameters
        ----------
        axes : array of four matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        axes : array of matplotlib axes
        """
        if axes is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError("Diagnostics.plot needs matplotlib: pip install 'mercer[plots]'") from error
            axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")[1]
        linearity, normality, spread, order = np.ravel(axes)
        dots = {"marker": ".", "linestyle": "none", "color": "tab:blue", "alpha": 0.6}
        line = {"color": "tab:red", "linewidth": 1.0}
        linearity.plot(self.fitted, self.residuals, **dots)
        linearity.axhline(0, **line)
        linearity.set(xlabel="fitted values", ylabel="residuals", title="Linearity")
        quantiles = ndtri((np.arange(self.n_obs) + 0.5) / self.n_obs)
        normality.plot(quantiles, np.sort(self.studentised), **dots)
        normality.axline((0, 0), slope=1, **line)
        normality.set(xlabel="normal quantiles", ylabel="studentised residuals", title="Normality")
        roots = np.sqrt(np.abs(self.studentised))
        spread.plot(self.fitted, roots, **dots)
        spread.axhline(float(roots.mean()), **line)
        spread.set(xlabel="fitted values", ylabel="root of |studentised residual|", title="Homoscedasticity")
        order.plot(self.residuals, **{**dots, "linestyle": "-", "linewidth": 0.5})
        order.axhline(0, **line)
        order.set(xlabel="row", ylabel="residuals", title="Independence")
        return axes


class _Design:
    """Z, rows times the roots of weights, with an orthonormal basis of its columns; and y likewise."""

    def __init__(self, X: FloatArray, y: FloatArray, roots: FloatArray, *, has_intercept: bool) -> None:
        self.columns = np.column_stack([np.ones(len(X)), X]) if has_intercept else X
        self.Z, self.y, self.roots, self.has_intercept = self.columns * roots[:, None], y * roots, roots, has_intercept
        self.has_constant = has_intercept and bool((roots == roots[0]).all())
        norms = np.linalg.norm(self.Z, axis=0)
        self.basis, self._triangle = qr(self.Z / np.where(norms > 0, norms, 1), mode="economic", check_finite=False)
        diagonal = np.abs(self._triangle.diagonal())
        self.has_full_rank = bool((norms > 0).all() and diagonal.min() > 1e-10 * diagonal.max())

    def residual(self, values: FloatArray, extra: FloatArray | None = None) -> FloatArray:
        """What the design, with further columns if any, leaves of some values."""
        rest: FloatArray = values - self.basis @ (self.basis.T @ values)
        if extra is None:
            return rest
        extra = extra - self.basis @ (self.basis.T @ extra)
        further = qr(extra / np.maximum(np.linalg.norm(extra, axis=0), 1e-300), mode="economic", check_finite=False)[0]
        remainder: FloatArray = rest - further @ (further.T @ rest)
        return remainder

    def vif(self) -> FloatArray:
        """The diagonal of (Z' Z)^-1 against what it would be for each column alone (with the constant)."""
        inverse = solve_triangular(self._triangle, np.eye(len(self._triangle)), check_finite=False)
        variance: FloatArray = np.einsum("ij,ij->i", inverse, inverse)  # for columns of norm one
        if not self.has_intercept:
            return variance
        constant = self.Z[:, 0] / np.linalg.norm(self.Z[:, 0])
        unit = self.Z[:, 1:] / np.linalg.norm(self.Z[:, 1:], axis=0)
        inflation: FloatArray = variance[1:] * (np.einsum("ij,ij->j", unit, unit) - (constant @ unit) ** 2)
        return inflation


def diagnose(
    X: FloatArray, y: FloatArray, fitted: FloatArray, roots: FloatArray, names: list[str], *, has_intercept: bool, alpha: float
) -> Diagnostics:
    """All tests for one target; raises ValueError where there is nothing to test."""
    design = _Design(X, y, roots, has_intercept=has_intercept)
    n, p = design.Z.shape
    if n < max(LEAST_ROWS, p + 4):
        raise ValueError(f"{n} rows of positive weight are too few to test the residuals of {p} parameters")
    if not design.has_full_rank:
        raise ValueError("columns of X depend on others; drop them first")
    f = fitted * roots
    e = design.y - f
    squares = float(e @ e)
    if squares <= 1e-24 * float(design.y @ design.y):
        raise ValueError("the residuals are zero up to rounding, and say nothing")
    leverage = np.einsum("ij,ij->i", design.basis, design.basis)
    scale, left = squares / (n - p), np.maximum(1 - leverage, np.finfo(np.float64).eps)
    studentised = e / np.sqrt(scale * left)
    steps = np.diff(e)
    return Diagnostics(
        checks=[_reset(design, fitted), *_spread_tests(design, e), _godfrey(design, e), *_normality_tests(e)],
        alpha=alpha,
        durbin_watson=float(steps @ steps) / squares,
        autocorrelation=float(e[1:] @ e[:-1]) / squares,
        skewness=float(skew(e)),
        kurtosis=float(kurtosis(e)) + 3,
        names=names,
        vif=design.vif(),
        residuals=e,
        fitted=f,
        leverage=leverage,
        studentised=studentised,
        cooks_distance=studentised**2 * leverage / (left * p),
        n_obs=n,
        n_parameters=p,
    )


def _reset(design: _Design, fitted: FloatArray) -> Check:
    """Ramsey: squares and cubes of the fitted values must not explain anything."""
    n, p = design.Z.shape
    # Moved and scaled only where that leaves the space of the columns and powers as it is.
    moved = fitted - fitted.mean() if design.has_intercept else fitted
    scaled = moved / max(float(np.abs(moved).max()), 1e-300)
    without = float(np.sum(design.residual(design.y) ** 2))
    powers = np.column_stack([scaled**2, scaled**3]) * design.roots[:, None]
    rest = float(np.sum(design.residual(design.y, powers) ** 2))
    statistic = (without - rest) / 2 / (rest / (n - p - 2))
    return Check("linearity", "Ramsey RESET (F)", statistic, float(fdtrc(2, n - p - 2, statistic)))


def _explained(values: FloatArray, columns: FloatArray) -> tuple[float, int]:
    """n times the share of the variation of values that a constant and some columns explain, and the columns' rank."""
    columns, centred = columns - columns.mean(axis=0), values - values.mean()
    norms = np.linalg.norm(columns, axis=0)
    columns = columns[:, norms > 0] / norms[norms > 0]
    basis, triangle, _ = qr(columns, mode="economic", pivoting=True, check_finite=False)
    rank = int((np.abs(triangle.diagonal()) > 1e-10).sum())
    parts = basis[:, :rank].T @ centred
    return len(values) * float(parts @ parts) / float(centred @ centred), rank


def _spread_tests(design: _Design, e: FloatArray) -> list[Check]:
    """Squared residuals must not depend on the features: Breusch and Pagan as studentised by Koenker, and White."""
    name, columns = "homoscedasticity", design.columns
    statistic, rank = _explained(e**2, columns)
    checks = [Check(name, "Breusch-Pagan (LM)", statistic, float(chdtrc(rank, statistic)))]
    n, p = design.Z.shape
    if p * (p + 1) // 2 <= min(MOST_WHITE, n // 2):
        first, second = np.triu_indices(p)
        statistic, rank = _explained(e**2, columns[:, first] * columns[:, second])
        checks.append(Check(name, "White (LM)", statistic, float(chdtrc(rank, statistic))))
    return checks


def _godfrey(design: _Design, e: FloatArray) -> Check:
    """Breusch and Godfrey: earlier residuals must not explain later ones."""
    n = len(e)
    n_lags = max(1, min(MOST_LAGS, n // 5))
    lagged = np.column_stack([np.append(np.zeros(lag), e[:-lag]) for lag in range(1, n_lags + 1)])
    if not design.has_constant:
        lagged = np.column_stack([np.ones(n), lagged])
    rest = design.residual(e, lagged)
    centred = e - e.mean()
    statistic = n * (1 - float(rest @ rest) / float(centred @ centred))
    return Check("independence", f"Breusch-Godfrey, {n_lags} lags (LM)", statistic, float(chdtrc(n_lags, statistic)))


def _normality_tests(e: FloatArray) -> list[Check]:
    """Jarque and Bera, and the omnibus test of D'Agostino and Pearson."""
    jarque_bera = len(e) / 6 * (float(skew(e)) ** 2 + float(kurtosis(e)) ** 2 / 4)
    omnibus = normaltest(e)
    return [
        Check("normality", "Jarque-Bera", jarque_bera, float(chdtrc(2, jarque_bera))),
        Check("normality", "omnibus", float(omnibus.statistic), float(omnibus.pvalue)),
    ]

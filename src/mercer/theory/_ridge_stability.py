"""Ridge regression with one row replaced or left out, for every row, without a further fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
from sklearn.base import clone
from sklearn.utils import check_array

from mercer._native import kernels
from mercer._parallel import effective_threads, serial_blas
from mercer._rows import take_rows

Values = npt.NDArray[np.float64]
_PADDED = 32  # rows to which columns are padded for the kernel


class RidgeRows:
    """One fit, and what it becomes when a row changes.

    With Z the rows (and a constant, where there is an intercept) and A = Z'Z + alpha I (the intercept is not penalised),
    replacing (z, y) by (z+, y+) solves A' (w' - w) = -z e + z+ e+, where e are the residuals and A' differs from A by two rows.
    """

    def __init__(self, rows: Values, leverages: Values, residuals: Values, n_coefficients: int) -> None:
        self.rows, self.leverages, self.residuals, self.n_coefficients = rows, leverages, residuals, n_coefficients

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, m: int) -> RidgeRows | None:
        """None where the estimator is not a plain ridge regression, which is then fitted again and again."""
        from mercer.linear_model import Ridge

        if type(estimator) is not Ridge or estimator.positive or np.ndim(estimator.alpha) or hasattr(X, "tocsr"):
            return None
        clone(estimator).fit(take_rows(X, np.arange(m)), y[:m])  # refuses what it refuses
        Z = check_array(X, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        penalty = np.full(Z.shape[1] + estimator.fit_intercept, float(estimator.alpha))
        if estimator.fit_intercept:
            # A constant column beside columns about zero: what is left of large means would cost digits.
            Z = np.column_stack([Z - Z[:m].mean(axis=0), np.ones(len(Z))])
            penalty[-1] = 0.0
        with serial_blas():
            gram = Z[:m].T @ Z[:m] + np.diag(penalty)
            try:
                factor = scipy.linalg.cho_factor(gram, lower=True)
            except scipy.linalg.LinAlgError:
                return None
            if np.diag(factor[0]).min() ** 2 < 1e-12 * np.diag(gram).max():  # too few digits for updates
                return None
            weights = scipy.linalg.cho_solve(factor, Z[:m].T @ y[:m])
            leverages = np.ascontiguousarray(scipy.linalg.cho_solve(factor, Z.T).T)
            residuals = y - Z @ weights
        share = np.einsum("ij,ij->i", Z[:m], leverages[:m])
        if share.max() > 1 - 1e-9:  # a row that alone determines a coefficient
            return None
        return cls(np.ascontiguousarray(Z), leverages, residuals, Z.shape[1] - estimator.fit_intercept)

    def changes(self, out: npt.NDArray[np.intp], into: npt.NDArray[np.int64], n_jobs: int | None) -> list[Values]:
        """Mean and largest absolute change of the loss, that of the row that went, and the norm of that of the coefficients."""
        n = len(self.rows)
        columns = np.zeros((self.rows.shape[1], -(-n // _PADDED) * _PADDED))
        columns[:, :n] = self.rows.T
        changes = np.empty((4, len(out)))
        kernels.replace_rows(
            self.rows,
            columns,
            self.leverages,
            self.residuals,
            self.n_coefficients,
            np.ascontiguousarray(out, dtype=np.int64),
            into,
            changes,
            effective_threads(n_jobs),
        )
        return list(changes)

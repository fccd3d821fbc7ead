"""Whether a matrix can be a kernel matrix: symmetric, with no eigenvalue below zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from mercer._params import Bool, Real, check_value


def is_psd(K: Any, *, tol: float = 1e-8, raises: bool = False) -> bool:
    """Whether a matrix is positive semi-definite, as that of a Mercer kernel is for any rows.

    Parameters
    ----------
    K : array-like of shape (n_rows, n_rows)
    tol : float, default=1e-8
        How far below zero an eigenvalue may be, and how far K from its transpose, relative to the largest eigenvalue and to the
        largest value: what rounding leaves.
    raises : bool, default=False
        Whether a matrix that is not is an error, which says what its most negative eigenvalue is.

    Returns
    -------
    is_psd : bool

    Examples
    --------
    >>> from mercer.kernels import RBF, is_psd
    >>> is_psd(RBF()([[0.0], [1.0], [3.0]])), is_psd([[1.0, 2.0], [2.0, 1.0]])
    (True, False)
    """
    tol = check_value("is_psd", "tol", tol, Real(least=0))
    raises = check_value("is_psd", "raises", raises, Bool())
    matrix = np.asarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"is_psd: K has shape {matrix.shape}; it must be square.")
    if not np.isfinite(matrix).all():
        raise ValueError("is_psd: K contains NaN or infinity.")
    reason = _reason(matrix, tol)
    if reason and raises:
        raise ValueError(f"The kernel matrix is not positive semi-definite: {reason}.")
    return not reason


def _reason(matrix: Any, tol: float) -> str:
    """Why a matrix is not positive semi-definite; empty where it is."""
    if matrix.size == 0:
        return ""
    asymmetry, largest = np.abs(matrix - matrix.T).max(), np.abs(matrix).max()
    if asymmetry > tol * largest:
        return f"it differs from its transpose by up to {asymmetry:.3g}"
    eigenvalues = scipy.linalg.eigvalsh((matrix + matrix.T) / 2)
    least, most = float(eigenvalues[0]), float(np.abs(eigenvalues).max())
    if least < -tol * most:
        return (
            f"its most negative eigenvalue is {least:.6g}, and its largest {eigenvalues[-1]:.6g}. Add {-least:.3g} to the "
            "diagonal, or choose a Mercer kernel (is_mercer)"
        )
    return ""

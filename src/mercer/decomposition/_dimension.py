"""How many components: a number, a share of the variance, or what is likeliest by Minka's approximation of the evidence."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from mercer._arrays import FloatArray

_NO_VARIANCE = 1e-15  # an eigenvalue below counts for none


def n_components_for_share(values: FloatArray, total: float, share: float) -> int:
    """The least number of components whose variances sum to more than a share of the total."""
    if total <= 0:
        return 1
    return min(int(np.searchsorted(np.cumsum(values) / total, share, side="right")) + 1, len(values))


def likeliest_dimension(values: FloatArray, n_rows: int) -> int:
    """The k from 1 to d - 1 of greatest evidence, for all d eigenvalues; 0 where there is one column. O(d^2)."""
    if len(values) < 2:
        return 0
    return 1 + int(np.argmax([log_evidence(values, k, n_rows) for k in range(1, len(values))]))


def log_evidence(values: FloatArray, k: int, n_rows: int) -> float:
    """log p(rows | k components) by Laplace's method (Minka, equation 80)."""
    d = len(values)
    if values[k - 1] < _NO_VARIANCE:
        return -np.inf
    # p(U): one over the volume of the frames of k orthogonal directions.
    ranks = (d - np.arange(k)) / 2
    frames = -k * np.log(2) + np.sum(gammaln(ranks) - np.log(np.pi) * ranks)
    noise = max(_NO_VARIANCE, values[k:].sum() / (d - k))
    likelihood = -0.5 * n_rows * (np.log(values[:k]).sum() + (d - k) * np.log(noise))
    n_parameters = d * k - k * (k + 1) / 2
    # |A|: the curvature, a product over the pairs i < j with i among the components.
    smoothed = np.where(np.arange(d) < k, values, noise)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.log((values[:k, None] - values) * (1 / smoothed - 1 / smoothed[:k, None])) + np.log(n_rows)
    curvature = factors[np.arange(d) > np.arange(k)[:, None]].sum()
    volume = 0.5 * (n_parameters + k) * np.log(2 * np.pi)
    evidence = frames + likelihood + volume - 0.5 * curvature - 0.5 * k * np.log(n_rows)
    return float(evidence)

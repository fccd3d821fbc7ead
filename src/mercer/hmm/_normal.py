"""Gaussians that states emit, and the priors of their parameters.

The M step of means and covariances, for sums N, s, S of rows about their own mean m: the mean is (w m0 + N m) / (w + N), and
the covariance (B + S') / (e + N), where S' is the scatter about the new mean, B holds what priors add to it and e what they
count as. That is the maximum of the likelihood times |Sigma|^(-e/2) exp(-tr(Sigma^-1 B) / 2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mercer._arrays import FloatArray
from mercer._gaussians import CovarianceType, Moments, SingularCovarianceError, log_determinants, precisions_of, whitening


class Belief(NamedTuple):
    """What priors say of covariances: scatter, and the rows that it counts as, in shapes that broadcast to them."""

    scatter: Any
    rows: Any


def moved_means(moments: Moments, prior: FloatArray | float, weight: FloatArray | float) -> FloatArray:
    """The most probable means; one that neither rows nor a prior say anything of stays."""
    shares = moments.shares[:, None]
    weight = np.broadcast_to(np.asarray(weight, dtype=np.float64), moments.shares.shape)[:, None]
    total = shares + weight
    pulled = weight * (prior - moments.centres) + moments.firsts  # about the centres, so that nothing cancels
    shift: FloatArray = np.divide(pulled, total, out=np.zeros_like(moments.firsts), where=total > 0)
    return moments.centres + shift


def scatter_about(moments: Moments, means: FloatArray) -> FloatArray:
    """The sums of share (x - mean)(x - mean)' about given means, or their diagonals."""
    off = means - moments.means()
    scatter = moments.scatter()
    shares = moments.shares
    moved = shares.reshape((-1,) + (1,) * (scatter.ndim - 1)) * outer(off, moments.is_full)
    about: FloatArray = scatter + moved
    return about


def outer(values: FloatArray, is_full: bool) -> FloatArray:
    """v v' of each line, or its diagonal."""
    return values[..., :, None] * values[..., None, :] if is_full else values**2


def ratio(scatter: FloatArray, rows: FloatArray, before: FloatArray) -> FloatArray:
    """scatter / rows; what no rows say anything of stays as it was."""
    rows = np.broadcast_to(rows, scatter.shape)
    return np.where(rows > 1e-10, np.divide(scatter, rows, out=np.zeros_like(scatter), where=rows > 1e-10), before)


def mended(covariances: FloatArray, kind: CovarianceType, least: float) -> FloatArray:
    """Covariances of which singular ones have `least` added to their diagonal."""
    try:
        whitening(covariances, kind)
    except SingularCovarianceError as error:
        covariances = covariances.copy()
        d = covariances.shape[-1]
        if kind == "tied":
            covariances += least * np.eye(d)
        elif kind == "full":
            covariances[error.components] += least * np.eye(d)
        else:
            covariances[error.components] = np.maximum(covariances[error.components], least)
    return covariances


def log_prior(covariances: FloatArray, kind: CovarianceType, belief: Belief, n_features: int) -> float:
    """-(e log |Sigma| + tr(Sigma^-1 B)) / 2, added up."""
    if kind in ("diag", "spherical"):
        terms = belief.rows * np.log(covariances) + belief.scatter / covariances
        return -float(np.sum(np.broadcast_to(terms, covariances.shape))) / 2
    factors = whitening(covariances, kind)
    log_dets = -2 * log_determinants(factors, kind, n_features)
    traces = (precisions_of(factors, kind) * belief.scatter).sum(axis=(-2, -1))
    return -float(np.sum(belief.rows * log_dets + traces)) / 2

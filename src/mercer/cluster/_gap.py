"""Choosing the number of clusters by the gap statistic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import check_array

from mercer._arrays import FLOATS, FloatArray, check_weights
from mercer._params import Integer, OneOf, RandomState, check_value
from mercer._random import as_random_state
from mercer.cluster._kmeans import KMeans


@dataclass(frozen=True, repr=False)
class GapCurve:
    """How much lower the inertia is than that of rows without clusters, against the number of clusters.

    Attributes
    ----------
    n_clusters : int array
        The numbers tried, ascending.
    gap : array
        The mean logarithm of the inertia of reference data, less that of the data.
    standard_error : array
        That of the gap, which comes from the draws of reference data: s_k = sd_k sqrt(1 + 1 / B).
    log_inertia : array
        Of the data.
    reference : array
        The mean over reference data.
    suggested : int
        The least k whose gap is at least that of the next number less its standard error; that of the largest gap if none is.
    """

    n_clusters: npt.NDArray[np.int64]
    gap: FloatArray
    standard_error: FloatArray
    log_inertia: FloatArray
    reference: FloatArray
    suggested: int

    def __repr__(self) -> str:
        lines = [f"GapCurve: {self.suggested} clusters suggested"]
        for k, gap, error in zip(self.n_clusters, self.gap, self.standard_error, strict=True):
            lines.append(f"  {k:>4} {gap:>10.4g} +- {error:.2g}{'  <-' if k == self.suggested else ''}")
        return "\n".join(lines)


def gap_statistic(
    X: Any,
    n_clusters: Iterable[int] = range(1, 11),
    *,
    estimator: KMeans | None = None,
    n_references: int = 20,
    reference: str = "components",
    sample_weight: Any = None,
    random_state: int | np.random.RandomState | None = 0,
) -> GapCurve:
    r"""Compare the inertias of k-means with those of reference data that have no clusters.

    .. math:: \mathrm{Gap}(k) = \frac{1}{B} \sum_b \log W^*_{kb} - \log W_k

    with the inertia W, and the least k with :math:`\mathrm{Gap}(k) \ge \mathrm{Gap}(k + 1) - s_{k+1}`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    n_clusters : iterable of int, default=range(1, 11)
        The numbers to try; at least two.
    estimator : KMeans or None, default=None
        What to fit, apart from `n_clusters`; None means ``KMeans(n_init=3, random_state=0)``.
    n_references : int, default=20
        B, how many sets of reference data are drawn.
    reference : {"components", "box"}, default="components"
        Reference data are uniform over the box around the data, along their principal components or along the columns.
    sample_weight : array-like of shape (n_samples,), default=None
        Rows of the reference data have the same weights.
    random_state : int, RandomState or None, default=0
        Draws the reference data.

    Returns
    -------
    GapCurve
        `mercer.plots.plot_gap` draws it.

    Notes
    -----
    B + 1 fits for each number. With one cluster among the numbers, the answer may be that there are no clusters.

    References
    ----------
    R. Tibshirani, G. Walther and T. Hastie, "Estimating the number of clusters in a data set via the gap statistic", JRSS B
    63, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import gap_statistic
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([centre + random.randn(50, 2) for centre in ([0, 0], [9, 0], [0, 9])])
    >>> gap_statistic(X, range(1, 6)).suggested
    3
    """
    numbers, n_references, reference, random = _checked(n_clusters, n_references, reference, random_state)
    X = check_array(X, dtype=FLOATS)
    weights = check_weights(sample_weight, X.shape[0], X.dtype)
    if weights is not None:
        X, weights = X[weights > 0], weights[weights > 0]
    if not np.ptp(X, axis=0).any():
        raise ValueError("gap_statistic: all rows of X are equal; there is no box to draw reference data from.")
    model = KMeans(n_init=3, random_state=0) if estimator is None else estimator
    log_inertia = _log_inertias(model, X, weights, numbers)
    draw = _References(X, random, is_rotated=reference == "components")
    drawn = np.array([_log_inertias(model, draw(), weights, numbers) for _ in range(n_references)])
    error = drawn.std(axis=0) * np.sqrt(1 + 1 / n_references)
    gap = drawn.mean(axis=0) - log_inertia
    return GapCurve(np.array(numbers), gap, error, log_inertia, drawn.mean(axis=0), _choose(numbers, gap, error))


def _checked(
    n_clusters: Any, n_references: Any, reference: Any, random_state: Any
) -> tuple[list[int], int, str, np.random.RandomState]:
    owner = "gap_statistic"
    if not isinstance(n_clusters, Iterable):
        raise TypeError(f"{owner}: n_clusters={n_clusters!r} is not valid; it must be several numbers, such as range(1, 11).")
    numbers = sorted({check_value(owner, "n_clusters", k, Integer(1)) for k in n_clusters})
    if len(numbers) < 2:
        raise ValueError(f"{owner}: n_clusters={numbers} is not valid; it must hold at least two different numbers.")
    n_references = check_value(owner, "n_references", n_references, Integer(1))
    reference = check_value(owner, "reference", reference, OneOf("components", "box"))
    return numbers, n_references, reference, as_random_state(check_value(owner, "random_state", random_state, RandomState()))


def _log_inertias(model: KMeans, X: FloatArray, weights: FloatArray | None, numbers: list[int]) -> FloatArray:
    inertias = [clone(model).set_params(n_clusters=k).fit(X, sample_weight=weights).inertia_ for k in numbers]
    with np.errstate(divide="ignore"):  # as many clusters as rows are different: the gap has no end
        return np.log(inertias)


def _choose(numbers: list[int], gap: FloatArray, error: FloatArray) -> int:
    for k, here, following, error_there in zip(numbers, gap, gap[1:], error[1:], strict=False):
        if here >= following - error_there:
            return k
    return numbers[int(np.argmax(gap))]


class _References:
    """Rows drawn uniformly from the box around the data, along their principal components or along the columns."""

    def __init__(self, X: FloatArray, random: np.random.RandomState, *, is_rotated: bool) -> None:
        self._random, self._dtype, self._n_rows = random, X.dtype, len(X)
        self._mean = X.mean(axis=0, dtype=np.float64)
        centred = X - self._mean
        self._axes = np.linalg.svd(centred, full_matrices=False)[2] if is_rotated else None
        scores = centred if self._axes is None else centred @ self._axes.T
        self._low, self._high = scores.min(axis=0), scores.max(axis=0)

    def __call__(self) -> FloatArray:
        scores = self._random.uniform(self._low, self._high, size=(self._n_rows, len(self._low)))
        rows = scores if self._axes is None else scores @ self._axes
        return np.ascontiguousarray(rows + self._mean, dtype=self._dtype)

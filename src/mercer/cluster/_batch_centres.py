"""The centres of mini-batch k-means: the means of all rows that batches have given them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._saved import saved
from mercer._statistics import GroupSums
from mercer._trace import Record
from mercer.cluster._lloyd import Labels

_REASSIGN_AFTER = 10  # rows for each centre, as the peer


@saved("mercer.cluster.BatchCentres")
class BatchCentres:
    """Centres, shifted near to zero, with what they are the means of.

    Each of a batch's rows goes to its nearest centre; centre j then moves by the share w / N_j of the way to it, where N_j is
    the weight of all its rows so far (Sculley 2010). This is a running mean, so that sums and weights are what is kept, in
    double precision.
    """

    def __init__(
        self,
        shift: FloatArray,
        centres: FloatArray,
        sums: FloatArray,
        weights: FloatArray,
        n_unchecked: int,
        random: np.random.RandomState,
    ) -> None:
        self.shift, self.centres, self.random = shift, centres, random
        self.sums, self.weights = sums, weights  # of the rows of each centre
        self.n_unchecked = n_unchecked  # rows since centres of little weight were last looked for

    @classmethod
    def start(cls, shift: FloatArray, centres: FloatArray, random: np.random.RandomState) -> BatchCentres:
        return cls(shift, centres, np.zeros(centres.shape), np.zeros(len(centres)), 0, random)

    def __reduce__(self) -> Any:
        return BatchCentres, (self.shift, self.centres, self.sums, self.weights, self.n_unchecked, self.random)

    def copy(self) -> BatchCentres:
        """One whose steps leave this one as it is; the generator is shared."""
        return BatchCentres(self.shift, self.centres, self.sums, self.weights, self.n_unchecked, self.random)

    def astype(self, dtype: Any) -> BatchCentres:
        """For rows of another precision."""
        shift = self.shift.astype(dtype, copy=False)
        centres = self.centres.astype(dtype, copy=False)
        return BatchCentres(shift, centres, self.sums, self.weights, self.n_unchecked, self.random)

    def step(self, X: Any, weights: FloatArray | None, *, reassignment_ratio: float, n_threads: int) -> Record:
        """Learn from a batch. Its mean squared distance to the centres before, and the squared shift of these."""
        is_checked = self._is_due(X.shape[0])
        rows, (k, d) = native_rows(X, None if sp.issparse(X) else self.shift), self.centres.shape
        labels: Labels = np.full(X.shape[0], -1, dtype=np.int32)
        found = GroupSums.zeros(k, d)
        kernels.lloyd_step(rows, weights, self.centres, 0.0, None, None, None, labels, *found, n_threads)
        inertia = kernels.inertia(rows, weights, self.centres, labels, n_threads)
        self.sums, self.weights = self.sums + found.sums, self.weights + found.weights
        before, self.centres = self.centres, self._means()
        if is_checked and reassignment_ratio > 0:
            self._reassign(X, reassignment_ratio)
        shift = np.sum(np.square(self.centres.astype(np.float64) - before))
        return {"inertia": inertia / float(found.weights.sum()), "shift": float(shift)}

    def _means(self) -> FloatArray:
        has_rows = (self.weights > 0)[:, None]
        means = self.sums / np.where(self.weights > 0, self.weights, 1.0)[:, None]
        return np.where(has_rows, means, self.centres).astype(self.centres.dtype)

    def _is_due(self, n_rows: int) -> bool:
        self.n_unchecked += n_rows
        is_due = bool((self.weights == 0).any()) or self.n_unchecked >= _REASSIGN_AFTER * len(self.centres)
        if is_due:
            self.n_unchecked = 0
        return is_due

    def _reassign(self, X: Any, ratio: float) -> None:
        """Move centres of little weight to rows of the batch, with the least weight of the others, lest they move again."""
        weights = self.weights
        is_light = weights < ratio * weights.max()
        is_light[np.argmax(weights)] = False
        most = int(0.5 * X.shape[0])
        if is_light.sum() > 0.5 * X.shape[0]:
            is_light[np.argsort(weights)[most:]] = False
        if not is_light.any():
            return
        chosen = self.random.choice(X.shape[0], replace=False, size=int(is_light.sum()))
        rows = X[chosen]
        self.centres[is_light] = (rows.toarray() if sp.issparse(rows) else rows) - self.shift
        weights[is_light] = weights[~is_light].min()  # both arrays are this step's own
        self.sums[is_light] = self.centres[is_light].astype(np.float64) * weights[is_light, None]

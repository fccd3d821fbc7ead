"""Trees on bags in which every class weighs the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._trees.growth import Growth
from mercer._trees.store import TreeStore
from mercer._trees.training import Training
from mercer.ensemble._forest.bags import Bags

_WEIGHTS_AT_ONCE = 16_000_000  # rows times trees whose weights are held at a time


def grow_balanced(growth: Growth, columns: Any, data: Training, bags: Bags, n_threads: int) -> TreeStore:
    """Trees whose classes weigh the same in each bag."""
    step = max(1, _WEIGHTS_AT_ONCE // bags.n_rows)
    stores = []
    for begin in range(0, len(bags), step):
        members = range(begin, min(begin + step, len(bags)))
        weights = np.stack([_balance(bags.counts(member), data.targets.values) for member in members])
        seeds = bags.seeds[members.start : members.stop]
        stores.append(growth.grow(columns, data.targets, weights, seeds=seeds, n_threads=n_threads))
    return TreeStore.join(stores) if len(stores) > 1 else stores[0]


def _balance(counts: FloatArray, codes: npt.NDArray[np.int32]) -> FloatArray:
    """Counts times the weights that make the classes of each output weigh the same in the bag."""
    out = counts.copy()
    for column in codes.T:
        of_class = np.bincount(column, weights=counts)
        n_present = int((of_class > 0).sum())
        factors = np.divide(counts.sum(), n_present * of_class, where=of_class > 0, out=np.zeros_like(of_class))
        out *= factors[column]
    return out

"""Points between rows and their neighbours: what SMOTE and its variants draw, and in which order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FLOATS
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._random import as_random_state
from mercer._resampling.base import Grower, Rows
from mercer._resampling.neighbors import AUTO, Places, find_others, fitted, require_rows
from mercer._rows import count_rows, take_rows

Gaps = npt.NDArray[np.float64]


class Interpolating(Grower):
    """Base of the variants of SMOTE, all of which find neighbours of the same class."""

    random_state: Any

    def _generator(self, params: SimpleNamespace) -> np.random.RandomState:
        """A generator for one batch of new rows: a seed begins anew for each, as in imbalanced-learn."""
        return as_random_state(params.random_state)

    def _class_search(self, label: Any, rows: Any, params: SimpleNamespace) -> Any:
        """The search for neighbours, fitted to the rows of a class, of which there must be enough."""
        n_rows = count_rows(rows)
        if params.k_neighbors == "auto":
            self.nn_k_.set_params(n_neighbors=min(AUTO, n_rows - 1) + 1)
        remedy = (
            f"Give k_neighbors={n_rows - 1} or less, or k_neighbors='auto', or leave the class out by sampling_strategy."
            if n_rows > 1
            else "Give k_neighbors='auto', which repeats the row, or leave the class out by sampling_strategy."
        )
        require_rows(type(self).__name__, "k_neighbors", self.nn_k_, n_rows, f"class {label!r}", remedy)
        return fitted(self.nn_k_, rows)

    def _class_neighbors(self, label: Any, rows: Any, asked: Any, params: SimpleNamespace) -> Places:
        """For each of the rows `asked`, its neighbours among the rows of a class, of which it is one; a lone row has itself."""
        search = self._class_search(label, rows, params)
        return np.zeros((count_rows(asked), 1), dtype=np.intp) if count_rows(rows) == 1 else find_others(search, asked)


def draw_pairs(generator: np.random.RandomState, neighbors: Places, n_new: int) -> tuple[Rows, Rows, Gaps]:
    """For each new row, one of the rows that have neighbours, one of its neighbours, and the gap between them."""
    chosen = generator.randint(low=0, high=neighbors.size, size=n_new)
    gaps = generator.uniform(size=n_new)
    places, columns = np.divmod(chosen, neighbors.shape[1])
    return places, neighbors[places, columns], gaps


def interpolate(starts: Any, ends: Any, gaps: Gaps) -> Any:
    """Row by row start + gap (end - start), in double precision and then of the type of the starts. O(n d)."""
    if sp.issparse(starts):
        steps = ends - starts
        scaled = steps.multiply(gaps).tocsr() if gaps.ndim == 2 else sp.diags_array(gaps) @ steps
        return (starts + scaled).astype(starts.dtype)
    new = ends - starts
    if new.dtype == np.float64:
        new *= gaps if gaps.ndim == 2 else gaps[:, None]
        new += starts
        return new
    return (starts + (gaps if gaps.ndim == 2 else gaps[:, None]) * new).astype(starts.dtype)


def _is_dense(rows: Any) -> bool:
    return isinstance(rows, np.ndarray) and rows.dtype in FLOATS


def between(rows: Any, others: Any, pairs: tuple[Rows, Rows, Gaps]) -> Any:
    """Points between rows and those others that were drawn for them."""
    places, ends, gaps = pairs
    if _is_dense(rows) and _is_dense(others) and rows.dtype == others.dtype:
        new = np.empty((len(places), rows.shape[1]), dtype=rows.dtype)
        tables = map(np.ascontiguousarray, (rows, others, places, ends, gaps if gaps.ndim == 2 else gaps[:, None]))
        kernels.interpolate_rows(*tables, new, effective_threads(None))
        return new
    return interpolate(take_rows(rows, places), take_rows(others, ends), gaps)

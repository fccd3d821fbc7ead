"""`BorderlineSMOTE`: new rows next to those that are in danger of being taken for another class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._params import OneOf, RandomState, Rule
from mercer._resampling.base import Rows, Sample
from mercer._resampling.neighbors import NEIGHBORS, find_others, fitted, make_neighbors, require_rows
from mercer._resampling.strategy import RULES
from mercer._rows import take_rows
from mercer.over_sampling._interpolation import Interpolating, between, draw_pairs

Mask = npt.NDArray[np.bool_]


def count_strangers(search: Any, rows: Any, place: int, sample: Sample) -> tuple[npt.NDArray[np.intp], int]:
    """Of each row's m neighbours among all rows those of other classes, and m."""
    others = find_others(search, rows)
    return np.count_nonzero(sample.codes[others] != place, axis=1), others.shape[1]


def in_danger(strangers: npt.NDArray[np.intp], m: int) -> Mask:
    """Rows of whose neighbours half or more are of other classes, but not all (those are noise)."""
    return (strangers >= m / 2) & (strangers < m)


class BorderlineSMOTE(Interpolating):
    """SMOTE from those rows of a class that are in danger: half or more of their m neighbours, not all, are of other classes.

    Parameters
    ----------
    sampling_strategy : str, float, dict or callable, default="auto"
        As in `SMOTE`.
    random_state : int, RandomState or None, default=None
    k_neighbors : int, "auto" or estimator, default=5
        As in `SMOTE`.
    m_neighbors : int or estimator, default=10
        The neighbours among all rows that say whether a row is in danger.
    kind : {"borderline-1", "borderline-2"}, default="borderline-1"
        Whether new rows lie towards neighbours of the class, or towards neighbours of any class, of which those of other
        classes are approached halfway at most.

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of new rows by class. A class without rows in danger gets none.
    nn_k_, nn_m_ : estimators
        The searches for neighbours, not fitted: no rows are kept.
    in_danger_indices : dict
        The rows in danger by class.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    A search among all rows and one within the class, O(n n_class n_features) at worst. The same `random_state` gives the rows
    that imbalanced-learn gives.

    References
    ----------
    H. Han, W.-Y. Wang, B.-H. Mao: Borderline-SMOTE: a new over-sampling method in imbalanced data sets learning. ICIC 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.over_sampling import BorderlineSMOTE
    >>> X = np.array([[0.0], [0.2], [0.4], [1.0], [1.1], [1.2], [1.3], [1.4]])
    >>> y = np.array([1, 1, 1, 0, 0, 0, 0, 0])
    >>> sampler = BorderlineSMOTE(k_neighbors=1, m_neighbors=3, random_state=0)
    >>> X_new, y_new = sampler.fit_resample(X, y)
    >>> np.bincount(y_new)
    array([5, 3])
    >>> sampler.set_params(m_neighbors=4).fit_resample(X, y)[0][8:].round(2).ravel()
    array([0.17, 0.03])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sampling_strategy": RULES["over-sampling"],
        "random_state": RandomState(),
        "k_neighbors": NEIGHBORS | OneOf("auto"),
        "m_neighbors": NEIGHBORS,
        "kind": OneOf("borderline-1", "borderline-2"),
    }
    _input_tags = ("sparse",)

    def __init__(
        self,
        *,
        sampling_strategy: Any = "auto",
        random_state: Any = None,
        k_neighbors: Any = 5,
        m_neighbors: Any = 10,
        kind: str = "borderline-1",
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.k_neighbors = k_neighbors
        self.m_neighbors = m_neighbors
        self.kind = kind

    def _plan(self, params: SimpleNamespace, sample: Sample) -> None:
        super()._plan(params, sample)
        self.nn_k_ = make_neighbors(params.k_neighbors, n_more=1)
        self.nn_m_ = make_neighbors(params.m_neighbors, n_more=1)
        self.in_danger_indices: dict[Any, Rows] = {}

    def _grow(self, sample: Sample, label: Any, n_new: int, params: SimpleNamespace) -> Iterator[Any]:
        members, place = sample.rows_of(label), sample.place(label)
        rows = take_rows(sample.X, members)
        require_rows(type(self).__name__, "m_neighbors", self.nn_m_, len(sample.codes), "X", "Give a smaller m_neighbors.")
        is_endangered = in_danger(*count_strangers(fitted(self.nn_m_, sample.X), rows, place, sample))
        if not is_endangered.any():
            return
        self.in_danger_indices[label] = members[is_endangered]
        endangered = take_rows(rows, np.flatnonzero(is_endangered))
        targets = rows if params.kind == "borderline-1" else sample.X
        neighbors = self._class_neighbors(label, targets, endangered, params)
        pairs = draw_pairs(self._generator(params), neighbors, n_new)
        if params.kind == "borderline-1":
            yield between(endangered, rows, pairs)
            return
        places, ends, gaps = pairs
        is_strange = sample.codes[ends] != place
        # Drawn from a generator of its own, as in imbalanced-learn.
        halves = self._generator(params).uniform(low=0.0, high=0.5, size=(int(is_strange.sum()), 1))[:, 0]
        gaps[is_strange] *= halves
        yield between(endangered, sample.X, (places, ends, gaps))

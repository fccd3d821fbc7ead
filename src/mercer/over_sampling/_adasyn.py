"""`ADASYN`: more new rows where other classes are near."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._params import RandomState, Rule
from mercer._random import as_random_state
from mercer._resampling.base import Grower, Sample
from mercer._resampling.neighbors import NEIGHBORS, find_others, fitted, make_neighbors, require_rows
from mercer._resampling.strategy import RULES
from mercer._rows import take_rows
from mercer.over_sampling._interpolation import between


class ADASYN(Grower):
    """Adaptive synthetic sampling: as SMOTE, but a row has the more new rows, the more of its neighbours are of other classes.

    With r_i the share of other classes among the k nearest neighbours of row i, it gets about G r_i / sum_j r_j of the G new
    rows, each rounded by itself: their number may differ from G by a few.

    Parameters
    ----------
    sampling_strategy : str, float, dict or callable, default="auto"
        As in `SMOTE`.
    random_state : int, RandomState or None, default=None
    n_neighbors : int or estimator, default=5
        The number of neighbours, both of all classes (for r_i) and of the class (to go towards).

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of rows asked for, by class.
    nn_ : estimator
        The search for neighbours, not fitted: no rows are kept.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    A search among all rows and one within the class, O(n n_class n_features) at worst. The same `random_state` gives the rows
    that imbalanced-learn gives.

    References
    ----------
    H. He, Y. Bai, E. A. Garcia, S. Li: ADASYN: Adaptive synthetic sampling approach for imbalanced learning. IJCNN 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.over_sampling import ADASYN
    >>> X = np.array([[0.0], [1.0], [2.0], [2.5], [3.0], [4.0], [5.0], [6.0]])
    >>> y = np.array([1, 1, 1, 0, 0, 0, 0, 0])
    >>> X_new, y_new = ADASYN(n_neighbors=2, random_state=0).fit_resample(X, y)
    >>> np.bincount(y_new)  # the row at 2 has other classes near
    array([5, 5])
    >>> X_new[8:].round(2).ravel()
    array([1.28, 0.79])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sampling_strategy": RULES["over-sampling"],
        "random_state": RandomState(),
        "n_neighbors": NEIGHBORS,
    }
    _input_tags = ("sparse",)

    def __init__(self, *, sampling_strategy: Any = "auto", random_state: Any = None, n_neighbors: Any = 5) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.n_neighbors = n_neighbors

    def _plan(self, params: SimpleNamespace, sample: Sample) -> None:
        super()._plan(params, sample)
        self.nn_ = make_neighbors(params.n_neighbors, n_more=1)
        params.draws = as_random_state(params.random_state)

    def _grow(self, sample: Sample, label: Any, n_new: int, params: SimpleNamespace) -> Iterator[Any]:
        members = sample.rows_of(label)
        rows = take_rows(sample.X, members)
        remedy = "Give a smaller n_neighbors, or leave the class out by sampling_strategy."
        require_rows("ADASYN", "n_neighbors", self.nn_, len(members), f"class {label!r}", remedy)
        others = find_others(fitted(self.nn_, sample.X), rows)
        hardness = (sample.codes[others] != sample.place(label)).mean(axis=1)
        if not hardness.any():
            raise RuntimeError(
                f"ADASYN: Not any neigbours belong to the majority class: no row of class {label!r} has a neighbour of another "
                "class. ADASYN is not suited for this specific dataset. Use SMOTE instead."
            )
        n_each = np.rint(hardness / hardness.sum() * n_new).astype(np.intp)
        if not n_each.any():
            raise ValueError(
                f"ADASYN: No samples will be generated with the provided ratio settings: {n_new} new rows of class {label!r} "
                f"are less than half a row for each of {len(members)}. Use SMOTE, or ask for more."
            )
        neighbors = find_others(fitted(self.nn_, rows), rows)
        places = np.repeat(np.arange(len(members)), n_each)
        columns = params.draws.choice(neighbors.shape[1], size=len(places))
        gaps = params.draws.uniform(size=(len(places), 1))[:, 0]
        yield between(rows, rows, (places, neighbors[places, columns], gaps))

"""`EditedNearestNeighbours`: without the rows that their neighbours contradict."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from scipy.stats import mode

from mercer._params import NumberOfJobs, OneOf, Rule
from mercer._resampling.base import ClassSelector, Rows, Sample
from mercer._resampling.neighbors import NEIGHBORS, find_others, fitted, make_neighbors, require_rows
from mercer._resampling.strategy import RULES
from mercer._rows import take_rows


class EditedNearestNeighbours(ClassSelector):
    """Without the rows whose neighbours are of other classes.

    Parameters
    ----------
    sampling_strategy : str, list or callable, default="auto"
        The classes that lose rows, as in `TomekLinks`.
    n_neighbors : int or estimator, default=3
        The neighbours of a row that are asked. An estimator with `kneighbors` (with the row itself first) is cloned.
    kind_sel : {"all", "mode"}, default="all"
        Whether a row stays if all of its neighbours are of its class, or if most are.
    n_jobs : int, default=None
        Threads of the search for neighbours.

    Attributes
    ----------
    sampling_strategy_ : dict
        Its keys are the classes that lose rows.
    sample_indices_ : ndarray
        The rows that are left, class by class.
    nn_ : estimator
        The search for neighbours, not fitted: no rows are kept.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    One search for neighbours, O(n^2 n_features) at worst. Of classes with equal votes the first wins.

    References
    ----------
    D. L. Wilson: Asymptotic properties of nearest neighbor rules using edited data. IEEE Transactions on Systems, Man, and
    Cybernetics 2 (1972).

    Examples
    --------
    >>> from mercer.under_sampling import EditedNearestNeighbours
    >>> X, y = [[0.0], [0.5], [1.0], [0.2], [5.0], [5.5], [6.0], [6.5]], [1, 1, 1, 0, 0, 0, 0, 0]
    >>> sampler = EditedNearestNeighbours(n_neighbors=2)
    >>> sampler.fit_resample(X, y)[1]
    [0, 0, 0, 0, 1, 1, 1]
    >>> sampler.sample_indices_
    array([4, 5, 6, 7, 0, 1, 2])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sampling_strategy": RULES["clean-sampling"],
        "n_neighbors": NEIGHBORS,
        "kind_sel": OneOf("all", "mode"),
        "n_jobs": NumberOfJobs(),
    }
    _kind = "clean-sampling"
    _input_tags = ("sparse",)

    def __init__(
        self, *, sampling_strategy: Any = "auto", n_neighbors: Any = 3, kind_sel: str = "all", n_jobs: int | None = None
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.n_neighbors = n_neighbors
        self.kind_sel = kind_sel
        self.n_jobs = n_jobs

    def _select(self, sample: Sample, params: SimpleNamespace) -> Rows:
        self.nn_ = make_neighbors(params.n_neighbors, n_more=1, n_jobs=params.n_jobs)
        owner = type(self).__name__
        require_rows(owner, "n_neighbors", self.nn_, len(sample.codes), "X", "Give a smaller n_neighbors.")
        params.search = fitted(self.nn_, sample.X)
        return super()._select(sample, params)

    def _keep(self, sample: Sample, label: Any, rows: Rows, params: SimpleNamespace) -> Rows:
        around = sample.codes[find_others(params.search, take_rows(sample.X, rows))]
        if params.kind_sel == "mode":
            agrees = mode(around, axis=1, keepdims=False).mode == sample.place(label)
        else:
            agrees = (around == sample.place(label)).all(axis=1)
        return rows[np.flatnonzero(agrees)]

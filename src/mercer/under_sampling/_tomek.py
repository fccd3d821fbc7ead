"""`TomekLinks`: without those rows that face a row of another class."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._params import NumberOfJobs, Rule
from mercer._resampling.base import Rows, Sample, Selector
from mercer._resampling.neighbors import find_others, make_neighbors, require_rows
from mercer._resampling.strategy import RULES


class TomekLinks(Selector):
    """Without the rows of Tomek links: pairs of different classes that are the nearest neighbours of each other.

    Parameters
    ----------
    sampling_strategy : str, list or callable, default="auto"
        The classes that lose rows: "majority", "not minority" ("auto"), "not majority", "all", or a list of classes; a callable
        is given y and returns a list.
    n_jobs : int, default=None
        Threads of the search for neighbours.

    Attributes
    ----------
    sampling_strategy_ : dict
        Its keys are the classes that lose rows.
    sample_indices_ : ndarray
        The rows that are left.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    One search for the nearest neighbours of all rows, O(n^2 n_features) at worst.

    References
    ----------
    I. Tomek: Two modifications of CNN. IEEE Transactions on Systems, Man, and Cybernetics 6 (1976).

    Examples
    --------
    >>> from mercer.under_sampling import TomekLinks
    >>> sampler = TomekLinks()
    >>> sampler.fit_resample([[0.0], [1.0], [1.1], [3.0], [3.5]], [1, 1, 0, 0, 0])[1]
    [1, 1, 0, 0]
    >>> sampler.sample_indices_
    array([0, 1, 3, 4])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sampling_strategy": RULES["clean-sampling"],
        "n_jobs": NumberOfJobs(),
    }
    _kind = "clean-sampling"
    _input_tags = ("sparse",)

    def __init__(self, *, sampling_strategy: Any = "auto", n_jobs: int | None = None) -> None:
        self.sampling_strategy = sampling_strategy
        self.n_jobs = n_jobs

    def _select(self, sample: Sample, params: SimpleNamespace) -> Rows:
        search = make_neighbors(1, n_more=1, n_jobs=params.n_jobs)
        require_rows("TomekLinks", "the nearest neighbour", search, len(sample.codes), "X", "Give more rows.")
        nearest = find_others(search.fit(sample.X), sample.X)[:, 0]
        is_mutual = nearest[nearest] == np.arange(len(nearest))
        is_link = is_mutual & (sample.codes[nearest] != sample.codes)
        loses = np.isin(sample.codes, [sample.place(label) for label in self.sampling_strategy_])
        return np.flatnonzero(~(is_link & loses))

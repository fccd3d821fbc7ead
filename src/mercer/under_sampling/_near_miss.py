"""`NearMiss`: those rows of the common classes that are near the rarest."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._params import Integer, NumberOfJobs, Rule
from mercer._resampling.base import ClassSelector, Rows, Sample
from mercer._resampling.neighbors import NEIGHBORS, fitted, make_neighbors, require_neighbors
from mercer._resampling.strategy import RULES
from mercer._rows import take_rows
from mercer._trace import warn


class NearMiss(ClassSelector):
    """Those rows of the common classes whose mean distance from rows of the rarest class is least.

    Version 1 asks for the mean distance from the k nearest rows of the rarest class, version 2 from the k farthest. Version 3
    first takes the `n_neighbors_ver3` nearest rows of each row of the rarest class, and of those keeps the ones that are
    farthest on average from their k nearest rows of the rarest class.

    Parameters
    ----------
    sampling_strategy : str, float, dict or callable, default="auto"
        As in `RandomUnderSampler`.
    version : {1, 2, 3}, default=1
    n_neighbors : int or estimator, default=3
        The number k of rows of the rarest class that distances are measured from.
    n_neighbors_ver3 : int or estimator, default=3
        The neighbours of each row of the rarest class that version 3 takes first.
    n_jobs : int, default=None
        Threads of the searches for neighbours.

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of rows left by class.
    sample_indices_ : ndarray
        The rows that are left, class by class.
    nn_ : estimator
        The search for neighbours in the rarest class, not fitted: no rows are kept.
    nn_ver3_ : estimator
        That of version 3 in the other classes, not fitted.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Of equal distances the first rows are taken. Version 3 warns where its first step leaves fewer rows than asked for.
    O(n n_rarest n_features) at worst.

    References
    ----------
    I. Mani, J. Zhang: kNN approach to unbalanced data distributions: a case study involving information extraction. ICML 2003
    workshop on learning from imbalanced datasets.

    Examples
    --------
    >>> from mercer.under_sampling import NearMiss
    >>> sampler = NearMiss(n_neighbors=1)
    >>> X, y = sampler.fit_resample([[0.0], [1.0], [2.0], [3.0], [9.0]], [1, 1, 0, 0, 0])
    >>> sampler.sample_indices_
    array([2, 3, 0, 1])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sampling_strategy": RULES["under-sampling"],
        "version": Integer(1, most=3),
        "n_neighbors": NEIGHBORS,
        "n_neighbors_ver3": NEIGHBORS,
        "n_jobs": NumberOfJobs(),
    }
    _kind = "under-sampling"
    _input_tags = ("sparse",)

    def __init__(
        self,
        *,
        sampling_strategy: Any = "auto",
        version: int = 1,
        n_neighbors: Any = 3,
        n_neighbors_ver3: Any = 3,
        n_jobs: int | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.version = version
        self.n_neighbors = n_neighbors
        self.n_neighbors_ver3 = n_neighbors_ver3
        self.n_jobs = n_jobs

    def _select(self, sample: Sample, params: SimpleNamespace) -> Rows:
        params.rare = take_rows(sample.X, np.flatnonzero(sample.codes == sample.rarest))
        self.nn_ = make_neighbors(params.n_neighbors, n_jobs=params.n_jobs)
        rarest = f"class {sample.classes.tolist()[sample.rarest]!r}, the rarest,"
        require_neighbors("NearMiss", "n_neighbors", self.nn_, params.rare.shape[0], rarest)
        params.search = fitted(self.nn_, params.rare)
        self._unset("nn_ver3_")
        return super()._select(sample, params)

    def _keep(self, sample: Sample, label: Any, rows: Rows, params: SimpleNamespace) -> Rows:
        n_left, k, is_third = self.sampling_strategy_[label], self.nn_.n_neighbors, params.version == 3
        if is_third:
            rows = self._around_the_rarest(sample, label, rows, params)
        n_asked = params.rare.shape[0] if params.version == 2 else k
        distances, _ = params.search.kneighbors(take_rows(sample.X, rows), n_neighbors=n_asked)
        total = distances[:, -k:].sum(axis=1)
        if len(rows) < n_left:
            warn(
                f"NearMiss: The number of the samples to be selected is larger than the number of samples available: version 3 "
                f"finds {len(rows)} rows of class {label!r} and {n_left} are asked for. Raise n_neighbors_ver3.",
                UserWarning,
            )
        return np.asarray(rows[np.argsort(-total if is_third else total, kind="stable")[:n_left]])

    def _around_the_rarest(self, sample: Sample, label: Any, rows: Rows, params: SimpleNamespace) -> Rows:
        """Rows of a class that are near some row of the rarest."""
        self.nn_ver3_ = make_neighbors(params.n_neighbors_ver3, n_jobs=params.n_jobs)
        require_neighbors("NearMiss", "n_neighbors_ver3", self.nn_ver3_, len(rows), f"class {label!r}")
        near = fitted(self.nn_ver3_, take_rows(sample.X, rows)).kneighbors(params.rare, return_distance=False)
        return np.asarray(rows[np.unique(near)])

"""`CondensedNearestNeighbour`: the rows that are enough to classify the others by their neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from mercer._condensing import condense
from mercer._parallel import effective_threads
from mercer._params import Bool, Having, Integer, Null, NumberOfJobs, RandomState, Rule
from mercer._random import as_random_state
from mercer._resampling.base import ClassSelector, Rows, Sample
from mercer._resampling.strategy import RULES
from mercer._rows import take_rows


class CondensedNearestNeighbour(ClassSelector):
    """The rows of common classes that the rows kept so far misclassify.

    For each class that loses rows: the kept set begins with all rows of the rarest class and a random seed of the class; the
    other rows of the class are visited in turn, and one that its neighbours among the kept rows assign to another class is
    kept.

    Parameters
    ----------
    sampling_strategy : str, list or callable, default="auto"
        The classes that lose rows, as in `TomekLinks`.
    random_state : int, RandomState or None, default=None
    n_neighbors : int, estimator or None, default=None
        The neighbours that vote, one where it is None. A classifier with `kneighbors` is cloned, fitted anew for every row that
        is kept, and asked.
    n_seeds_S : int, default=1
        The number of rows of a class to begin with.
    n_jobs : int, default=None
        Threads of `estimators_`.
    until_stable : bool, default=False
        Whether the rows are visited again until none is kept, as in the paper: with one neighbour and two classes the rows that
        are left then classify all rows as they are labelled. False is one pass.

    Attributes
    ----------
    sampling_strategy_ : dict
        Its keys are the classes that lose rows.
    sample_indices_ : ndarray
        The rows that are left, class by class.
    estimators_ : list of estimators
        For each class that loses rows, the classifier of the kept set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    O(n_class n_kept n_features). The seeds are those that imbalanced-learn draws from the same `random_state`; rows may differ
    from its own where it passes over a row because its place in the class is that of a kept row among all rows.

    References
    ----------
    P. E. Hart: The condensed nearest neighbor rule. IEEE Transactions on Information Theory 14 (1968).

    Examples
    --------
    >>> from mercer.under_sampling import CondensedNearestNeighbour
    >>> sampler = CondensedNearestNeighbour(random_state=0)
    >>> X, y = sampler.fit_resample([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [1, 1, 0, 0, 0, 0])
    >>> sampler.sample_indices_
    array([2, 0, 1])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sampling_strategy": RULES["clean-sampling"],
        "random_state": RandomState(),
        "n_neighbors": Null() | Integer(1) | Having("kneighbors", "predict"),
        "n_seeds_S": Integer(1),
        "n_jobs": NumberOfJobs(),
        "until_stable": Bool(),
    }
    _kind = "clean-sampling"
    _input_tags = ("sparse",)

    def __init__(
        self,
        *,
        sampling_strategy: Any = "auto",
        random_state: Any = None,
        n_neighbors: Any = None,
        n_seeds_S: int = 1,
        n_jobs: int | None = None,
        until_stable: bool = False,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.n_seeds_S = n_seeds_S
        self.n_jobs = n_jobs
        self.until_stable = until_stable

    def _select(self, sample: Sample, params: SimpleNamespace) -> Rows:
        params.draws = as_random_state(params.random_state)
        self.estimators_: list[Any] = []
        return super()._select(sample, params)

    def _keep(self, sample: Sample, label: Any, rows: Rows, params: SimpleNamespace) -> Rows:
        from mercer.neighbors import KNeighborsClassifier

        seeds = rows[params.draws.randint(low=0, high=len(rows), size=params.n_seeds_S)]
        start = np.concatenate([np.flatnonzero(sample.codes == sample.rarest), seeds])
        if params.n_neighbors is None or isinstance(params.n_neighbors, int):
            classifier = KNeighborsClassifier(params.n_neighbors or 1, algorithm="brute", n_jobs=params.n_jobs)
            added = _condensed(sample, start, rows, params)
        else:
            classifier = clone(params.n_neighbors)
            added = _added(Refitted(sample, rows, classifier), start, rows, until_stable=params.until_stable)
        kept = np.concatenate([start, added])
        self.estimators_.append(classifier.fit(take_rows(sample.X, kept), sample.classes[sample.codes[kept]]))
        return np.concatenate([seeds, added]).astype(np.intp)


def _condensed(sample: Sample, start: Rows, rows: Rows, params: SimpleNamespace) -> Rows:
    """The rows that are kept beside those of the start."""
    kept = condense(
        sample.X.tocsr() if sp.issparse(sample.X) else sample.X,
        sample.codes,
        start=start,
        order=rows,
        n_neighbors=params.n_neighbors or 1,
        until_stable=params.until_stable,
        n_threads=effective_threads(params.n_jobs),
    )
    return kept[len(np.unique(start)) :]


def _added(judge: Refitted, start: Rows, rows: Rows, *, until_stable: bool) -> Rows:
    """The same by any classifier: row after row, those that it misclassifies by what is kept so far."""
    judge.add(start)
    added: list[int] = []
    while True:
        n_before = len(added)
        for place, row in enumerate(rows):
            if not judge.is_right[place] and not judge.is_kept[place]:
                added.append(row)
                judge.add(np.array([row]))
        if len(added) == n_before or not until_stable:
            return np.array(added, dtype=np.intp)


class Refitted:
    """Says which rows of a class are kept, and which of them a classifier gets right that is fitted anew to the kept rows."""

    def __init__(self, sample: Sample, rows: Rows, classifier: Any) -> None:
        self._sample, self._places, self._classifier = sample, rows, classifier
        self._rows, self._own = take_rows(sample.X, rows), sample.codes[rows]
        self._kept = np.empty(0, dtype=np.intp)
        self.is_kept = np.zeros(len(rows), dtype=bool)
        self.is_right = self.is_kept

    def add(self, kept: Rows) -> None:
        """Keep more rows."""
        self._kept = np.concatenate([self._kept, kept])
        self.is_kept = self.is_kept | np.isin(self._places, kept)
        self._classifier.fit(take_rows(self._sample.X, self._kept), self._sample.codes[self._kept])
        self.is_right = self._classifier.predict(self._rows) == self._own

"""`CondensedNearestNeighbour`: the rows that are enough to classify the others by their neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances

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
            judge: Judge = Nearest(sample, rows, params.n_neighbors or 1)
        else:
            classifier = clone(params.n_neighbors)
            judge = Refitted(sample, rows, classifier)
        judge.add(start)
        kept, n_before = list(start), 0
        while len(kept) > n_before:
            n_before = len(kept)
            for place, row in enumerate(rows):
                if not judge.is_right[place] and not judge.is_kept[place]:
                    kept.append(row)
                    judge.add(np.array([row]))
            if not params.until_stable:
                break
        self.estimators_.append(classifier.fit(take_rows(sample.X, kept), sample.classes[sample.codes[kept]]))
        return np.array(kept[len(start) - len(seeds) :], dtype=np.intp)


class Judge(ABC):
    """Says which rows of a class are kept, and which of them the kept rows classify rightly."""

    def __init__(self, sample: Sample, rows: Rows) -> None:
        self._sample, self._places = sample, rows
        self._rows, self._own = take_rows(sample.X, rows), sample.codes[rows]
        self.is_kept = np.zeros(len(rows), dtype=bool)
        self.is_right = self.is_kept

    def add(self, kept: Rows) -> None:
        """Keep more rows."""
        self.is_kept = self.is_kept | np.isin(self._places, kept)
        self.is_right = self._judge(kept)

    @abstractmethod
    def _judge(self, kept: Rows) -> npt.NDArray[np.bool_]: ...


class Nearest(Judge):
    """By the k nearest kept rows: one more is compared with the k nearest so far. O(n_rows n_features) a row."""

    def __init__(self, sample: Sample, rows: Rows, k: int) -> None:
        super().__init__(sample, rows)
        self._distances = np.full((len(rows), k), np.inf)
        self._codes = np.full((len(rows), k), -1)

    def _judge(self, kept: Rows) -> npt.NDArray[np.bool_]:
        k = self._codes.shape[1]
        distances = np.hstack([self._distances, euclidean_distances(self._rows, take_rows(self._sample.X, kept), squared=True)])
        codes = np.hstack([self._codes, np.tile(self._sample.codes[kept], (len(self._own), 1))])
        order = distances.argmin(axis=1)[:, None] if k == 1 else distances.argsort(axis=1, kind="stable")[:, :k]
        self._distances = np.take_along_axis(distances, order, axis=1)
        self._codes = np.take_along_axis(codes, order, axis=1)
        votes = np.stack([(self._codes == place).sum(axis=1) for place in range(len(self._sample.classes))], axis=1)
        agrees: npt.NDArray[np.bool_] = votes.argmax(axis=1) == self._own
        return agrees


class Refitted(Judge):
    """By a classifier that is fitted to the kept rows whenever there are more."""

    def __init__(self, sample: Sample, rows: Rows, classifier: Any) -> None:
        super().__init__(sample, rows)
        self._classifier, self._kept = classifier, np.empty(0, dtype=np.intp)

    def _judge(self, kept: Rows) -> npt.NDArray[np.bool_]:
        self._kept = np.concatenate([self._kept, kept])
        self._classifier.fit(take_rows(self._sample.X, self._kept), self._sample.codes[self._kept])
        agrees: npt.NDArray[np.bool_] = self._classifier.predict(self._rows) == self._own
        return agrees

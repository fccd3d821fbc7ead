"""The nearest neighbour among the rows that are enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from mercer._arrays import FloatArray, check_X_labels
from mercer._base import FitTask, fit_method
from mercer._condensing import METRICS, condense
from mercer._labels import Labels
from mercer._parallel import effective_threads
from mercer._params import Bool, OneOf, RandomState, Rule, check_params
from mercer._random import as_random_state
from mercer._tuning import Choices, Space
from mercer.neighbors._base import MOST_ENTRIES, SEARCH_RULES, NeighborsEstimator, joined, parts_of


class CondensedNearestNeighbor(ClassifierMixin, NeighborsEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The class of the nearest of those rows that are enough to classify the others.

    Rows are visited in order, and those that the rows kept so far misclassify are kept. The first one that is kept is drawn.

    Parameters
    ----------
    until_stable : bool, default=True
        Whether rows are visited until none is kept any more (Hart): the kept rows then classify all rows as the whole set does;
        else once.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How the kept rows are searched.
    leaf_size : int, default=30
        How many rows a leaf of a tree holds at most.
    metric : {"minkowski", "euclidean", "manhattan", "chebyshev", "l1", "l2", "cityblock"}, default="minkowski"
        The distance.
    p : float, default=2
        The power of Minkowski's distance.
    n_jobs : int or None, default=None
        The number of threads; None is as many as there are processors.
    random_state : int, RandomState or None, default=None
        Draws the first row.

    Attributes
    ----------
    sample_indices_ : array of shape (n_kept,)
        The rows that were kept, in the order in which they were.
    classes_ : array of shape (n_classes,)
        The sorted classes.
    effective_metric_, effective_metric_params_, effective_algorithm_
        As in `KNeighborsClassifier`.
    n_samples_fit_ : int
        The number of rows that were kept.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    O(n m) distances for m kept rows, however often rows are visited. `mercer.under_sampling.CondensedNearestNeighbour` keeps
    rows of chosen classes by the same rule, for any model.

    References
    ----------
    P. E. Hart: The condensed nearest neighbor rule. IEEE Transactions on Information Theory 14, 1968.

    Examples
    --------
    >>> from mercer.neighbors import CondensedNearestNeighbor
    >>> model = CondensedNearestNeighbor(random_state=0).fit([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [1, 1, 1, 0, 0, 0])
    >>> model.predict([[0.5], [4.5]]), len(model.sample_indices_)
    (array([1, 0]), 2)
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "until_stable": Bool(),
        **{name: SEARCH_RULES[name] for name in ("algorithm", "leaf_size", "p", "n_jobs")},
        "metric": OneOf(*METRICS),
        "random_state": RandomState(),
    }
    _search_space: ClassVar[Mapping[str, Space]] = {"until_stable": Choices(True, False)}

    metric_params: ClassVar[None] = None  # type: ignore[misc]
    classes_: Labels
    _kept_codes: npt.NDArray[np.intp]

    def __init__(
        self,
        *,
        until_stable: bool = True,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str = "minkowski",
        p: float = 2,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.until_stable = until_stable
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Find the rows that are enough.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        params = check_params(self)
        params.metric_params, params.p = None, 2.0 if params.p is None else params.p
        X, classes, codes = check_X_labels(self, X, y, sparse="csr", one_class=True)
        task = FitTask.start(self, X, y)
        kept = condense(
            X,
            codes,
            start=[as_random_state(params.random_state).randint(len(codes))],
            until_stable=params.until_stable,
            metric=params.metric,
            p=params.p,
            n_threads=effective_threads(params.n_jobs),
        )
        by_number = np.sort(kept)  # so that of equal distances the lower row wins, as it did when rows were kept
        found = {"classes_": classes, "sample_indices_": kept, "_kept_codes": codes[by_number]}
        return self._finish(task, {**found, **self._searched(X[by_number], params, 1)})

    def predict(self, X: Any) -> Labels:
        """The class of the nearest kept row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)

        Returns
        -------
        y : array of shape (n_queries,)
        """
        codes = self._nearest_codes(X)
        return self.classes_.take(codes)

    def predict_proba(self, X: Any) -> FloatArray:
        """One for the class of the nearest kept row, and zero for all others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)

        Returns
        -------
        p : array of shape (n_queries, n_classes)
        """
        codes = self._nearest_codes(X)
        return np.eye(len(self.classes_))[codes]

    def _nearest_codes(self, X: Any) -> npt.NDArray[np.intp]:
        self._require_fitted()
        n_threads, parts = self._n_threads, parts_of(check_queries(self, X), MOST_ENTRIES)
        found = [self._search.nearest(self._as_searched(part), 1, n_threads=n_threads)[1] for part in parts]
        return self._kept_codes[joined(found)[:, 0]]


def check_queries(model: CondensedNearestNeighbor, X: Any) -> Any:
    """Queries; unlike other estimators on neighbours it has no rows of its own to ask for."""
    if X is None:
        raise ValueError(f"{type(model).__name__}: X=None is not valid; it must hold rows to predict.")
    return model._check_queries(X)

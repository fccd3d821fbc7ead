"""The number of neighbours and their weights, chosen by cross-validation: one search a fold serves all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.base import is_classifier

from mercer._arrays import FloatArray
from mercer._base import FitTask, fit_method
from mercer._params import (
    ArrayLike,
    Function,
    Integer,
    Null,
    OneOf,
    Real,
    Rule,
    ScorerName,
    Splitter,
    check_params,
    check_values,
)
from mercer._rows import take_rows
from mercer._stand_in import stand_in
from mercer.metrics import get_scorer, r2_score
from mercer.neighbors._base import SEARCH_RULES
from mercer.neighbors._classification import NearestVotes
from mercer.neighbors._questions import NearestOf
from mercer.neighbors._regression import NearestMeans
from mercer.neighbors._search import Search
from mercer.neighbors._targets import ClassTargets, number_attributes
from mercer.neighbors._votes import TIE_RULES, Neighbourhoods, Weighting

MOST_TRIED = 30  # numbers of neighbours, where none are given
ONE_WEIGHTING = OneOf("uniform", "distance", "gaussian") | Function()

CHOICE_RULES: dict[str, Rule] = {
    "n_neighbors": ArrayLike() | Integer(1) | Null(),
    "weights": ONE_WEIGHTING | ArrayLike(),
    "cv": Splitter(),
    "scoring": Null() | ScorerName() | Function(),
    "bandwidth": Real(above=0),
    **SEARCH_RULES,
}

Places = npt.NDArray[np.intp]


class Judge(Protocol):
    """Scores the neighbours of some rows as what would be predicted from them; higher is better."""

    def score(self, found: Neighbourhoods, by: Weighting, rows: Any) -> float: ...


@dataclass(frozen=True)
class LabelJudge:
    """By the share of rows that are classified rightly, or by a scorer."""

    targets: ClassTargets
    y: Any
    scoring: Any
    ties: str
    n_threads: int

    def score(self, found: Neighbourhoods, by: Weighting, rows: Any) -> float:
        pairs = list(zip(self.targets.codes, map(len, self.targets.classes), strict=True))
        winners = [found.winners(by, codes, n_classes, self.ties, self.n_threads) for codes, n_classes in pairs]
        if self.scoring is None:
            is_right = [codes[rows] == each for (codes, _), each in zip(pairs, winners, strict=True)]
            return float(np.logical_and.reduce(is_right).mean())
        labels = [classes.take(each) for classes, each in zip(self.targets.classes, winners, strict=True)]
        shares = [found.shares(by, codes, n_classes, self.n_threads) for codes, n_classes in pairs]
        if self.targets.is_2d:
            model = stand_in(np.stack(labels, axis=1), classes=self.targets.classes, probability=shares)
        else:
            model = stand_in(labels[0], classes=self.targets.classes[0], probability=shares[0])
        return float(_scorer(self.scoring)(model, labels[0], take_rows(self.y, rows)))


@dataclass(frozen=True)
class NumberJudge:
    """By the coefficient of determination, or by a scorer."""

    targets: FloatArray
    is_vector: bool
    scoring: Any
    n_threads: int

    def score(self, found: Neighbourhoods, by: Weighting, rows: Any) -> float:
        means, known = found.means(by, self.targets, self.n_threads), self.targets[rows]
        if self.is_vector:
            means, known = means[:, 0], known[:, 0]
        if self.scoring is None:
            return float(r2_score(known, means))
        return float(_scorer(self.scoring)(stand_in(means), means, known))


def _scorer(scoring: Any) -> Callable[..., Any]:
    return scoring if callable(scoring) else get_scorer(scoring)  # type: ignore[no-any-return]


class NeighborsChoice(NearestOf):
    """What the classifier and the regressor that choose share."""

    n_neighbors_: int
    weights_: Any

    def _check(self, n: int) -> SimpleNamespace:
        """The parameters, with lists of what is to be tried."""
        params, owner = check_params(self), type(self).__name__
        numbers = params.n_neighbors
        if numbers is None:
            numbers = range(1, max(2, min(MOST_TRIED + 1, n // 2)))
        params.numbers = check_values(owner, "n_neighbors", np.atleast_1d(numbers).tolist(), Integer(1))
        weights = [params.weights] if isinstance(params.weights, str) or callable(params.weights) else list(params.weights)
        params.weightings = [
            Weighting(each, params.bandwidth) for each in check_values(owner, "weights", weights, ONE_WEIGHTING)
        ]
        return params

    def _choose(self, X: Any, y: Any, params: SimpleNamespace, judge: Judge) -> dict[str, Any]:
        """Search, score all that is to be tried, and give what was found."""
        searched = self._searched(X, params, max(params.numbers))
        if params.cv is None:
            scores = self._by_leaving_out(searched["_search"], params, judge)
        else:
            scores = np.mean([self._on_fold(X, fold, params, judge) for fold in self._folds(X, y, params.cv)], axis=0)
        if not (is_known := ~np.isnan(scores)).any():
            raise ValueError(f"{type(self).__name__}: scoring={params.scoring!r} gave NaN for everything that was tried.")
        best = np.unravel_index(np.where(is_known, scores, -np.inf).argmax(), scores.shape)
        return {
            **searched,
            "weights_": params.weightings[best[0]].weights,
            "n_neighbors_": params.numbers[best[1]],
            "best_score_": float(scores[best]),
            "cv_scores_": scores,
        }

    def _by_leaving_out(self, search: Search, params: SimpleNamespace, judge: Judge) -> FloatArray:
        """Each row predicted by the others: one search in all."""
        most, n = max(params.numbers), search.shape[0]
        if most >= n:
            raise ValueError(
                f"{type(self).__name__}: Expected n_neighbors < n_samples_fit, but n_neighbors = {most}, n_samples_fit = {n}, "
                f"n_samples = {n}: a row that is left out has {n - 1} others."
            )
        distances, rows = search.nearest(None, most, leave_out_self=True, n_threads=self._n_threads)
        return _scores(Neighbourhoods(rows, distances), params, judge, slice(None))

    def _on_fold(self, X: Any, fold: tuple[Places, Places], params: SimpleNamespace, judge: Judge) -> FloatArray:
        """The test rows predicted by the training rows: one search for all numbers and weights."""
        train, test = fold
        most = max(params.numbers)
        if most > len(train):
            raise ValueError(
                f"{type(self).__name__}: Expected n_neighbors <= n_samples_fit, but n_neighbors = {most}, n_samples_fit = "
                f"{len(train)}, n_samples = {len(test)}: a fold has no more training rows."
            )
        known, asked = (X[train][:, train], X[test][:, train]) if self._is_precomputed else (X[train], X[test])
        search = self._search_of(known, params, most)
        distances, rows = search.nearest(asked, most, n_threads=self._n_threads)
        return _scores(Neighbourhoods(train[rows], distances), params, judge, test)

    def _folds(self, X: Any, y: Any, cv: Any) -> Iterator[tuple[Places, Places]]:
        for train, test in sklearn.model_selection.check_cv(cv, y, classifier=is_classifier(self)).split(X, y):
            yield np.arange(len(y))[train], np.arange(len(y))[test]

    def _weighting(self) -> Weighting:
        return Weighting(self.weights_, self.bandwidth)

    def _number_of_neighbors(self, given: Any) -> int:
        return super()._number_of_neighbors(self.n_neighbors_ if given is None else given)

    bandwidth: float


def _scores(found: Neighbourhoods, params: SimpleNamespace, judge: Judge, rows: Any) -> FloatArray:
    """A line for each weighting, a column for each number."""
    nearest = [found.nearest(k) for k in params.numbers]
    return np.array([[judge.score(each, by, rows) for each in nearest] for by in params.weightings])


class KNeighborsClassifierCV(NeighborsChoice, NearestVotes):
    """k nearest neighbours with k and the weights chosen by cross-validation.

    Parameters
    ----------
    n_neighbors : array of int or None, default=None
        The numbers of neighbours to try; None is 1 to 30, below half of the rows.
    weights : str, callable, or a list of them, default="uniform"
        The weights to try: "uniform", "distance", "gaussian" or a function of distances.
    cv : int, splitter, iterable of (train, test) or None, default=None
        None leaves out one row at a time, from one search in all.
    scoring : str, callable or None, default=None
        How predictions are scored, higher being better; None is the accuracy.
    bandwidth : float, default=1.0
        The h of "gaussian" weights.
    ties : {"first", "closest"}, default="first"
        Which of several classes of equal weight wins: the first, or that of the closest neighbour.
    algorithm, leaf_size, metric, p, metric_params, n_jobs
        As in `KNeighborsClassifier`.

    Attributes
    ----------
    n_neighbors_ : int
        The number that was chosen; of equally good ones, the first.
    weights_ : str or callable
        The weights that were chosen.
    best_score_ : float
        The score of both, the mean over folds.
    cv_scores_ : array of shape (n_weights, n_numbers)
        The scores of all that was tried.
    classes_ : array of shape (n_classes,), or a list of such arrays
        The sorted classes, of each output where there are several.
    outputs_2d_ : bool
        Whether y had several outputs.
    effective_metric_, effective_metric_params_, effective_algorithm_, n_samples_fit_
        As in `KNeighborsClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One search a fold for the largest number: the neighbours of all smaller numbers are among those of the largest, and weights
    change nothing of them. Leaving one row out takes one search in all.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman: The elements of statistical learning, section 13.3. Springer 2009.

    Examples
    --------
    >>> from mercer.datasets import load_iris
    >>> from mercer.neighbors import KNeighborsClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KNeighborsClassifierCV(weights=["uniform", "distance"]).fit(X, y)
    >>> model.n_neighbors_, model.weights_, round(model.best_score_, 3)
    (19, 'uniform', 0.98)
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {**CHOICE_RULES, **TIE_RULES}

    def __init__(
        self,
        n_neighbors: Sequence[int] | int | None = None,
        *,
        weights: Any = "uniform",
        cv: Any = None,
        scoring: Any = None,
        bandwidth: float = 1.0,
        ties: str = "first",
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors  # type: ignore[assignment]
        self.weights = weights
        self.cv = cv
        self.scoring = scoring
        self.bandwidth = bandwidth
        self.ties = ties
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Choose the number of neighbours and their weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With `metric="precomputed"`, the distances between all rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Returns
        -------
        self
        """
        X, y = self._check_rows(X, y)
        params = self._check(X.shape[0])
        targets = ClassTargets.of(y)
        task = FitTask.start(self, X, y)
        judge = LabelJudge(targets, y, params.scoring, params.ties, self._n_threads)
        return self._finish(task, {**targets.attributes(), **self._choose(X, y, params, judge)})


class KNeighborsRegressorCV(NeighborsChoice, NearestMeans):
    """k nearest neighbours with k and the weights chosen by cross-validation.

    Parameters
    ----------
    n_neighbors : array of int or None, default=None
        The numbers of neighbours to try; None is 1 to 30, below half of the rows.
    weights : str, callable, or a list of them, default="uniform"
        The weights to try: "uniform", "distance", "gaussian" or a function of distances.
    cv : int, splitter, iterable of (train, test) or None, default=None
        None leaves out one row at a time, from one search in all.
    scoring : str, callable or None, default=None
        How predictions are scored, higher being better; None is the coefficient of determination.
    bandwidth : float, default=1.0
        The h of "gaussian" weights.
    algorithm, leaf_size, metric, p, metric_params, n_jobs
        As in `KNeighborsRegressor`.

    Attributes
    ----------
    n_neighbors_ : int
        The number that was chosen; of equally good ones, the first.
    weights_ : str or callable
        The weights that were chosen.
    best_score_ : float
        The score of both, the mean over folds.
    cv_scores_ : array of shape (n_weights, n_numbers)
        The scores of all that was tried.
    effective_metric_, effective_metric_params_, effective_algorithm_, n_samples_fit_
        As in `KNeighborsRegressor`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One search a fold for the largest number: the neighbours of all smaller numbers are among those of the largest, and weights
    change nothing of them. Leaving one row out takes one search in all, and scores the predictions of all rows at once.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman: The elements of statistical learning, section 13.3. Springer 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neighbors import KNeighborsRegressorCV
    >>> X = np.linspace(0, 6, 100)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.3 * np.random.RandomState(0).randn(100)
    >>> KNeighborsRegressorCV().fit(X, y).n_neighbors_
    15
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = CHOICE_RULES

    def __init__(
        self,
        n_neighbors: Sequence[int] | int | None = None,
        *,
        weights: Any = "uniform",
        cv: Any = None,
        scoring: Any = None,
        bandwidth: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors  # type: ignore[assignment]
        self.weights = weights
        self.cv = cv
        self.scoring = scoring
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Choose the number of neighbours and their weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With `metric="precomputed"`, the distances between all rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Returns
        -------
        self
        """
        X, y = self._check_rows(X, y)
        params = self._check(X.shape[0])
        targets = number_attributes(y)
        task = FitTask.start(self, X, y)
        judge = NumberJudge(targets["_targets"], targets["_is_vector"], params.scoring, self._n_threads)
        return self._finish(task, {**targets, **self._choose(X, y, params, judge)})

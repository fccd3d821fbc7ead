"""Permutation importance: how much a score falls when a feature says nothing more of its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.stats import t as student
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.utils import Bunch, check_array
from sklearn.utils.random import sample_without_replacement

from mercer._arrays import FloatArray
from mercer._base import MercerEstimator
from mercer._jobs import run_jobs
from mercer._parallel import effective_threads
from mercer._params import Fittable, Integer, InvalidParameterError, NumberOfJobs, RandomState, Real, check_value
from mercer._random import as_random_state
from mercer._rows import take_rows
from mercer._tables import Table, as_table
from mercer.inspection._feature_groups import groups_of
from mercer.inspection._sums import Change, Sums, sums_of
from mercer.metrics import check_scoring, get_scorer

_OWNER = "permutation_importance"
_MOST_SUMS = 32_000_000  # numbers that are held at a time
_SCORER = type(make_scorer(accuracy_score))  # what scikit-learn makes of a measure: it asks for predictions and nothing else

Scores = list[Any]  # a number, or a dict of numbers by scorer, for each shuffle


def permutation_importance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
    sample_weight: Any = None,
    max_samples: float = 1.0,
    groups: Any = None,
    confidence_level: float = 0.95,
) -> Any:
    r"""How much the score of a fitted model falls when a feature is shuffled.

    .. math:: i_j = s - \frac1K \sum_{k=1}^K s_{kj},

    where :math:`s` is the score on the rows as they are and :math:`s_{kj}` that with the values of feature j handed out among
    the rows in the k-th order. Of features that say the same, each looks useless alone, for the others still tell: shuffle
    them together (`groups`).

    Parameters
    ----------
    estimator : object
        A fitted model.
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        Rows to score the model on, as it takes them: rows that it was not fitted on tell what it has learned.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        What is true of the rows.
    scoring : str, callable, list, tuple or dict, default=None
        What to score by; None takes the estimator's own `score`. Several scorers give a dict of results.
    n_repeats : int, default=5
        How often each feature is shuffled.
    n_jobs : int, default=None
        How many features are looked at side by side; for models that add up (see Notes) the number of threads, where None
        means all. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Draws the orders, which are scikit-learn's for the same seed and the same for all features.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the score.
    max_samples : int or float, default=1.0
        How many rows, or what share of them, are drawn for the shuffles.
    groups : dict, list of lists, float or None, default=None
        Features that are shuffled together, by name or number: lists of them, with names if it is a dict. A number joins those
        whose mean absolute rank correlation is at least so much. Features outside of all groups are shuffled alone.
    confidence_level : float, default=0.95
        That of `importances_interval`.

    Returns
    -------
    result : Bunch, or dict of one for each scorer
        importances : ndarray of shape (n_features, n_repeats), or (n_groups, n_repeats)
            The fall of the score at each shuffle.
        importances_mean, importances_std : ndarray of shape (n_features,)
            Its mean and standard deviation.
        importances_interval : ndarray of shape (n_features, 2)
            Student's interval of the mean over all orders of these rows; NaN for a single repeat. Other rows would give other
            scores too, of which it knows nothing.
        groups : dict
            What was shuffled: the columns of each line of the importances, by name.

    Notes
    -----
    Mercer's trees, forests and boosting are not asked again for each shuffle: a row's way through each tree is walked once,
    and a shuffled value only counts where it would leave that way, O(n n_trees (depth + n_features n_repeats)) with a small
    constant; linear models change by one term. Predictions have the same bits as those of the rows written out for trees, and
    differ by rounding for linear models. All others, and scorers that may look at more than predictions, see shuffled copies.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.inspection import permutation_importance
    >>> from mercer.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = Ridge(alpha=0.1).fit(X, y)
    >>> result = permutation_importance(model, X, y, n_repeats=20, random_state=0, groups={"blood": ["s1", "s2", "s3", "s4"]})
    >>> for name, mean in zip(result.groups, result.importances_mean):
    ...     print(f"{name:5} {mean:.2f}")
    age   0.00
    sex   0.03
    bmi   0.20
    bp    0.07
    blood 0.07
    s5    0.16
    s6    0.01

    References
    ----------
    L. Breiman, "Random forests", Machine Learning 45, 2001.
    """
    check_value(_OWNER, "estimator", estimator, Fittable())
    check_value(_OWNER, "n_repeats", n_repeats, Integer(1))
    check_value(_OWNER, "n_jobs", n_jobs, NumberOfJobs())
    check_value(_OWNER, "random_state", random_state, RandomState())
    check_value(_OWNER, "max_samples", max_samples, Integer(1) | Real(above=0, most=1))
    level = check_value(_OWNER, "confidence_level", confidence_level, Real(above=0, below=1))
    table = _checked(X)
    y = y if y is None or hasattr(y, "iloc") or sp.issparse(y) else np.asarray(y)
    named = groups_of(groups, table, table.names)
    scorer = _fast(estimator, check_scoring(estimator, scoring), scoring)
    whole = _score(scorer, estimator, table.data, y, sample_weight)
    part, orders = _draw(table.n_rows, max_samples, n_repeats, as_random_state(random_state))
    if part is not None:
        table = as_table(table.take(part), "X")
        y, sample_weight = take_rows(y, part), take_rows(sample_weight, part)
    sums = sums_of(estimator) if _is_known(scoring) else None
    rows: Any = None if sums is None else sums.coded(table.data)
    if sums is None or sp.issparse(rows):
        scores = _by_copies(estimator, table, y, sample_weight, scorer, list(named.values()), orders, n_jobs)
    else:
        scores = _by_sums(sums, rows, y, sample_weight, scorer, list(named.values()), orders, effective_threads(n_jobs))
    if isinstance(whole, dict):
        return {
            name: _result(whole[name], [[score[name] for score in line] for line in scores], named, level) for name in whole
        }
    return _result(whole, scores, named, level)


def _checked(X: Any) -> Table:
    """X as a table; lists become arrays of whatever they hold."""
    if not (hasattr(X, "columns") or sp.issparse(X)):
        X = check_array(X, ensure_all_finite="allow-nan", dtype=None)
    return as_table(X, "X")


def _draw(
    n_rows: int, max_samples: float, n_repeats: int, random: np.random.RandomState
) -> tuple[npt.NDArray[np.intp] | None, npt.NDArray[np.uint32]]:
    """The rows that are used (None: all), and the orders in which their values are handed out."""
    random = np.random.RandomState(random.randint(np.iinfo(np.int32).max + 1))  # scikit-learn's, for all features the same
    n_used = max_samples if isinstance(max_samples, (int, np.integer)) else int(max_samples * n_rows)
    if n_used > n_rows:
        raise InvalidParameterError(
            f"{_OWNER}: max_samples={max_samples!r} is not valid for {n_rows} rows: max_samples must be <= n_samples."
        )
    if n_used < 1:
        raise InvalidParameterError(f"{_OWNER}: max_samples={max_samples!r} leaves none of {n_rows} rows; it must leave one.")
    part = None if n_used == n_rows else sample_without_replacement(n_rows, n_used, random_state=random)
    step, order, orders = np.arange(n_used), np.arange(n_used), np.empty((n_repeats, n_used), dtype=np.uint32)
    for line in orders:
        random.shuffle(step)
        line[:] = order = order[step]  # scikit-learn shuffles the column that it has shuffled before
    return part, orders


def _score(scorer: Any, model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    return scorer(model, X, y) if sample_weight is None else scorer(model, X, y, sample_weight=sample_weight)


def _fast(estimator: Any, scorer: Any, scoring: Any) -> Any:
    """The scorer; where it is the `score` of scikit-learn's mixins, Mercer's measure of the same value."""
    if scoring is None and isinstance(estimator, MercerEstimator):
        for mixin, name in ((ClassifierMixin, "accuracy"), (RegressorMixin, "r2")):
            if getattr(type(estimator), "score", None) is mixin.score:
                return get_scorer(name)
    return scorer


def _is_known(scoring: Any) -> bool:
    """Whether a scoring asks for predictions alone, so that whoever has these may stand in for the model."""
    if scoring is None or isinstance(scoring, (str, _SCORER)):
        return True
    if callable(scoring):
        return False
    return all(map(_is_known, scoring.values() if isinstance(scoring, Mapping) else scoring))


def _by_sums(
    sums: Sums,
    rows: FloatArray,
    y: Any,
    sample_weight: Any,
    scorer: Any,
    groups: Sequence[Sequence[int]],
    orders: npt.NDArray[np.uint32],
    n_threads: int,
) -> list[Scores]:
    """Scores of what a model that adds up would answer, some groups at a time."""
    at_once = max(1, _MOST_SUMS // (len(rows) * len(orders) * sums.n_sums))
    scores: list[Any] = []
    for first in range(0, len(groups), at_once):
        change = Change.shuffling(groups[first : first + at_once], rows, orders)
        twins = map(sums.answering, sums.changed(rows, change, n_threads))
        scores.extend(_score(scorer, twin, rows, y, sample_weight) for twin in twins)
    return [scores[begin : begin + len(orders)] for begin in range(0, len(scores), len(orders))]


def _by_copies(
    estimator: Any,
    table: Table,
    y: Any,
    sample_weight: Any,
    scorer: Any,
    groups: Sequence[Sequence[int]],
    orders: npt.NDArray[np.uint32],
    n_jobs: int | None,
) -> list[Scores]:
    """Scores of the model on shuffled copies, groups side by side."""
    jobs = [partial(_scores_of, estimator, table, y, sample_weight, scorer, group, orders) for group in groups]
    with run_jobs(jobs, n_jobs) as results:
        return list(results)


def _scores_of(
    estimator: Any, table: Table, y: Any, sample_weight: Any, scorer: Any, group: Sequence[int], orders: Any
) -> Scores:
    copies: Iterator[Any] = (table.shuffled(group, order) for order in orders)
    return [_score(scorer, estimator, copy, y, sample_weight) for copy in copies]


def _result(whole: float, scores: Sequence[Sequence[float]], groups: dict[str, list[int]], level: float) -> Any:
    importances = whole - np.asarray(scores, dtype=np.float64)
    n_repeats = importances.shape[1]
    mean, std = importances.mean(axis=1), importances.std(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = std / np.sqrt(np.float64(n_repeats - 1))
        width = student.ppf((1 + level) / 2, max(n_repeats - 1, 1)) * error
    return Bunch(
        importances_mean=mean,
        importances_std=std,
        importances=importances,
        importances_interval=np.stack([mean - width, mean + width], axis=1),
        groups=groups,
    )

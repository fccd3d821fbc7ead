"""Stability selection: columns that are selected on most halves of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier

from mercer._arrays import FloatArray, validate
from mercer._base import FitTask, fit_method
from mercer._jobs import run_tasks
from mercer._params import (
    ArrayLike,
    Fittable,
    Integer,
    InvalidParameterError,
    Null,
    NumberOfJobs,
    RandomState,
    Real,
    Rule,
    Text,
    check_params,
)
from mercer._random import as_random_state
from mercer.feature_selection._boruta import seeded
from mercer.feature_selection._from_model import GETTER
from mercer.feature_selection._importances import column_norms, importances_of
from mercer.feature_selection._selector import Mask, ModelSelector

Rows = npt.NDArray[np.intp]


class StabilitySelection(ModelSelector):
    r"""The columns that a model selects on most of many halves of the rows, with a bound on how many of them are false.

    With the share :math:`\Pi_j(\lambda)` of halves on which column j is selected at the strength :math:`\lambda`, a column
    stays where :math:`\max_\lambda \Pi_j(\lambda) \ge \pi`. If the selection is no worse than guessing, and columns without an
    effect are exchangeable, the number V of these among those that stay has

    .. math:: E\,V \le \frac{q^2}{(2 \pi - 1)\, d} ,

    where q is the mean number of columns that a half selects at any strength, and d that of all columns.

    Parameters
    ----------
    estimator : estimator
        A selector (with `get_support`), or a model with `coef_` or `feature_importances_`, which selects the columns where
        these are not zero.
    param_name : str, default=None
        The parameter of the estimator that is its strength, such as "alpha" of `Lasso`. None: it has one strength, its own.
    param_range : array-like, default=None
        The values of it.
    threshold : float, default=0.6
        The share :math:`\pi` of halves, above 1/2.
    max_false : float, default=None
        The bound that is wanted: `threshold` is raised until it holds. None: the threshold stays, and the bound is what it is.
    max_features : int, default=None
        How many columns a fit selects at most, those of the largest importance. None: all that are not zero.
    n_subsamples : int, default=100
        The number of halves. They come in pairs that have no row in common.
    importance_getter : str or callable, default="auto"
        The name of an attribute (with dots into parts), or a function of the fitted model.
    n_jobs : int or None, default=None
        How many halves are worked on at a time; None means one, unless a `joblib.parallel_config` says otherwise. The result
        does not depend on it.
    random_state : int, RandomState or None, default=None
        Draws the halves and seeds the estimators.

    Attributes
    ----------
    support_ : array of shape (n_features,)
        Which columns stay.
    selection_frequencies_ : array of shape (n_values, n_features)
        On which share of the halves each column is selected, at each strength.
    stability_scores_ : array of shape (n_features,)
        The largest over the strengths.
    threshold_ : float
        What these are compared with.
    n_selected_ : float
        The mean number q.
    max_false_ : float
        The bound on the mean number of false selections; infinite where `threshold_` is 1/2.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One fit a half and value; where the estimator sweeps the parameter (`sweep`), one sweep a half. Halves of classifiers have
    the shares of the classes. The bound is void where q is large against the root of d: give fewer or larger strengths, or
    `max_features`.

    References
    ----------
    N. Meinshausen, P. Bühlmann, "Stability selection", Journal of the Royal Statistical Society B 72 (2010); R. D. Shah,
    R. J. Samworth, "Variable selection with error control", ibid. 75 (2013), for the pairs.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from mercer.feature_selection import StabilitySelection
    >>> from mercer.linear_model import Lasso
    >>> X, y = make_regression(200, n_features=40, n_informative=3, noise=20.0, random_state=0)
    >>> selector = StabilitySelection(Lasso(), param_name="alpha", param_range=[30, 20, 10], random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([13, 26])
    >>> round(selector.max_false_, 2)
    0.53
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": Fittable(),
        "param_name": Null() | Text(),
        "param_range": Null() | ArrayLike(),
        "threshold": Real(above=0.5, most=1),
        "max_false": Null() | Real(above=0),
        "max_features": Null() | Integer(1),
        "n_subsamples": Integer(2),
        "importance_getter": GETTER,
        "n_jobs": NumberOfJobs(),
        "random_state": RandomState(),
    }

    selection_frequencies_: FloatArray
    stability_scores_: FloatArray

    def __init__(
        self,
        estimator: Any,
        *,
        param_name: str | None = None,
        param_range: Any = None,
        threshold: float = 0.6,
        max_false: float | None = None,
        max_features: int | None = None,
        n_subsamples: int = 100,
        importance_getter: str | Callable[[Any], Any] = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_name = param_name
        self.param_range = param_range
        self.threshold = threshold
        self.max_false = max_false
        self.max_features = max_features
        self.n_subsamples = n_subsamples
        self.importance_getter = importance_getter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_method
    def fit(self, X: Any, y: Any) -> StabilitySelection:
        """Select on halves of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        params = check_params(self)
        values = self._values(params)
        finite: Any = "deferred" if self.__sklearn_tags__().input_tags.allow_nan else "check"
        X, y = validate(self, X, y, sparse="csr", finite=finite, multi_output=True, ensure_min_samples=4)
        random = as_random_state(params.random_state)
        task = FitTask.start(self, X, y, n_subtasks=params.n_subsamples)
        halves = _halves(np.asarray(y), params.n_subsamples, random, is_stratified=is_classifier(params.estimator))
        jobs = [partial(_selected, seeded(clone(params.estimator), random), X, y, rows, params, values) for rows in halves]
        found = np.array(list(run_tasks(jobs, task, "subsample", params.n_jobs)))
        frequencies, n_selected = found.mean(axis=0), float(found.any(axis=1).sum(axis=1).mean())
        threshold = self._threshold(params, n_selected, X.shape[1])
        scores = frequencies.max(axis=0)
        margin, most = 2 * threshold - 1, n_selected**2 / X.shape[1]
        attributes = {
            "support_": scores >= threshold - 1e-12,
            "selection_frequencies_": frequencies,
            "stability_scores_": scores,
            "threshold_": threshold,
            "n_selected_": n_selected,
            "max_false_": most / margin,
        }
        return self._finish(task, attributes)

    def _values(self, params: Any) -> list[Any] | None:
        """The strengths, or None where the estimator has its own alone."""
        if (params.param_name is None) != (params.param_range is None):
            raise InvalidParameterError(
                f"StabilitySelection: param_name={params.param_name!r} and param_range={params.param_range!r} must be given "
                "together, or neither."
            )
        if params.param_name is None:
            return None
        if params.param_name not in params.estimator.get_params():
            raise InvalidParameterError(
                f"StabilitySelection: param_name={params.param_name!r} is not valid; it must be a parameter of "
                f"{type(params.estimator).__name__}: {', '.join(sorted(params.estimator.get_params()))}."
            )
        values = list(params.param_range)
        if not values:
            raise InvalidParameterError("StabilitySelection: param_range=[] is not valid; it must hold a value at least.")
        return values

    @staticmethod
    def _threshold(params: Any, n_selected: float, n_features: int) -> float:
        if params.max_false is None:
            return float(params.threshold)
        needed = (1 + n_selected**2 / (n_features * params.max_false)) / 2
        if needed > 1:
            raise InvalidParameterError(
                f"StabilitySelection: max_false={params.max_false!r} cannot be promised: a half selects {n_selected:.3g} of "
                f"{n_features} columns, whose bound is {n_selected**2 / n_features:.3g} at best. It must be no less, or "
                "max_features smaller, or the strengths larger."
            )
        return float(max(params.threshold, needed))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def stability_selection(estimator: Any, X: Any, y: Any, **params: Any) -> StabilitySelection:
    """`StabilitySelection` as one call.

    Parameters
    ----------
    estimator : estimator
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    **params
        Parameters of `StabilitySelection`.

    Returns
    -------
    StabilitySelection
        The fitted selector.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from mercer.feature_selection import stability_selection
    >>> from mercer.linear_model import Lasso
    >>> X, y = make_regression(200, n_features=40, n_informative=3, noise=20.0, random_state=0)
    >>> stability_selection(Lasso(20.0), X, y, max_false=1.0, random_state=0).get_support(indices=True)
    array([13, 26])
    """
    return StabilitySelection(estimator, **params).fit(X, y)


def _halves(y: npt.NDArray[Any], n_subsamples: int, random: np.random.RandomState, *, is_stratified: bool) -> list[Rows]:
    """Rows of each subsample: half of them, in pairs without a row in common."""
    groups = [np.flatnonzero(y == label) for label in np.unique(y)] if is_stratified and y.ndim == 1 else [np.arange(len(y))]
    halves: list[Rows] = []
    while len(halves) < n_subsamples:
        shuffled = [random.permutation(rows) for rows in groups]
        # A group of odd number leaves its last row out, but a class of one row is in both.
        sizes = [max(len(rows) // 2, 1) for rows in shuffled]
        halves.append(np.sort(np.concatenate([rows[:size] for rows, size in zip(shuffled, sizes, strict=True)])))
        halves.append(np.sort(np.concatenate([rows[::-1][:size] for rows, size in zip(shuffled, sizes, strict=True)])))
    return halves[:n_subsamples]


def _selected(model: Any, X: Any, y: Any, rows: Rows, params: Any, values: Sequence[Any] | None) -> npt.NDArray[np.bool_]:
    """Which columns are selected on some rows, a line a strength."""
    X, y = X[rows], np.asarray(y)[rows]
    if values is None:
        models = [model.fit(X, y)]
    elif hasattr(model, "sweep") and params.param_name in model.sweep_parameters():
        models = list(model.sweep(X, y, params.param_name, values))
    else:
        models = [clone(model).set_params(**{params.param_name: value}).fit(X, y) for value in values]
    return np.array([_support(each, params) for each in models])


def _support(model: Any, params: Any) -> Mask:
    if hasattr(model, "get_support"):
        return np.asarray(model.get_support())
    sizes = column_norms(importances_of(model, params.importance_getter), 1)
    mask: Mask = sizes > 0
    if params.max_features is not None:
        largest = np.zeros(len(sizes), dtype=bool)
        largest[np.argsort(-sizes, kind="stable")[: params.max_features]] = True
        mask &= largest
    return mask

"""Scorers: measures as functions of (estimator, X, y), by name."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy.typing as npt
import sklearn

from mercer.metrics import (
    _accuracy as accuracy,
    _agreement as agreement,
    _areas as areas,
    _clusterings as clusterings,
    _deviance as deviance,
    _explained as explained,
    _likelihood as likelihood,
    _precision_recall as precision_recall,
    _probability as probability,
    _rates as rates,
    _recalls as recalls,
    _regression as regression,
)
from mercer.metrics._h_measure import h_measure
from mercer.metrics._top_k import top_k_accuracy_score

Scorer = Callable[..., Any]

_SCORES = ("decision_function", "predict_proba")


def _positive_likelihood_ratio(y_true: Any, y_pred: Any) -> float:
    return likelihood.class_likelihood_ratios(y_true, y_pred, replace_undefined_by=1.0)[0]


def _negative_likelihood_ratio(y_true: Any, y_pred: Any) -> float:
    return likelihood.class_likelihood_ratios(y_true, y_pred, replace_undefined_by=1.0)[1]


# Measures of predicted labels or numbers: the greater, the better.
_GAINS: dict[str, Callable[..., Any]] = {
    "accuracy": accuracy.accuracy_score,
    "balanced_accuracy": recalls.balanced_accuracy_score,
    "class_weighted_accuracy": recalls.class_weighted_accuracy,
    "cohen_kappa": agreement.cohen_kappa_score,
    "d2_absolute_error_score": explained.d2_absolute_error_score,
    "explained_variance": explained.explained_variance_score,
    "g_mean": recalls.g_mean_score,
    "matthews_corrcoef": agreement.matthews_corrcoef,
    "positive_likelihood_ratio": _positive_likelihood_ratio,
    "r2": explained.r2_score,
}
# The less, the better: the scorer is "neg_" and this.
_LOSSES: dict[str, Callable[..., Any]] = {
    "error_rate": accuracy.error_rate,
    "false_negative_rate": rates.false_negative_rate,
    "false_positive_rate": rates.false_positive_rate,
    "hamming_loss": accuracy.hamming_loss,
    "max_error": regression.max_error,
    "mean_absolute_error": regression.mean_absolute_error,
    "mean_absolute_percentage_error": regression.mean_absolute_percentage_error,
    "mean_gamma_deviance": deviance.mean_gamma_deviance,
    "mean_pinball_loss": regression.mean_pinball_loss,
    "mean_poisson_deviance": deviance.mean_poisson_deviance,
    "mean_squared_error": regression.mean_squared_error,
    "mean_squared_log_error": regression.mean_squared_log_error,
    "median_absolute_error": regression.median_absolute_error,
    "negative_likelihood_ratio": _negative_likelihood_ratio,
    "root_mean_squared_error": regression.root_mean_squared_error,
    "root_mean_squared_log_error": regression.root_mean_squared_log_error,
    "zero_one_loss": accuracy.zero_one_loss,
}
# Measures of one class, which also come averaged over classes: "f1", "f1_macro", …
_OF_CLASS: dict[str, Callable[..., Any]] = {
    "f1": precision_recall.f1_score,
    "jaccard": rates.jaccard_score,
    "npv": rates.npv_score,
    "precision": precision_recall.precision_score,
    "recall": precision_recall.recall_score,
    "specificity": rates.specificity_score,
}


# Measures of the clusters that `predict` gives, which are no classes: labels may have any names.
_OF_CLUSTERS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        clusterings.adjusted_mutual_info_score,
        clusterings.adjusted_rand_score,
        clusterings.completeness_score,
        clusterings.fowlkes_mallows_score,
        clusterings.homogeneity_score,
        clusterings.mutual_info_score,
        clusterings.normalized_mutual_info_score,
        clusterings.rand_score,
        clusterings.v_measure_score,
    )
}


@dataclass(frozen=True)
class Measure:
    """A function of true values and predictions, and how to make a score of it.

    Parameters
    ----------
    function : callable
        Of (y_true, y_pred), with `sample_weight` where it takes weights.
    response_method : str or tuple of str, default="predict"
        The method of an estimator that gives its predictions; of several, the first that the estimator has.
    is_loss : bool, default=False
        Whether less is better: the score is then minus the measure.
    options : dict
        Further arguments of the function.
    """

    function: Callable[..., Any]
    response_method: str | tuple[str, ...] = "predict"
    is_loss: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def score(self, y_true: Any, y_pred: Any, **weights: Any) -> Any:
        """The measure, or minus a loss: the greater, the better."""
        value = self.function(y_true, y_pred, **self.options, **weights)
        return -value if self.is_loss else value

    def of_classes(self, classes: npt.NDArray[Any]) -> Measure:
        """The same for rows among which some of these classes may be missing: measures that take `labels` are told them all."""
        takes = inspect.signature(self.function).parameters
        options = dict(self.options)
        if "labels" in takes:
            options["labels"] = classes
            if len(classes) == 2 and "pos_label" in takes:
                options.setdefault("pos_label", classes[1])
        return replace(self, options=options)

    def scorer(self) -> Scorer:
        """The same as a function of (estimator, X, y)."""
        options = {"response_method": self.response_method, "greater_is_better": not self.is_loss, **self.options}
        scorer: Scorer = sklearn.metrics.make_scorer(self.function, **options)
        return scorer


@cache
def _measures() -> dict[str, Measure]:
    """All measures of Mercer's own, by the names of their scorers."""
    measures = {name: Measure(function) for name, function in _GAINS.items()}
    measures |= {f"neg_{name}": Measure(function, is_loss=True) for name, function in _LOSSES.items()}
    for name, function in _OF_CLASS.items():
        measures[name] = Measure(function, options={"average": "binary"})
        for average in ("macro", "micro", "samples", "weighted"):
            measures[f"{name}_{average}"] = Measure(function, options={"pos_label": None, "average": average})
    for multi_class in ("ovr", "ovo"):
        options = {"multi_class": multi_class}
        measures[f"roc_auc_{multi_class}"] = Measure(areas.roc_auc_score, "predict_proba", options=options)
        options = {"multi_class": multi_class, "average": "weighted"}
        measures[f"roc_auc_{multi_class}_weighted"] = Measure(areas.roc_auc_score, "predict_proba", options=options)
    return measures | {
        "average_precision": Measure(areas.average_precision_score, _SCORES),
        "d2_brier_score": Measure(probability.d2_brier_score, "predict_proba"),
        "d2_log_loss_score": Measure(probability.d2_log_loss_score, "predict_proba"),
        "h_measure": Measure(h_measure, _SCORES),
        "neg_brier_score": Measure(probability.brier_score_loss, "predict_proba", is_loss=True),
        "neg_log_loss": Measure(probability.log_loss, "predict_proba", is_loss=True),
        "roc_auc": Measure(areas.roc_auc_score, _SCORES),
        "top_k_accuracy": Measure(top_k_accuracy_score, _SCORES),
    }


@cache
def _scorers() -> dict[str, Scorer]:
    of_clusters = {name: Measure(function) for name, function in _OF_CLUSTERS.items()}
    return {name: measure.scorer() for name, measure in {**_measures(), **of_clusters}.items()}


def get_measure(scoring: str) -> Measure | None:
    """The measure behind the name of a scorer: of predictions, which need no estimator.

    Parameters
    ----------
    scoring : str
        One of :func:`get_scorer_names`.

    Returns
    -------
    measure : Measure or None
        None for measures of clusterings, for which labels are mere names, and for names that are not known.

    Examples
    --------
    >>> from mercer.metrics import get_measure
    >>> loss = get_measure("neg_mean_squared_error")
    >>> loss.function([1.0, 2.0], [1.0, 4.0]), loss.score([1.0, 2.0], [1.0, 4.0])
    (2.0, -2.0)
    """
    return _measures().get(scoring)


def get_scorer_names() -> list[str]:
    """The names that :func:`get_scorer` knows: scikit-learn's, and those of Mercer's own measures.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from mercer.metrics import get_scorer_names
    >>> {"roc_auc", "g_mean", "specificity", "h_measure"} <= set(get_scorer_names())
    True
    """
    return sorted({*_scorers(), *sklearn.metrics.get_scorer_names()})


def get_scorer(scoring: Any) -> Any:
    """The scorer of a name, as a function of (estimator, X, y): the greater its value, the better.

    Parameters
    ----------
    scoring : str or callable
        One of :func:`get_scorer_names`; a callable is returned as it is.

    Returns
    -------
    scorer : callable

    Examples
    --------
    >>> from mercer.metrics import get_scorer
    >>> from mercer.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[0], [1]], ["a", "b"])
    >>> get_scorer("g_mean")(model, [[0], [1], [1]], ["a", "b", "b"])
    1.0
    """
    if not isinstance(scoring, str):
        return scoring
    if scoring in (scorers := _scorers()):
        return copy.deepcopy(scorers[scoring])
    if scoring in sklearn.metrics.get_scorer_names():  # what Mercer has no measure of its own for
        return sklearn.metrics.get_scorer(scoring)
    raise ValueError(f"{scoring!r} is not a valid scoring value. Use mercer.metrics.get_scorer_names() to get valid options.")


def check_scoring(estimator: Any = None, scoring: Any = None, *, allow_none: bool = False, raise_exc: bool = True) -> Any:
    """The scorer that `scoring` stands for; with None, the estimator's own `score`.

    Parameters
    ----------
    estimator : estimator or None, default=None
        What is to be scored.
    scoring : str, callable, list, tuple, set, dict or None, default=None
        A name, a scorer, or several of them, which make one scorer that returns a dict.
    allow_none : bool, default=False
        Whether to return None, where an estimator has no `score` and no scoring is given, instead of raising an error.
    raise_exc : bool, default=True
        Whether an error in one of several scorers is raised, or its traceback put in the place of the score.

    Returns
    -------
    scorer : callable

    Examples
    --------
    >>> from mercer.metrics import check_scoring
    >>> from mercer.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    >>> check_scoring(model, ["accuracy", "specificity"])(model, [[0], [1]], [0, 1])
    {'accuracy': 1.0, 'specificity': 1.0}
    """
    if isinstance(scoring, str):
        scoring = get_scorer(scoring)
    elif callable(scoring):
        _refuse_measure(scoring)
    elif isinstance(scoring, Mapping):
        scoring = {name: check_scoring(estimator, scorer) for name, scorer in scoring.items()}
    elif isinstance(scoring, (list, tuple, set)):
        scoring = _named(scoring)
    return sklearn.metrics.check_scoring(estimator, scoring, allow_none=allow_none, raise_exc=raise_exc)


def _refuse_measure(scoring: Any) -> None:
    module = getattr(scoring, "__module__", None) or ""
    if module.startswith("mercer.metrics."):
        raise ValueError(
            f"scoring value {scoring!r} looks like it is a metric function rather than a scorer. A scorer should require an "
            "estimator as its first parameter. Please use `make_scorer` to convert a metric to a scorer."
        )


def _named(names: Iterable[Any]) -> dict[str, Any]:
    listed = list(names)
    if not listed or not all(isinstance(name, str) for name in listed) or len(set(listed)) != len(listed):
        raise ValueError(
            f"scoring={names!r} is not valid; a list must hold different names of scorers. Use a dict of names and scorers "
            "for callables."
        )
    return {name: get_scorer(name) for name in listed}

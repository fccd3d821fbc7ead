"""Scorers: measures as functions of (estimator, X, y), by name."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import sklearn.metrics
from sklearn.metrics import make_scorer

from mercer.metrics import _agreement as agreement
from mercer.metrics import _areas as areas
from mercer.metrics import _deviance as deviance
from mercer.metrics import _explained as explained
from mercer.metrics import _likelihood as likelihood
from mercer.metrics import _precision_recall as precision_recall
from mercer.metrics import _probability as probability
from mercer.metrics import _rates as rates
from mercer.metrics import _regression as regression
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
    "accuracy": agreement.accuracy_score,
    "balanced_accuracy": agreement.balanced_accuracy_score,
    "class_weighted_accuracy": agreement.class_weighted_accuracy,
    "cohen_kappa": agreement.cohen_kappa_score,
    "d2_absolute_error_score": explained.d2_absolute_error_score,
    "explained_variance": explained.explained_variance_score,
    "g_mean": agreement.g_mean_score,
    "matthews_corrcoef": agreement.matthews_corrcoef,
    "positive_likelihood_ratio": _positive_likelihood_ratio,
    "r2": explained.r2_score,
}
# The less, the better: the scorer is "neg_" and this.
_LOSSES: dict[str, Callable[..., Any]] = {
    "error_rate": agreement.error_rate,
    "false_negative_rate": rates.false_negative_rate,
    "false_positive_rate": rates.false_positive_rate,
    "hamming_loss": agreement.hamming_loss,
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
    "zero_one_loss": agreement.zero_one_loss,
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


@cache
def _scorers() -> dict[str, Scorer]:
    """All scorers that Mercer makes of its own measures."""
    scorers = {name: make_scorer(measure) for name, measure in _GAINS.items()}
    scorers |= {f"neg_{name}": make_scorer(measure, greater_is_better=False) for name, measure in _LOSSES.items()}
    for name, measure in _OF_CLASS.items():
        scorers[name] = make_scorer(measure, average="binary")
        for average in ("macro", "micro", "samples", "weighted"):
            scorers[f"{name}_{average}"] = make_scorer(measure, pos_label=None, average=average)
    for name, options in {"": {}, "_weighted": {"average": "weighted"}}.items():
        for multi_class in ("ovr", "ovo"):
            scorers[f"roc_auc_{multi_class}{name}"] = make_scorer(
                areas.roc_auc_score, response_method="predict_proba", multi_class=multi_class, **options
            )
    return scorers | {
        "average_precision": make_scorer(areas.average_precision_score, response_method=_SCORES),
        "d2_brier_score": make_scorer(probability.d2_brier_score, response_method="predict_proba"),
        "d2_log_loss_score": make_scorer(probability.d2_log_loss_score, response_method="predict_proba"),
        "h_measure": make_scorer(h_measure, response_method=_SCORES),
        "neg_brier_score": make_scorer(probability.brier_score_loss, greater_is_better=False, response_method="predict_proba"),
        "neg_log_loss": make_scorer(probability.log_loss, greater_is_better=False, response_method="predict_proba"),
        "roc_auc": make_scorer(areas.roc_auc_score, response_method=_SCORES),
        "top_k_accuracy": make_scorer(top_k_accuracy_score, response_method=_SCORES),
    }


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
    if scoring in sklearn.metrics.get_scorer_names():  # measures of clusterings and the like
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

"""From the parameter `scoring` to a measure of confusion matrices: names, scorers and functions of labels."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import UndefinedMetricWarning

from mercer._arrays import FloatArray
from mercer._params import _REFUSED, InvalidParameterError, Real, Rule
from mercer._stand_in import stand_in
from mercer.metrics import get_scorer, get_scorer_names
from mercer.model_selection._thresholds.measures import (
    ClassWeightedAccuracy,
    FBeta,
    Measure,
    NegativeCost,
    accuracy,
    balanced_accuracy,
    g_mean,
)

COSTS = ("cost", "expected_cost")
NAMES = ("accuracy", "balanced_accuracy", *COSTS, "cwa", "f_beta", "g_mean")


class Scoring(Rule):
    """The name of a measure, the name of a scorer, a scorer or a function."""

    def accept(self, value: Any) -> Any:
        is_name = isinstance(value, str) and (value in NAMES or value in get_scorer_names())
        return value if is_name or callable(value) else _REFUSED

    def describe(self) -> str:
        return f"one of {', '.join(map(repr, NAMES))}, the name of a scorer, or a callable"


class Label(Rule):
    """A label of a class: a number, a word or a truth value."""

    def accept(self, value: Any) -> Any:
        return value if value is None or isinstance(value, (str, bool, int, float, np.generic)) else _REFUSED

    def describe(self) -> str:
        return "None or the label of a class"


def make_measure(
    owner: str,
    scoring: Any,
    classes: npt.NDArray[Any],
    *,
    positive: int | None,
    beta: float,
    alphas: FloatArray,
    costs: FloatArray,
) -> Measure:
    """The measure that `scoring` means for these classes; `positive` is the place of the positive one of two."""
    known: dict[str, Measure] = {
        "accuracy": accuracy,
        "balanced_accuracy": balanced_accuracy,
        "cost": NegativeCost(costs),
        "cwa": ClassWeightedAccuracy(alphas),
        "expected_cost": NegativeCost(costs),
        "f_beta": FBeta(beta, positive),
        "g_mean": g_mean,
    }
    if isinstance(scoring, str) and scoring in known:
        return known[scoring]
    if isinstance(scoring, str) and (scoring == "f1_macro" or (scoring == "f1" and positive is not None)):
        return FBeta(1.0, positive if scoring == "f1" else None)
    function = get_scorer(scoring) if isinstance(scoring, str) else scoring
    return _probe(owner, scoring, LabelMeasure(_calling(function), classes))


def check_alphas(owner: str, alpha: Any, scoring: Any, classes: npt.NDArray[Any], positive: int | None) -> FloatArray:
    """The weight of each class: by a dict, or (of two classes) alpha of the positive one and 1 - alpha of the other."""
    labels = classes.tolist()
    if isinstance(alpha, Mapping):
        given = [Real(least=0).accept(weight) for weight in alpha.values()]
        if _REFUSED in given or set(alpha) != set(labels) or not any(given):
            raise InvalidParameterError(
                f"{owner}: alpha={alpha!r} is not valid; it must be a number in [0, 1], or a dict with a weight >= 0 of every "
                f"label of {labels!r}, not all 0."
            )
        return np.array([float(alpha[label]) for label in labels])
    if positive is not None:
        return np.array([alpha, 1 - alpha] if positive == 0 else [1 - alpha, alpha])
    if isinstance(scoring, str) and scoring == "cwa":
        raise InvalidParameterError(
            f"{owner}: alpha={alpha!r} is the weight of one of two classes, and y holds {len(labels)}; it must be a dict with "
            "the weight of each label."
        )
    return np.ones(len(labels))


def check_costs(owner: str, cost_matrix: Any, scoring: Any, n_classes: int) -> FloatArray:
    """The costs as a matrix; None stands for 1 for every wrong label. The right label must be the cheapest for each class."""
    if cost_matrix is None:
        return 1.0 - np.eye(n_classes)
    if scoring not in COSTS:
        raise InvalidParameterError(
            f"{owner}: cost_matrix={cost_matrix!r} has no meaning with scoring={scoring!r}; it must be None, or scoring 'cost' "
            "or 'expected_cost'."
        )
    try:
        costs = np.asarray(cost_matrix, dtype=np.float64)
    except (TypeError, ValueError):
        costs = np.full(0, np.nan)
    shape = (n_classes, n_classes)
    if costs.shape != shape or not np.isfinite(costs).all():
        raise InvalidParameterError(
            f"{owner}: cost_matrix={cost_matrix!r} is not valid; it must be finite numbers of shape {shape}, one row a true "
            "class and one column a predicted one."
        )
    excess = costs - np.diagonal(costs)[:, None]
    if (excess < 0).any() or not excess.any():
        raise InvalidParameterError(
            f"{owner}: cost_matrix={cost_matrix!r} is not valid; in each row the entry on the diagonal, the cost of the right "
            "label, must be the least, and some wrong label must cost more."
        )
    return costs


# ---- scorers and functions of labels


@dataclass(frozen=True)
class LabelMeasure:
    """A measure by a function of (y_true, y_pred, weights).

    Such a function sees rows only through how many there are of each (true, predicted) pair: it is called on one row a pair,
    with the weights of the pairs, so that a call costs the same for any number of rows.
    """

    function: Callable[[Any, Any, FloatArray | None], float]
    classes: npt.NDArray[Any]
    takes_weights: bool = True

    def __call__(self, cells: FloatArray) -> FloatArray:
        with warnings.catch_warnings():  # that nothing is predicted positive is no news here: every cut-off is tried
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return np.array([self._score(cells[:, :, k]) for k in range(cells.shape[2])])

    def _score(self, cells: FloatArray) -> float:
        true, predicted = np.nonzero(cells)
        weights = cells[true, predicted]
        if self.takes_weights:
            return float(self.function(self.classes[true], self.classes[predicted], weights))
        counts = np.rint(weights).astype(np.intp)
        if not (counts == weights).all():
            raise ValueError("scoring takes no sample_weight; fit without weights, or give one that takes them.")
        return float(self.function(np.repeat(self.classes[true], counts), np.repeat(self.classes[predicted], counts), None))


def _calling(function: Any) -> Callable[[Any, Any, FloatArray | None], float]:
    """Any kind of callable as a function of (y_true, y_pred, weights)."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some functions of compiled modules have no signature
        parameters = []
    names = [parameter.name for parameter in parameters]
    required = [p for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    if names[:1] == ["estimator"]:
        return lambda y_true, y_pred, weights: _ask_scorer(function, y_true, y_pred, weights)
    if len(required) == 3:  # whatever the third is called
        return lambda y_true, y_pred, weights: function(y_true, y_pred, weights)
    return lambda y_true, y_pred, weights: function(y_true, y_pred, **({} if weights is None else {"sample_weight": weights}))


def _ask_scorer(scorer: Any, y_true: Any, y_pred: Any, weights: FloatArray | None) -> float:
    classes = np.union1d(y_true, y_pred)
    given = {} if weights is None else {"sample_weight": weights}
    return float(scorer(stand_in(y_pred, classes=classes), np.zeros((len(y_pred), 1)), y_true, **given))


def _probe(owner: str, scoring: Any, measure: LabelMeasure) -> Measure:
    """The measure, told whether its function takes weights; a function that cannot judge labels is refused here, by name."""
    n_classes = len(measure.classes)
    cells = np.ones((n_classes, n_classes, 1))
    try:
        measure(cells)
    except TypeError as error:
        if "sample_weight" not in str(error):
            raise _refusal(owner, scoring, error) from error
        measure = LabelMeasure(measure.function, measure.classes, takes_weights=False)
        try:
            measure(cells)
        except Exception as other:
            raise _refusal(owner, scoring, other) from other
    except Exception as error:
        raise _refusal(owner, scoring, error) from error
    return measure


def _refusal(owner: str, scoring: Any, error: Exception) -> InvalidParameterError:
    return InvalidParameterError(
        f"{owner}: scoring={scoring!r} cannot judge the labels of these classes ({type(error).__name__}: {error}); it must be "
        "a measure of predicted labels, given as a scorer, with estimator as its first parameter, or as a function of (y_true, "
        "y_pred, sample_weight)."
    )

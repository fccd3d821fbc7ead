"""What a fit decides between and for what: classes, positive class, costs and measure, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._labels import require_two_classes
from mercer._params import InvalidParameterError
from mercer._wrapped import response_method
from mercer.model_selection._thresholds.measures import Measure
from mercer.model_selection._thresholds.scoring import COSTS, check_alphas, check_costs, make_measure

RESPONSES = ("predict_proba", "decision_function")


@dataclass(frozen=True, eq=False)
class Setting:
    """The checked parameters that concern the decision."""

    owner: str
    classes: npt.NDArray[Any]
    positive: int | None  # the place of the positive one of two classes
    method: str  # what the estimator is asked for
    costs: FloatArray | None  # where it is costs that are to be small
    is_fixed: bool  # take probabilities at face value
    thresholds: int | FloatArray | None
    measure: Measure

    @property
    def has_probabilities(self) -> bool:
        return self.method == "predict_proba"

    @property
    def neutral(self) -> float:
        """The threshold of two classes that takes scores at face value."""
        if not self.has_probabilities:
            return 0.0
        if self.costs is None or self.positive is None:
            return 0.5
        positive, negative = self.positive, 1 - self.positive
        alarm = self.costs[negative, positive] - self.costs[negative, negative]
        miss = self.costs[positive, negative] - self.costs[positive, positive]
        return float(alarm / (alarm + miss))


def check_setting(owner: str, params: Any, classes: npt.NDArray[Any], estimator: Any) -> Setting:
    """The setting, or an error that says what does not go together."""
    is_binary = len(classes) == 2
    has_costs = isinstance(params.scoring, str) and params.scoring in COSTS
    costs = check_costs(owner, params.cost_matrix, params.scoring, len(classes))
    positive = _check_positive(owner, params.pos_label, classes) if is_binary else None
    alphas = check_alphas(owner, params.alpha, params.scoring, classes, positive)
    method = _check_method(owner, params, estimator)
    return Setting(
        owner=owner,
        classes=classes,
        positive=positive,
        method=method,
        costs=costs if has_costs else None,
        is_fixed=params.scoring == "expected_cost",
        thresholds=_check_thresholds(owner, params.thresholds, params.scoring),
        measure=make_measure(owner, params.scoring, classes, positive=positive, beta=params.beta, alphas=alphas, costs=costs),
    )


def check_classes(owner: str, params: Any, classes: npt.NDArray[Any]) -> None:
    """Two classes or more; what is for two is refused with more."""
    require_two_classes(owner, classes)
    for name in ("thresholds", "pos_label"):
        if len(classes) > 2 and (value := getattr(params, name)) is not None:
            raise InvalidParameterError(
                f"{owner}: {name}={value!r} is for two classes, and y holds {len(classes)}; it must be None."
            )


def _check_positive(owner: str, pos_label: Any, classes: npt.NDArray[Any]) -> int:
    labels = classes.tolist()
    if pos_label is None:
        return 1
    if pos_label not in labels:
        raise InvalidParameterError(f"{owner}: pos_label={pos_label!r} is no label of y; it must be one of {labels!r}.")
    return int(labels.index(pos_label))


def _check_method(owner: str, params: Any, estimator: Any) -> str:
    names = RESPONSES if params.response_method == "auto" else (params.response_method,)
    try:
        method = response_method(estimator, names)
    except AttributeError as error:
        raise InvalidParameterError(
            f"{owner}: response_method={params.response_method!r} cannot be: {error} It must be a method of the estimator that "
            "scores classes."
        ) from error
    if params.scoring == "expected_cost" and method != "predict_proba":
        raise InvalidParameterError(
            f"{owner}: scoring='expected_cost' needs probabilities, and {type(estimator).__name__} is asked for its {method}; "
            "it must be another one, such as 'cost', or the estimator one with predict_proba."
        )
    return method


def _check_thresholds(owner: str, thresholds: Any, scoring: Any) -> int | FloatArray | None:
    if thresholds is not None and isinstance(scoring, str) and scoring == "expected_cost":
        raise InvalidParameterError(
            f"{owner}: thresholds={thresholds!r} has no meaning with scoring='expected_cost', which tunes nothing; it must be "
            "None."
        )
    if thresholds is None or isinstance(thresholds, int):
        return thresholds
    try:
        values = np.asarray(thresholds, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.full(1, np.nan)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise InvalidParameterError(
            f"{owner}: thresholds={thresholds!r} is not valid; it must be None, an integer >= 1 or a vector of finite numbers."
        )
    return np.unique(values)


def decision_scores(scores: FloatArray, method: str, *, positive: int | None, costs: FloatArray | None) -> FloatArray:
    """What is cut or offset: the positive one's column of two classes; of many, probabilities, decision values or -P C."""
    scores = scores.astype(np.float64)
    if positive is not None:
        if method == "predict_proba":
            return scores[:, [positive]]
        return scores if positive == 1 else -scores
    return scores if costs is None or method != "predict_proba" else -(scores @ costs)

"""By which measure models are compared: chosen for the task, or named by the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mercer._assessment.words import WORDS, is_loss, measure_of_scorer, plain_name
from mercer._runs.errors import RunError
from mercer.metrics import get_scorer, get_scorer_names

_SHORT = {
    "auc": "roc_auc",
    "log_loss": "neg_log_loss",
    "mae": "neg_mean_absolute_error",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
}
_MUCH_MORE = 3.0  # times as many rows in the largest class as in the smallest


@dataclass(frozen=True)
class Metric:
    """A scorer by name: larger is better in every case, as scikit-learn negates losses."""

    name: str
    label: str
    is_loss: bool
    reason: str

    @property
    def scorer(self) -> Any:
        return get_scorer(self.name)

    def score(self, model: Any, X: Any, y: Any, weights: Any = None) -> float:
        """The score of a fitted model on rows, which count by their weights."""
        return float(self.scorer(model, X, y, **({} if weights is None else {"sample_weight": weights})))

    def shown(self, score: float) -> float:
        """The measure itself: a loss has its own sign again."""
        return -score if self.is_loss else score

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "greater_is_better": not self.is_loss}


def choose_metric(name: str | None, task: str, counts: Sequence[int]) -> Metric:
    """`counts` are the rows of each class."""
    if name is not None:
        full = _SHORT.get(name.lower().replace("-", "_"), name)
        if full not in get_scorer_names():
            near = sorted(get_scorer_names(), key=lambda other: -_likeness(full, other))[:4]
            raise RunError(f"--metric {name}: there is no such measure. Close to it: {', '.join(near)}.")
        return _make(full, "asked for by --metric")
    if task == "regression":
        return _make("r2", "the share of the target's variance that is explained; --metric rmse, mae … choose another")
    if len(counts) == 2:
        return _make("roc_auc", "it needs no threshold and holds for unequal classes; --metric accuracy, f1 … choose another")
    if max(counts) > _MUCH_MORE * min(counts):
        return _make("balanced_accuracy", "the classes are of unequal size; --metric accuracy, neg_log_loss … choose another")
    return _make("accuracy", "the classes are of similar size; --metric neg_log_loss, f1_macro … choose another")


def _make(name: str, reason: str) -> Metric:
    measure = measure_of_scorer(name)
    is_its_own_name = measure is not None and WORDS[measure].scorers[0] == name  # others are shown as what was asked for
    return Metric(name, WORDS[measure].in_full if measure and is_its_own_name else plain_name(name), is_loss(name), reason)


def _likeness(one: str, other: str) -> float:
    pairs = [{text[i : i + 2] for i in range(len(text) - 1)} for text in (one, other)]
    return len(pairs[0] & pairs[1]) / max(1, len(pairs[0] | pairs[1]))


def check_metric(metric: Metric, y: Any, classes: Sequence[Any] | None, weights: Any = None) -> None:
    """Refuse a measure of the other kind of task, or one that takes no weights of rows, before anything is fitted."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    rows = np.zeros((len(y), 1))
    model = (DummyRegressor() if classes is None else DummyClassifier(strategy="prior")).fit(rows, y)
    try:
        score = metric.scorer(model, rows, y)
    except Exception as error:
        what = "regression" if classes is None else f"{len(classes)} classes"
        raise RunError(f"--metric {metric.name} cannot be computed for {what}: {error}") from error
    if not np.isfinite(score):
        raise RunError(f"--metric {metric.name} is {score} for this target.")
    try:
        metric.score(model, rows, y, weights)
    except TypeError as error:
        raise RunError(f"--metric {metric.name}: this measure takes no weights, which --weights asks for.") from error

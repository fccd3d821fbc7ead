"""`LimeExplanation`: what the surrogate of LIME says of one row, with how well it fits and how stable it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._aligned import aligned, as_frame
from mercer._arrays import FloatArray

REGRESSION_LABEL = 1  # under which lime has the explanation of a regression


@dataclass(frozen=True, eq=False, repr=False)
class LimeExplanation:
    """What the surrogate says of one row.

    Attributes
    ----------
    mode : {"classification", "regression"}
        What was explained.
    class_names : list of str
        The names of the classes.
    feature_names : list of str
        The features in words: of categories and bins with their value.
    local_exp : dict
        For each label a list of (number of the feature, coefficient), largest first.
    intercept, scores, local_preds, standard_errors : dict
        For each label: the intercept of the surrogate, its weighted R2, what it says of the row, and the standard errors of its
        coefficients by feature, as the samples were drawn at random (None of surrogates other than ridge).
    score, local_pred : float and ndarray of shape (1,)
        Of the last label that was explained, as lime has them.
    repeat_spreads, repeat_overlaps : dict
        Where the explanation was repeated with other draws: for each label the standard deviation of each coefficient over
        repeats, and the mean share of features that two of them have in common. Empty otherwise.
    predict_proba : ndarray of shape (n_classes,) or None
        What a classifier says of the row.
    predicted_value, min_value, max_value : float or None
        What a regressor says of the row, and the range of what it says of the samples.
    top_labels : list of int or None
        The labels that were explained, where the likeliest were asked for.
    """

    mode: str
    class_names: list[str]
    feature_names: list[str]
    local_exp: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    intercept: dict[int, float] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)
    local_preds: dict[int, float] = field(default_factory=dict)
    standard_errors: dict[int, dict[int, float] | None] = field(default_factory=dict)
    repeat_spreads: dict[int, dict[int, float]] = field(default_factory=dict)
    repeat_overlaps: dict[int, float] = field(default_factory=dict)
    predict_proba: FloatArray | None = None
    predicted_value: float | None = None
    min_value: float | None = None
    max_value: float | None = None
    top_labels: list[int] | None = None

    @property
    def score(self) -> float:
        return list(self.scores.values())[-1]

    @property
    def local_pred(self) -> FloatArray:
        return np.array([list(self.local_preds.values())[-1]])

    def available_labels(self) -> list[int]:
        """The labels of a classification that have an explanation."""
        if self.mode == "regression":
            raise NotImplementedError("A regression has no labels.")
        return list(self.top_labels) if self.top_labels else list(self.local_exp)

    def as_list(self, label: Any = 1) -> list[tuple[str, float]]:
        """The features in words, each with its coefficient; for a regression the label does not matter."""
        return [(self.feature_names[j], float(weight)) for j, weight in self.local_exp[self._known(label)]]

    def as_map(self) -> dict[int, list[tuple[int, float]]]:
        """For each label the numbers of features, each with its coefficient."""
        return self.local_exp

    def to_frame(self, label: Any = 1) -> Any:
        """The same as a pandas DataFrame with a row a feature, with standard errors and spreads where there are any."""
        known = self._known(label)
        numbers = [j for j, _ in self.local_exp[known]]
        columns: dict[str, Any] = {"coefficient": [weight for _, weight in self.local_exp[known]]}
        errors = self.standard_errors.get(known)
        if errors is not None:
            columns["standard_error"] = [errors[j] for j in numbers]
        if known in self.repeat_spreads:
            columns["spread_over_repeats"] = [self.repeat_spreads[known][j] for j in numbers]
        return as_frame("LimeExplanation", columns, [self.feature_names[j] for j in numbers])

    def _known(self, label: Any) -> int:
        if self.mode == "regression":
            return REGRESSION_LABEL
        if isinstance(label, str) and label in self.class_names:
            label = self.class_names.index(label)
        if label not in self.local_exp:
            raise KeyError(f"There is no explanation of label {label!r}; there are those of {sorted(self.local_exp)}.")
        return int(label)

    def __repr__(self) -> str:
        labels = "" if self.mode == "regression" else f", labels {', '.join(map(str, self.local_exp))}"
        return f"LimeExplanation({self.mode}{labels}; weighted R2 {self.score:.3f})"

    def __str__(self) -> str:
        label = REGRESSION_LABEL if self.mode == "regression" else next(iter(self.local_exp))
        rows = [(name, f"{weight:+.4g}") for name, weight in self.as_list(label)]
        ends = [("intercept", f"{self.intercept[label]:.4g}"), ("weighted R2", f"{self.scores[label]:.3f}")]
        return "\n".join(aligned([*rows, *ends], left=(0,)))

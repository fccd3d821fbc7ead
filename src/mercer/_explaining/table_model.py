"""A fitted model of a table as explanations see it: numbers for each row, and the columns that they come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from mercer._arrays import FloatArray
from mercer._labels import choose_codes
from mercer.preprocessing import ColumnReport, TablePreparer

Unit = Literal["probability", "decision value", "vote", "number", "raw score"]


@dataclass(frozen=True)
class TableModel:
    """A fitted model with one output for a number, or one for each class: probabilities if it has them.

    Of a model with decision values alone these are explained, those of two classes as one value with either sign; of one with
    neither, whether it predicts the class.
    """

    model: Any
    classes: tuple[Any, ...] | None
    unit: Unit
    decide: Callable[[FloatArray], npt.NDArray[np.intp]] | None = None  # classes from probabilities; None: the likeliest

    @classmethod
    def of(
        cls,
        model: Any,
        classes: Sequence[Any] | None,
        decide: Callable[[FloatArray], npt.NDArray[np.intp]] | None = None,
    ) -> TableModel:
        """The model of a table; `classes` are its labels, None for a number."""
        if classes is None:
            return cls(model, None, "number")
        if hasattr(model, "predict_proba"):
            return cls(model, tuple(classes), "probability", decide)
        shape = getattr(model, "decision_function_shape", "ovr")
        return cls(
            model, tuple(classes), "decision value" if hasattr(model, "decision_function") and shape == "ovr" else "vote"
        )

    @property
    def n_outputs(self) -> int:
        return 1 if self.classes is None else len(self.classes)

    def __call__(self, X: Any) -> FloatArray:
        """The outputs, of shape (n_rows, n_outputs)."""
        if self.unit == "number":
            return np.asarray(self.model.predict(X), dtype=np.float64).reshape(-1, 1)
        if self.unit == "probability":
            return np.asarray(self.model.predict_proba(X), dtype=np.float64)
        if self.unit == "decision value":
            return both_signs(np.asarray(self.model.decision_function(X), dtype=np.float64))
        return np.asarray(np.asarray(self.model.predict(X))[:, None] == np.asarray(self.classes), dtype=np.float64)

    def codes(self, outputs: FloatArray) -> npt.NDArray[np.intp]:
        """The predicted classes, as `mercer predict` chooses them."""
        if self.decide is not None:
            return self.decide(np.atleast_2d(outputs))
        return np.asarray(choose_codes(outputs, self.n_outputs), dtype=np.intp)

    @property
    def pipelines(self) -> list[Pipeline]:
        """The pipelines from tables that the model is made of: itself, or the members of a blend; none where it is neither."""
        members = [self.model] if isinstance(self.model, Pipeline) else list(getattr(self.model, "estimators_", []))
        return [each for each in members if isinstance(each, Pipeline) and isinstance(each.steps[0][1], TablePreparer)]

    @property
    def preparation(self) -> tuple[TablePreparer, Any] | None:
        """The two ends of a pipeline, between which only the rows that it was fitted to were changed; None for other models."""
        if isinstance(self.model, Pipeline) and self.pipelines:
            return self.model.steps[0][1], self.model.steps[-1][1]
        return None

    def reports(self) -> dict[str, ColumnReport]:
        """What is known of each column that the model uses: of a blend, that some member uses."""
        found: dict[str, ColumnReport] = {}
        for pipeline in self.pipelines:
            found |= {
                column.name: column for column in pipeline.steps[0][1].report_ if column.used and column.name not in found
            }
        return found


def both_signs(values: FloatArray) -> FloatArray:
    """One value for the second of two classes as two, one for each; several as they are."""
    values = values.reshape(len(values), -1)
    return np.concatenate([-values, values], axis=1) if values.shape[1] == 1 else values

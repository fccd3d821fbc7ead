"""What the whole protocol found: the choice, the model and its one test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer.model_selection._evaluate.measures import Measure
from mercer.model_selection._tune.result import TuneResult

Task = Literal["two classes", "many classes", "regression"]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What `evaluate` found. Printing it gives the report; `plot` draws the test.

    Attributes
    ----------
    task : {"two classes", "many classes", "regression"}
    model : estimator
        Fitted on all training rows with the chosen parameters.
    tuning : TuneResult
        The search on the training rows, or the folds of the estimator as it is.
    test_score : Measure
        The measure that decided the search, on the test rows.
    train_score : float
        The same on the training rows.
    measures : dict of str to Measure
        Measures of the test rows by name, each with `value`, `low`, `high` and the `method` of the interval.
    level : float
        The confidence level of the intervals.
    y_test, prediction : array
        The truth about the test rows and what the model says.
    score : array or None
        For two classes, the probability (or the decision value) of the second.
    classes : array or None
        The classes, sorted.
    train_rows, test_rows : int array
        The split, as row numbers.
    validation_rows : int array or None
        Those of the training rows that decided the choice, where a validation set did so rather than folds.
    """

    task: Task
    model: Any
    tuning: TuneResult
    test_score: Measure
    train_score: float
    measures: Mapping[str, Measure]
    level: float
    y_test: Any
    prediction: Any
    score: FloatArray | None
    classes: npt.NDArray[Any] | None
    train_rows: npt.NDArray[np.intp]
    test_rows: npt.NDArray[np.intp]
    validation_rows: npt.NDArray[np.intp] | None = None

    @property
    def cv_score(self) -> float:
        """The mean score of the choice over folds, or its score on the validation set."""
        return self.tuning.best_score

    @property
    def cv_spread(self) -> float:
        return self.tuning.best_spread

    def __repr__(self) -> str:
        best = self.tuning
        spread = "" if math.isnan(best.best_spread) else f" ± {best.best_spread:.2g} over folds"
        chosen = ", ".join(f"{name}={_short(value)}" for name, value in best.best_params.items()) or "parameters as they are"
        lines = [
            f"Evaluation: {self.task}, {len(self.train_rows)} rows to learn from, {len(self.test_rows)} to test on",
            f"  model     {_name_of(self.model)}",
            f"  choice    {chosen} ({best.how})",
            f"  training  {best.scoring} {best.best_score:.5g}{spread}, {self.train_score:.5g} on the rows learned from",
            f"  test      {best.scoring} {_line(self.test_score)}, {100 * self.level:g} % confidence",
        ]
        lines += [f"  {name:>21} {_line(measure)}" for name, measure in self.measures.items()]
        return "\n".join([*lines, f"  {self.reading}"])

    @property
    def reading(self) -> str:
        """What the differences between training, folds and test say."""
        return " ".join(filter(None, [self._reading_of_test(), self._reading_of_training()]))

    def _reading_of_test(self) -> str:
        low, high = self.test_score.low, self.test_score.high
        where = "over folds" if self.validation_rows is None else "on the validation set"
        if not low <= high:  # no interval is at hand
            return ""
        if self.cv_score > high:
            return (
                f"The score {where} lies above the interval of the test: the choice has fitted these rows, or the test rows "
                "differ from the others."
            )
        if self.cv_score < low:
            return (
                f"The score {where} lies below the interval of the test: the model gains from the further rows, or the test "
                "rows are easier."
            )
        return f"The score {where} lies within the interval of the test: it held up on new rows."

    def _reading_of_training(self) -> str:
        """Whether the gap to the folds is beyond three standard errors of their mean and beyond the interval of the test."""
        standard_error = self.cv_spread / math.sqrt(len(self.tuning.best_trial.fold_scores))
        half_width = (self.test_score.high - self.test_score.low) / 2
        chance = [bound for bound in (3 * standard_error, half_width) if not math.isnan(bound)]
        if not chance or self.train_score - self.cv_score <= max(chance):
            return ""
        return (
            "The score on the rows learned from is far higher: the model over-fits, and more rows or a simpler or more "
            "regularised model would help."
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but models and rows, as dicts, lists and numbers."""
        return {
            "task": self.task,
            "n_train": len(self.train_rows),
            "n_test": len(self.test_rows),
            "tuning": self.tuning.to_dict(),
            "test_score": dict(vars(self.test_score)),
            "train_score": self.train_score,
            "measures": {name: dict(vars(measure)) for name, measure in self.measures.items()},
            "level": self.level,
            "reading": self.reading,
        }

    def plot(self, ax: Any = None) -> Any:
        """The ROC curve for two classes, the confusion matrix for many (or without scores), or the residuals of numbers."""
        import mercer.plots

        plots: Any = mercer.plots  # has these functions, whatever a type checker that skips the extra sees

        if self.task == "regression":
            return plots.plot_residuals(self.y_test, self.prediction, ax=ax)
        if self.score is not None:
            return plots.plot_roc(self.y_test, self.score, ax=ax)
        return plots.plot_confusion(self.y_test, self.prediction, ax=ax)


def _name_of(model: Any) -> str:
    steps = [step for _, step in getattr(model, "steps", [("", model)])]
    return ", ".join(type(step).__name__ for step in steps if not isinstance(step, str))


def _line(measure: Measure) -> str:
    return f"{measure.value:<9.5g} [{measure.low:.5g}, {measure.high:.5g}] ({measure.method})"


def _short(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else repr(value)

"""What readers of fitted models are given: the rows of the fit, the model's errors on them, and delta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_is_fitted

from mercer._labels import code_labels
from mercer._params import InvalidParameterError
from mercer._rows import count_rows
from mercer.theory._bound import Bound


class DoesNotApply(Exception):
    """A bound does not apply to a model, for the reason that is said."""


@dataclass(frozen=True)
class Reading:
    """A bound with inputs that were read off a model; the risk is at most `factor` times its value."""

    bound: Bound
    note: str = ""
    factor: float = 1.0

    @property
    def value(self) -> float:
        return self.factor * self.bound.value


@dataclass(frozen=True)
class Sample:
    """The rows of a fit, or of a test set."""

    X: Any
    y: npt.NDArray[Any]
    losses: npt.NDArray[np.float64]
    delta: float
    is_classification: bool
    loss_bound: float | None

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, delta: float, loss_bound: float | None) -> Sample:
        check_is_fitted(estimator)
        y = column_or_1d(y, warn=True)
        if count_rows(X) != len(y) or len(y) == 0:
            raise InvalidParameterError(f"bound: X has {count_rows(X)} rows and y {len(y)} values; give one value a row.")
        predicted = np.asarray(estimator.predict(X))
        is_classification = bool(is_classifier(estimator))
        losses = (predicted != y) if is_classification else (predicted - y) ** 2
        losses = np.asarray(losses, dtype=np.float64)
        if loss_bound is not None and losses.max() > loss_bound:
            raise InvalidParameterError(
                f"bound: loss_bound={loss_bound!r} is not valid; a row has a squared error of {losses.max():.4g}."
            )
        return cls(X, y, losses, delta, is_classification, loss_bound)

    @property
    def m(self) -> int:
        return len(self.y)

    @property
    def risk(self) -> float:
        return float(self.losses.mean())

    @property
    def classes(self) -> npt.NDArray[Any]:
        return code_labels(self.y)[0]

    @property
    def signs(self) -> npt.NDArray[np.float64]:
        """-1 for the first of two classes, +1 for the second."""
        return np.where(self.y == self.classes[1], 1.0, -1.0)

    @property
    def matrix(self) -> npt.NDArray[np.float64]:
        """X as dense numbers."""
        if sp.issparse(self.X):
            raise DoesNotApply("X is sparse; give it as a dense array")
        return np.asarray(check_array(self.X, dtype=np.float64), dtype=np.float64)

    def require_classes(self, two: bool = True) -> None:
        """Refuse models that are no classifiers, or whose rows are of more than two classes."""
        if not self.is_classification:
            raise DoesNotApply("it bounds errors of classifiers")
        if two and len(self.classes) != 2:
            raise DoesNotApply(f"it is for two classes; there are {len(self.classes)}")

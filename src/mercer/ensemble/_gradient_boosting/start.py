"""Where gradient boosting begins: a constant, zero, or what another estimator predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor

from mercer._arrays import FloatArray
from mercer._saved import saved
from mercer.ensemble._boosting.learners import require_weights
from mercer.ensemble._gradient_boosting.objectives import Objective


@saved("boosting.Start")
@dataclass(frozen=True)
class Start:
    """A fitted `init_`, and its raw output where that is the same for all rows."""

    init: Any
    constant: FloatArray | None

    def raw(self, rows: FloatArray, objective: Objective) -> FloatArray:
        """The raw outputs of rows, of shape (n_rows, n_outputs)."""
        if self.constant is not None:
            return np.tile(self.constant, (rows.shape[0], 1))
        if objective.is_classification:
            predicted = self.init.predict_proba(rows)
            predicted = predicted if objective.n_outputs > 1 else predicted[:, 1]
        else:
            predicted = self.init.predict(rows)
        return np.array(objective.raw_of(predicted)).reshape(rows.shape[0], objective.n_outputs)


def make_start(
    owner: str,
    init: Any,
    objective: Objective,
    X: FloatArray,
    y: FloatArray,
    weights: FloatArray | None,
    classes: npt.NDArray[Any] | None,
) -> Start:
    """Fit what `init` asks for."""
    if init == "zero":
        return Start("zero", np.zeros(objective.n_outputs))
    given = y if classes is None else classes.take(objective.places_of(y))  # targets in the user's words
    if init is None:
        constant = objective.start(y, weights)
        if classes is not None:
            return Start(DummyClassifier(strategy="prior").fit(X, given, weights), constant)
        predicted = np.ravel(objective.loss.inverse_link(constant))
        return Start(DummyRegressor(strategy="constant", constant=predicted).fit(X, given), constant)
    init = clone(init)
    if classes is not None and not hasattr(init, "predict_proba"):
        raise ValueError(
            f"{owner}: init={init!r} is not valid: a classifier starts from probabilities, and it has no predict_proba."
        )
    if weights is None:
        return Start(init.fit(X, given), None)
    require_weights(owner, init, "the rows are weighted: the initial estimator does not support sample weights")
    return Start(init.fit(X, given, sample_weight=weights), None)

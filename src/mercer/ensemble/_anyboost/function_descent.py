"""The rounds of AnyBoost: gradient descent in the space of functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._trace import Certificate, Record, Status
from mercer.ensemble._anyboost.directions import Directions
from mercer.ensemble._boosting.line_search import Line
from mercer.ensemble._gradient_boosting.objectives import Objective, QuantileObjective, SquaredObjective
from mercer.losses import Absolute, Loss, Pinball, Squared

_NOTHING = float(np.finfo(np.float64).eps)  # a gradient so much smaller than the first one is rounding


class FunctionDescent:
    """The rounds: a learner along the negative gradient, and a step by line search."""

    def __init__(self, loss: Loss, learners: Directions, y: FloatArray, start: float, learning_rate: float, tol: float) -> None:
        self.learners, self._loss, self._y = learners, loss, y
        self._weights, self._rate, self._tol = learners.weights, learning_rate, tol
        self._raw = np.full(len(y), start)
        self.steps = list[float]()
        self.correlation = np.inf
        self.is_done = False
        self._first_norm: float | None = None

    @property
    def loss(self) -> float:
        return float(np.average(self._loss.value(self._y, self._raw), weights=self._weights))

    def _product(self, one: FloatArray, other: FloatArray) -> float:
        return float(one @ other if self._weights is None else (self._weights * one) @ other)

    def step(self) -> Record:
        descent = -np.asarray(self._loss.derivative(self._y, self._raw), dtype=np.float64)
        norm = float(np.sqrt(self._product(descent, descent)))
        self._first_norm = norm if self._first_norm is None else self._first_norm
        if norm <= _NOTHING * self._first_norm:
            return self._end(0.0)
        h = self.learners.fit_next(descent)
        size = float(np.sqrt(self._product(h, h)))
        correlation = self._product(descent, h) / (norm * size) if size > 0 else 0.0
        if not correlation > self._tol:
            self.learners.drop_last()
            return self._end(correlation)
        step = self._rate * Line(self._loss, self._y, self._raw, h, self._weights).minimum()
        self._raw = self._raw + step * h
        self.steps.append(step)
        self.correlation = correlation
        return {"loss": self.loss, "correlation": correlation, "step": step}

    def _end(self, correlation: float) -> Record:
        """Nothing more to gain."""
        self.is_done, self.correlation = True, correlation
        return {"loss": self.loss, "correlation": correlation, "step": 0.0}

    def attributes(self) -> dict[str, Any]:
        return {**self.learners.attributes(), "estimator_weights_": np.array(self.steps)}


def best_constant(loss: Loss, y: FloatArray, weights: FloatArray | None) -> float:
    """The constant F of least loss."""
    if loss.is_smooth or isinstance(loss, (Absolute, Pinball)):
        is_quantile = isinstance(loss, (Absolute, Pinball))
        objective = SquaredObjective if isinstance(loss, Squared) else QuantileObjective if is_quantile else Objective
        return float(objective(loss).start(y, weights)[0])
    ones = np.ones_like(y)
    ends = np.sign(Line(loss, y, np.zeros_like(y), ones, weights).slope(0.0))
    if ends == 0:
        return 0.0
    return float(-ends * Line(loss, y, np.zeros_like(y), -ends * ones, weights).minimum())


def certificate(descent: FunctionDescent, status: Status, tol: float) -> Certificate:
    """What the rounds reached."""
    return Certificate(
        method="AnyBoost",
        status=status,
        primal=descent.loss,
        condition="correlation of the last learner with the negative gradient",
        residual=max(descent.correlation, 0.0),
        tol=tol,
    )

"""The cross-validated risk of members and of their mixtures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._saved import saved
from mercer._solvers.simplex import Mixture, RowLoss
from mercer.losses import Loss, Squared

LOSSES = {"classifier": ("log_loss", "brier"), "regressor": ("squared_error",)}  # the first is the default
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)  # as in scikit-learn's log_loss


@saved("Risk")
class Risk(NamedTuple):
    """A mean loss over rows, and the standard error of that mean."""

    mean: float
    standard_error: float


class NegativeLog:
    """-log p of the probability p of what was observed."""

    def value(self, y: Any, raw: Any) -> Any:
        return -np.log(raw)

    def derivative(self, y: Any, raw: Any) -> Any:
        return -1 / raw

    def second_derivative(self, y: Any, raw: Any) -> Any:
        return raw**-2


class RiskOverRows:
    """sum_i weight_i loss_i / sum_i weight_i, where an output is one value a row or one probability a class and row.

    Every loss is a smooth convex function of numbers that are linear in the output (`read`), so that the risk of a mixture of
    outputs is convex in its weights.
    """

    def __init__(self, loss: str | Loss, y: npt.NDArray[Any], weights: FloatArray | None, n_classes: int) -> None:
        self._loss, self._n_rows, self._n_classes = loss, len(y), n_classes
        self._codes = y
        self._weights = np.ones(len(y)) if weights is None else weights
        self._total = float(self._weights.sum())

    def read(self, output: npt.NDArray[Any]) -> FloatArray:
        """The numbers in a member's output that the loss looks at."""
        if self._loss == "log_loss":
            observed: FloatArray = output[np.arange(self._n_rows), self._codes].astype(np.float64)
            return np.maximum(observed, LEAST_PROBABILITY)
        return np.asarray(output, dtype=np.float64).ravel()

    def mixture(self, columns: Sequence[FloatArray]) -> Mixture:
        """The risk as a function of weights of columns that `read` gave."""
        Z, shares = np.column_stack(columns), self._weights / self._total
        if self._loss == "log_loss":
            return Mixture(Z, np.zeros(len(Z)), shares, NegativeLog())
        if self._loss == "brier":  # over all classes, or over one of two
            indicators = (self._codes[:, None] == np.arange(self._n_classes)).astype(np.float64)
            scale = 1.0 if self._n_classes == 2 else 2.0
            return Mixture(Z, indicators.ravel(), np.repeat(shares, self._n_classes), Squared(), scale)
        loss: RowLoss = Squared() if isinstance(self._loss, str) else self._loss
        return Mixture(Z, self._codes.astype(np.float64), shares, loss, 2.0 if self._loss == "squared_error" else 1.0)

    def of(self, column: FloatArray, mixture: Mixture) -> Risk:
        """That of one column."""
        losses = mixture.losses(column).reshape(self._n_rows, -1).sum(axis=1)
        mean = float(np.sum(self._weights * losses)) / self._total  # not by BLAS: the same bits for any number of its threads
        spread = float(np.sum(self._weights * (losses - mean) ** 2)) / self._total
        return Risk(mean, float(np.sqrt(spread / self._total)))


def check_loss(owner: str, loss: Any, kind: str) -> str | Loss:
    """The loss for members of a kind, or an error that says which there are."""
    if isinstance(loss, str):
        name = LOSSES[kind][0] if loss == "auto" else loss
        if name in LOSSES[kind]:
            return name
    elif kind == "regressor" and loss.kind == "residual" and loss.is_smooth and loss.is_convex:
        return loss  # type: ignore[no-any-return]
    others = " or a smooth convex loss of residuals" if kind == "regressor" else ""
    names = " or ".join(map(repr, LOSSES[kind]))
    raise ValueError(f"{owner}: loss={loss!r} is not valid for members that are {kind}s; it must be 'auto' or {names}{others}.")


def risks_of(members: Mapping[str, Any], outputs: Sequence[Any], risk: RiskOverRows) -> dict[str, Any]:
    """The risk of every member, and the best of them."""
    risks: dict[str, Risk] = {}
    for (name, member), output in zip(members.items(), outputs, strict=True):
        column = risk.read(output)
        with np.errstate(over="ignore", invalid="ignore"):
            risks[name] = risk.of(column, risk.mixture([column]))
        if not np.isfinite(risks[name].mean):
            raise ValueError(
                f"SuperLearner: the risk of member {name!r} ({type(member).__name__}) is not finite: it predicts values as "
                f"large as {np.abs(column).max():.3g}. Scale X and y, or drop this member."
            )
    return {"cv_risk_": risks, "best_member_": min(risks, key=lambda name: risks[name].mean)}

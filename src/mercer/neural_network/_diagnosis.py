"""The health of a training run, read from its history and from the values of hidden units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._saved import saved

RATIO = 1e3  # between the gradients of the last layer and of the first, beyond which one of them starves
GROWTH = 1e2  # of a gradient over the run
DEAD_SHARE = 0.1  # of a layer's units that are dead, from which it is worth a word
GAP = 0.1  # between the best and the last held-out score
NEAR = 0.05  # of its first value that a loss has lost, below which nothing was learnt


@saved("mercer.neural_network.Finding")
@dataclass(frozen=True)
class Finding:
    """One thing that a run shows, with its figure and what to do."""

    name: str
    figure: str
    remedy: str


@saved("mercer.neural_network.Diagnosis")
@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What a training run shows. True where something was found.

    Attributes
    ----------
    findings : tuple of Finding
        Each with `name`, `figure` and `remedy`.
    dead_units : tuple of int or None
        The number of dead units of each hidden layer; None where no rows were given.

    Examples
    --------
    >>> from mercer.neural_network import MLPClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = MLPClassifier((4,), max_iter=300, learning_rate_init=0.05, tol=0, random_state=0)
    >>> diagnosis = model.set_params(n_iter_no_change=1000, solver="lbfgs").fit(X, y).diagnose(X)
    >>> len(diagnosis.dead_units)
    1
    """

    findings: tuple[Finding, ...]
    dead_units: tuple[int, ...] | None = None

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __repr__(self) -> str:
        if not self.findings:
            return "Diagnosis: nothing found"
        return "\n".join(["Diagnosis:", *(f"  {f.name}: {f.figure}\n    {f.remedy}" for f in self.findings)])


def diagnose(model: Any, hidden: Sequence[FloatArray] | None) -> Diagnosis:
    """Findings from `history_` and, where there are any, from the values of the hidden layers on some rows."""
    history = model.history_
    findings = [*_gradients(history), *_fit(model, history)]
    dead = None
    if hidden is not None:
        dead = tuple(int((np.ptp(values, axis=0) == 0).sum()) for values in hidden)
        findings += _dead(dead, [values.shape[1] for values in hidden])
    return Diagnosis(tuple(findings), dead)


def _gradients(history: Sequence[dict[str, float]]) -> list[Finding]:
    if not history:
        return []
    names = sorted((name for name in history[0] if name.startswith("gradient_norm_")), key=lambda name: int(name[14:]))
    norms = np.array([[record[name] for name in names] for record in history])
    found = []
    first, last = float(np.median(norms[:, 0])), float(np.median(norms[:, -1]))
    if len(names) > 1 and first * RATIO < last:
        found.append(
            Finding(
                "vanishing gradients",
                f"the gradient of the first layer ({first:.2g}) is {last / max(first, 1e-300):.2g} times smaller than that "
                "of the last",
                "Use relu, leaky_relu or gelu in place of logistic or tanh units, init='he', fewer layers or "
                "skip_connections; scale X.",
            )
        )
    start, end = float(norms[0].max()), float(norms.max())
    if (end > GROWTH * max(start, 1e-300) and end > 1) or (len(names) > 1 and first > RATIO * last and first > 1):
        found.append(
            Finding(
                "exploding gradients",
                f"the longest gradient grew from {start:.2g} to {end:.2g}, that of the first layer is {first:.2g}",
                "Lower learning_rate_init, set clip_norm (to 1, say), raise alpha, and scale X and the target.",
            )
        )
    return found


def _fit(model: Any, history: Sequence[dict[str, float]]) -> list[Finding]:
    losses = [record["loss"] for record in history]
    scores = [record["score"] for record in history if "score" in record]
    found = []
    if len(losses) > 1 and losses[-1] > losses[0] * (1 - NEAR) and losses[0] > 0:
        found.append(
            Finding(
                "under-fitting",
                f"the training loss went from {losses[0]:.4g} to {losses[-1]:.4g}",
                "Train for longer or with another learning_rate_init, use more units or layers, less alpha and dropout; "
                "scale X.",
            )
        )
    if scores and np.nanmax(scores) - scores[-1] > GAP * max(abs(float(np.nanmax(scores))), 1e-12) and losses[-1] < losses[0]:
        best = int(np.nanargmax(scores))
        found.append(
            Finding(
                "over-fitting",
                f"the held-out score fell from {scores[best]:.4g} (epoch {best + 1}) to {scores[-1]:.4g} while the loss went "
                "on falling",
                "Use early_stopping (it restores the best epoch), more alpha, dropout, fewer units, or more rows.",
            )
        )
    return found


def _dead(dead: Sequence[int], sizes: Sequence[int]) -> list[Finding]:
    return [
        Finding(
            "dead units",
            f"{n} of {size} units of hidden layer {k} have the same value for every row",
            "Use leaky_relu or gelu, init='he', a lower learning_rate_init, or fewer units; scale X.",
        )
        for k, (n, size) in enumerate(zip(dead, sizes, strict=True), start=1)
        if n > DEAD_SHARE * size
    ]

"""Bounds by margins: of hyperplanes, in feature space too, and of weighted votes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from mercer.kernels import as_kernel
from mercer.theory._complexities import BoostingMargin, Margin
from mercer.theory._pac_bayes import Seeger
from mercer.theory._read_classes import linear_weights
from mercer.theory._sample import DoesNotApply, Reading, Sample

Values = npt.NDArray[np.float64]

_GRID = "from the powers of two, each with a share of delta"


def grid(powers: range) -> Iterator[tuple[float, float]]:
    """Powers of two and their shares of delta, 2 / (3 (k + 1) (k + 2)) for |k|, which add up to one over all powers."""
    for power in powers:
        k = abs(power)
        yield 2.0**power, 2 / (3 * (k + 1) * (k + 2))


def _hyperplane(estimator: Any, sample: Sample) -> tuple[Values, Values]:
    """Distances y f(x) / |w| and squared norms of rows in feature space, with a constant 1 joined for the intercept."""
    sample.require_classes()
    if hasattr(estimator, "dual_coef_") and hasattr(estimator, "half_margin_"):
        kernel = as_kernel(estimator.kernel, gamma=estimator.gamma, degree=estimator.degree, coef0=estimator.coef0)
        norm, intercept = 1 / float(np.ravel(estimator.half_margin_)[0]), float(np.ravel(estimator.intercept_)[0])
        squares = kernel.resolved(sample.matrix).diagonal(sample.matrix)
    else:
        weights, intercept, _ = linear_weights(estimator)
        norm, squares = float(np.linalg.norm(weights)), np.square(sample.matrix).sum(axis=1)
    length = math.hypot(norm, intercept)
    if not 0 < length < math.inf:
        raise DoesNotApply("the weights are all zero")
    values = np.ravel(estimator.decision_function(sample.X))
    return sample.signs * values / length, squares + 1


def read_margin(estimator: Any, sample: Sample) -> Reading:
    distances, squares = _hyperplane(estimator, sample)
    complexity = float(np.sqrt(squares.sum())) / sample.m  # of the ball of weights of norm one
    best = min(
        (
            Margin(
                m=sample.m,
                delta=sample.delta * share,
                risk=float((distances < margin).mean()),
                complexity=complexity,
                margin=margin,
            )
            for margin, share in grid(range(-30, 31))
        ),
        key=lambda bound: bound.value,
    )
    return Reading(best, f"weights of norm 1; the margin is {_GRID}{_dependence(estimator)}")


def read_pac_bayes(estimator: Any, sample: Sample) -> Reading:
    """A Gaussian about a multiple of the weights errs half as often as the model at least (Langford and Shawe-Taylor)."""
    distances, squares = _hyperplane(estimator, sample)
    cosines = distances / np.sqrt(squares)
    best = min(
        (
            Seeger(
                m=sample.m,
                delta=sample.delta * share,
                risk=float(ndtr(-scale * cosines).mean()),
                divergence=scale * scale / 2,
            )
            for scale, share in grid(range(-5, 21))
        ),
        key=lambda bound: bound.value,
    )
    note = f"twice the bound for N(s w/|w|, 1), prior N(0, 1); s is {_GRID}{_dependence(estimator)}"
    return Reading(best, note, factor=2.0)


def _dependence(estimator: Any) -> str:
    is_scaled = getattr(estimator, "kernel", "linear") != "linear" and getattr(estimator, "gamma", None) == "scale"
    return "; gamma='scale' was taken from the rows, which the bound does not count" if is_scaled else ""


def read_boosting(estimator: Any, sample: Sample) -> Reading:
    sample.require_classes()
    members, weights = getattr(estimator, "estimators_", None), getattr(estimator, "estimator_weights_", None)
    if members is None or weights is None:
        raise DoesNotApply("it is no weighted vote (it has no estimator_weights_)")
    weights = np.asarray(weights, dtype=np.float64)[: len(members)]
    votes = np.stack([np.where(np.asarray(member.predict(sample.X)) == sample.classes[1], 1.0, -1.0) for member in members])
    margins = sample.signs * (weights @ votes) / np.abs(weights).sum()
    dimension = max(_voter_dimension(member, sample) for member in members)
    best = min(
        (
            BoostingMargin(
                m=sample.m,
                delta=sample.delta * share,
                risk=float((margins < margin).mean()),
                margin=margin,
                dimension=dimension,
            )
            for margin, share in grid(range(-20, 1))
        ),
        key=lambda bound: bound.value,
    )
    return Reading(best, f"{len(members)} voters; the margin is {_GRID}")


def _voter_dimension(member: Any, sample: Sample) -> int:
    """An upper bound on the VC dimension: the most points that so few shapes, columns and places can label in all ways.

    The class is that of all trees of the depth that the voter was allowed, which was fixed before the rows were seen.
    """
    depth = getattr(member, "max_depth", None)
    if depth is None or not hasattr(member, "tree_"):
        raise DoesNotApply("its voters are no trees of limited depth")
    splits = 2**depth - 1
    points = 1
    while splits * math.log(2 * member.n_features_in_ * (points + 2)) + math.log(2) >= (points + 1) * math.log(2):
        points += 1
    return points

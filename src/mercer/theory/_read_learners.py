"""Bounds by what is known of the learner: rows that determine it, its stability, its neighbours; and by test rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer.kernels import as_kernel
from mercer.theory._bound import Bound
from mercer.theory._concentration import EmpiricalBernstein, Hoeffding
from mercer.theory._descriptions import Compression
from mercer.theory._neighbors_bound import DeletedNeighbors
from mercer.theory._sample import DoesNotApply, Reading, Sample
from mercer.theory._stability_bounds import RegularizedLoss, UniformStability
from mercer.theory._test_sets import BinomialTest


def read_compression(estimator: Any, sample: Sample) -> Reading:
    """Rows that are no support vectors can be left out of the fit."""
    sample.require_classes(two=False)
    support = getattr(estimator, "support_", None)
    if support is None or not hasattr(estimator, "dual_coef_"):
        raise DoesNotApply("no subset of the rows is known to determine it (it has no support vectors)")
    if getattr(estimator, "class_weight", None) == "balanced":
        raise DoesNotApply("class_weight='balanced' is taken from all rows: the support vectors alone give another model")
    if estimator.kernel != "linear" and getattr(estimator, "gamma", None) == "scale":
        raise DoesNotApply("gamma='scale' is taken from all rows: the support vectors alone give another model; fix gamma")
    if len(support) and max(support) >= sample.m:
        raise DoesNotApply(f"row {max(support)} is a support vector, but X has {sample.m} rows; give those of the fit")
    others = np.ones(sample.m, dtype=bool)
    others[support] = False
    risk = float(sample.losses[others].mean()) if others.any() else 0.0
    note = f"{len(support)} support vectors; their errors do not count"
    return Reading(Compression(m=sample.m, delta=sample.delta, risk=risk, n_kept=len(support)), note)


def read_neighbors(estimator: Any, sample: Sample) -> Reading:
    sample.require_classes(two=False)
    if not hasattr(estimator, "kneighbors") or not hasattr(estimator, "n_neighbors"):
        raise DoesNotApply("it is no vote of nearest neighbours")
    if estimator.weights != "uniform":
        raise DoesNotApply(f"neighbours vote by weights={estimator.weights!r}; the bound is for equal votes")
    if getattr(estimator, "n_samples_fit_", sample.m) != sample.m:
        raise DoesNotApply("X has not the rows of the fit")
    codes = np.searchsorted(sample.classes, sample.y)
    neighbors = codes[estimator.kneighbors(return_distance=False)]  # those of each row of the fit without itself
    votes = np.stack([(neighbors == code).sum(axis=1) for code in range(len(sample.classes))], axis=1)
    risk = float((votes.argmax(axis=1) != codes).mean())
    bound = DeletedNeighbors(m=sample.m, delta=sample.delta, risk=risk, n_neighbors=int(estimator.n_neighbors))
    return Reading(bound, "its risk is the leave-one-out error")


def _ridge_inputs(estimator: Any, sample: Sample) -> tuple[float, float, float]:
    """Lipschitz constant, strength and largest loss of (w'x - y)^2 under the mean loss plus lambda |w|^2.

    |w|^2 <= m B_y^2 / alpha, since w = 0 has an objective of m B_y^2 at most. B_x and B_y are those of the rows.
    """
    if sample.is_classification or not hasattr(estimator, "alpha"):
        raise DoesNotApply("its stability is not known; that of Ridge and KernelRidge is")
    alpha = estimator.alpha
    if type(estimator).__name__ not in ("Ridge", "KernelRidge") or np.ndim(alpha) or not alpha > 0:
        raise DoesNotApply("its stability is not known; that of Ridge and KernelRidge with alpha > 0 is")
    if getattr(estimator, "fit_intercept", False):
        raise DoesNotApply("its intercept is not in the penalty; the theorem asks for fit_intercept=False")
    if type(estimator).__name__ == "Ridge":
        squares = np.square(sample.matrix).sum(axis=1)
    elif isinstance(estimator.kernel, str) and estimator.kernel != "precomputed":
        own = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")}
        squares = as_kernel(estimator.kernel, by="rows", **own).resolved(sample.matrix).diagonal(sample.matrix)
    else:
        raise DoesNotApply("the norms of rows under its kernel are not known here; give the kernel by name")
    b_x, b_y = math.sqrt(squares.max()), float(np.abs(sample.y).max())
    if b_y == 0:
        raise DoesNotApply("y is zero everywhere")
    largest = b_y + b_x * b_y * math.sqrt(sample.m / alpha)  # of |w'x - y|
    return 2 * b_x * largest, float(alpha) / sample.m, largest**2


_RIDGE = "norms of x and |y| are taken to be no larger than on the rows"


def read_uniform_stability(estimator: Any, sample: Sample) -> Reading:
    lipschitz, strength, largest = _ridge_inputs(estimator, sample)
    beta = 2 * lipschitz**2 / strength
    bound = UniformStability(m=sample.m, delta=sample.delta, risk=sample.risk, beta=beta, loss_bound=largest)
    return Reading(bound, _RIDGE)


def read_regularized_loss(estimator: Any, sample: Sample) -> Reading:
    lipschitz, strength, largest = _ridge_inputs(estimator, sample)
    bound = RegularizedLoss(m=sample.m, risk=sample.risk, lipschitz=lipschitz, strength=strength, loss_bound=largest)
    return Reading(bound, f"there is no delta: single samples may exceed it; {_RIDGE}")


def read_test_set(test: Sample) -> dict[str, Bound]:
    """The bounds of a test set by name."""
    if test.is_classification:
        binomial = BinomialTest(m=test.m, delta=test.delta, risk=test.risk)
        return {"test set, binomial": binomial, "test set, Hoeffding": Hoeffding(m=test.m, delta=test.delta, risk=test.risk)}
    if test.loss_bound is None:
        raise DoesNotApply("squared errors have no limit; give loss_bound")
    span = test.loss_bound
    found: dict[str, Bound] = {"test set, Hoeffding": Hoeffding(m=test.m, delta=test.delta, risk=test.risk, span=span)}
    if test.m > 1:
        variance = float(test.losses.var(ddof=1))
        found["test set, Bernstein"] = EmpiricalBernstein(
            m=test.m, delta=test.delta, risk=test.risk, variance=variance, span=span
        )
    return found

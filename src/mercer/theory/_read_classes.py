"""Bounds by the size of the class that a fitted model is from: linear models, trees, neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import comb, gammaln

from mercer.theory._classes import VC, Massart, RealizableVC
from mercer.theory._descriptions import Occam
from mercer.theory._sample import DoesNotApply, Reading, Sample


def linear_weights(estimator: Any) -> tuple[np.ndarray[Any, Any], float, bool]:
    """Weights, intercept, and whether an intercept was fitted, of a model of two classes whose values are linear in X."""
    coef = getattr(estimator, "coef_", None)
    if coef is None or not hasattr(estimator, "decision_function"):
        raise DoesNotApply("its values are not linear in X (it has no coef_)")
    coef = np.atleast_2d(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64))
    if len(coef) != 1:
        raise DoesNotApply(f"it has {len(coef)} lines of coefficients; the bound is for one boundary")
    intercept = float(np.ravel(getattr(estimator, "intercept_", 0.0))[0])
    return coef[0], intercept, bool(getattr(estimator, "fit_intercept", True)) or intercept != 0


def dimension_of(estimator: Any, n_features: int) -> tuple[int, str]:
    """The VC dimension of the class of a fitted model, or an upper bound, with the words for it."""
    kernel = getattr(estimator, "kernel", None)
    if kernel == "poly" and hasattr(estimator, "dual_coef_"):
        degree = int(estimator.degree)
        return int(comb(n_features + degree, degree, exact=True)), f"polynomials of degree {degree} of {n_features} columns"
    if kernel is not None and kernel != "linear" and hasattr(estimator, "dual_coef_"):
        raise DoesNotApply(f"the class of kernel={kernel!r} has no finite VC dimension that is known here")
    coef, _, has_intercept = linear_weights(estimator)
    return len(
        coef
    ) + has_intercept, f"half-spaces of {len(coef)} columns{' with' if has_intercept else ' without'} an intercept"


def read_vc(estimator: Any, sample: Sample) -> Reading:
    sample.require_classes()
    dimension, words = dimension_of(estimator, int(getattr(estimator, "n_features_in_", 0)))
    return Reading(VC(m=sample.m, delta=sample.delta, risk=sample.risk, dimension=dimension), words)


def read_realizable_vc(estimator: Any, sample: Sample) -> Reading:
    sample.require_classes()
    dimension, words = dimension_of(estimator, int(getattr(estimator, "n_features_in_", 0)))
    if sample.risk > 0:
        raise DoesNotApply(f"the model errs on {sample.risk:.2%} of the rows; the bound is for models that do not")
    return Reading(RealizableVC(m=sample.m, delta=sample.delta, dimension=dimension), words)


def tree_size(estimator: Any) -> int:
    """How many splits a tree has."""
    tree = getattr(estimator, "tree_", None)
    if tree is None or not hasattr(tree, "threshold") or not hasattr(estimator, "get_n_leaves"):
        raise DoesNotApply("it is not a tree of binary splits")
    if (np.isnan(np.asarray(tree.threshold, dtype=np.float64))).any():
        raise DoesNotApply("the tree splits on sets of categories")
    return int(estimator.get_n_leaves()) - 1


def read_growth(estimator: Any, sample: Sample) -> Reading:
    """Trees with s splits: Catalan's number of shapes, d columns and m + 1 places for each split, K labels for each leaf.

    The number of splits is read off the tree, so that each s has a share 1 / ((s + 1) (s + 2)) of delta.
    """
    sample.require_classes(two=False)
    splits = tree_size(estimator)
    shapes = float(gammaln(2 * splits + 1) - 2 * gammaln(splits + 1)) - math.log(splits + 1)
    labellings = splits * math.log(estimator.n_features_in_ * (sample.m + 1)) + (splits + 1) * math.log(len(sample.classes))
    delta = sample.delta / ((splits + 1) * (splits + 2))
    return Reading(
        Massart(m=sample.m, delta=delta, risk=sample.risk, log_size=shapes + labellings),
        f"trees with {splits} splits; each number of splits has a share of delta",
    )


def read_occam(estimator: Any, sample: Sample) -> Reading:
    """Told in a code that was fixed before: trees node by node, linear models as 64 bits a coefficient."""
    sample.require_classes(two=False)
    try:
        splits = tree_size(estimator)
    except DoesNotApply:
        bits, words = _linear_bits(estimator)
    else:
        column = math.ceil(math.log2(max(estimator.n_features_in_, 2)))
        label = math.ceil(math.log2(max(len(sample.classes), 2)))
        bits = (2 * splits + 1) + splits * (column + 64) + (splits + 1) * label
        words = f"{splits} splits of {column} + 64 bits, {splits + 1} leaves of {label}, and the shape"
    return Reading(Occam(m=sample.m, delta=sample.delta, risk=sample.risk, bits=float(bits)), words)


def _linear_bits(estimator: Any) -> tuple[int, str]:
    coef = getattr(estimator, "coef_", None)
    if coef is None or not hasattr(estimator, "decision_function"):
        raise DoesNotApply("no code for models of this kind is known here; trees and linear models have one")
    n_numbers = int(np.prod(coef.shape)) + int(np.size(getattr(estimator, "intercept_", 0.0)))
    return 64 * n_numbers, f"{n_numbers} coefficients of 64 bits"

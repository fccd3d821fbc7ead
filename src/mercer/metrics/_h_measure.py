"""Hand's H-measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betainc

from mercer._native import kernels
from mercer._params import OneOf, Real, check_value
from mercer.metrics._labels import Array, check_labels, code, is_multilabel
from mercer.metrics._ranked import classes_of, rank_coded, warn_one_class


def h_measure(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    prior: tuple[float, float] | str = (2.0, 2.0),
) -> float:
    """The H-measure: how much of the loss of a trivial classifier the best cut-offs of a score avoid, over a prior of costs.

    Let c be the cost of taking a negative row for positive, and 1 - c that of missing a positive one. A cut-off with false
    positive rate F and true positive rate T then loses Q(c) = c p0 F + (1 - c) p1 (1 - T), where p1 and p0 are the shares of
    the positive and negative rows. With Q* the least of it over all cut-offs, and u the density of the prior over c,

        H = 1 - L / L0,   L = ∫ Q*(c) u(c) dc,   L0 = ∫ min(c p0, (1 - c) p1) u(c) dc.

    1 is perfect, 0 useless. Unlike AUC it weighs errors in the same way for every classifier.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores: the greater, the more likely positive.
    pos_label : label, default=None
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows; rows of weight 0 are as if absent.
    prior : (a, b) or "prevalence", default=(2, 2)
        The Beta(a, b) distribution of c. "prevalence" is Beta(1 + p1, 1 + p0), whose mode is the cost at which both trivial
        classifiers lose the same.

    Returns
    -------
    h : float
        NaN, with a warning, where one class has no rows.

    Notes
    -----
    The best cut-offs are the corners of the upper convex hull of the ROC curve, each for the costs between the slopes of its
    two sides; the integrals are exact there, by incomplete beta functions. One sort and O(n).

    References
    ----------
    D. J. Hand, "Measuring classifier performance: a coherent alternative to the area under the ROC curve", Machine Learning 77
    (2009); D. J. Hand and C. Anagnostopoulos, "A better Beta for the H measure of classification performance", Pattern
    Recognition Letters 40 (2014), for "prevalence".

    Examples
    --------
    >>> from mercer.metrics import h_measure
    >>> h_measure([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.8])
    1.0
    >>> h_measure([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.0
    """
    if is_multilabel(y_true):
        raise ValueError("h_measure: multilabel-indicator format is not supported; y_true must hold one label of two a row.")
    coding = code(check_labels(y_true, "y_true"))
    classes = classes_of(coding).tolist()
    if len(classes) > 2:
        raise ValueError(f"h_measure: multiclass format is not supported; y_true must hold two labels, not {len(classes)}.")
    if pos_label is None:
        pos_label = classes[-1]
    elif pos_label not in classes and len(classes) == 2:
        raise ValueError(f"h_measure: pos_label={pos_label!r} is not a valid label. It should be one of {classes!r}.")
    ranking = rank_coded(coding, coding.number_of(pos_label), y_score, sample_weight)
    if ranking.n_positive <= 0 or ranking.n_negative <= 0:
        warn_one_class("H-measure")
        return float("nan")
    p1 = ranking.n_positive / (ranking.n_positive + ranking.n_negative)
    a, b = _check_prior(prior, p1)
    _, tps, fps = ranking.cuts()
    loss = _least_loss(*_hull(fps / fps[-1], tps / tps[-1]), p1, a, b)
    trivial = _least_loss(np.array([0.0, 1.0]), np.array([0.0, 1.0]), p1, a, b)
    return float(np.clip(1 - loss / trivial, 0, 1))


def _check_prior(prior: Any, p1: float) -> tuple[float, float]:
    if isinstance(prior, (tuple, list)) and len(prior) == 2:
        a, b = (check_value("h_measure", f"prior[{i}]", value, Real(above=0)) for i, value in enumerate(prior))
        return a, b
    if not isinstance(prior, str):
        raise ValueError(
            f"h_measure: prior={prior!r} is not valid; it must be a pair (a, b) of positive numbers or 'prevalence'."
        )
    check_value("h_measure", "prior", prior, OneOf("prevalence"))
    return 1 + p1, 2 - p1


def _hull(fpr: Array, tpr: Array) -> tuple[Array, Array]:
    """The corners of the upper convex hull of a ROC curve, from (0, 0) on."""
    fpr, tpr = np.append(0.0, fpr), np.append(0.0, tpr)
    corners = np.empty(len(fpr), dtype=np.int64)
    corners = corners[: kernels.upper_hull(fpr, tpr, corners)]
    return fpr[corners], tpr[corners]


def _least_loss(fpr: Array, tpr: Array, p1: float, a: float, b: float) -> float:
    """∫ of the least of c p0 F + (1 - c) p1 (1 - T) over the corners of a hull, by the density of Beta(a, b)."""
    p0 = 1 - p1
    gain, price = p1 * np.diff(tpr), p0 * np.diff(fpr)
    is_side = gain + price > 0
    turn = np.ones(len(gain))  # the cost at which both ends of a side lose the same; it falls along the hull
    turn[is_side] = gain[is_side] / (gain + price)[is_side]
    limits = np.concatenate([[1.0], turn, [0.0]])
    share_of_costs = -np.diff(betainc(a + 1, b, limits)) * a / (a + b)  # ∫ c u(c) dc where each corner is best
    share_of_rest = -np.diff(betainc(a, b + 1, limits)) * b / (a + b)  # ∫ (1 - c) u(c) dc
    return float(np.sum(p0 * fpr * share_of_costs + p1 * (1 - tpr) * share_of_rest))

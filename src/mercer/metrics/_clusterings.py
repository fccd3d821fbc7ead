"""How much two labelings of the same rows agree, whatever the names of their clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import OneOf, Real, check_value
from mercer.metrics._contingency import Overlaps, check_clusterings, entropy_of

AVERAGES = ("min", "geometric", "arithmetic", "max")
TINY = np.finfo(np.float64).eps


def _average(a: float, b: float, method: str) -> float:
    of = {"min": min(a, b), "geometric": float(np.sqrt(a * b)), "arithmetic": (a + b) / 2, "max": max(a, b)}
    return of[method]


def rand_score(labels_true: Any, labels_pred: Any) -> float:
    """The share of pairs of rows that two labelings both put together or both keep apart.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Two labelings; the measure is symmetric.

    Returns
    -------
    score : float
        From 0 to 1. Labelings at random have more than zero: see :func:`adjusted_rand_score`.

    Examples
    --------
    >>> from mercer.metrics import rand_score
    >>> round(rand_score([0, 0, 1, 2], [0, 0, 1, 1]), 4)
    0.8333
    """
    apart, pred_only, true_only, together = Overlaps.of(labels_true, labels_pred).pairs()
    total = apart + pred_only + true_only + together
    return 1.0 if total == 0 else (apart + together) / total


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """The Rand index adjusted for chance: (index - expected) / (1 - expected).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Two labelings; the measure is symmetric.

    Returns
    -------
    score : float
        1 for equal partitions, about 0 for labelings at random, -0.5 at the least.

    Examples
    --------
    >>> from mercer.metrics import adjusted_rand_score
    >>> round(adjusted_rand_score([0, 0, 1, 2], [0, 0, 1, 1]), 4)
    0.5714
    """
    apart, pred_only, true_only, together = Overlaps.of(labels_true, labels_pred).pairs()
    if pred_only == 0 and true_only == 0:
        return 1.0
    above = 2 * (together * apart - true_only * pred_only)
    return above / ((together + true_only) * (true_only + apart) + (together + pred_only) * (pred_only + apart))


def fowlkes_mallows_score(labels_true: Any, labels_pred: Any) -> float:
    """The geometric mean of precision and recall of pairs that are together: TP / sqrt((TP + FP)(TP + FN)).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Two labelings; the measure is symmetric.

    Returns
    -------
    score : float
        From 0 to 1.

    Examples
    --------
    >>> from mercer.metrics import fowlkes_mallows_score
    >>> round(fowlkes_mallows_score([0, 0, 1, 2], [0, 0, 1, 1]), 4)
    0.7071
    """
    _, pred_only, true_only, together = Overlaps.of(labels_true, labels_pred).pairs()
    if together == 0:
        return 0.0
    return float(np.sqrt(together / (together + pred_only)) * np.sqrt(together / (together + true_only)))


def mutual_info_score(labels_true: Any, labels_pred: Any, *, contingency: Any = None) -> float:
    """The mutual information of two labelings, in nats: sum p_ij log(p_ij / (p_i p_j)).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Two labelings; the measure is symmetric.
    contingency : {array-like, sparse matrix} of shape (n_classes_true, n_classes_pred), default=None
        What :func:`contingency_matrix` gives; the labelings are then not looked at.

    Returns
    -------
    information : float
        0 or more.

    Examples
    --------
    >>> from mercer.metrics import mutual_info_score
    >>> round(mutual_info_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.6931
    """
    overlaps = Overlaps.of(labels_true, labels_pred) if contingency is None else Overlaps(contingency)
    return overlaps.information()


def normalized_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """The mutual information over a mean of the two entropies.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Two labelings; the measure is symmetric.
    average_method : {"min", "geometric", "arithmetic", "max"}, default="arithmetic"
        The mean of the entropies.

    Returns
    -------
    score : float
        From 0 to 1. Not adjusted for chance.

    Examples
    --------
    >>> from mercer.metrics import normalized_mutual_info_score
    >>> round(normalized_mutual_info_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8
    """
    check_value("normalized_mutual_info_score", "average_method", average_method, OneOf(*AVERAGES))
    overlaps = Overlaps.of(labels_true, labels_pred)
    if _are_alike(overlaps):
        return 1.0
    information = overlaps.information()
    if information <= TINY:
        return 0.0
    return float(information / _average(*overlaps.entropies(), average_method))


def _are_alike(overlaps: Overlaps) -> bool:
    """Whether both have one cluster at most, and nothing can be told."""
    return overlaps.n_classes == overlaps.n_clusters and overlaps.n_classes <= 1


def expected_mutual_information(contingency: Any, n_samples: int) -> float:
    """The mutual information that labelings with clusters of these sizes have by chance, in nats.

    Parameters
    ----------
    contingency : {array-like, sparse matrix} of shape (n_classes_true, n_classes_pred)
        What :func:`contingency_matrix` gives; its margins count.
    n_samples : int
        The sum of its cells.

    Returns
    -------
    information : float

    Examples
    --------
    >>> from mercer.metrics.cluster import contingency_matrix, expected_mutual_information
    >>> round(expected_mutual_information(contingency_matrix([0, 0, 1, 1], [0, 0, 1, 2]), 4), 4)
    0.4621
    """
    overlaps = Overlaps(contingency)
    if overlaps.total != n_samples:
        raise ValueError(f"expected_mutual_information: n_samples={n_samples}, but the cells add up to {overlaps.total:g}.")
    return _expected(overlaps)


def _expected(overlaps: Overlaps) -> float:
    if overlaps.n_classes <= 1 or overlaps.n_clusters <= 1:
        return 0.0
    sizes = (np.rint(sums).astype(np.int64) for sums in (overlaps.row_sums, overlaps.column_sums))
    return float(kernels.expected_information(*sizes, effective_threads(None)))


def adjusted_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """The mutual information adjusted for chance: (I - E[I]) / (mean entropy - E[I]).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Two labelings; the measure is symmetric.
    average_method : {"min", "geometric", "arithmetic", "max"}, default="arithmetic"
        The mean of the entropies.

    Returns
    -------
    score : float
        1 for equal partitions, about 0 for labelings at random; may be negative.

    Notes
    -----
    The expectation over labelings with clusters of the same sizes is exact: a sum over pairs of different sizes and their
    overlaps, in parallel.

    Examples
    --------
    >>> from mercer.metrics import adjusted_mutual_info_score
    >>> round(adjusted_mutual_info_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    check_value("adjusted_mutual_info_score", "average_method", average_method, OneOf(*AVERAGES))
    overlaps = Overlaps.of(labels_true, labels_pred)
    if _are_alike(overlaps):
        return 1.0
    if overlaps.n_classes == 1 or overlaps.n_clusters == 1:
        return 0.0
    expected = _expected(overlaps)
    above = overlaps.information() - expected
    below = _average(*overlaps.entropies(), average_method) - expected
    # Both are zero but for rounding where every labeling of these sizes has the same information.
    above, below = (min(value, -TINY) if value < 0 else max(value, TINY) for value in (above, below))
    return float(above / below)


def homogeneity_completeness_v_measure(labels_true: Any, labels_pred: Any, *, beta: float = 1.0) -> tuple[float, float, float]:
    """Homogeneity, completeness and their harmonic mean.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The classes, and the clusters that are judged.
    beta : float, default=1.0
        How much more completeness weighs than homogeneity.

    Returns
    -------
    homogeneity, completeness, v_measure : float
        I / H(true), I / H(predicted), and (1 + beta) h c / (beta h + c): each from 0 to 1.

    Examples
    --------
    >>> from mercer.metrics import homogeneity_completeness_v_measure
    >>> [round(value, 4) for value in homogeneity_completeness_v_measure([0, 0, 1, 1], [0, 0, 1, 2])]
    [1.0, 0.6667, 0.8]
    """
    beta = check_value("homogeneity_completeness_v_measure", "beta", beta, Real(least=0))
    overlaps = Overlaps.of(labels_true, labels_pred)
    if len(overlaps.counts) == 0:
        return 1.0, 1.0, 1.0
    of_true, of_pred = overlaps.entropies()
    information = overlaps.information()
    homogeneity = information / of_true if of_true else 1.0
    completeness = information / of_pred if of_pred else 1.0
    if homogeneity + completeness == 0.0:
        return homogeneity, completeness, 0.0
    return homogeneity, completeness, (1 + beta) * homogeneity * completeness / (beta * homogeneity + completeness)


def homogeneity_score(labels_true: Any, labels_pred: Any) -> float:
    """How far every cluster has rows of one class alone: I / H(true).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The classes, and the clusters that are judged.

    Returns
    -------
    score : float
        From 0 to 1.

    Examples
    --------
    >>> from mercer.metrics import homogeneity_score
    >>> round(homogeneity_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    1.0
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[0]


def completeness_score(labels_true: Any, labels_pred: Any) -> float:
    """How far all rows of a class are in one cluster: I / H(predicted).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The classes, and the clusters that are judged.

    Returns
    -------
    score : float
        From 0 to 1.

    Examples
    --------
    >>> from mercer.metrics import completeness_score
    >>> round(completeness_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.6667
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[1]


def v_measure_score(labels_true: Any, labels_pred: Any, *, beta: float = 1.0) -> float:
    """The harmonic mean of homogeneity and completeness.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The classes, and the clusters that are judged; with beta=1 the measure is symmetric.
    beta : float, default=1.0
        How much more completeness weighs than homogeneity.

    Returns
    -------
    score : float
        From 0 to 1.

    Examples
    --------
    >>> from mercer.metrics import v_measure_score
    >>> round(v_measure_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred, beta=beta)[2]


def entropy(labels: Any) -> float:
    """The entropy of a labeling, in nats.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)

    Returns
    -------
    entropy : float

    Examples
    --------
    >>> from mercer.metrics.cluster import entropy
    >>> round(entropy([0, 0, 1, 1]), 4)
    0.6931
    """
    vector, _ = check_clusterings(labels, labels)
    return 1.0 if len(vector) == 0 else entropy_of(np.unique(vector, return_counts=True)[1].astype(np.float64))

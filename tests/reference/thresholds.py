"""The best threshold by trying all of them, and the best class weights on a grid: one confusion matrix a trial."""

from __future__ import annotations

import numpy as np


def confusion(y_true, y_pred, weights, classes):
    return np.array([[weights[(y_true == a) & (y_pred == b)].sum() for b in classes] for a in classes])


def recalls(cells):
    """Of the classes that have rows."""
    totals = cells.sum(axis=1)
    return [cells[k, k] / totals[k] for k in range(len(cells)) if totals[k] > 0]


def f_beta_of_class(cells, k, beta):
    tp, fn, fp = cells[k, k], cells[k].sum() - cells[k, k], cells[:, k].sum() - cells[k, k]
    whole = (1 + beta**2) * tp + beta**2 * fn + fp
    return (1 + beta**2) * tp / whole if whole > 0 else 0.0


def class_weighted_accuracy(cells, alphas):
    recall = [cells[k, k] / cells[k].sum() if cells[k].sum() > 0 else 0.0 for k in range(len(cells))]
    return np.average(recall, weights=alphas)


def score(cells, scoring, *, positive=1, beta=1.0, alpha=0.5, costs=None):
    n_classes = len(cells)
    there = [k for k in range(n_classes) if cells[k].sum() > 0]
    seen = [k for k in range(n_classes) if cells[k].sum() + cells[:, k].sum() > 0]
    if scoring == "accuracy":
        return np.trace(cells) / cells.sum()
    if scoring == "balanced_accuracy":
        return np.mean(recalls(cells))
    if scoring == "g_mean":
        return np.prod(recalls(cells)) ** (1 / len(there))
    if scoring == "f_beta":
        return (
            f_beta_of_class(cells, positive, beta)
            if n_classes == 2
            else np.mean([f_beta_of_class(cells, k, beta) for k in seen])
        )
    if scoring == "cwa":
        alphas = alpha if n_classes > 2 else [1 - alpha, alpha] if positive == 1 else [alpha, 1 - alpha]
        return class_weighted_accuracy(cells, alphas)
    return -(cells * costs).sum() / cells.sum()


def mean_score(folds, decide, classes, scoring, **options):
    """`folds` holds (labels, scores, weights); `decide` makes labels of scores."""
    return np.mean([score(confusion(y, decide(s), w, classes), scoring, **options) for y, s, w in folds])


def best_threshold_score(folds, classes, scoring, *, positive=1, **options):
    """The best mean over folds of any threshold: one below, between and above all scores."""
    values = np.unique(np.concatenate([s[w > 0] for _, s, w in folds]))
    tried = np.concatenate([values, [values[-1] + 1]])

    def decide(threshold):
        return lambda s: np.where(s >= threshold, classes[positive], classes[1 - positive])

    return max(mean_score(folds, decide(t), classes, scoring, positive=positive, **options) for t in tried)

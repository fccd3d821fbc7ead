"""ID3 as the textbook has it: recursive, one node at a time."""

from __future__ import annotations

from math import log2


def entropy(labels, weights):
    total = sum(weights)
    shares = [sum(w for y, w in zip(labels, weights, strict=True) if y == label) / total for label in sorted(set(labels))]
    return -sum(p * log2(p) for p in shares if p > 0)


def branches_of(rows, feature):
    return sorted({row[feature] for row in rows})


def gain_and_ratio(rows, labels, weights, feature):
    gain, info, total = entropy(labels, weights), 0.0, sum(weights)
    for value in branches_of(rows, feature):
        here = [i for i, row in enumerate(rows) if row[feature] == value]
        share = sum(weights[i] for i in here) / total
        gain -= share * entropy([labels[i] for i in here], [weights[i] for i in here])
        info -= share * log2(share)
    return gain, gain / info if info > 1e-12 else 0.0


def best_feature(rows, labels, weights, criterion):
    figures = [gain_and_ratio(rows, labels, weights, feature) for feature in range(len(rows[0]))]
    useful = [f for f, (gain, ratio) in enumerate(figures) if gain > 1e-12 and ratio > 0]
    if not useful:
        return None
    if criterion == "gain_ratio":
        average = sum(figures[f][0] for f in useful) / len(useful)
        useful = [f for f in useful if figures[f][0] >= average - 1e-12]
    place = 1 if criterion == "gain_ratio" else 0
    most = max(figures[f][place] for f in useful)
    return next(f for f in useful if figures[f][place] >= most - 1e-12)


def grow(rows, labels, weights, criterion, depth):
    """A nested dict: {"feature": f, "branches": {value: node}} or {"counts": {label: weight}}."""
    counts = {label: sum(w for y, w in zip(labels, weights, strict=True) if y == label) for label in sorted(set(labels))}
    feature = best_feature(rows, labels, weights, criterion) if len(counts) > 1 and depth > 0 else None
    if feature is None:
        return {"counts": counts}
    branches = {}
    for value in branches_of(rows, feature):
        here = [i for i, row in enumerate(rows) if row[feature] == value]
        branches[value] = grow(
            [rows[i] for i in here], [labels[i] for i in here], [weights[i] for i in here], criterion, depth - 1
        )
    return {"feature": feature, "branches": branches}

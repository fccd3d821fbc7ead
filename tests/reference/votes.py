"""Votes and means of neighbours, local outlier factors and imputation, as textbooks have them."""

from __future__ import annotations

import numpy as np


def distances(A, B):
    """Exact differences, one pair at a time."""
    return np.sqrt(((np.asarray(A, float)[:, None, :] - np.asarray(B, float)[None, :, :]) ** 2).sum(axis=2))


def nearest(d, k):
    """The rows at the k least distances of one query, ties by row number."""
    return np.lexsort((np.arange(len(d)), d))[:k]


def weigh(d, weights, bandwidth=1.0):
    if weights in (None, "uniform"):
        return np.ones(len(d))
    if weights == "distance":
        return (d == 0).astype(float) if (d == 0).any() else 1 / d
    if weights == "gaussian":
        return np.exp(-(d**2 - d.min() ** 2) / bandwidth) if len(d) else d
    return np.asarray(weights(d), float)


def shares(w, codes, n_classes):
    sums = np.array([w[codes == c].sum() for c in range(n_classes)])
    return sums / sums.sum()


def winner(w, codes, d, ties):
    """The class of most weight; a tie goes to the first class, or to that of the closest row."""
    sums = {c: w[codes == c].sum() for c in sorted(set(codes.tolist()))}
    best = [c for c, total in sums.items() if np.isclose(total, max(sums.values()), rtol=1e-12, atol=0)]
    if ties == "first":
        return best[0]
    return next(code for code in codes[np.argsort(d, kind="stable")] if code in best)


def mean(w, targets):
    return (w[:, None] * targets).sum(axis=0) / w.sum()


def outlier_factors(X, k):
    """LOF of the rows, each left out of its own neighbours."""
    d = distances(X, X)
    np.fill_diagonal(d, np.inf)
    around = [nearest(line, k) for line in d]
    reach = np.array([d[i, rows[-1]] for i, rows in enumerate(around)])
    density = np.array([1 / (np.maximum(d[i, rows], reach[rows]).mean() + 1e-10) for i, rows in enumerate(around)])
    return np.array([density[rows].mean() / density[i] for i, rows in enumerate(around)])


def distinct_outlier_factors(X, k):
    """The same by places: all rows within the distance of the k-th place that is not the row's own."""
    d, n = distances(X, X), len(X)
    reach = np.array([_kth_place(X, line, k) for line in d])
    around = [[j for j in range(n) if j != i and _is_within(X, d[i], j, k)] for i in range(n)]
    density = np.array([1 / (np.maximum(d[i, rows], reach[rows]).mean() + 1e-10) for i, rows in enumerate(around)])
    return np.array([density[rows].mean() / density[i] for i, rows in enumerate(around)])


def _places(X, line, k):
    """The k nearest places other than the own one, ties in the order of the first rows at them."""
    places = X[np.sort(np.unique(X, axis=0, return_index=True)[1])]
    at = np.array([line[(place == X).all(axis=1)][0] for place in places])
    order = [place for place in np.lexsort((np.arange(len(places)), at)) if at[place] > 0]
    return places[order[:k]], at[order[:k]]


def _kth_place(X, line, k):
    return _places(X, line, k)[1][-1]


def _is_within(X, line, j, k):
    return line[j] == 0 or (_places(X, line, k)[0] == X[j]).all(axis=1).any()


def nan_distance(a, b):
    """Over the columns that both have; NaN where there are none."""
    has_both = ~np.isnan(a) & ~np.isnan(b)
    if not has_both.any():
        return np.nan
    return np.sqrt(len(a) / has_both.sum() * ((a - b)[has_both] ** 2).sum())


def impute(X, fit_X, k, weights="uniform"):
    out = np.array(X, float)
    for i, j in zip(*np.nonzero(np.isnan(X)), strict=True):
        donors = [r for r in range(len(fit_X)) if not np.isnan(fit_X[r, j]) and not np.isnan(nan_distance(X[i], fit_X[r]))]
        if not donors:
            out[i, j] = np.nanmean(fit_X[:, j])
            continue
        d = np.array([nan_distance(X[i], fit_X[r]) for r in donors])
        chosen = nearest(d, k)
        out[i, j] = mean(weigh(d[chosen], weights), fit_X[np.array(donors)[chosen], j][:, None])[0]
    return out

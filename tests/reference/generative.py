"""Discriminant analysis and naive Bayes as the textbook has them: one line a formula."""

from __future__ import annotations

import numpy as np


def class_statistics(X, y):
    """Priors, means and scatter matrices of the classes."""
    classes = np.unique(y)
    groups = [np.asarray(X, dtype=np.float64)[y == label] for label in classes]
    priors = np.array([len(rows) / len(X) for rows in groups])
    means = np.array([rows.mean(axis=0) for rows in groups])
    scatters = np.array([(rows - mean).T @ (rows - mean) for rows, mean in zip(groups, means, strict=True)])
    return priors, means, scatters


def linear_scores(X, y, queries, normalizer):
    """x' S^-1 mu_k - mu_k' S^-1 mu_k / 2 + ln pi_k, with S the scatter within classes over the normaliser."""
    priors, means, scatters = class_statistics(X, y)
    inverse = np.linalg.inv(scatters.sum(axis=0) / normalizer)
    return queries @ inverse @ means.T - 0.5 * np.einsum("ki,ij,kj->k", means, inverse, means) + np.log(priors)


def rule_of_two(X, y, queries):
    """The rule of the notes for classes +1 and -1, with the inverse that their formula lacks; the covariance is over n - 2."""
    plus, minus = X[y == 1], X[y == -1]
    n, m = len(X), len(plus)
    pooled = ((m - 1) * np.cov(plus.T) + (n - m - 1) * np.cov(minus.T)) / (n - 2)
    inverse = np.linalg.inv(pooled)
    a, b = plus.mean(axis=0), minus.mean(axis=0)
    threshold = 0.5 * a @ inverse @ a - 0.5 * b @ inverse @ b + np.log(1 - m / n) - np.log(m / n)
    return queries @ inverse @ (a - b) - threshold


def quadratic_scores(X, y, queries):
    """ln pi_k - (x - mu_k)' S_k^-1 (x - mu_k) / 2 - ln |S_k| / 2."""
    priors, means, scatters = class_statistics(X, y)
    counts = priors * len(X)
    columns = []
    for prior, mean, covariance in zip(priors, means, scatters / counts[:, None, None], strict=True):
        offset = queries - mean
        squares = np.einsum("ni,ij,nj->n", offset, np.linalg.inv(covariance), offset)
        columns.append(np.log(prior) - 0.5 * squares - 0.5 * np.linalg.slogdet(covariance)[1])
    return np.column_stack(columns)


def gaussian_joint(X, y, queries, epsilon):
    """ln pi_k plus the sum of the logarithms of normal densities."""
    priors, means, scatters = class_statistics(X, y)
    variances = np.array([np.diag(scatter) for scatter in scatters]) / (priors * len(X))[:, None] + epsilon
    squares = (queries[:, None, :] - means) ** 2 / variances
    return np.log(priors) - 0.5 * (np.log(2 * np.pi * variances) + squares).sum(axis=2)

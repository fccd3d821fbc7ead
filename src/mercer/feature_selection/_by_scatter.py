"""Scores of linear discriminant analysis on sets of columns, from the means of the classes and one scatter matrix a fold."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
from scipy.special import softmax
from sklearn.metrics import get_scorer

from mercer._arrays import FloatArray, check_labels
from mercer._jobs import run_jobs
from mercer._parallel import effective_threads
from mercer._stand_in import stand_in
from mercer._statistics import GroupScatters
from mercer.discriminant_analysis import LinearDiscriminantAnalysis
from mercer.feature_selection._by_fits import ByFits, are_moderate
from mercer.feature_selection._by_products import MOST_BYTES, are_parts
from mercer.feature_selection._walks import Features, Mask

LEAST_EIGENVALUE = 1e-6  # of the correlation matrix within classes: below, the set is fitted plainly


class ScatterFold:
    """What one fold's training rows say of the classes, with columns scaled to one within them, and the held-out rows."""

    def __init__(self, of_train: GroupScatters, X_test: FloatArray, tol: float) -> None:
        shares = of_train.weight / of_train.weight.sum()
        centre = shares @ of_train.mean
        within = of_train.scatter.sum(axis=0) / of_train.weight.sum()
        deviations = np.sqrt(within.diagonal())
        self.varies = deviations > 0
        deviations[~self.varies] = 1.0
        self._within = within / deviations[:, None] / deviations
        self._offsets = (of_train.mean - centre) / deviations
        self._logs, self._shares, self._weight = np.log(shares), shares, of_train.weight.sum()
        self._test = np.asfortranarray((X_test - centre) / deviations)
        self._tol = tol

    def scores(self, columns: Features, factor: float) -> FloatArray | None:
        """Discriminant scores of the held-out rows, up to what all classes have in common; None where the set is singular."""
        if not self.varies[columns].all():
            return None
        within, offsets = self._within[np.ix_(columns, columns)], self._offsets[:, columns]
        values, vectors = scipy.linalg.eigh(within, check_finite=False)
        if values[0] <= max(LEAST_EIGENVALUE, 4 * self._tol**2):
            return None
        whitening = vectors / np.sqrt(values * factor)
        white = offsets @ whitening
        if len(white) > 2:  # directions in which the means hardly differ are left out
            between = np.sqrt(self._weight * self._shares / (len(white) - 1))[:, None] * white
            _, lengths, directions = scipy.linalg.svd(between, full_matrices=False, check_finite=False)
            directions = directions[lengths > self._tol * lengths[0]]
            white = white @ directions.T @ directions
        lines = white @ whitening.T
        starts = self._logs - 0.5 * np.einsum("ij,ij->i", offsets, lines)
        found: FloatArray = self._test[:, columns] @ lines.T + starts
        return found


class ByScatter:
    """A set takes the eigenvectors of its part of one matrix, and no training row is read again."""

    def __init__(self, plain: ByFits, classes: npt.NDArray[Any], codes: npt.NDArray[np.intp], scorer: Any) -> None:
        self._plain, self._classes, self._codes, self._scorer = plain, classes, codes, scorer
        tol = float(plain.estimator.tol)
        self._folds = [
            ScatterFold(of_train, plain.X[test].astype(np.float64, copy=False), tol)
            for of_train, (_, test) in zip(_scatters(plain, codes, len(classes)), plain.splits, strict=True)
        ]
        self._is_unbiased = plain.estimator.normalizer == "n-K"

    @classmethod
    def of(cls, plain: ByFits, scoring: Any) -> ByScatter | None:
        """For the plain estimate of the covariance and dense rows; None otherwise."""
        estimator, X = plain.estimator, plain.X
        if type(estimator) is not LinearDiscriminantAnalysis or not isinstance(X, np.ndarray) or plain.metadata:
            return None
        is_plain = estimator.shrinkage is None and estimator.priors is None and estimator.covariance_estimator is None
        is_plain = is_plain and estimator.n_components is None and estimator.solver == "svd"
        if not is_plain or not (scoring is None or isinstance(scoring, str)) or not are_moderate(X):
            return None
        classes, codes = check_labels(plain.y)
        if len(classes) < 2 or any(np.bincount(codes[train], minlength=len(classes)).min() < 1 for train, _ in plain.splits):
            return None
        if len(plain.splits) * (len(classes) + 1) * 8 * X.shape[1] ** 2 > MOST_BYTES:
            return None
        scorer = None if scoring in (None, "accuracy") else get_scorer(scoring)
        return cls(plain, classes, codes, scorer)

    def changed(self, base: Mask, features: Features) -> FloatArray:
        sets = []
        for feature in features:
            support = base.copy()
            support[feature] = ~base[feature]
            sets.append(np.flatnonzero(support))
        jobs = [partial(self._fold_scores, place, sets) for place in range(len(self._folds))]
        with run_jobs(jobs, self._plain.n_jobs, in_threads=True) as results:
            scores = np.column_stack(list(results))
        if (unsolved := np.isnan(scores).any(axis=1)).any():
            scores[unsolved] = self._plain.changed(base, features[unsolved])
        return scores

    def _fold_scores(self, place: int, sets: list[Features]) -> FloatArray:
        """The scores of one fold; NaN where a set has a singular scatter."""
        train, test = self._plain.splits[place]
        n, n_classes = len(train), len(self._classes)
        factor = n / (n - n_classes) if self._is_unbiased and n > n_classes else 1.0
        found = (self._folds[place].scores(columns, factor) for columns in sets)
        return np.array([np.nan if values is None else self._scored(values, test) for values in found])

    def _scored(self, values: FloatArray, test: npt.NDArray[np.intp]) -> float:
        places = values.argmax(axis=1)
        if self._scorer is None:
            return float((places == self._codes[test]).mean())
        decision = values[:, 1] - values[:, 0] if len(self._classes) == 2 else values
        model = stand_in(self._classes[places], classes=self._classes, probability=softmax(values, axis=1), decision=decision)
        return float(self._scorer(model, self._plain.X[test], np.asarray(self._plain.y)[test]))


def _scatters(plain: ByFits, codes: npt.NDArray[np.intp], n_classes: int) -> list[GroupScatters]:
    """Means and scatters of the classes among the training rows of each fold."""
    n_threads = effective_threads(None)

    def of(rows: npt.NDArray[np.intp]) -> GroupScatters:
        return GroupScatters.of(plain.X[rows], codes[rows], n_classes, None, n_threads=n_threads)

    if not are_parts(plain.splits, len(plain.X)):
        return [of(train) for train, _ in plain.splits]
    parts = [of(test) for _, test in plain.splits]
    return [first.merge(*others) for first, *others in (parts[:k] + parts[k + 1 :] for k in range(len(parts)))]

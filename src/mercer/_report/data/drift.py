"""Whether the test rows look like the training rows: column by column, and to a classifier that is to tell them apart."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2, kstwobign

from mercer._arrays import FloatArray
from mercer._assessment.intervals import delong
from mercer._report.data.columns import Feature
from mercer._report.data.content import ColumnDrift, Drift
from mercer._report.multiplicity import holm
from mercer._report.numbers import number, percent, plural
from mercer._tables import IntArray

_LEVEL = 0.01  # of a corrected p-value that counts
_MOST_SHOWN = 15
_MOST_COLUMNS = 300  # that the classifier looks at
_MOST_ROWS = 4_000
_N_FOLDS = 3
_MANY_MISSING = 0.05  # more in one table than in the other
_CLEAR = 0.6  # of the area under the curve, below which a difference is of no consequence


def drift_of(features: Sequence[Feature], seed: int, deadline: float) -> tuple[Drift, str | None]:
    """Distances of all columns that the time allows, corrected for their number, and the classifier's area under the curve."""
    found, note = [], None
    for place, feature in enumerate(features):
        if time.monotonic() > deadline:
            note = f"Drift: the time allowed {place} of {len(features)} columns."
            break
        line = _of_words(feature) if feature.is_words else _of_numbers(feature)
        if line is not None:
            found.append(line)
    for line, p in zip(found, holm([line["p"] for line in found]), strict=True):
        line["p"] = p
    n_different = sum(line["p"] < _LEVEL for line in found)
    found.sort(key=lambda line: (line["p"] >= _LEVEL, -line["distance"]))
    areas = _told_apart(features[:_MOST_COLUMNS], seed) if time.monotonic() < deadline else None
    drift = Drift(
        columns=found[:_MOST_SHOWN],
        n_columns=len(found),
        n_different=n_different,
        auc=areas[0] if areas else None,
        auc_low=areas[1] if areas else None,
        auc_high=areas[2] if areas else None,
        n_rows=areas[3] if areas else 0,
        reading="",
    )
    drift["reading"] = _reading(drift)
    return drift, note


def _of_numbers(feature: Feature) -> ColumnDrift | None:
    """The largest distance of the two distribution functions; missing values count as one value below all."""
    train, test = (np.nan_to_num(values, nan=-np.inf) for values in (feature.train, feature.test))
    m, n = len(train), len(test)
    if not m or not n:
        return None
    train.sort()
    test.sort()
    points = np.concatenate([train, test])
    below = [np.searchsorted(values, points, side="right") / len(values) for values in (train, test)]
    distance = float(np.abs(below[0] - below[1]).max())
    p = float(kstwobign.sf(distance * np.sqrt(m * n / (m + n))))
    words = _moved(feature)
    return ColumnDrift(column=feature.name, measure="Kolmogorov-Smirnov", distance=distance, p=p, words=words)


def _moved(feature: Feature) -> str:
    """The share that is missing where that is what moved, or else the middle."""
    parts = (feature.train, feature.test)
    shares = [float(np.isnan(values).mean()) for values in parts]
    if abs(shares[0] - shares[1]) > _MANY_MISSING:
        return f"missing {percent(shares[0])} in training, {percent(shares[1])} in the test"
    if feature.is_date or max(shares) == 1:
        return ""
    medians = [number(float(np.nanmedian(values))) for values in parts]
    return f"median {medians[0]} in training, {medians[1]} in the test"


def _of_words(feature: Feature) -> ColumnDrift | None:
    """Half the sum of the differences of shares, tested by chi squared; rare words count together."""
    if feature.is_free_text or not len(feature.train) or not len(feature.test):
        return None
    k = len(feature.levels)
    counts = np.stack(
        [np.bincount(np.where(np.isnan(v), k, v).astype(int), minlength=k + 1) for v in (feature.train, feature.test)]
    )
    expected = counts.sum(axis=0) * min(counts.sum(axis=1)) / counts.sum()
    is_rare = expected < 5
    tested = np.column_stack([counts[:, ~is_rare], counts[:, is_rare].sum(axis=1)]) if is_rare.any() else counts
    tested = tested[:, tested.sum(axis=0) > 0]
    if tested.shape[1] < 2:
        return None
    totals = tested.sum(axis=1, keepdims=True)
    shares = tested / totals
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
    mean = tested.sum(axis=0) / totals.sum()
    statistic = float(((tested - totals * mean) ** 2 / (totals * mean)).sum())
    p = float(chi2.sf(statistic, tested.shape[1] - 1))
    whole = counts / counts.sum(axis=1, keepdims=True)
    at = int(np.argmax(np.abs(whole[0] - whole[1])))
    level = feature.levels[at] if at < k else "missing"
    words = f"{level}: {percent(float(whole[0, at]))} in training, {percent(float(whole[1, at]))} in the test"
    return ColumnDrift(column=feature.name, measure="total variation", distance=distance, p=p, words=words)


def _told_apart(features: Sequence[Feature], seed: int) -> tuple[float, float, float, int] | None:
    """The area under the ROC curve of boosted trees that guess which table a row is from, on rows not fitted."""
    from mercer.ensemble import HistGradientBoostingClassifier
    from mercer.model_selection import StratifiedKFold, cross_val_predict

    usable = [each for each in features if not each.is_free_text]
    if not usable:
        return None
    rng = np.random.default_rng([seed, 7])
    rows = [rng.permutation(size)[:_MOST_ROWS] for size in (len(usable[0].train), len(usable[0].test))]
    if min(map(len, rows)) < 10 * _N_FOLDS:
        return None
    X = np.column_stack([np.concatenate([each.train[rows[0]], each.test[rows[1]]]) for each in usable])
    is_test = np.repeat([False, True], [len(part) for part in rows])
    model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, early_stopping=False, random_state=seed)
    folds = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=seed)
    score: FloatArray = cross_val_predict(model, X, is_test, cv=folds, method="predict_proba")[:, 1]
    score = _ranked_within(score, [held for _, held in folds.split(X, is_test)])
    positives, negatives = score[is_test], score[~is_test]
    ranks = np.searchsorted(np.sort(negatives), positives, side="left") + np.searchsorted(
        np.sort(negatives), positives, side="right"
    )
    area = float(ranks.mean() / 2 / len(negatives))
    return (area, *delong(is_test, score, 0.95), len(is_test))


def _ranked_within(score: FloatArray, folds: Sequence[IntArray]) -> FloatArray:
    """Ranks within each fold, from 0 to 1: scores of different fits are not on one scale."""
    from scipy.stats import rankdata

    ranked = np.empty_like(score)
    for held in folds:
        ranked[held] = rankdata(score[held]) / len(score[held])
    return ranked


def _reading(drift: Drift) -> str:
    n, of = drift["n_different"], plural(drift["n_columns"], "column")
    if not drift["n_columns"]:
        return "There was no time to compare training and test rows."
    some = f"{n:,} of {of} {'differs' if n == 1 else 'differ'}" if n else f"None of {of} differs"
    words = f"{some} between training and test rows by more than chance explains. "
    area, low = drift["auc"], drift["auc_low"]
    if area is None or low is None:
        return words + "There are too few rows, or there was no time, for a classifier that is to tell the two apart."
    figures = f"A classifier that is to tell the two apart comes to an AUC of {number(area, 3)} on rows that it had not seen"
    if low > 0.5 and area >= _CLEAR:
        return f"{words}{figures}: they are not alike, and the test result holds for rows like the test rows."
    if low > 0.5:
        return f"{words}{figures}, barely more than one half: they differ, but hardly."
    return f"{words}{figures}, no better than guessing (one half) as far as so many rows can tell."

"""The table in figures, within a time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._report.data.association import associations_of
from mercer._report.data.columns import Feature, Sample
from mercer._report.data.content import Drift, Profile
from mercer._report.data.distributions import distribution_of
from mercer._report.data.drift import drift_of
from mercer._report.data.missing import missing_of
from mercer._report.data.outliers import outliers_of
from mercer._tables import IntArray, Table

_MOST_SHOWN = 100  # columns whose distribution is kept
_MOST_LOOKED_AT = 1000  # for outliers
_SHARES = (0.4, 0.6, 1.0)  # of the time: when reading, associations and drift must end
_LEAST_DRIFT = 0.3  # of the time, in any case


@dataclass(frozen=True)
class Described:
    """What was found, and the columns that were read for it, for those who look on."""

    profile: Profile
    drift: Drift
    features: list[Feature]
    test_rows: IntArray  # of which the features are
    notes: list[str]


def describe_table(
    train: Table,
    y_train: Any,
    test: Table,
    y_test: Any,
    *,
    name: str,
    classes: Sequence[Any] | None,
    leading: Sequence[str],
    seed: int,
    seconds: float,
) -> Described:
    """Figures of the table and the drift, with notes on what the time did not allow.

    `leading` are the names of the columns to begin with. At most 20,000 training and test rows are looked at, fewer of wide
    tables.
    """
    start = time.monotonic()
    sample = Sample.of(train, test, leading, seed)
    target = _target(name, np.asarray(y_train)[sample.train_rows], np.asarray(y_test)[sample.test_rows], classes)
    features, notes = [], []
    for place in range(len(sample)):
        feature = sample.feature(place)
        if feature is not None and feature.has_values:
            features.append(feature)
        if time.monotonic() > start + _SHARES[0] * seconds:
            notes.append(f"Distributions: the time allowed {place + 1} of {len(sample)} columns.")
            break
    associations, pairs_note = associations_of(features, target, start + _SHARES[1] * seconds)
    lines, n_missing, patterns = missing_of(features, target)
    profile = Profile(
        n_train=len(sample.train_rows),
        n_test=len(sample.test_rows),
        n_columns=len(sample),
        target=distribution_of(target),
        columns=[distribution_of(each) for each in features[:_MOST_SHOWN]],
        missing=lines,
        n_missing=n_missing,
        patterns=patterns,
        outliers=outliers_of(features[:_MOST_LOOKED_AT]),
        associations=associations,
    )
    drift, drift_note = drift_of(features, seed, max(start + _SHARES[2] * seconds, time.monotonic() + _LEAST_DRIFT * seconds))
    return Described(profile, drift, features, sample.test_rows, [*notes, *filter(None, [pairs_note, drift_note])])


def _target(name: str, train: Any, test: Any, classes: Sequence[Any] | None) -> Feature:
    if classes is None:
        return Feature(name, np.asarray(train, dtype=np.float64), np.asarray(test, dtype=np.float64))
    levels = tuple(str(label) for label in classes)
    place = {level: float(at) for at, level in enumerate(levels)}
    codes = [np.asarray([place[str(label)] for label in part.tolist()]) for part in (train, test)]
    return Feature(name, codes[0], codes[1], levels)

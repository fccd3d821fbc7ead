"""Predictions of test rows, with ties."""

from __future__ import annotations

import numpy as np

from mercer._assessment.bootstrap import Bootstrap
from mercer._assessment.predictions import ClassPredictions
from mercer.model_selection._evaluate.measures import measure_test


def binary_rows(n=60, seed=0, digits=1):
    random = np.random.RandomState(seed)
    true = np.r_[0, 0, 1, 1, random.randint(0, 2, n - 4)]
    probability = np.clip(np.round(0.25 * true + 0.75 * random.uniform(size=n), digits), 0.05, 0.95)
    predicted = (probability > 0.5).astype(int)
    both = np.c_[1 - probability, probability]
    return ClassPredictions([0, 1], true, predicted, both, None)


def many_rows(n=80, seed=0, n_classes=4):
    random = np.random.RandomState(seed)
    true = np.r_[np.repeat(np.arange(n_classes), 2), random.randint(0, n_classes, n - 2 * n_classes)]
    probability = random.dirichlet(np.ones(n_classes), n) + 0.4 * np.eye(n_classes)[true]
    probability /= probability.sum(axis=1, keepdims=True)
    predicted = probability.argmax(axis=1)
    return ClassPredictions(list(range(n_classes)), true, predicted, probability, None)


def measures_of(rows, n_resamples=50, **options):
    strata = rows.true if isinstance(rows, ClassPredictions) else None
    bootstrap = Bootstrap(len(rows.true), n_resamples, np.random.RandomState(0), strata, **options)
    return {measure.name: measure for measure in measure_test(rows, bootstrap, 0.9)}

"""How the cost grows with the rows: n doubled four times, for exact trees (n log n) and for histograms (n)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks._case import MERCER, Case, Contender, Quality
from benchmarks.tree._problems import classes, error_rate, fit


def cases() -> Iterator[Case]:
    exact = (Contender(MERCER, "mercer.tree:DecisionTreeClassifier"),)
    forest = (Contender(MERCER, "mercer.ensemble:RandomForestClassifier", {"n_estimators": 10, "random_state": 0}),)
    boosted = (Contender(MERCER, "mercer.ensemble:HistGradientBoostingClassifier", {"early_stopping": False}),)
    quality = Quality("held-out error rate", error_rate)
    for what, who in (
        ("DecisionTree fit", exact),
        ("RandomForest fit, 10 trees", forest),
        ("HistGradientBoosting fit", boosted),
    ):
        for n in (20_000, 40_000, 80_000, 160_000, 320_000):
            yield Case(f"{what}, rows doubled", f"{n:,} x 30", partial(classes, n, 30), who, fit, quality)

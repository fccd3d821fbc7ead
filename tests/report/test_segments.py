"""Parts of the test rows on which a model is worse than elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._assessment.predictions import ClassPredictions, NumberPredictions
from mercer._report.data.columns import Feature
from mercer._report.schema import check_value
from mercer._report.segments.content import Segments
from mercer._report.segments.errors import segments_of
from mercer._report.segments.groups import groups_of

N = 600
ROWS = np.arange(N)
LEVELS = ("east", "north", "south")


def _features(seed=0):
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 3, N).astype(float)
    height = rng.normal(size=N)
    height[rng.random(N) < 0.1] = np.nan
    return [Feature("place", place, place, LEVELS), Feature("height", height, height)]


def _classes(p_wrong, n_classes=2, shift=0.0, seed=1):
    """Rows that are wrong with a probability of their own, and are said to be so, but for a shift of the log odds."""
    rng = np.random.default_rng(seed)
    predicted = rng.integers(0, n_classes, N)
    wrong = rng.random(N) < p_wrong
    true = np.where(wrong, (predicted + 1) % n_classes, predicted)
    said = 1 / (1 + np.exp(-(np.log((1 - p_wrong) / p_wrong) + shift)))
    probability = np.repeat(((1 - said) / (n_classes - 1))[:, None], n_classes, axis=1)
    probability[ROWS, predicted] = said
    return ClassPredictions([f"c{i}" for i in range(n_classes)], true, predicted, probability, None)


def test_parts_are_levels_quarters_and_gaps_with_rows_enough():
    parts = {(group.column, group.value): group.n for group in groups_of(_features())}
    assert {value for column, value in parts if column == "place"} == set(LEVELS)
    quarters = [value for column, value in parts if column == "height"]
    assert len(quarters) == 5
    assert quarters[0].startswith("up to ")
    assert quarters[3].startswith("above ")
    assert quarters[4] == "missing"
    assert sum(n for (column, _), n in parts.items() if column == "height") == N
    few = Feature("few", np.r_[np.ones(10), np.zeros(N - 10)], np.r_[np.ones(10), np.zeros(N - 10)])
    assert list(groups_of([few])) == []


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_part_with_more_errors_is_found(n_classes):
    features = _features()
    p_wrong = np.where(features[0].test == 1, 0.4, 0.1)
    found = segments_of(_classes(p_wrong, n_classes), features, ROWS)
    check_value(found, Segments, "")
    assert [(row["column"], row["value"]) for row in found["worse"]] == [("place", "north")]
    worst = found["worse"][0]
    assert worst["low"] < worst["error"] < worst["high"]
    assert worst["error"] == pytest.approx(0.4, abs=0.08)
    assert worst["others"] == pytest.approx(0.1, abs=0.05)
    assert "first place (north)" in found["reading"]
    assert found["kind"] == ("probability" if n_classes == 2 else "confidence")


def test_nothing_is_found_where_nothing_is():
    n_found = 0
    for seed in range(30):
        found = segments_of(_classes(np.full(N, 0.2), seed=seed), _features(seed), ROWS)
        n_found += bool(found["worse"]) + bool(found["off"])
    assert n_found <= 5  # at most one in twenty of the sixty, but for luck


def test_larger_absolute_errors_and_bias_are_found_for_numbers():
    features, rng = _features(), np.random.default_rng(2)
    true = rng.normal(size=N)
    spread = np.where(np.isnan(features[1].test), 5.0, 1.0)
    found = segments_of(NumberPredictions(true, true + spread * rng.normal(size=N)), features, ROWS)
    assert (found["worse"][0]["column"], found["worse"][0]["value"]) == ("height", "missing")
    assert found["off"] == []
    bias = np.where(features[0].test == 2, 1.0, 0.0)
    found = segments_of(NumberPredictions(true, true + bias + 0.5 * rng.normal(size=N)), features, ROWS)
    off = found["off"][0]
    assert (off["column"], off["value"]) == ("place", "south")
    assert off["predicted"] - off["observed"] == pytest.approx(1, abs=0.2)
    assert "departs from that" in found["off_reading"] or "depart from that" in found["off_reading"]


def test_confidence_that_is_off_in_one_part_alone_is_found_there():
    features = _features()
    shift = np.where(features[0].test == 1, 3.0, 0.0)
    found = segments_of(_classes(np.full(N, 0.3), 3, shift), features, ROWS)
    assert ("place", "north") in [(row["column"], row["value"]) for row in found["off"]]
    first = found["off"][0]
    assert first["predicted"] > first["observed"] + 0.1
    everywhere = segments_of(_classes(np.full(N, 0.3), 3, np.full(N, 3.0)), features, ROWS)
    assert everywhere["off"] == []  # what is off everywhere is said once


def test_a_model_without_probabilities_has_errors_by_segment_alone():
    found = _classes(np.full(N, 0.2))
    bare = ClassPredictions(found.labels, found.true, found.predicted, None, None)
    segments = segments_of(bare, _features(), ROWS)
    assert segments["off"] is None
    assert segments["off_reading"] is None


def test_few_rows_have_no_segments():
    few = [Feature("x", np.arange(30.0), np.arange(30.0))]
    true = np.zeros(30, dtype=int)
    assert segments_of(ClassPredictions(["a", "b"], true, true, None, None), few, np.arange(30)) is None


def test_perfect_predictions_are_worse_nowhere():
    true = np.random.default_rng(0).normal(size=N)
    found = segments_of(NumberPredictions(true, true.copy()), _features(), ROWS)
    assert found["worse"] == found["off"] == []

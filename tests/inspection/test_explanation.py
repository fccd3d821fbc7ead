"""`Explanation`: its parts by numbers and names, its sums, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.inspection import Explanation

N_ROWS, N_FEATURES, N_OUTPUTS = 5, 3, 2
FEATURES, OUTPUTS = ["age", "size", "colour"], ["no", "yes"]


@pytest.fixture
def explanation():
    random = np.random.default_rng(0)
    interactions = random.normal(size=(N_ROWS, N_FEATURES, N_FEATURES, N_OUTPUTS))
    interactions = interactions + interactions.swapaxes(1, 2)
    values, base = interactions.sum(axis=2), random.normal(size=(N_ROWS, N_OUTPUTS))
    return Explanation(
        values,
        base,
        random.normal(size=(N_ROWS, N_FEATURES)),
        feature_names=FEATURES,
        output_names=OUTPUTS,
        predictions=base + values.sum(axis=1),
        interactions=interactions,
        standard_errors=np.abs(values) / 10,
    )


@pytest.mark.parametrize("row", [2, -1, slice(1, 3), [0, 4], np.array([True, False, True, False, True])])
@pytest.mark.parametrize(("feature", "place"), [("size", 1), (["colour", "age"], [2, 0]), (slice(0, 2), slice(0, 2)), (1, 1)])
@pytest.mark.parametrize(("output", "number"), [("yes", 1), (slice(None), slice(None)), (0, 0)])
def test_a_part_has_every_field_by_the_same_places(explanation, row, feature, place, output, number):
    part = explanation[row, feature, output]
    wanted = explanation.values[row][..., place, :][..., number]
    assert np.array_equal(part.values, wanted)
    assert np.array_equal(part.standard_errors, wanted_part(explanation.standard_errors, row, place, number))
    assert np.array_equal(part.data, explanation.data[row][..., place])
    assert np.array_equal(part.base_values, explanation.base_values[row][..., number])
    assert np.array_equal(np.asarray(part.feature_names), np.asarray(FEATURES, dtype=object)[place])
    assert np.array_equal(np.asarray(part.output_names), np.asarray(OUTPUTS, dtype=object)[number])


def wanted_part(field, row, place, number):
    return field[row][..., place, :][..., number]


def test_steps_of_indexing_are_one(explanation):
    assert np.array_equal(explanation[1]["size", "yes"].values, explanation[1, "size", "yes"].values)
    assert np.array_equal(explanation[..., "no"][3].values, explanation[3, :, "no"].values)
    assert explanation[1, "size", "yes"].values.shape == ()
    assert explanation[1, :, "yes"].interactions.shape == (N_FEATURES, N_FEATURES)
    assert explanation[:, "size"].interactions is None


def test_sums_are_compared_with_predictions(explanation):
    assert explanation.additivity_error < 1e-15
    broken = Explanation(
        explanation.values[..., 0], explanation.base_values[:, 0], predictions=explanation.predictions[:, 0] + 1
    )
    assert 0.1 < broken.additivity_error <= 1
    assert Explanation(explanation.values, explanation.base_values).additivity_error is None


def test_frames_have_a_column_a_feature(explanation):
    pytest.importorskip("pandas")
    frame = explanation[..., "yes"].to_frame()
    assert list(frame.columns) == FEATURES
    assert np.array_equal(frame["size"], explanation.values[:, 1, 1])
    frame = explanation.to_frame()
    assert list(frame.columns[:2]) == [("no", "age"), ("no", "size")]
    assert np.array_equal(frame["yes", "colour"], explanation.values[:, 2, 1])
    assert explanation[0, "age"].to_frame().shape == (1, N_OUTPUTS)


def test_a_row_is_shown_as_bars_of_numbers(explanation):
    text = str(explanation[0, :, "yes"])
    assert text.splitlines()[-1].split() == ["sum", f"{explanation.predictions[0, 1]:.4g}"]
    largest = FEATURES[np.abs(explanation.values[0, :, 1]).argmax()]
    assert text.startswith(largest)
    assert "mean |value|" in str(explanation[..., "yes"])
    assert repr(explanation) == "Explanation(5 rows, 3 features, 2 outputs)"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"values": np.zeros(3)}, "values has 1 axes"),
        ({"base_values": np.zeros(4)}, "base_values has the shape"),
        ({"feature_names": ["a"]}, "feature_names has the shape"),
        ({"data": np.zeros((5, 2))}, "data has the shape"),
    ],
)
def test_fields_that_do_not_fit_are_named(broken, message):
    with pytest.raises(ValueError, match=message):
        Explanation(**{"values": np.zeros((5, 3)), "base_values": np.zeros(5), **broken})


def test_names_that_are_not_there_are_told(explanation):
    with pytest.raises(KeyError, match="no feature 'weight'; there are age, size, colour"):
        explanation[:, "weight"]
    with pytest.raises(KeyError, match="no row 'first'"):
        explanation["first"]
    with pytest.raises(IndexError, match="There are 4 indices"):
        explanation[0, 0, 0, 0]

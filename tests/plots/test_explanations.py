"""Pictures of explanations and of partial dependences: what is drawn are the figures, beside the user's own values."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from mercer.inspection import Explanation, partial_dependence
from mercer.plots import (
    plot_beeswarm,
    plot_force,
    plot_lime,
    plot_partial_dependence,
    plot_shap_bar,
    plot_shap_scatter,
    plot_waterfall,
)

NAMES = ["age", "colour", "size", "height", "weight"]
RANDOM = np.random.RandomState(0)
N_ROWS = 60
DATA = RANDOM.randn(N_ROWS, 5).astype(object)
DATA[:, 1] = np.array(["red", "blue"])[RANDOM.randint(2, size=N_ROWS)]
DATA[3, 2] = np.nan
VALUES = RANDOM.randn(N_ROWS, 5) * [2.0, 0.5, 0.1, 1.0, 0.0]
VALUES[:, 4] = 3 * DATA[:, 4].astype(float) * np.sign(DATA[:, 3].astype(float))


@pytest.fixture
def explanation():
    return Explanation(VALUES, np.full(N_ROWS, 5.0), DATA, feature_names=NAMES)


@pytest.fixture
def of_classes():
    values = np.stack([VALUES, -VALUES], axis=2)
    return Explanation(values, np.zeros((N_ROWS, 2)), DATA, feature_names=NAMES, output_names=["no", "yes"])


def _texts(labels):
    return [label.get_text() for label in labels]


def test_a_waterfall_climbs_from_the_base_value_to_the_sum(explanation, ax):
    assert plot_waterfall(explanation[3], ax=ax) is ax
    order = np.argsort(np.abs(VALUES[3]))
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], VALUES[3][order])
    starts = np.concatenate([[5.0], 5.0 + np.cumsum(VALUES[3][order])])
    np.testing.assert_allclose([bar.get_x() for bar in ax.patches], starts[:-1])
    labels = _texts(ax.get_yticklabels())
    assert labels[list(order).index(1)] == f"colour = {DATA[3, 1]}"
    assert labels[list(order).index(2)] == "size = missing"
    assert f"sum {starts[-1]:.4g}" in _texts(ax.get_legend().get_texts())
    low, high = ax.get_xlim()
    assert low < starts.min()
    assert high > starts.max()


def test_what_is_too_much_for_a_picture_is_added_up(explanation):
    ax = plot_waterfall(explanation[3], max_display=3)
    order = np.argsort(-np.abs(VALUES[3]))
    assert _texts(ax.get_yticklabels())[0] == "3 other features"
    assert ax.patches[0].get_width() == pytest.approx(VALUES[3][order[2:]].sum())
    ax = plot_shap_bar(explanation, max_display=3)
    sizes = np.abs(VALUES).mean(axis=0)
    assert ax.patches[2].get_width() == pytest.approx(np.sort(sizes)[:3].sum())


def test_forces_meet_at_the_sum(explanation, ax):
    assert plot_force(explanation[3], ax=ax) is ax
    total = 5.0 + VALUES[3].sum()
    ups = [bar for bar in ax.patches if bar.get_x() + bar.get_width() <= total + 1e-9 or bar.get_width() > 0]
    assert max(bar.get_x() + bar.get_width() for bar in ups) == pytest.approx(total)
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(VALUES[3].sum())
    named = [text for text in _texts(ax.texts) if "\n" in text]
    assert len(named) == (np.abs(VALUES[3]) >= 0.05 * np.abs(VALUES[3]).sum()).sum()
    heights = [text.xy[1] for text in ax.texts if "\n" in text.get_text()]
    assert len(set(heights)) == len(heights)  # no label hides another


def test_bars_are_mean_sizes_of_one_output_or_of_all(explanation, of_classes):
    sizes = np.abs(VALUES).mean(axis=0)
    ax = plot_shap_bar(explanation)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], np.sort(sizes)[::-1])
    ax = plot_shap_bar(of_classes)
    assert _texts(ax.get_legend().get_texts()) == ["no", "yes"]
    assert len(ax.patches) == 10
    ax = plot_shap_bar(explanation[2])
    assert max(bar.get_width() for bar in ax.patches) == pytest.approx(VALUES[2].max())


def test_a_beeswarm_has_a_point_for_every_row_and_feature(explanation, of_classes):
    ax = plot_beeswarm(explanation)
    assert sum(len(points.get_offsets()) for points in ax.collections) == VALUES.size
    names = _texts(ax.get_yticklabels())
    for place, name in enumerate(names):
        offsets = np.concatenate([points.get_offsets() for points in ax.collections])
        here = offsets[np.abs(offsets[:, 1] - place) <= 0.45]
        np.testing.assert_allclose(np.sort(here[:, 0]), np.sort(VALUES[:, NAMES.index(name)]))
    assert _texts(plot_beeswarm(of_classes[..., "yes"], max_display=2).get_yticklabels())[1] == "4 other features"


def test_a_scatter_is_coloured_by_what_works_together_with_the_feature(explanation):
    ax = plot_shap_scatter(explanation, "weight")
    assert ax.figure.axes[1].get_ylabel() == "height"
    points = np.concatenate([points.get_offsets() for points in ax.collections])
    np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(DATA[:, 4].astype(float)))
    assert len(plot_shap_scatter(explanation, "weight", color=None).figure.axes) == 1
    ax = plot_shap_scatter(explanation, 1, color="age")
    assert _texts(ax.get_xticklabels()) == ["blue", "red"]
    with pytest.raises(ValueError, match="feature='width' is not valid"):
        plot_shap_scatter(explanation, "width")


def test_pictures_say_which_part_they_draw(explanation, of_classes):
    with pytest.raises(TypeError, match=r"rows and features; it draws one row, explanation\[0\]"):
        plot_waterfall(explanation)
    with pytest.raises(TypeError, match=r"it draws one row of one output, explanation\[0, \.\.\., 0\]"):
        plot_force(of_classes)
    with pytest.raises(TypeError, match=r"it draws rows of one output, explanation\[\.\.\., 0\]"):
        plot_beeswarm(of_classes)
    with pytest.raises(TypeError, match="it draws rows of the whole"):
        plot_beeswarm(explanation[0])
    with pytest.raises(TypeError, match="explanation is a list"):
        plot_waterfall([1, 2])
    with pytest.raises(TypeError, match="all features"):
        plot_shap_bar(explanation[:, "age"])
    with pytest.raises(ValueError, match="max_display=0 is not valid"):
        plot_waterfall(explanation[0], max_display=0)
    with pytest.raises(TypeError, match="has no data"):
        plot_shap_scatter(Explanation(VALUES, np.zeros(N_ROWS)), 0)


X = RANDOM.randn(80, 3)


def test_a_partial_dependence_is_drawn_over_single_rows():
    model = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0] * X[:, 1])
    ax = plot_partial_dependence(model, X, 1, max_curves=7, grid_resolution=12)
    expected = partial_dependence(model, X, [1], kind="both", method="brute", grid_resolution=12)
    assert len(ax.lines) == 7 + 2  # and an entry of the legend
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), expected.average[0])
    drawn = {tuple(line.get_ydata()) for line in ax.lines[:7]}
    assert drawn <= {tuple(curve) for curve in expected.individual[0]}
    ax = plot_partial_dependence(model, X, 1, centered=True, max_curves=None, grid_resolution=5)
    assert all(line.get_ydata()[0] == 0 for line in ax.lines if len(line.get_ydata()))


def test_a_pair_is_drawn_as_contours_and_levels_as_points():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"kind": pd.Categorical(np.where(X[:, 0] > 0, "a", "b")), "size": X[:, 1]})
    y = np.digitize(X[:, 0] + X[:, 1], [-1, 1])
    model = HistGradientBoostingClassifier(max_iter=5).fit(frame, y)
    ax = plot_partial_dependence(model, frame, "kind", categorical_features=["kind"], target=2)
    assert _texts(ax.get_xticklabels()) == ["a", "b"]
    assert ax.get_ylabel() == "probability of 2"
    ax = plot_partial_dependence(model, frame, ["kind", "size"], categorical_features=["kind"], target=2, grid_resolution=5)
    assert ax.get_ylabel() == "size"
    with pytest.raises(ValueError, match=r"target=None is not valid; it must be one of the classes \[0, 1, 2\]"):
        plot_partial_dependence(model, frame, "size")
    numbers = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    assert plot_partial_dependence(numbers, X, [0, 1], grid_resolution=5).get_xlabel() == "x0"
    with pytest.raises(ValueError, match="one feature or two"):
        plot_partial_dependence(numbers, X, [0, 1, 2])


class Surrogate:
    score = 0.75

    def as_list(self, label=None):
        return [("age > 40", 0.1), ("colour = red", -0.4), ("size <= 2", 0.2)]


def test_weights_of_a_surrogate_are_drawn_with_its_fit():
    ax = plot_lime(Surrogate(), max_display=2)
    assert _texts(ax.get_yticklabels()) == ["colour = red", "size <= 2"]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [-0.4, 0.2])
    assert "0.75" in ax.get_title()
    assert "1 smaller" in ax.get_xlabel()
    assert "for yes" in plot_lime(Surrogate(), label="yes").get_title()
    with pytest.raises(TypeError, match="must have as_list"):
        plot_lime({"age": 1})

"""Paths of descent over level sets: every point is one of the trace, every level one of the function."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize as peer_minimize

from mercer.optim import Quadratic, minimize, sgd_minimize
from mercer.plots import plot_descent

VALLEY = Quadratic([[2.0, -2.0], [-2.0, 8.0]])
START = [-3.2, 1.6]


def test_a_path_is_drawn_over_the_level_sets(ax):
    result = minimize(VALLEY, START, method="gd", step="optimal")
    assert plot_descent(result, VALLEY, n_levels=6, ax=ax) is ax
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), result.trace.x)
    (levels,) = ax.collections
    assert len(levels.levels) == 6
    for level, path in zip(levels.levels, levels.get_paths(), strict=True):
        np.testing.assert_allclose([VALLEY(point) for point in path.vertices], level, rtol=0.02, atol=0.02)
    assert ax.get_title() == f"Path of descent: {result.nit} steps"
    assert ax.get_aspect() == 1


def test_several_paths_have_names_and_colours_of_their_own():
    results = {name: minimize(VALLEY, START, method=name, step="optimal") for name in ("gd", "newton")}
    ax = plot_descent(results, VALLEY, xlim=(-4, 4), ylim=(-2, 2))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"gd: {results['gd'].nit} steps", "newton: 1 step"]
    assert len({line.get_color() for line in ax.lines}) == 2
    assert (ax.get_xlim(), ax.get_ylim()) == ((-4, 4), (-2, 2))


def test_traces_arrays_and_stochastic_runs_are_drawn_too():
    result = minimize(VALLEY, START)
    for path in (result.trace, result.trace.x, result.trace.x.tolist()):
        ax = plot_descent(path)
        np.testing.assert_array_equal(ax.lines[0].get_xydata(), result.trace.x)
        assert not ax.collections
    run = sgd_minimize(lambda x, rows: x, START, 3, n_epochs=2, rate=0.1)
    assert len(plot_descent(run).lines[0].get_xdata()) == 3


def test_levels_leave_out_places_where_the_function_has_no_value():
    with np.errstate(invalid="ignore"):
        ax = plot_descent(np.array([[1.0, 1.0], [0.5, 0.5]]), lambda x: float(np.sqrt(x[0] - 0.6) + x[1] ** 2))
    assert all(path.vertices[:, 0].min(initial=1) >= 0.6 for path in ax.collections[0].get_paths())
    assert not plot_descent(np.array([[1.0, 1.0], [0.5, 0.5]]), lambda x: 1.0).collections


def test_what_has_no_path_in_two_variables_is_refused():
    with pytest.raises(TypeError, match=r"the result holds no path; mercer.optim.minimize keeps one"):
        plot_descent(peer_minimize(VALLEY, START), VALLEY)
    with pytest.raises(ValueError, match=r"the path has shape \(\d+, 3\); it must be one of points in two variables"):
        plot_descent(minimize(Quadratic(np.eye(3)), [1.0, 2.0, 3.0]))
    with pytest.raises(AttributeError, match="keep_path=True"):
        plot_descent(minimize(VALLEY, START, keep_path=False))
    with pytest.raises(TypeError, match=r"must be what mercer.optim.minimize gave"):
        plot_descent("words")
    result = minimize(VALLEY, START)
    for wrong, message in (
        ({"fun": 3}, "fun=3 is not valid"),
        ({"xlim": (1, 0)}, r"xlim=\(1, 0\) is not valid"),
        ({"n_levels": 0}, "n_levels=0 is not valid"),
        ({"spacing": 0}, "spacing=0 is not valid"),
    ):
        with pytest.raises(ValueError, match=message):
            plot_descent(result, **wrong)

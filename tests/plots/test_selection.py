from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from mercer.feature_selection import RFECV, SequentialFeatureSelector
from mercer.linear_model import LinearRegression, Ridge
from mercer.plots import plot_selection

X, Y = load_diabetes(return_X_y=True, as_frame=True)


def test_every_step_is_drawn_with_its_spread_and_the_chosen_set_is_marked():
    selector = SequentialFeatureSelector(LinearRegression(), n_features_to_select=4, floating=True).fit(X, Y)
    ax = plot_selection(selector)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [step["score"] for step in selector.history_])
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    first = selector.history_[0]
    assert np.isclose(band, first["score"] + first["score_std"]).any()
    assert np.isclose(band, first["score"] - first["score_std"]).any()
    assert ax.texts[0].get_text() == "4 features selected"
    assert ax.get_xticklabels()[0].get_text() == "+bmi"
    chosen = ax.lines[1].get_xdata()[0]
    np.testing.assert_array_equal(selector.history_[int(chosen) - 1]["support"], selector.support_)


def test_recursive_elimination_is_drawn_by_numbers_of_columns():
    selector = RFECV(Ridge(0.01), cv=3).fit(X, Y)
    ax = plot_selection(selector)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(1, 11))
    assert ax.lines[1].get_xdata()[0] == selector.n_features_


def test_names_are_as_many_as_columns_and_selectors_have_steps():
    selector = SequentialFeatureSelector(LinearRegression(), n_features_to_select=2).fit(X.to_numpy(), Y)
    assert plot_selection(selector).get_xticklabels()[0].get_text() == "+x2"
    assert plot_selection(selector, feature_names=list("abcdefghij")).get_xticklabels()[0].get_text() == "+c"
    with pytest.raises(ValueError, match="2 names; there must be 10"):
        plot_selection(selector, feature_names=["a", "b"])
    with pytest.raises(TypeError, match="has no steps to draw"):
        plot_selection(Ridge())

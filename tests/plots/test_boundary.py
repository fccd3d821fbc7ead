"""Regions of classifiers: what is drawn is what is predicted, and the margin is where the decision is -1, 0 and 1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from mercer.cluster import KMeans
from mercer.ensemble import HistGradientBoostingClassifier, IsolationForest
from mercer.linear_model import LogisticRegression, Ridge, RidgeClassifier
from mercer.plots import plot_boundary
from mercer.preprocessing import StandardScaler
from mercer.svm import LinearSVC
from mercer.tree import DecisionTreeClassifier

N = 40  # points along an axis


def legend(ax):
    return [] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().get_texts()]


def contours(ax):
    """The lines drawn: for each level of each contour, its points."""
    sets = [each for each in ax.collections if hasattr(each, "levels")]
    return [(level, path.vertices) for each in sets for level, path in zip(each.levels, each.get_paths(), strict=True)]


@pytest.fixture(scope="module")
def moons():
    return make_moons(80, noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_the_margin_of_a_machine_is_drawn_where_its_decision_is_one(ax):
    X, y = make_blobs(60, centers=2, cluster_std=2.0, random_state=6)
    machine = LinearSVC(loss="hinge").fit(X, y)
    assert plot_boundary(machine, X, y, n_points=N, ax=ax) is ax
    lines = contours(ax)
    assert [level for level, _ in lines] == [0.0, -1.0, 1.0]
    for level, points in lines:
        np.testing.assert_allclose(machine.decision_function(points), level, atol=1e-6)
    inside = np.where(y == 1, 1, -1) * machine.decision_function(X) <= 1 + 1e-3
    np.testing.assert_array_equal(ax.collections[-1].get_offsets(), X[inside])
    assert legend(ax) == ["0", "1", "boundary", "margin", f"on or inside the margin: {inside.sum()} rows"]


@pytest.mark.parametrize(
    ("model", "has_margin"),
    [
        (SVC(), True),
        (LinearSVC(), True),
        (make_pipeline(StandardScaler(), LinearSVC()), True),
        (GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [1.0]}, cv=2), True),
        (LogisticRegression(), False),
        (RidgeClassifier(), False),
        (DecisionTreeClassifier(max_depth=3), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_machines_alone_have_a_margin(moons, model, has_margin):
    model.fit(*moons)
    assert ("margin" in legend(plot_boundary(model, *moons, n_points=N))) == has_margin
    assert "margin" not in legend(plot_boundary(model, *moons, n_points=N, margin=False))


def test_a_margin_may_be_asked_for(moons, iris):
    assert "margin" in legend(plot_boundary(RidgeClassifier().fit(*moons), *moons, n_points=N, margin=True))
    machine = LinearSVC().fit(*iris)
    assert "margin" not in legend(plot_boundary(machine, *iris, features=(0, 1), n_points=N))
    with pytest.raises(TypeError, match="LinearSVC has no margin to draw"):
        plot_boundary(machine, *iris, features=(0, 1), n_points=N, margin=True)
    with pytest.raises(TypeError, match="DecisionTreeClassifier has no margin to draw"):
        plot_boundary(DecisionTreeClassifier().fit(*moons), *moons, n_points=N, margin=True)


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), LinearSVC(), DecisionTreeClassifier(max_depth=4), KNeighborsClassifier(3), SVC()],
    ids=lambda model: type(model).__name__,
)
def test_every_place_has_the_colour_of_the_class_predicted_there(iris, model):
    X, y = iris[0][:, :2], np.array(["a", "b", "c"])[iris[1]]
    ax = plot_boundary(model.fit(X, y), X, y, n_points=N)
    image = ax.images[0]
    left, right, bottom, top = image.get_extent()
    grid = np.array([(a, b) for b in np.linspace(bottom, top, N) for a in np.linspace(left, right, N)])
    drawn = image.get_array().reshape(-1, 3)
    predicted = model.predict(grid)
    # White mixed with the colour of a class keeps the order of its parts: the least and the most tell blue, orange and green.
    kind = [(int(np.argmin(colour)), int(np.argmax(colour))) for colour in drawn]
    kinds = {label: {k for k, each in zip(kind, predicted, strict=True) if each == label} for label in "abc"}
    assert all(len(each) == 1 for each in kinds.values())
    assert len(set.union(*kinds.values())) == 3


def test_the_line_is_where_the_prediction_changes_even_with_another_threshold(moons):
    X, y = moons
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.9, response_method="predict_proba").fit(X, y)
    (_, points), *_ = contours(plot_boundary(model, X, y, n_points=120))
    shares = model.predict_proba(points)[:, 1]
    assert np.abs(shares - 0.9).max() < 0.05


def test_surer_places_are_drawn_stronger(moons):
    X, y = moons
    model = LogisticRegression().fit(X, y)
    image = plot_boundary(model, X, y, n_points=N).images[0]
    left, right, bottom, top = image.get_extent()
    grid = np.array([(a, b) for b in np.linspace(bottom, top, N) for a in np.linspace(left, right, N)])
    colours, sure = image.get_array().reshape(-1, 3), model.predict_proba(grid).max(axis=1)
    strength = 1 - colours.min(axis=1)
    for label in (0, 1):
        of_class = model.predict(grid) == label
        assert np.corrcoef(strength[of_class], sure[of_class])[0, 1] > 0.999


def test_classes_that_share_a_colour_have_different_marks():
    X, y = make_blobs(90, centers=9, random_state=0)
    ax = plot_boundary(DecisionTreeClassifier(max_depth=5).fit(X, y), X, y, n_points=N)
    looks = {
        (tuple(handle.get_facecolor()[0]), handle.get_paths()[0].vertices.tobytes())
        for handle in ax.get_legend_handles_labels()[0]
        if hasattr(handle, "get_paths")
    }
    assert len(looks) == 9


def test_clusters_and_outliers_have_regions(moons):
    X = moons[0]
    assert legend(plot_boundary(KMeans(3, random_state=0).fit(X), X, n_points=N)) == ["boundary"]
    assert contours(plot_boundary(IsolationForest(n_estimators=5, random_state=0).fit(X), X, n_points=N))


def test_of_many_features_two_are_chosen_and_the_others_held(iris):
    X, y = iris
    model = LogisticRegression(max_iter=500).fit(X, y)
    with pytest.raises(ValueError, match=r"X has 4 features and a picture two; choose them with features=\('x0', \.\.\.\)"):
        plot_boundary(model, X, y)
    ax = plot_boundary(model, X, y, features=(3, 0), held={1: 2.0}, n_points=N)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x3", "x0")
    assert ax.get_title() == "Regions of LogisticRegression\nx1 = 2, x2 = 4.4"
    for _, points in contours(ax):
        rows = np.column_stack([points[:, 1], np.full(len(points), 2.0), np.full(len(points), 4.4), points[:, 0]])
        second, first = np.sort(model.predict_proba(rows), axis=1)[:, 1:].T
        np.testing.assert_allclose(first, second, atol=0.02)
    for arguments, message in (
        ({"features": (0, 9)}, "9 is no feature of X"),
        ({"features": ("petal", 1)}, "'petal' is no feature of X"),
        ({"features": (0, 0)}, "must be two different features"),
        ({"features": (0, 1), "held": {0: 1.0}}, "held names x0, which is drawn"),
    ):
        with pytest.raises(ValueError, match=message):
            plot_boundary(model, X, y, **arguments)
    with pytest.raises(TypeError, match="must be a mapping from features to values"):
        plot_boundary(model, X, y, features=(0, 1), held=[1.0])


@pytest.mark.filterwarnings("error")  # scikit-learn warns of names that are lost
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_tables_keep_their_kind_their_names_and_their_categories(frame):
    random = np.random.RandomState(0)
    columns = {
        "a": random.randn(60),
        "b": random.randn(60),
        "kind": random.choice(["x", "y"], 60),
        "n": random.randint(0, 5, 60),
    }
    X = frame(columns)
    X = X.astype({"kind": "category"}) if frame is pd.DataFrame else X.with_columns(pl.col("kind").cast(pl.Categorical))
    y = (columns["a"] > 0) & (columns["kind"] == "x")
    model = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5).fit(X, y)
    left, right = (plot_boundary(model, X, y, features=("a", "b"), held={"kind": kind}, n_points=N) for kind in "xy")
    assert (left.get_xlabel(), left.get_ylabel()) == ("a", "b")
    assert "kind = x" in left.get_title()
    assert (left.images[0].get_array() != right.images[0].get_array()).any()
    with pytest.raises(ValueError, match="the feature kind is not all finite numbers"):
        plot_boundary(model, X, y, features=("a", "kind"))


def test_lists_sparse_rows_and_rows_without_labels_are_taken(moons):
    X, y = moons
    model = LogisticRegression().fit(X, y)
    picture = plot_boundary(model, X, y, n_points=N).images[0].get_array()
    for rows, labels in ((X.tolist(), y.tolist()), (sp.csr_matrix(X), y), (X, None)):
        np.testing.assert_array_equal(plot_boundary(model, rows, labels, n_points=N).images[0].get_array(), picture)


def test_what_has_no_regions_is_refused(moons):
    X, y = moons
    model = LogisticRegression().fit(X, y)
    with pytest.raises(TypeError, match="Ridge is a regressor"):
        plot_boundary(Ridge().fit(X, y), X, y)
    with pytest.raises(TypeError, match=r"ndarray cannot predict; call plot_boundary\(model, X, y\)"):
        plot_boundary(X, y)
    with pytest.raises(TypeError, match="LogisticRegression is a class"):
        plot_boundary(LogisticRegression, X, y)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        plot_boundary(LogisticRegression(), X, y)
    with pytest.raises(ValueError, match="X has 80 rows and y 5"):
        plot_boundary(model, X, y[:5])
    with pytest.raises(ValueError, match=r"X has shape \(80,\)"):
        plot_boundary(model, X[:, 0], y)
    with pytest.raises(ValueError, match="n_points=1 is not valid"):
        plot_boundary(model, X, y, n_points=1)
    with pytest.raises(ValueError, match="margin='yes' is not valid"):
        plot_boundary(model, X, y, margin="yes")

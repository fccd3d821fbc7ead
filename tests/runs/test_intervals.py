"""Intervals and sets of labels of a run, in their parts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mercer._runs.blend import find_blend
from mercer._runs.board import Board
from mercer._runs.candidates import Candidate
from mercer._runs.clock import Clock
from mercer._runs.folder import RunFolder
from mercer._runs.folds import Folds
from mercer._runs.intervals import Calibration, check_coverage
from mercer._runs.problem import make_problem
from mercer._runs.search import BLEND, Search
from mercer._runs.settings import Settings
from mercer.conformal import ConformalClassifier, ConformalRegressor
from mercer.linear_model import Ridge
from mercer.neighbors import KNeighborsRegressor

COVERAGES = [1e-6, 0.5, 0.8, 0.9, 0.95]


@pytest.mark.parametrize("coverage", COVERAGES)
@pytest.mark.parametrize("n", [19, 20, 99])
def test_intervals_are_those_of_conformal_prediction(coverage, n):
    rng = np.random.default_rng(n)
    y, held_out, new = rng.normal(size=(3, n))
    found = Calibration.of(coverage, y, held_out, None)
    model = SimpleNamespace(predict=lambda X: X)
    expected = ConformalRegressor(model, np.abs(y - held_out), "split").predict_interval(new, alpha=1 - coverage)
    np.testing.assert_array_equal(np.column_stack(found.ends(new)), expected)


@pytest.mark.parametrize("coverage", COVERAGES)
@pytest.mark.parametrize("n", [19, 20, 99])
def test_sets_are_those_of_conformal_prediction_and_the_likeliest_label(coverage, n):
    rng = np.random.default_rng(n)
    labels = np.array(["a", "b", "c"])
    codes = rng.integers(3, size=n)
    held_out, new = rng.dirichlet([0.5] * 3, size=n), rng.dirichlet([0.5] * 3, size=50)
    found = Calibration.of(coverage, labels[codes], held_out, labels.tolist())
    model = SimpleNamespace(predict_proba=lambda X: X, classes_=labels)
    scores = 1 - held_out[np.arange(n), codes]
    expected = ConformalClassifier(model, labels, scores, "split", "probability").predict_set(
        new, alpha=round(1 - coverage, 12)
    )
    expected[np.arange(50), new.argmax(axis=1)] = True
    np.testing.assert_array_equal(found.is_in(new), expected)


@pytest.mark.parametrize("labels", [['a "b"', "ü, ]"], [3, 7], [False, True]], ids=str)
def test_labels_of_every_kind_are_listed(labels):
    classes = np.array(labels)
    table = pl.DataFrame(
        {f"probability_{label}": column for label, column in zip(labels, [[0.3, 0.9], [0.7, 0.1]], strict=True)}
    )
    calibration = Calibration("labels", 0.9, 0.75, 10)
    assert calibration.beside(table, "prediction", classes, as_text=False)["labels"].to_list() == [labels[::-1], labels[:1]]
    texts = calibration.beside(table, "prediction", classes, as_text=True)["labels"]
    assert texts.str.json_decode(pl.List(pl.Series(labels).dtype)).to_list() == [labels[::-1], labels[:1]]
    assert calibration.beside(table.head(0), "prediction", classes, as_text=True).height == 0


def test_a_coverage_that_so_few_rows_cannot_give_is_refused():
    check_coverage(Settings("table.csv", "y", intervals=0.9), 9)
    with pytest.raises(Exception, match="takes 9 training rows to calibrate by, and there are 8"):
        check_coverage(Settings("table.csv", "y", intervals=0.9), 8)


@pytest.fixture
def folds():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 120))
    table = pl.DataFrame({"x": x, "z": z, "y": 2 * x + np.abs(z) + 0.5 * rng.normal(size=120)})
    return Folds(make_problem(table, Settings("table.csv", "y", metric="rmse")), 3, 0)


def test_a_blend_predicts_rows_by_weights_that_they_did_not_choose(folds):
    rng = np.random.default_rng(1)
    predictions = [folds.y + rng.normal(size=len(folds.y)) for _ in range(3)]
    parts = [test for _, test in folds.splits]
    before = find_blend(predictions, parts, folds.score_of)
    test = folds.splits[0][1]
    folds.y[test] = predictions[2][test]  # these rows would now choose the third alone
    np.testing.assert_array_equal(find_blend(predictions, parts, folds.score_of).held_out[test], before.held_out[test])


def test_rows_are_predicted_by_fits_that_had_not_seen_them(folds, tmp_path):
    settings = Settings("table.csv", "y", seconds=5.0)
    folder = RunFolder.begin(tmp_path / "run", settings, "", {})
    search = Search(folds, settings, folder, Clock(5.0), Board(3, lambda board: None))
    models = {"Ridge": Ridge(), "KNeighborsRegressor": KNeighborsRegressor(9)}
    assert search.run([Candidate(name, model) for name, model in models.items()], [])
    expected = np.empty(len(folds.y))
    for train, test in folds.splits:
        expected[test] = search.make("KNeighborsRegressor").fit(folds.X[train], folds.y[train]).predict(folds.X[test])
    rows, predicted = search.held_out("KNeighborsRegressor")
    np.testing.assert_allclose(predicted, expected[rows])
    assert sorted(rows) == list(range(len(folds.y)))
    assert search.board.get(BLEND).status == "ok"
    rows, predicted = search.held_out(BLEND)
    blended = np.empty(len(folds.y))
    blended[rows] = predicted
    scores = [-np.sqrt(np.mean((folds.y - blended)[test] ** 2)) for _, test in folds.splits]
    assert scores == pytest.approx(search.board.get(BLEND).fold_scores)
    for path in folder.shelf.folder.iterdir():
        path.unlink()  # as where the search did not come to some folds
    rows, predicted = search.held_out("KNeighborsRegressor")
    np.testing.assert_allclose(predicted, expected[rows])

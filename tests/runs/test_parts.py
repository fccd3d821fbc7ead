"""The parts of a run: clock, journal, board, blend."""

from __future__ import annotations

import json
import threading
import time

import numpy as np
import polars as pl
import pytest

from mercer._runs import blend
from mercer._runs.blend import Limits, find_blend
from mercer._runs.board import Board
from mercer._runs.clock import Clock, OutOfTime, time_cap
from mercer._runs.errors import RunError
from mercer._runs.folds import Folds
from mercer._runs.journal import Journal, Shelf
from mercer._runs.problem import make_problem
from mercer._runs.settings import Settings


def test_a_clock_counts_what_was_spent_before():
    clock = Clock(100.0, spent=40.0)
    assert 40.0 <= clock.elapsed < 41.0
    assert 59.0 < clock.left <= 60.0
    assert Clock(1.0, spent=5.0).left == 0.0


def test_a_cap_ends_a_fit_in_the_middle_of_a_kernel():
    from mercer.ensemble import RandomForestClassifier

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 30)), rng.integers(0, 2, size=20_000)
    model = RandomForestClassifier(10_000)
    started = time.monotonic()
    with pytest.raises(OutOfTime, match=r"not done after 0\.3 s"), time_cap(0.3):
        model.fit(X, y)
    assert time.monotonic() - started < 30  # the whole fit would take many minutes
    assert not hasattr(model, "estimators_")
    time.sleep(0.4)  # no alarm is left behind


def test_off_the_main_thread_a_cap_lets_the_block_end():
    done = []

    def work():
        with time_cap(0.01):
            time.sleep(0.05)
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_a_journal_keeps_its_lines_and_drops_a_torn_one(tmp_path):
    journal = Journal(tmp_path / "journal")
    journal.add("fold", model="a", score=0.5)
    journal.add("fold", model="b", score=0.25)
    with journal.path.open("ab") as file:
        file.write(b'{"kind": "fold", "mod')
    again = Journal(journal.path)
    assert [line["model"] for line in again.of("fold")] == ["a", "b"]
    again.add("fold", model="c")
    assert [line["model"] for line in Journal(journal.path).of("fold")] == ["a", "b", "c"]
    assert again.of("fold", model="b")[0]["score"] == 0.25
    assert not again.of("tuned")


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_a_journal_that_was_cut_anywhere_can_be_read(tmp_path, cut):
    journal = Journal(tmp_path / "journal")
    for number in range(3):
        journal.add("fold", number=number)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-cut])
    kept = Journal(journal.path)
    assert [line["number"] for line in kept] == [0, 1, 2][: whole[:-cut].count(b"\n")]


def test_a_damaged_journal_is_refused(tmp_path):
    (tmp_path / "journal").write_text('{"kind": "fold"}\nnonsense\n{"kind": "fold"}\n')
    with pytest.raises(RunError, match="line 2 is damaged"):
        Journal(tmp_path / "journal")


def test_a_journal_takes_strict_json_only(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        Journal(tmp_path / "journal").add("fold", score=float("nan"))


def test_a_shelf_keeps_arrays(tmp_path):
    shelf = Shelf(tmp_path / "shelf")
    shelf.put("a", np.arange(3.0))
    np.testing.assert_array_equal(Shelf(tmp_path / "shelf").get("a"), np.arange(3.0))
    assert shelf.get("b") is None


def test_a_board_ranks_complete_models_first_and_never_a_missing_score():
    seen = []
    board = Board(2, watch=lambda board: seen.append(board.stage))
    board.begin("first look")
    board.update("half", status="ok", fold_scores=(0.9,))
    board.update("good", status="ok", fold_scores=(0.8, 0.8))
    board.update("odd", status="ok", fold_scores=(np.nan, 1.0))
    board.update("bad", status="failed", reason="no")
    board.update("passed over", status="skipped")
    assert [entry.model for entry in board] == ["good", "odd", "half", "bad", "passed over"]
    assert board.complete()[0].model == "good"
    assert seen == ["first look"] * 6
    assert board.get("good").spread == 0.0
    assert board.get("half").spread is None
    assert json.dumps(board.to_list("good"))


def _folds(y, **options):
    table = pl.DataFrame({"x": np.zeros(len(y)), "z": np.arange(len(y)) % 7, "y": y})
    return Folds(make_problem(table, Settings("t.csv", "y", **options)), 5, 0)


def _blend(folds, predictions, limits=None):
    parts = [test for _, test in folds.splits]
    return find_blend(predictions, parts, lambda prediction, rows: folds.score_of(prediction, rows), limits)


def test_a_blend_of_models_that_err_apart_beats_each():
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    folds = _folds(y)
    errors = 0.5 * rng.normal(size=(2, len(folds.y)))
    predictions = [folds.y + error for error in errors] + [rng.normal(size=len(folds.y))]
    blend = _blend(folds, predictions)
    assert blend.counts[2] <= 1
    assert abs(blend.counts[0] - blend.counts[1]) <= 3
    scores = [folds.score_of(blend.held_out[test], test) for _, test in folds.splits]
    alone = [
        np.mean([1 - np.var(folds.y[test] - one[test]) / np.var(folds.y[test]) for _, test in folds.splits])
        for one in predictions
    ]
    assert np.mean(scores) > max(alone)


def test_a_blend_of_classes_mixes_probabilities():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=600)
    folds = _folds(y, metric="neg_log_loss")
    sharp = np.full((len(folds.y), 3), 0.05)
    sharp[np.arange(len(folds.y)), folds.y] = 0.9
    flat = np.full((len(folds.y), 3), 1 / 3)
    blend = _blend(folds, [flat, sharp])
    assert blend.counts[0] == 0


def test_a_blend_keeps_to_its_limits():
    y = np.random.default_rng(0).normal(size=300)
    folds = _folds(y)
    predictions = [folds.y + np.random.default_rng(seed).normal(size=len(folds.y)) for seed in range(3)]
    assert sum(count > 0 for count in _blend(folds, predictions).counts) == 3
    limits = Limits(sizes=[5.0, 4.0, 4.0], most_size=8.0, seconds=[1.0, 1.0, 1.0], most_seconds=10.0)
    assert [count > 0 for count in _blend(folds, predictions, limits).counts] in ([False, True, True], [True, False, False])
    limits = Limits(sizes=[1.0] * 3, most_size=8.0, seconds=[1.0, 1.0, 1.0], most_seconds=1.5)
    assert sum(count > 0 for count in _blend(folds, predictions, limits).counts) == 1


def test_the_rows_that_choose_a_blend_of_many_are_of_all_its_parts(monkeypatch):
    monkeypatch.setattr(blend, "_N_CHOOSING", 20)
    parts = np.array_split(np.random.default_rng(0).permutation(200), 5)  # as a search with seed 0 cuts its only fold
    truth = np.arange(200.0)

    def score(prediction, rows):
        assert len(rows)
        return -float(np.abs(prediction - truth[rows]).mean())

    found = find_blend([truth + 1, truth - 1, truth + 50], parts, score, seed=0)
    assert found.counts[2] == 0
    assert np.abs(found.held_out - truth).max() < 1

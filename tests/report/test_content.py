"""The content of a report: strict JSON, checked when written and read."""

from __future__ import annotations

import contextlib
import json

import pytest

from mercer._report import ReportError, check, read_json, write_json
from tests.report.samples import content, hostile_content


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_a_report_comes_back_as_it_was_written(task, tmp_path):
    write_json(content(task), tmp_path / "report.json")
    assert read_json(tmp_path / "report.json") == content(task)
    json.loads((tmp_path / "report.json").read_text("ascii"), parse_constant=lambda name: pytest.fail(name))


def test_hostile_texts_come_back_as_they_were(tmp_path):
    write_json(hostile_content(), tmp_path / "report.json")
    assert read_json(tmp_path / "report.json") == hostile_content()


def _changed(path, value):
    found = content("binary")
    holder = found
    for key in path[:-1]:
        holder = holder[key]
    if value is KeyError:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return found


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), 2, "format is 2; this version of Mercer reads format 1"),
        (("format",), None, "format is None"),
        (("format",), True, "format is True"),
        (("title",), 3, "title is 3; it must be text"),
        (("title",), KeyError, "title is missing"),
        (("data", "task"), "ranking", "data.task is 'ranking'; it must be one of 'binary', 'multiclass', 'regression'"),
        (("data", "n_rows"), 2.5, "data.n_rows is 2.5; it must be a whole number"),
        (("data", "n_rows"), True, "data.n_rows is True; it must be a whole number"),
        (("data", "metric"), None, "data.metric is None; it must be an object"),
        (("alerts",), {}, "alerts is {}; it must be a list"),
        (("alerts", 1, "level"), "fatal", r"alerts\[1\].level is 'fatal'"),
        (("leaderboard", 0, "score"), float("nan"), r"leaderboard\[0\].score is nan; it must be a finite number or null"),
        (("leaderboard", 0, "score"), float("inf"), r"leaderboard\[0\].score is inf"),
        (("leaderboard", 0, "status"), "ko", r"leaderboard\[0\].status is 'ko'"),
        (("best", "params"), [], r"best.params is \[\]; it must be an object"),
        (("scores", "tp"), [1], "the lists of scores must be equally long"),
        (("scores", "at"), 10**6, "scores.at is 1000000; it must be an index"),
        (("confusion", "matrix"), [[1, 2]], "confusion.matrix must have 2 rows of 2 counts"),
        (("curves", "roc", 0, "x"), [0.0], r"the lists of curves.roc\[0\] must be equally long"),
        (("learning", "n_folds"), [], "the lists of learning must be equally long"),
        (("seconds",), {"a": "b"}, r"seconds\['a'\] is 'b'; it must be a finite number"),
        (
            ("test", "measures", 0, "low"),
            "x" * 100,
            r"measures\[0\].low is 'xxx.*\.\.\.; it must be a finite number or null",
        ),
    ],
)
def test_what_is_wrong_is_named_by_its_place(path, value, message):
    with pytest.raises(ReportError, match=message):
        check(_changed(path, value))


def _places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_damage_anywhere_never_gives_anything_but_a_report_error(task):
    whole = content(task)
    for path in list(_places(whole))[1:]:
        *way, last = path
        holder = whole
        for key in way:
            holder = holder[key]
        kept = holder[last]
        for value in ([], "x"):
            holder[last] = value
            with contextlib.suppress(ReportError):
                check(whole)
        holder[last] = kept
    assert whole == content(task)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "no strict JSON"),
        (b"[]", "not a report"),
        (b'{"format": 1', "no strict JSON"),
        (b'{"format": NaN}', "NaN is not JSON"),
        (b"\xff\xfe\x00", "no strict JSON"),
        (b"[" * 100_000, "no strict JSON"),
        (b'{"format": 1}', "title is missing"),
    ],
)
def test_a_damaged_file_gives_one_clear_line(text, message, tmp_path):
    path = tmp_path / "report.json"
    path.write_bytes(text)
    with pytest.raises(ReportError, match=message) as caught:
        read_json(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nan_cannot_be_written(tmp_path):
    with pytest.raises(ReportError, match="finite number"):
        write_json(_changed(("seconds",), {"search": float("nan")}), tmp_path / "report.json")
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(_changed(("best", "params"), {"C": float("nan")}), tmp_path / "report.json")

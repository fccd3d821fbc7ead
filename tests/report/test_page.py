"""The page as text: self-contained, small, whole without its script, and not to be broken out of."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from mercer._assessment.predictions import ClassPredictions
from mercer._report import ReportError, render_html, write_html
from mercer._report.cutoffs import scores_of, threshold_curves
from mercer._report.page.html import Html, escape, json_script, tag
from tests.report.samples import HOSTILE, content, hostile_content

TASKS = ["binary", "multiclass", "regression"]
VOID = {"meta", "link", "input", "wbr"}


class Reader(HTMLParser):
    """Checks that elements are closed in order, and collects elements, their attributes and the text that is seen."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, element, attributes):
        self.elements.append((element, dict(attributes)))
        if element not in VOID:
            self.open.append(element)

    def handle_endtag(self, element):
        assert self.open.pop() == element

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text += data


@pytest.mark.parametrize("task", TASKS)
def test_the_page_is_well_formed_and_asks_the_network_for_nothing(task):
    text = render_html(content(task))
    reader = Reader(text)
    for element, attributes in reader.elements:
        assert element not in {"img", "iframe", "object", "embed", "base", "form"}
        assert not any(key.startswith("on") or key in ("src", "style", "action", "srcset") for key in attributes)
        assert attributes.get("href", "#").startswith(("#", "data:,"))
    for pattern in ("http:", "https:", "//cdn", "@import", "url("):
        assert pattern not in text
    identifiers = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for _, attributes in reader.elements:
        for name in (attributes.get("aria-labelledby") or "").split():
            assert name in identifiers


@pytest.mark.parametrize("task", TASKS)
def test_the_page_is_small_and_the_same_each_time(task, tmp_path):
    write_html(content(task), tmp_path / "report.html")
    data = (tmp_path / "report.html").read_bytes()
    assert len(data) < 300_000
    assert data.decode() == render_html(content(task))
    assert b"\r" not in data


def test_the_script_is_small():
    script = re.search("<script>(.*?)</script>", render_html(content("binary")), re.DOTALL)[1]
    assert len(script) < 25_000


def test_the_policy_allows_the_own_style_and_script_alone():
    text = render_html(content("binary"))
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for element in ("style", "script"):
        body = re.search(f"<{element}>(.*?)</{element}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize("task", TASKS)
def test_sections_come_in_their_order_and_are_in_the_contents(task):
    text = render_html(content(task))
    expected = ["alerts", "leaderboard", "test", "decision", "residual-plots", "importance", "explained", "errors"]
    expected += ["segments", "calibration-section", "learning", "table", "drift", "columns", "card", "serving", "making"]
    absent = {"decision", "calibration-section"} if task == "regression" else {"residual-plots"}
    absent |= {"segments"} if task == "multiclass" else set()  # its test rows are too few
    found = re.findall('<section id="([^"]*)"', text)
    assert found == [name for name in expected if name not in absent]
    assert re.findall('<a href="#([^"]*)"', text) == found


def test_the_page_says_everything_without_its_script():
    found = content("binary")
    text = Reader(render_html(found)).text
    for measure in found["test"]["measures"]:
        assert measure["label"] in text
    for candidate in found["leaderboard"]:
        assert candidate["model"] in text
        assert (candidate["reason"] or "") in text
    for column in found["columns"]:
        assert column["name"] in text
    for row in found["alerts"]:
        assert row["message"] in text
    assert found["learning"]["reading"] in text
    assert found["test"]["reading"] in text
    assert text.index("was left out as an identifier") < text.index("three rows occur twice")  # problems come first
    (tn, fp), (fn, tp) = found["confusion"]["matrix"]
    cells = dict(re.findall('id="(tp|fp|tn|fn)">([0-9,]+)<', render_html(found)))
    assert {key: int(value) for key, value in cells.items()} == {"tp": tp, "fp": fp, "tn": tn, "fn": fn}


def test_hostile_texts_are_shown_and_do_nothing():
    reader = Reader(render_html(hostile_content()))
    scripts = [attributes for element, attributes in reader.elements if element == "script"]
    assert scripts == [{"type": "application/json", "id": "cut-off-data"}, {}]
    assert not any(element == "img" for element, _ in reader.elements)
    for text in HOSTILE:
        assert re.sub("[\x00\ud800]", "\ufffd", text) in reader.text


def test_text_is_escaped_where_it_enters():
    assert tag("p", "<b>&\"'", class_='"><i>') == '<p class="&quot;&gt;&lt;i&gt;">&lt;b&gt;&amp;&quot;&#x27;</p>'
    assert tag("p", Html("<b>")) == "<p><b></p>"
    assert escape("\x00\ud800\x1b") == "\ufffd" * 3
    script = json_script("x", {"a": "</script><!--&"})
    assert script.count("<") == 2
    assert "&" not in script


def test_a_damaged_content_makes_no_page(tmp_path):
    with pytest.raises(ReportError, match="title is missing"):
        write_html({"format": 1}, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_every_part_but_the_frame_may_be_absent():
    found = content("binary")
    for key in ("best", "test", "confusion", "scores", "curves", "residuals", "importance", "errors", "learning"):
        found[key] = None
    for key in ("alerts", "columns", "leaderboard", "warnings"):
        found[key] = []
    text = Reader(render_html(found)).text
    assert "No model was fitted" in text
    assert "Nothing in the data calls for attention" in text


def test_a_large_report_stays_under_five_megabytes():
    found = content("binary")
    rng = np.random.default_rng(0)
    score = rng.random(100_000)
    true = (rng.random(100_000) < score).astype(np.intp)
    scored = ClassPredictions(["no", "yes"], true, (score > 0.5).astype(np.intp), np.column_stack([1 - score, score]), None)
    found["scores"] = scores_of(scored, 0.3)
    found["curves"]["threshold"] = threshold_curves(found["scores"])
    made = [f"made {j}" for j in range(50)]
    found["columns"] = [found["columns"][0] | {"name": f"column {i}", "made": made} for i in range(2000)]
    found["importance"] = [found["importance"][0] | {"column": f"column {i}"} for i in range(2000)]
    found["leaderboard"] *= 10
    assert len(render_html(found).encode()) < 5_000_000


def test_many_classes_are_shown_by_their_most_frequent_confusions():
    found = content("multiclass")
    n_classes = 60
    labels = [f"class {i}" for i in range(n_classes)]
    matrix = (np.eye(n_classes, dtype=int) * 10).tolist()
    matrix[3][7] = 9
    found["confusion"] = {"labels": labels, "matrix": matrix}
    for kind in ("roc", "pr", "calibration"):
        found["curves"][kind] = [found["curves"][kind][0] | {"label": label} for label in labels]
    text = Reader(render_html(found)).text
    assert "60 classes" in text
    assert "class 3class 7947.4\u00a0%" in text

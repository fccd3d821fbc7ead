"""What the service says of itself: metrics, the interface, and the form, none of which asks the network for anything."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from mercer._serving.application import _json
from mercer._serving.metrics import Metrics
from tests.command.driver import environment
from tests.serving.conftest import ADDRESS, client_of
from tests.serving.samples import CAR, PENGUIN, penguin


def _form(row):
    return {f"c{place}": "" if value is None else str(value) for place, value in enumerate(row.values())}


def test_metrics_count_requests_errors_rows_and_times(classes_run):
    client = client_of(classes_run)
    client.post("/predict", json={"rows": [PENGUIN] * 5})
    client.post("/predict", json={"row": {}})
    client.post("/explain", json={"row": PENGUIN})
    client.get("/somewhere/else")
    response = client.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = response.text.splitlines()
    for line in (
        'mercer_requests_total{method="POST",path="/predict",status="200"} 1',
        'mercer_requests_total{method="POST",path="/predict",status="422"} 1',
        'mercer_requests_total{method="GET",path="other",status="404"} 1',
        'mercer_errors_total{path="/predict"} 1',
        'mercer_errors_total{path="/explain"} 0',
        'mercer_rows_total{path="/predict"} 5',
        'mercer_rows_total{path="/explain"} 1',
        'mercer_request_seconds_count{path="/predict"} 2',
        'mercer_request_seconds_bucket{path="/predict",le="+Inf"} 2',
        "mercer_requests_in_progress 1",
    ):
        assert line in lines
    assert any(line.startswith('mercer_model_info{run="run",model=') and line.endswith(" 1") for line in lines)
    sample = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+')
    assert all(sample.fullmatch(line) for line in lines if not line.startswith("# "))


def test_times_are_counted_in_all_buckets_above_them():
    metrics = Metrics(dict.fromkeys(("run", "model", "task", "target", "mercer"), 'a"b\\c\n'))
    for seconds in (0.001, 0.003, 60.0):
        metrics.ended("POST", "/predict", 200, seconds)
    text = metrics.text()
    counts = [int(line.split()[-1]) for line in text.splitlines() if line.startswith("mercer_request_seconds_bucket")]
    assert counts[:3] == [1, 1, 2]
    assert counts[-2:] == [2, 3]
    assert 'run="a\\"b\\\\c\\n"' in text


def _refs(value):
    if isinstance(value, dict):
        yield from [value["$ref"]] if "$ref" in value else [ref for each in value.values() for ref in _refs(each)]
    elif isinstance(value, list):
        yield from (ref for each in value for ref in _refs(each))


def test_the_interface_is_described_with_the_columns_of_the_training_table(classes):
    found = classes.get("/openapi.json").json()
    assert found["openapi"].startswith("3.")
    assert set(found["paths"]) == {"/predict", "/explain", "/schema", "/health", "/metrics"}
    schemas = found["components"]["schemas"]
    assert {ref.rpartition("/")[2] for ref in _refs(found)} <= schemas.keys()
    row = schemas["Row"]
    assert row["required"] == list(PENGUIN)
    assert row["properties"]["bill_length_mm"]["type"] == ["number", "null"]
    assert row["properties"]["island"]["examples"] == ["Biscoe", "Dream", "Torgersen"]
    assert schemas["Prediction"]["properties"]["prediction"]["enum"] == ["Adelie", "Chinstrap", "Gentoo"]
    example = found["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]["examples"]["one row"]["value"]
    assert classes.post("/predict", json=example).status_code == 200


def test_the_schema_lists_kinds_choices_and_ranges(numbers):
    columns = {column["name"]: column for column in numbers.get("/schema").json()["columns"]}
    assert columns["origin"]["choices"] == ["Europe", "Japan", "USA"]
    assert (columns["weight"]["type"], columns["weight"]["kind"]) == (["number", "null"], "number")
    assert columns["weight"]["minimum_seen"] < columns["weight"]["typical"] < columns["weight"]["maximum_seen"]
    assert (columns["year"]["kind"], columns["year"]["minimum_seen"][:4]) == ("date", "1970")


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_ask_for_nothing_from_elsewhere(strange_client, path):
    response = strange_client.get(path)
    text = response.text
    assert "<script" not in text.lower()
    urls = set(re.findall(r"(?:https?:)?//[^\s\"'<]+", text))
    assert all(url.startswith(ADDRESS) for url in urls)
    assert {link for link in re.findall(r'(?:href|src|action)="([^"]*)"', text)} <= {
        *("/", "/docs", "/schema", "/metrics", "/health", "/openapi.json", "/#answer", "data:,")
    }
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert response.headers["x-content-type-options"] == "nosniff"


def test_the_form_is_filled_with_typical_values_that_it_takes(strange_client):
    page = strange_client.get("/").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    row = {column["name"]: column["typical"] for column in strange_client.get("/schema").json()["columns"]}
    answer = strange_client.post("/", data=_form(row))
    assert answer.status_code == 200
    assert 'id="prediction"' in answer.text
    assert 'id="contributions"' in answer.text


def test_the_form_says_prediction_interval_and_explanation_in_the_columns(numbers):
    said = numbers.post("/predict", json={"row": CAR}).json()
    page = numbers.post("/", data=_form(CAR)).text
    assert f"{said['prediction']:.1f}" in page
    assert f"Between {said['interval']['lower']:.1f} and {said['interval']['upper']:.1f}" in page
    assert "for 90\N{NO-BREAK SPACE}% of rows" in page
    assert "chevrolet chevelle malibu" in page
    assert "What would change the prediction" in page


def test_the_form_says_what_is_wrong_beside_the_field(classes):
    answer = classes.post("/", data=_form(penguin(body_mass_g="<b>heavy", year="")))
    assert answer.status_code == 422
    page = answer.text.partition("</style>")[2]
    assert "<title>Error: " in answer.text
    assert 'href="#c4"' in page
    assert 'aria-describedby="c4-hint c4-wrong"' in page
    assert page.count('aria-invalid="true"') == 1
    assert "&lt;b&gt;heavy" in page
    assert "<b>heavy" not in page
    assert 'id="prediction"' not in page


def test_only_forms_are_taken_by_the_form(classes):
    assert classes.post("/", json={}).status_code == 415
    body = b"c0=%ff" + b"&a" * 30_000
    assert classes.post("/", content=body, headers={"Content-Type": "application/x-www-form-urlencoded"}).status_code == 400


def test_nothing_else_imports_the_packages_of_the_service():
    code = (
        "import sys, mercer, mercer._command.app, mercer._runs.prediction, mercer._runs.explained_row\n"
        "assert not {'fastapi', 'starlette', 'uvicorn', 'mercer._serving'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=environment())


def test_every_answer_is_json_without_numbers_that_json_does_not_know(numbers):
    huge = {**CAR, "weight": 1e308, "displacement": -1e308, "acceleration": 1e308}
    for path in ("/predict", "/explain"):
        response = numbers.post(path, json={"row": huge})
        assert response.status_code == 200
        json.loads(response.text, parse_constant=lambda word: pytest.fail(word))
    assert json.loads(_json({"a": [float("inf"), 1.5]}).body) == {"a": [None, 1.5]}

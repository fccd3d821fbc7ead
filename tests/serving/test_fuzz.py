"""Whatever is sent, the answer is an answer or an error of the one form, and never a fault."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.serving.samples import CAR, PENGUIN

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_VALUES = st.recursive(
    _SCALARS, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3)
)
_QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def _assert_answered(response):
    assert response.status_code in (200, 400, 413, 415, 422), response.text
    if response.status_code != 200:
        assert response.json().keys() == {"error", "n_problems", "problems"}


def _ask(client, body, kind="application/json"):
    _assert_answered(client.post("/predict", content=body, headers={"Content-Type": kind}))


def _rows(base):
    return st.dictionaries(st.sampled_from([*base, "other"]), _VALUES, max_size=4).map(lambda changes: {**base, **changes})


@settings(max_examples=40, **_QUIET)
@given(row=_rows(CAR))
def test_rows_with_any_values(numbers, row):
    _ask(numbers, json.dumps({"row": row}))


@settings(max_examples=30, **_QUIET)
@given(body=_VALUES.map(json.dumps).map(str.encode) | st.binary(max_size=60))
def test_any_body(classes, body):
    _ask(classes, body)
    _ask(classes, body, "text/csv")


@settings(max_examples=20, **_QUIET)
@given(fields=st.dictionaries(st.sampled_from([f"c{place}" for place in range(9)]), st.text(max_size=12)))
def test_any_form(numbers, fields):
    response = numbers.post("/", data={"c0": "", **fields})
    assert response.status_code in (200, 422)
    assert response.text.startswith("<!doctype html>")


@pytest.mark.slow
@settings(max_examples=2000, **_QUIET)
@given(row=_rows(CAR), text=st.text(max_size=200))
def test_many_rows_with_any_values(numbers, row, text):
    _ask(numbers, json.dumps({"rows": [CAR, row]}))
    _ask(numbers, f"{','.join(CAR)}\n{text}".encode("utf-8", "replace"), "text/csv")


@pytest.mark.slow
@settings(max_examples=500, **_QUIET)
@given(row=_rows(PENGUIN), label=_SCALARS)
def test_any_row_is_explained_or_refused(classes, row, label):
    body = json.dumps({"row": row, "class": label})
    _assert_answered(classes.post("/explain", content=body, headers={"Content-Type": "application/json"}))


@pytest.mark.slow
@settings(max_examples=1000, **_QUIET)
@given(data=st.data())
def test_rows_of_every_type_with_any_values(strange_client, data):
    row = {column["name"]: column["typical"] for column in strange_client.get("/schema").json()["columns"]}
    changed = data.draw(_rows(row))
    _ask(strange_client, json.dumps({"row": changed}))
    response = strange_client.post(
        "/explain", content=json.dumps({"row": changed}), headers={"Content-Type": "application/json"}
    )
    _assert_answered(response)

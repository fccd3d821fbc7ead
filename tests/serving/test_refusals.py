"""What the service refuses: in one form, by row, column and value, with what would do."""

from __future__ import annotations

import gzip
import json
import threading

import pytest

from mercer._runs.errors import RunError
from mercer._serving.limits import Limits
from mercer._serving.problems import Refused
from tests.serving.conftest import client_of
from tests.serving.samples import CAR, PENGUIN, assert_is_error, penguin


@pytest.mark.parametrize(
    ("changes", "column", "words"),
    [
        (
            {"bill_length_mm": "abc"},
            "bill_length_mm",
            "column 'bill_length_mm': 'abc' cannot be used; it takes a number, such as",
        ),
        ({"bill_length_mm": "40.1"}, "bill_length_mm", "takes a number"),
        ({"bill_length_mm": True}, "bill_length_mm", "true cannot be used"),
        ({"bill_length_mm": [1]}, "bill_length_mm", "a list cannot be used"),
        ({"bill_length_mm": 10**400}, "bill_length_mm", "beyond 1e300"),
        ({"island": 3}, "island", "3 cannot be used; it takes a text, such as 'Biscoe'"),
        ({"island": {"a": 1}}, "island", "an object cannot be used"),
        ({"island": "x" * 20_000}, "island", "a text of 20,000 characters cannot be used; it takes at most 10,000"),
        ({"island": "\ud800"}, "island", "surrogate"),
        ({"bill_lenght_mm": 3}, "bill_lenght_mm", "Did you mean 'bill_length_mm'?"),
        ({"z": 3}, "z", "The columns are 'island'"),
    ],
)
def test_a_value_is_refused_by_name(classes, changes, column, words):
    body = json.dumps({"row": penguin(**changes)})
    said = assert_is_error(classes.post("/predict", content=body, headers={"Content-Type": "application/json"}), 422)
    assert said["n_problems"] == 1
    assert said["problems"][0]["column"] == column
    assert said["problems"][0]["row"] == 1
    assert words in said["problems"][0]["message"]
    assert words in said["error"]


def test_all_that_is_wrong_is_said_at_once(classes):
    rows = [PENGUIN, penguin(bill_length_mm="a", year="b"), penguin(island=1)]
    said = assert_is_error(classes.post("/predict", json={"rows": rows}), 422)
    assert [(each["row"], each["column"]) for each in said["problems"]] == [(2, "bill_length_mm"), (2, "year"), (3, "island")]
    assert said["error"].startswith("3 values cannot be used. The first: row 2")
    many = assert_is_error(classes.post("/predict", json={"rows": [{}] * 100}), 422)
    assert many["n_problems"] == 700
    assert len(many["problems"]) == 20
    assert "row 1 lacks the column 'island': give a text, such as 'Biscoe'" in many["problems"][0]["message"]


@pytest.mark.parametrize("value", ["1970-13-01", "soon", 1970, True])
def test_a_date_is_refused_by_name(numbers, value):
    said = assert_is_error(numbers.post("/predict", json={"row": {**CAR, "year": value}}), 422)
    assert "takes a date as text, such as '197" in said["error"]


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("price €", "cheap", "a number"),
        ("zip", "02139", "a whole number"),
        ("zip", 2139.5, "a whole number"),
        ("zip", 1e300, "a whole number"),
        ("is new", "yes", "true or false"),
        ("answer", "perhaps", "yes or no"),
        ("seen at", "yesterday", "a date"),
        ("opens", "25:00", "a time of day"),
        ("took", "1 minute", "a number"),
    ],
)
def test_values_of_every_type_are_refused_by_name(strange_client, column, value, words):
    row = {each["name"]: each["typical"] for each in strange_client.get("/schema").json()["columns"]}
    assert strange_client.post("/predict", json={"row": row}).status_code == 200
    said = assert_is_error(strange_client.post("/predict", json={"row": {**row, column: value}}), 422)
    assert said["problems"][0]["column"] == column
    assert words in said["error"]
    assert strange_client.post("/predict", json={"row": dict.fromkeys(row)}).status_code == 200  # all may be missing


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "JSON: Expecting value in line 1"),
        (b"{", 400, "JSON: "),
        (b"\xff", 400, "byte 0 of the body is not UTF-8"),
        (b'{"row": {"a": NaN}}', 422, "NaN is no value of JSON; null stands"),
        (b'{"row": {"a": 1, "a": 2}}', 422, "'a' is there twice"),
        (b"[" * 100_000, 400, "too deep"),
        (b'{"row": ' + b"9" * 5000 + b"}", 400, "digits"),
        (b"[]", 422, 'must be {"row"'),
        (b'"row"', 422, 'must be {"row"'),
        (b'{"row": {}, "rows": []}', 422, 'must be {"row"'),
        (b'{"row": 3}', 422, "must be an object"),
        (b'{"rows": {}}', 422, "must be a list"),
        (b'{"rows": []}', 422, "must be a list of one row or more"),
        (b'{"rows": [3]}', 422, "row 1: this must be an object"),
    ],
)
def test_what_is_no_request_is_refused(classes, body, status, words):
    for path in ("/predict", "/explain"):
        said = assert_is_error(classes.post(path, content=body, headers={"Content-Type": "application/json"}), status)
        assert words in said["error"] or path == "/explain"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the body is empty"),
        ("island,year\nBiscoe,2007\n", "needs 'bill_length_mm'"),
        ("a,a\n1,2\n", "more than once"),
        ("island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\nBiscoe,abc,1,1,1,male,2007\n", "abc"),
        ("island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\n", "no rows"),
        ("island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\nBiscoe,1\n", "2 fields"),
    ],
)
def test_a_table_is_refused_as_the_command_refuses_it(classes, text, words):
    said = assert_is_error(classes.post("/predict", content=text, headers={"Content-Type": "text/csv"}), 422)
    assert words in said["error"]
    assert "/tmp" not in json.dumps(said)


def test_a_body_that_is_packed_is_refused_as_its_size_is_not_known(classes):
    text = f"{','.join(PENGUIN)}\nBiscoe,1,1,1,1,male,2007\n"
    packed = classes.post("/predict", content=gzip.compress(text.encode()), headers={"Content-Type": "text/csv"})
    assert "not the text of a table" in assert_is_error(packed, 422)["error"]


def test_sizes_are_limited(classes_run):
    client = client_of(classes_run, limits=Limits(body=2000, rows=3, text=10))
    assert "more than the 3" in assert_is_error(client.post("/predict", json={"rows": [PENGUIN] * 4}), 413)["error"]
    assert (
        "larger than the 2,000 bytes" in assert_is_error(client.post("/predict", json={"rows": [PENGUIN] * 100}), 413)["error"]
    )
    in_parts = (b"x" * 1000 for _ in range(9))
    assert_is_error(client.post("/predict", content=in_parts, headers={"Content-Type": "text/csv"}), 413)
    header = ",".join(PENGUIN)
    rows = header + "\nBiscoe,1,1,1,1,male,2007" * 4
    assert_is_error(client.post("/predict", content=rows, headers={"Content-Type": "text/csv"}), 413)
    long = f"{header}\n{'x' * 11},1,1,1,1,male,2007"
    refused = client.post("/predict", content=long, headers={"Content-Type": "text/csv"})
    assert "row 1, column 'island': a text of 11" in assert_is_error(refused, 422)["error"]
    for limits in ({"body": 0}, {"rows": -1}, {"seconds": 0}):
        with pytest.raises(RunError, match="must be positive"):
            Limits(**limits)


def test_an_answer_that_takes_too_long_is_given_up(classes_run, monkeypatch):
    client = client_of(classes_run, limits=Limits(seconds=0.05))
    (service,) = (route.endpoint.__self__ for route in client.app._app.routes if route.path == "/explain")
    held = threading.Event()
    monkeypatch.setattr(service._served, "explain", lambda *_: held.wait(10))
    refused = client.post("/explain", json={"row": PENGUIN})
    assert "more than the 0.05 seconds" in assert_is_error(refused, 503)["error"]
    assert refused.headers["retry-after"] == "1"
    page = client.post("/", data={f"c{place}": str(value) for place, value in enumerate(PENGUIN.values())})
    assert page.status_code == 200  # the prediction stands without its explanation
    assert "There is no explanation: This took more than" in page.text
    held.set()


def test_too_many_that_wait_are_sent_away(classes_run, monkeypatch):
    client = client_of(classes_run, limits=Limits(waiting=0))
    (service,) = (route.endpoint.__self__ for route in client.app._app.routes if route.path == "/explain")
    begun, held = threading.Semaphore(0), threading.Event()

    def explain(*_):
        begun.release()
        held.wait(20)
        return {}

    monkeypatch.setattr(service._served, "explain", explain)
    with client:  # one event loop for all threads
        asking = [threading.Thread(target=client.post, args=("/explain",), kwargs={"json": {"row": PENGUIN}}) for _ in range(2)]
        for thread in asking:
            thread.start()
            begun.acquire(timeout=20)
        assert "worked on already" in assert_is_error(client.post("/explain", json={"row": PENGUIN}), 503)["error"]
        assert client.post("/predict", json={"row": PENGUIN}).status_code == 200  # short work goes on
        held.set()
        for thread in asking:
            thread.join()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost.evil.example:8000"}, 421),
        ({"Host": "models.local"}, 200),
        ({"Host": "MODELS.local:80"}, 200),
        ({"Host": "127.0.0.1:9999"}, 200),
        ({"Host": "192.168.0.7"}, 200),
        ({"Host": "[::1]:8000"}, 200),
        ({"Host": "a b"}, 421),
        ({"Host": ""}, 421),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Encoding": "gzip"}, 415),
    ],
)
def test_who_may_ask(classes, headers, status):
    response = classes.post(
        "/predict", content=json.dumps({"row": PENGUIN}), headers={"Content-Type": "application/json", **headers}
    )
    assert response.status_code == status
    assert "access-control-allow-origin" not in response.headers
    if status >= 400:
        assert_is_error(response, status)


def test_other_paths_methods_and_classes_are_refused(classes, numbers):
    assert "/nowhere: there is no such path" in assert_is_error(classes.get("/nowhere"), 404)["error"]
    refused = classes.get("/predict")
    assert_is_error(refused, 405)
    assert refused.headers["allow"] == "POST"
    assert (
        "the classes are Adelie"
        in assert_is_error(classes.post("/explain", json={"row": PENGUIN, "class": "Emu"}), 422)["error"]
    )
    assert "predicts a number" in assert_is_error(numbers.post("/explain", json={"row": CAR, "class": "Emu"}), 422)["error"]
    assert_is_error(classes.post("/explain", json={"row": PENGUIN, "class": [1]}), 422)
    assert_is_error(classes.post("/explain", json={"row": PENGUIN, "method": "lime"}), 422)


def test_a_fault_is_answered_in_the_same_form(classes_run, monkeypatch):
    client = client_of(classes_run, raise_server_exceptions=False)
    (service,) = (route.endpoint.__self__ for route in client.app._app.routes if route.path == "/predict")
    monkeypatch.setattr(service._served, "predict", lambda rows: 1 / 0)
    said = assert_is_error(client.post("/predict", json={"row": PENGUIN}), 500)
    assert said["error"] == "The service has failed (ZeroDivisionError); its log says where."


def test_what_the_model_says_against_values_is_an_answer(classes_run, monkeypatch):
    client = client_of(classes_run)
    (service,) = (route.endpoint.__self__ for route in client.app._app.routes if route.path == "/predict")

    def predict_proba(X):
        raise ValueError("Input X contains infinity.\nAnd more.")

    monkeypatch.setattr(service._served.stored.model, "predict_proba", predict_proba, raising=False)
    said = assert_is_error(client.post("/predict", json={"row": PENGUIN}), 422)
    assert said["error"] == "The model cannot use these values: Input X contains infinity."


def test_runs_and_cut_offs_that_cannot_be_served(classes_run, tmp_path):
    with pytest.raises(RunError, match="no probabilities of two classes"):
        client_of(classes_run, threshold=0.5)
    with pytest.raises(RunError, match="there is no run here"):
        client_of(tmp_path)


def test_a_refusal_shows_long_values_cut():
    assert Refused(422, "x").to_dict() == {"error": "x", "n_problems": 0, "problems": []}

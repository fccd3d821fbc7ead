"""The application: what is answered at which path."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

import mercer
from mercer._serving import openapi
from mercer._serving.form import FormPage, Typed
from mercer._serving.guard import Guard, Hosts
from mercer._serving.interface_page import interface_page
from mercer._serving.limits import Limits, parse_json
from mercer._serving.metrics import CONTENT_TYPE, Metrics
from mercer._serving.page import POLICY
from mercer._serving.problems import Refused
from mercer._serving.served import Served
from mercer._serving.work import Work

PATHS = frozenset({"/", "/predict", "/explain", "/schema", "/health", "/metrics", "/openapi.json", "/docs"})
_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 20_000


def application(served: Served, limits: Limits, hosts: Hosts, address: str) -> Guard:
    """The service of a model, behind its limits; `address` is where its own pages say that it is."""
    metrics = Metrics(served.about())
    app = FastAPI(
        title=f"Mercer: {served.model_name}",
        version=mercer.__version__,
        description=openapi.description(served, limits),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    service = _Service(served, limits, metrics, Work(limits))
    described = openapi.Described(served, limits)
    app.post("/predict", **described.predict)(service.predict)
    app.post("/explain", **described.explain)(service.explain)
    app.get("/schema", **described.schema)(service.schema)
    app.get("/health", **described.health)(service.health)
    app.get("/metrics", **described.metrics)(service.metrics)
    document = openapi.document(app, served)
    service.document = json.dumps(document).encode()
    service.interface = interface_page(served, document, address).encode()
    for path, endpoint, methods in (
        ("/openapi.json", service.openapi, ["GET"]),
        ("/docs", service.docs, ["GET"]),
        ("/", service.form, ["GET", "POST"]),
    ):
        app.add_api_route(path, endpoint, methods=methods, include_in_schema=False)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(HTTPException, _not_found)
    app.add_exception_handler(Exception, _failed)
    return Guard(app, limits, metrics, hosts, PATHS)


class _Service:
    """The answers."""

    document: bytes
    interface: bytes

    def __init__(self, served: Served, limits: Limits, metrics: Metrics, work: Work) -> None:
        self._served, self._limits, self._metrics, self._work = served, limits, metrics, work
        self._schema = json.dumps({"about": served.about(), "columns": openapi.columns(served)}).encode()
        self._health = json.dumps({"status": "ok", **served.about()}).encode()
        self._page = FormPage(served)

    # ---- predictions and explanations

    async def predict(self, request: Request) -> Response:
        """Predict one row, or many."""
        kind = _content_type(request)
        if kind == "text/csv":
            return await self._predict_csv(request)
        if kind != "application/json":
            raise Refused(415, f"Content-Type {kind!r}: it must be application/json or text/csv.")
        given = parse_json(await request.body())
        is_one, values = self._rows_of(given)
        seconds = self._served.seconds_per_row * len(values)

        def job() -> tuple[list[dict[str, Any]], list[str]]:
            rows = self._served.schema.read(values)
            return self._served.predict(rows), rows.warnings

        said, warnings = await self._work.answer(job, seconds)
        self._metrics.count_rows("/predict", len(said))
        return _json({**said[0], "warnings": warnings} if is_one else {"predictions": said, "warnings": warnings})

    async def _predict_csv(self, request: Request) -> Response:
        body, as_csv = await request.body(), "text/csv" in request.headers.get("accept", "")
        if not body.strip():
            raise Refused(422, "CSV: the body is empty; its first line must hold the names of the columns.")
        said, n_rows, warnings = await self._work.in_thread(
            lambda: self._served.predict_file(body, self._limits.rows, as_csv=as_csv)
        )
        self._metrics.count_rows("/predict", n_rows)
        if isinstance(said, bytes):
            return Response(said, media_type="text/csv")
        return _json({"predictions": said, "warnings": warnings})

    async def explain(self, request: Request) -> Response:
        """Say why a row is predicted as it is."""
        if (kind := _content_type(request)) != "application/json":
            raise Refused(415, f"Content-Type {kind!r}: it must be application/json.")
        given = parse_json(await request.body())
        if not isinstance(given, Mapping) or "row" not in given or not given.keys() <= {"row", "class"}:
            raise Refused(
                422, 'JSON: the body must be {"row": {…}}, with "class" where another than the predicted one is explained.'
            )
        rows = self._served.schema.read([given["row"]])
        label = given.get("class")
        if label is not None and not isinstance(label, (str, int, bool)):
            raise Refused(422, "class: it must be one of the classes that the model predicts.")
        said = await self._work.in_thread(lambda: self._served.explain(rows, given["row"], label))
        self._metrics.count_rows("/explain", 1)
        return _json({**said, "warnings": rows.warnings})

    def _rows_of(self, given: Any) -> tuple[bool, list[Any]]:
        """Whether one row is asked for, and the rows."""
        keys = given.keys() if isinstance(given, Mapping) else ()
        if len(keys) != 1 or not keys <= {"row", "rows"}:
            raise Refused(422, 'JSON: the body must be {"row": {…}} or {"rows": [{…}, …]}, with a value for each column.')
        if "row" in given:
            return True, [given["row"]]
        rows = given["rows"]
        if not isinstance(rows, list) or not rows:
            raise Refused(422, 'JSON: "rows" must be a list of one row or more.')
        if len(rows) > self._limits.rows:
            raise Refused(413, f"{len(rows):,} rows are more than the {self._limits.rows:,} that a request may have.")
        return False, rows

    # ---- what the service says of itself

    async def schema(self) -> Response:
        """The columns of a row."""
        return Response(self._schema, media_type="application/json")

    async def health(self) -> Response:
        """Whether the service answers, and what it serves."""
        return Response(self._health, media_type="application/json")

    async def metrics(self) -> Response:
        """Counts and times since the start, for Prometheus."""
        return Response(self._metrics.text(), headers={"content-type": CONTENT_TYPE})

    async def openapi(self) -> Response:
        return Response(self.document, media_type="application/json")

    async def docs(self) -> Response:
        return _page(self.interface)

    # ---- the form

    async def form(self, request: Request) -> Response:
        """The form, with what is predicted for the values that were sent."""
        if request.method == "GET":
            return _page(self._page.render(Typed.typical(self._served.schema)).encode())
        if (kind := _content_type(request)) != _FORM:
            raise Refused(415, f"Content-Type {kind!r}: the form is sent as {_FORM}; programs send JSON to /predict.")
        try:
            fields = parse_qsl((await request.body()).decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise Refused(400, "The form cannot be read: its text is not UTF-8, or it has too many fields.") from None
        typed = Typed.of_fields(self._served.schema, dict(fields))
        if typed.rows is not None:
            await self._answer_form(typed)
        return _page(self._page.render(typed).encode(), 200 if typed.rows is not None else 422)

    async def _answer_form(self, typed: Typed) -> None:
        rows, served = typed.rows, self._served
        assert rows is not None
        (typed.prediction,) = await self._work.answer(lambda: served.predict(rows), served.seconds_per_row)
        self._metrics.count_rows("/", 1)
        if not served.is_explained:
            typed.unexplained = served.unexplained
            return
        try:
            typed.explanation = await self._work.in_thread(lambda: served.explain(rows, typed.texts))
        except Refused as refusal:  # the prediction stands without it
            typed.unexplained = refusal.message


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _json(value: Any, status: int = 200) -> Response:
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:  # an explanation of numbers beyond all reckoning
        text = json.dumps(_without_infinity(value), allow_nan=False)
    return Response(text.encode(), status_code=status, media_type="application/json")


def _without_infinity(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_infinity(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_infinity(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _page(page: bytes, status: int = 200) -> Response:
    headers = {"content-security-policy": POLICY}
    return Response(page, status_code=status, media_type="text/html; charset=utf-8", headers=headers)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    response = _json(error.to_dict(), error.status)
    if error.status == 503:
        response.headers["retry-after"] = "1"
    return response


async def _not_found(request: Request, error: Exception) -> Response:
    """What the router says: no such path, or not by this method."""
    assert isinstance(error, HTTPException)
    path, method = request.url.path[:80], request.method[:20]
    words = {404: f"{path}: there is no such path; there are {', '.join(sorted(PATHS))}.", 405: f"{path}: not by {method}."}
    response = _json(Refused(error.status_code, words.get(error.status_code, str(error.detail))).to_dict(), error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _failed(request: Request, error: Exception) -> Response:
    """A fault of ours: told to who runs the service, in full, and to who asked, in a word."""
    return _json(Refused(500, f"The service has failed ({type(error).__name__}); its log says where.").to_dict(), 500)

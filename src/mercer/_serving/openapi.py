"""What the service says of its interface to programs: OpenAPI, with the columns of the training table as the type of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mercer._runs.prediction import CLUSTER, PREDICTION
from mercer._serving.cells import ServedColumn
from mercer._serving.limits import Limits
from mercer._serving.served import Served

if TYPE_CHECKING:
    from fastapi import FastAPI

Json = dict[str, Any]
_STATUSES = {
    400: "The body is not JSON.",
    403: "The request comes from a page of another site.",
    408: "The body did not come in time.",
    413: "The body is too large, or has too many rows.",
    415: "The body is of a type that is not taken.",
    421: "The server is not called by this name.",
    422: "Values that cannot be used: each by row, column and value, with what would do.",
    500: "The service has failed.",
    501: "The run cannot be explained.",
    503: "Too many requests at a time, or an answer that takes too long.",
}


def description(served: Served, limits: Limits) -> str:
    """The service in a few sentences."""
    what = "labels rows by their cluster" if served.target is None else f"predicts {served.target}"
    return (
        f"{served.model_name} of the run {served.about()['run']}, which {what}. A request may have {limits.rows:,} rows, "
        f"{limits.body:,} bytes and {limits.seconds:g} seconds."
    )


def columns(served: Served) -> list[Json]:
    """The columns of a row, as `/schema` lists them."""
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "type": _type_of(column)["type"],
            "choices": column.choices or None,
            "other_choices": bool(column.levels) and not (column.choices and column.knows_all_levels),
            "minimum_seen": column.low,
            "maximum_seen": column.high,
            "typical": column.typical,
            "would_do": column.would_do,
        }
        for column in served.schema.columns
    ]


def example_row(served: Served) -> Json:
    """A row of typical values."""
    return {column.name: column.typical for column in served.schema.columns}


def document(app: FastAPI, served: Served) -> Json:
    """The whole description."""
    found = app.openapi()
    schemas: Json = {"Row": _row(served), "Prediction": _prediction(served), "Error": _ERROR, "Explanation": _explanation()}
    found.setdefault("components", {})["schemas"] = schemas
    return found


class Described:
    """The keywords of each route."""

    def __init__(self, served: Served, limits: Limits) -> None:
        row = example_row(served)
        one: Json = {"type": "object", "properties": {"row": _ref("Row")}, "required": ["row"], "additionalProperties": False}
        many: Json = {
            "type": "object",
            "properties": {"rows": {"type": "array", "items": _ref("Row"), "minItems": 1, "maxItems": limits.rows}},
            "required": ["rows"],
            "additionalProperties": False,
        }
        examples = {"one row": {"value": {"row": row}}, "many rows": {"value": {"rows": [row, row]}}}
        body: Json = {
            "application/json": {"schema": {"oneOf": [one, many]}, "examples": examples},
            "text/csv": {
                "schema": {"type": "string", "description": "A table with a header, read as `mercer predict` reads a file."}
            },
        }
        warnings: Json = {"type": "array", "items": {"type": "string"}}
        several: Json = {
            "type": "object",
            "properties": {"predictions": {"type": "array", "items": _ref("Prediction")}, "warnings": warnings},
            "required": ["predictions", "warnings"],
        }
        answers: Json = {
            "application/json": {"schema": {"oneOf": [_ref("Prediction"), several]}},
            "text/csv": {"schema": {"type": "string", "description": "Where CSV was sent and the header Accept asks for it."}},
        }
        errors = (400, 403, 408, 413, 415, 421, 422, 500, 503)
        self.predict = _route("Predict one row, or many", answers, body, errors)
        label: Json = {} if served.classes is None else {"class": {"enum": served.classes}}
        ask: Json = {**one, "properties": {**one["properties"], **label}}
        asked: Json = {"application/json": {"schema": ask, "examples": {"one row": {"value": {"row": row}}}}}
        self.explain = _route("Say why a row is predicted as it is", _answers(_ref("Explanation")), asked, (*errors, 501))
        free: Json = {"type": "object"}
        self.schema = _route("The columns of a row", _answers(free), None, (421,))
        self.health = _route("Whether the service answers, and what it serves", _answers(free), None, (421,))
        self.metrics = _route("Counts and times, for Prometheus", {"text/plain": {"schema": {"type": "string"}}}, None, (421,))


def _route(summary: str, answers: Json, body: Json | None, errors: tuple[int, ...]) -> Json:
    responses: dict[int | str, Json] = {200: {"description": "The answer.", "content": answers}}
    for status in sorted(errors):
        responses[status] = {"description": _STATUSES[status], "content": _answers(_ref("Error"))}
    extra = None if body is None else {"requestBody": {"required": True, "content": body}}
    return {"summary": summary, "responses": responses, "openapi_extra": extra}


def _answers(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _type_of(column: ServedColumn) -> Json:
    if column.holds == "text" and column.kind == "number":
        return {"type": ["string", "number", "null"]}
    name = {"number": "number", "boolean": "boolean"}.get(column.holds, "string")
    return {"type": [name, "null"]}


def _property(column: ServedColumn) -> Json:
    found = {**_type_of(column), "description": f"{column.kind}: {column.would_do}"}
    if column.holds == "moment":
        found["format"] = "date" if column.dtype == "Date" else "date-time"
    if column.holds == "text":
        found["maxLength"] = column.longest
    if column.choices:
        found["examples"] = column.choices
    elif column.typical is not None:
        found["examples"] = [column.typical]
    return found


def _row(served: Served) -> Json:
    return {
        "type": "object",
        "description": "A value for each column that the model uses; other columns of the training table are not looked at.",
        "properties": {column.name: _property(column) for column in served.schema.columns},
        "required": served.schema.names,
    }


def _prediction(served: Served) -> Json:
    value: Json = {"type": "integer"} if served.target is None else {"type": ["number", "null"]}
    if served.classes is not None:
        value = {"enum": served.classes}
    name = CLUSTER if served.target is None else PREDICTION
    properties: Json = {name: value}
    if served.classes is not None or served.target is None:
        shares: Json = {"type": "object", "additionalProperties": {"type": ["number", "null"]}}
        properties["probabilities"] = {**shares, "description": "Where the model has them."}
    if served.calibration is not None and served.classes is None:
        number: Json = {"type": ["number", "null"]}
        properties["interval"] = {"type": "object", "properties": {"lower": number, "upper": number, "coverage": number}}
    elif served.calibration is not None:
        properties["labels"] = {"type": "array", "items": {"enum": served.classes}, "description": "The likeliest first."}
    properties["warnings"] = {"type": "array", "items": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": [name]}


_ERROR: Json = {
    "type": "object",
    "properties": {
        "error": {"type": "string"},
        "n_problems": {"type": "integer"},
        "problems": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "row": {"type": ["integer", "null"], "description": "From 1."},
                    "column": {"type": ["string", "null"]},
                    "value": {},
                    "message": {"type": "string"},
                },
                "required": ["row", "column", "value", "message"],
            },
        },
    },
    "required": ["error", "n_problems", "problems"],
}


def _explanation() -> Json:
    share: Json = {
        "type": "object",
        "properties": {
            "column": {"type": "string"},
            "value": {"type": "string"},
            "contribution": {"type": "number"},
            "error": {"type": ["number", "null"]},
        },
    }
    return {
        "type": "object",
        "description": "As `mercer explain --json` gives it.",
        "properties": {
            "predicted": {"type": "string"},
            "label": {"type": ["string", "null"], "description": "The class whose output is explained."},
            "output": {"type": "number"},
            "base": {"type": "number", "description": "The output where nothing is known of the row."},
            "contributions": {"type": "array", "items": share},
            "changes": {"type": "array", "items": {"type": "object"}},
            "neighbour": {"type": ["object", "null"]},
            "method": {"type": "string"},
        },
    }

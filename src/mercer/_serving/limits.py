"""What a request may cost: sizes and times."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mercer._runs.errors import RunError
from mercer._serving.problems import Refused


@dataclass(frozen=True)
class Limits:
    """What a server takes, and how long it waits."""

    body: int = 8 * 2**20  # bytes
    head: int = 64 * 2**10  # bytes of the request line and the headers
    rows: int = 10_000
    text: int = 10_000  # characters of one value
    seconds: float = 30.0  # to an answer
    read_seconds: float = 10.0  # for the head of a request, for its body, and for who does not take an answer
    idle_seconds: int = 30  # between two requests of a connection
    connections: int = 1_000
    waiting: int = 32  # requests that wait for a thread

    def __post_init__(self) -> None:
        for flag, value in (("max-body", self.body), ("max-rows", self.rows), ("timeout", self.seconds)):
            if not value > 0:
                raise RunError(f"--{flag} {value}: it must be positive.")


def parse_json(body: bytes) -> Any:
    """The value that a body holds; what JSON leaves open is refused: names that are there twice, NaN, any depth.

    The decoder gives up where lists lie some hundreds deep in one another, and rows are refused where a value is a list.
    """
    try:
        return _DECODER.decode(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Refused(400, f"JSON: byte {error.start} of the body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise Refused(400, f"JSON: {error.msg} in line {error.lineno}, column {error.colno} of the body.") from None
    except RecursionError:
        raise Refused(400, "JSON: lists and objects lie too deep in one another.") from None
    except ValueError as error:  # a number of thousands of digits
        raise Refused(400, f"JSON: {str(error).partition(';')[0]}.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(422, f"JSON: {twice!r} is there twice in one object.")
    return found


def _constant(word: str) -> Any:
    raise Refused(422, f"JSON: {word} is no value of JSON; null stands for one that is missing.")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)

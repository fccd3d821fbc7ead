"""JSON as files may have it: no name twice, no number that is none, and no integer that takes long to read."""

from __future__ import annotations

import json
from typing import Any

from mercer._persistence.errors import FileFormatError
from mercer._persistence.limits import SAFE_INTEGER


def parse(text: str | bytes, what: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_int=_small, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{what} is not JSON as it should be: {error}.") from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _small(digits: str) -> int:
    if len(digits) > len(str(SAFE_INTEGER)) + 1:  # before time is spent on it
        raise ValueError("an integer has too many digits")
    return int(digits)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON's")

"""Checks a value against a TypedDict: the first thing that is not as declared is named by its place."""

from __future__ import annotations

import functools
import math
import types
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict


class SchemaError(ValueError):
    """A value is not what its declaration says; the message says where, what was found and what would do."""


def check_value(value: Any, declared: Any, place: str) -> None:
    """Raise SchemaError where `value` is not of the declared type; unknown keys of a mapping are let through."""
    if declared is Any:
        return
    origin = get_origin(declared)
    if origin is NotRequired:
        check_value(value, get_args(declared)[0], place)
    elif is_typeddict(declared):
        _check_mapping(value, declared, place)
    elif origin is list:
        _require(isinstance(value, list), value, "a list", place)
        if get_args(declared)[0] is float and all(type(item) is float and math.isfinite(item) for item in value):
            return  # most of a report is such lists
        for index, item in enumerate(value):
            check_value(item, get_args(declared)[0], f"{place}[{index}]")
    elif origin is dict:
        _require(isinstance(value, dict), value, "an object", place)
        for key, item in value.items():
            _require(isinstance(key, str), key, "text as key", place)
            check_value(item, get_args(declared)[1], f"{place}[{key!r}]")
    elif origin is Literal:
        choices = get_args(declared)
        _require(value in choices, value, "one of " + ", ".join(map(repr, choices)), place)
    elif origin in (Union, types.UnionType):
        _check_union(value, get_args(declared), place)
    else:
        _check_scalar(value, declared, place)


@functools.cache
def _hints(declared: Any) -> dict[str, Any]:
    return get_type_hints(declared, include_extras=True)


def _check_mapping(value: Any, declared: Any, place: str) -> None:
    _require(isinstance(value, dict), value, "an object", place)
    for key, hint in _hints(declared).items():
        where = f"{place}.{key}" if place else key
        if key in value:
            check_value(value[key], hint, where)
        elif get_origin(hint) is not NotRequired:
            raise SchemaError(f"{where} is missing.")


def _check_union(value: Any, members: tuple[Any, ...], place: str) -> None:
    """A union here is one type, or scalars, or null: the message of the only structured member is the one to give."""
    if value is None and type(None) in members:
        return
    structured = [each for each in members if is_typeddict(each) or get_origin(each) in (list, dict)]
    if structured and isinstance(value, (dict, list)):
        return check_value(value, structured[0], place)
    for member in members:
        try:
            return check_value(value, member, place)
        except SchemaError:
            continue
    _require(False, value, " or ".join(_describe(member) for member in members), place)


def _check_scalar(value: Any, declared: Any, place: str) -> None:
    if declared is float:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        _require(is_number and math.isfinite(value), value, "a finite number", place)
    elif declared is int:
        _require(isinstance(value, int) and not isinstance(value, bool), value, "a whole number", place)
    else:
        _require(isinstance(value, declared), value, _describe(declared), place)


def _describe(declared: Any) -> str:
    names = {float: "a finite number", int: "a whole number", str: "text", bool: "true or false", type(None): "null"}
    return names.get(declared, "a list" if get_origin(declared) is list else "an object")


def _require(holds: bool, value: Any, wanted: str, place: str) -> None:
    if not holds:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        raise SchemaError(f"{place or 'the whole'} is {shown}; it must be {wanted}.")

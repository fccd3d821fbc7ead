"""Python code that repeats what a run did: estimators as expressions, and how the table is read."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from mercer._runs.reading import FileOptions, RowFile, is_parquet
from mercer._runs.settings import RunSettings

_WIDTH = 100


class Code:
    """Estimators as the expressions that make them, and the imports that these need."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def add(self, module: str, name: str) -> None:
        self._names.setdefault(module, set()).add(name)

    def imports(self) -> list[str]:
        return [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self._names.items())]

    def path(self, source: Path, embedded: str | None) -> str:
        """The file of the data. `embedded` is the name of a table that comes with Mercer."""
        if embedded is None:
            return repr(str(source.resolve()))
        self.add("mercer.datasets", "dataset_path")
        return f"dataset_path({embedded!r})"

    def read(self, settings: RunSettings, source: Path, *more: str, is_plain: bool, data: str = "DATA") -> str:
        """The expression that reads a table as a run does, blank lines left out; `data` is the name of the file's path.

        `is_plain`: polars reads the same by itself, with `more` arguments.
        """
        file = settings.file
        if not is_plain:
            self.add("mercer.datasets", "read_table")
            given = {**{item.name: getattr(file, item.name) for item in fields(file)}, "kinds": dict(settings.kinds)}
            defaults = {**vars(FileOptions()), "kinds": {}}
            words = "".join(f", {name}={value!r}" for name, value in given.items() if value != defaults[name])
            return f"read_table({data}{words})"
        if is_parquet(source):
            return f"pl.read_parquet({data})"
        options = [f"separator={RowFile(source, file).separator!r}", f"null_values={list(file.nulls)!r}"]
        if file.decimal_comma:
            options.append("decimal_comma=True")
        if file.encoding is not None and file.encoding.lower() != "utf-8":
            options.append(f"encoding={file.encoding!r}")
        lines = [data, *more, "infer_schema_length=None", "try_parse_dates=True", *options]
        call = "pl.read_csv(\n" + "".join(f"    {line},\n" for line in lines) + ")"
        return f"{call}.filter(~pl.all_horizontal(pl.all().is_null()))"

    def of(self, value: Any, indent: int = 0) -> str:
        """The expression, over several lines where one is too short for it."""
        if isinstance(value, BaseEstimator):
            cls = type(value)
            self.add(_public_module(cls), cls.__name__)
            parts = [(f"{name}=", part) for name, part in changed_params(value).items()]
            return self._wrapped(f"{cls.__name__}(", parts, ")", indent)
        if isinstance(value, (list, tuple)):
            start, end = ("[", "]") if isinstance(value, list) else ("(", ",)" if len(value) == 1 else ")")
            return self._wrapped(start, [("", part) for part in value], end, indent)
        if isinstance(value, dict):
            return self._wrapped("{", [(f"{key!r}: ", part) for key, part in value.items()], "}", indent)
        return repr(value)

    def _wrapped(self, start: str, parts: list[tuple[str, Any]], end: str, indent: int) -> str:
        flat = f"{start}{', '.join(name + self.of(part) for name, part in parts)}{end}"
        if len(flat) + indent <= _WIDTH and "\n" not in flat:
            return flat
        pad = " " * (indent + 4)
        lines = "".join(f"{pad}{name}{self.of(part, indent + 4)},\n" for name, part in parts)
        return f"{start}\n{lines}{' ' * indent}{end.lstrip(',')}"


def changed_params(estimator: BaseEstimator) -> dict[str, Any]:
    """The parameters of an estimator that are not the defaults of its class."""
    defaults = _defaults(type(estimator))
    given = estimator.get_params(deep=False)
    return {name: value for name, value in given.items() if name not in defaults or not _equal(value, defaults[name])}


def _public_module(cls: type) -> str:
    """The module to import a class from: without private parts."""
    parts = cls.__module__.split(".")
    public = next((place for place, part in enumerate(parts) if part.startswith("_")), len(parts))
    return ".".join(parts[:public])


def _defaults(cls: type) -> dict[str, Any]:
    return {
        name: parameter.default
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, BaseEstimator) or isinstance(other, BaseEstimator):
        return False
    return type(one) is type(other) and repr(one) == repr(other)

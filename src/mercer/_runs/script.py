"""`train.py`: the chosen model as plain code, which gives the same bits without the command."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from mercer._runs.problem import Problem
from mercer._runs.reading import is_parquet, separator_of
from mercer._runs.settings import Settings

_WIDTH = 100
_TEMPLATE = '''"""Trains the model that `mercer train` chose, on the same rows, and tests it once. Needs mercer and polars."""

import numpy as np
import polars as pl

import mercer
{imports}

DATA = {data}

# The table: the rows whose target is known.
table = {read}
{filters}y = {target}
{lone}X = table.drop({target_name!r})

# The same division into training and test rows.
train, test = train_test_split(np.arange(len(y)), test_size={test_size!r}, random_state={seed!r}{stratify})
train, test = np.sort(train), np.sort(test)

model = {model}
model.fit(X[train], y[train])

if __name__ == "__main__":
    print({metric_name!r}, get_scorer({metric_name!r})(model, X[test], y[test]))
    mercer.save(model, "model.mercer")
'''


def write_script(problem: Problem, settings: Settings, source: Path, model: Any, embedded: str | None) -> str:
    """The text of the script. `embedded` is the name of a table that comes with Mercer."""
    code = _Code()
    body = code.of(model)
    code.add("mercer.metrics", "get_scorer")
    code.add("mercer.model_selection", "train_test_split")
    if embedded:
        code.add("mercer.datasets", "dataset_path")
    is_text = problem.classes is not None and isinstance(problem.classes[0], str)
    return _TEMPLATE.format(
        imports="\n".join(code.imports()),
        data=f"dataset_path({embedded!r})" if embedded else repr(str(source.resolve())),
        read=_read_call(settings, source),
        filters=_filters(problem, settings),
        target=_target(problem, settings, is_text=is_text),
        lone=_lone(problem),
        target_name=settings.target,
        test_size=settings.test_size,
        seed=settings.seed,
        stratify="" if problem.classes is None else ", stratify=y",
        model=body,
        metric_name=problem.metric.name,
    )


def _read_call(settings: Settings, source: Path) -> str:
    if is_parquet(source):
        return "pl.read_parquet(DATA)"
    file = settings.file
    options = [f"separator={separator_of(source, file)!r}", f"null_values={list(file.nulls)!r}"]
    if file.decimal_comma:
        options.append("decimal_comma=True")
    if file.encoding.lower() != "utf-8":
        options.append(f"encoding={file.encoding!r}")
    lines = ["DATA", "infer_schema_length=None", "try_parse_dates=True", *options]
    call = "pl.read_csv(\n" + "".join(f"    {line},\n" for line in lines) + ")"
    return f"{call}.filter(~pl.all_horizontal(pl.all().is_null()))"


def _filters(problem: Problem, settings: Settings) -> str:
    column = f"pl.col({settings.target!r})"
    lines = [f"table = table.filter({column}.is_not_null())\n"]
    if problem.is_float_target:
        lines.append(f"table = table.filter({column}.is_finite())\n")
    if settings.drop:
        lines.append(f"table = table.drop({list(settings.drop)!r})\n")
    return "".join(lines)


def _target(problem: Problem, settings: Settings, *, is_text: bool) -> str:
    column = f"table[{settings.target!r}]"
    if problem.classes is None:
        return f"{column}.cast(pl.Float64).to_numpy()"
    if is_text:
        return f"np.asarray({column}.cast(pl.String).to_list())"
    return f"{column}.cast(pl.Int64).to_numpy()" if problem.is_float_target else f"{column}.to_numpy()"


def _lone(problem: Problem) -> str:
    """Classes of a single row are left out."""
    if not problem.lone:
        return ""
    return f"is_kept = ~np.isin(y, {problem.lone!r})\ntable, y = table.filter(is_kept), y[is_kept]\n"


class _Code:
    """Estimators as the expressions that make them, and the imports that these need."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def add(self, module: str, name: str) -> None:
        self._names.setdefault(module, set()).add(name)

    def imports(self) -> list[str]:
        return [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self._names.items())]

    def of(self, value: Any, indent: int = 0) -> str:
        """The expression, over several lines where one is too short for it."""
        if isinstance(value, BaseEstimator):
            cls = type(value)
            self.add(_public_module(cls), cls.__name__)
            defaults = _defaults(cls)
            changed = {k: v for k, v in value.get_params(deep=False).items() if k not in defaults or not _equal(v, defaults[k])}
            return self._wrapped(f"{cls.__name__}(", [(f"{name}=", part) for name, part in changed.items()], ")", indent)
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

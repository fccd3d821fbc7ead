"""The file that a run learns from: the user's, or a table that comes with Mercer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mercer._runs.alerts import Alert
from mercer._runs.errors import RunError
from mercer._runs.figures import figures_of, without_marks_of_missing
from mercer._runs.folder import Plan, RunFolder, digest_of
from mercer._runs.reading import ReadTable, RowFile, read_table, read_texts
from mercer._runs.settings import RunSettings, Settings
from mercer.datasets import dataset_path, list_datasets, load_dataset


def source_of(settings: RunSettings) -> Path:
    """The file that the settings name: a path, or a table that comes with Mercer."""
    name = embedded_name(settings)
    return dataset_path(name) if name else Path(settings.source)


def embedded_name(settings: RunSettings) -> str | None:
    """The name of the embedded table; None for a file, which goes before an embedded table of its name."""
    return settings.source if settings.source in list_datasets() and not Path(settings.source).is_file() else None


def origin_of(settings: RunSettings) -> dict[str, str] | None:
    """What is known of an embedded table: its description, licence and source. None for a file."""
    name = embedded_name(settings)
    if name is None:
        return None
    table = load_dataset(name)
    return {key: getattr(table, key) for key in ("description", "licence", "source")}


@dataclass(frozen=True)
class Sources:
    """The files of a run: what it learns from, and what it is tested on where that is another."""

    data: Path
    test: Path | None = None

    @classmethod
    def of(cls, settings: RunSettings) -> Sources:
        """Those that the settings name."""
        test = getattr(settings, "test_file", None)
        return cls(source_of(settings), None if test is None else Path(test))

    @classmethod
    def of_plan(cls, plan: Plan[Any]) -> Sources:
        """Those of a run that is resumed, wherever it is resumed from; they must be as they were."""
        named = cls.of(plan.settings)
        data = _still_there(plan.files.get("data"), named.data, "--data")
        check_unchanged(data, plan.digest)
        if named.test is None:
            return cls(data)
        test = _still_there(plan.files.get("test"), named.test, "--test-file")
        check_unchanged(test, plan.test_digest)
        return cls(data, test)

    def begin(self, path: Path, settings: RunSettings, schema: Mapping[str, Any]) -> RunFolder:
        """The folder of a new run with these files."""
        kinds = {name: str(kind) for name, kind in schema.items()}
        files = {} if embedded_name(settings) else {"data": str(source_of(settings).resolve())}
        if self.test is not None:
            files["test"] = str(self.test.resolve())
        test_digest = None if self.test is None else digest_of(self.test)
        return RunFolder.begin(path, settings, digest_of(self.data), kinds, files, test_digest)

    def read_test(self, settings: Settings, learning: ReadTable) -> ReadTable | None:
        """The rows of the test file, read as the table that learns was; None where there is no such file."""
        if self.test is None:
            return None
        file = RowFile(self.test, settings.file)
        return _like(learning, read_table(self.test, settings.file, settings.kinds, file), file)


def _like(learning: ReadTable, found: ReadTable, file: RowFile) -> ReadTable:
    """Words where the table that learns has words, as they are written (007), and numbers by the decimal mark that it has."""
    import polars as pl

    if not file.is_text:
        return found
    schema = found.table.schema
    own = {name: kind for name, kind in learning.table.schema.items() if name in schema}
    words = [name for name, kind in own.items() if kind == pl.String and schema[name] != pl.String]
    marks = {name: learning.marks[name] for name in own if name in learning.marks}
    if not words and not marks:
        return found
    rows = found.numbers - 1
    texts = read_texts(file.path, file.options).select(*words, *marks)[rows]
    is_null = pl.all().is_in(list(file.options.nulls))
    texts = texts.with_columns(pl.when(~is_null).then(pl.all()).name.keep())
    columns = [texts[name] for name in words]
    for name, mark in marks.items():
        bare = without_marks_of_missing(texts[name])
        numbers = figures_of(bare, mark)
        columns.append(texts[name] if (bare.is_not_null() & numbers.is_null()).any() else numbers.alias(name))
    return replace(found, table=found.table.with_columns(columns), is_plain=found.is_plain and not marks)


def in_test_file(test: ReadTable | None) -> tuple[Alert, ...]:
    """What was met when the file of test rows was read."""
    return () if test is None else tuple(replace(each, message=f"in the test file: {each.message}") for each in test.alerts)


def _still_there(stored: str | None, named: Path, flag: str) -> Path:
    """Where the file lay when the run was begun, or as it was named."""
    places = [*([] if stored is None else [Path(stored)]), named]
    if found := next((place for place in places if place.is_file()), None):
        return found
    raise RunError(f"{places[0]}: the file of the run is not there any more. {flag} FILE names where it is now.")


def check_unchanged(path: Path, digest: str | None) -> None:
    """Refuse another file than the one that the run was begun with."""
    if digest_of(path) != digest:
        raise RunError(f"{path}: the data have changed since the run was begun. Begin a new one.")

"""The file that a run learns from: the user's, or a table that comes with Mercer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer._runs.errors import RunError
from mercer._runs.folder import Plan, digest_of
from mercer._runs.reading import NumberedTable, read_table
from mercer._runs.settings import RunSettings, Settings
from mercer.datasets import dataset_path, list_datasets

if TYPE_CHECKING:
    import polars as pl


def source_of(settings: RunSettings) -> Path:
    """The file that the settings name: a path, or a table that comes with Mercer."""
    name = embedded_name(settings)
    return dataset_path(name) if name else Path(settings.source)


def embedded_name(settings: RunSettings) -> str | None:
    """The name of the embedded table; None for a file, which goes before an embedded table of its name."""
    return settings.source if settings.source in list_datasets() and not Path(settings.source).exists() else None


def unchanged_source(plan: Plan[Any]) -> Path:
    """The file of a run that is resumed, which must be as it was."""
    source = source_of(plan.settings)
    if digest_of(source) != plan.digest:
        raise RunError(f"{source}: the data have changed since the run was begun. Begin a new one.")
    return source


def read_test(settings: Settings, table: pl.DataFrame) -> NumberedTable | None:
    """The rows of the test file, words where the table that learns has words; None where there is no such file."""
    import polars as pl

    if settings.test_file is None:
        return None
    words = {name: kind for name, kind in table.schema.items() if kind == pl.String}
    return read_table(Path(settings.test_file), settings.file, words)

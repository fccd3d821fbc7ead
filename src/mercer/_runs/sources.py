"""The file that a run learns from: the user's, or a table that comes with Mercer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mercer._runs.errors import RunError
from mercer._runs.folder import Plan, digest_of
from mercer._runs.settings import RunSettings
from mercer.datasets import dataset_path, list_datasets
from mercer.datasets._tables import ENTRIES


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
    return None if name is None else {key: getattr(ENTRIES[name], key) for key in ("description", "licence", "source")}


def unchanged_source(plan: Plan[Any]) -> Path:
    """The file of a run that is resumed, which must be as it was."""
    source = source_of(plan.settings)
    if digest_of(source) != plan.digest:
        raise RunError(f"{source}: the data have changed since the run was begun. Begin a new one.")
    return source

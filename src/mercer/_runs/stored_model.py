"""The model of a finished run, and how a file of new rows is read for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mercer
from mercer._runs.errors import DataError, RunError
from mercer._runs.folder import Plan, RunFolder
from mercer._runs.pipelines import PREPARER, first_pipeline
from mercer._runs.reading import FileOptions, columns_of
from mercer._runs.settings import RunSettings, Settings


@dataclass(frozen=True)
class StoredModel:
    """What a run has left that takes new rows."""

    folder: RunFolder
    plan: Plan[RunSettings]
    model: Any

    @classmethod
    def of(cls, run: Path) -> StoredModel:
        """The model of the run in this folder, or what there is instead."""
        folder = RunFolder.existing(run)
        plan = folder.read_plan()
        if not folder.model.is_file():
            if folder.report_json.is_file():
                raise RunError(f"{run}: the model of this run could not be stored in a file; its report says why.")
            command = plan.settings.command
            raise RunError(f"{run}: the run has no model yet. `mercer {command} --resume {run}` goes on with it.")
        return cls(folder, plan, mercer.load(folder.model))

    @property
    def is_trained(self) -> bool:
        """Whether it predicts a target; the others are models of clusters."""
        return isinstance(self.plan.settings, Settings)

    @property
    def classes(self) -> Any:
        """The labels that it predicts; None where it predicts numbers or clusters."""
        return getattr(self.model, "classes_", None) if self.is_trained else None

    def options(self, separator: str | None, encoding: str | None) -> FileOptions:
        """How a file of new rows is read: as the one that the run learnt from, where nothing else is said."""
        own = self.plan.settings.file
        return replace(own, separator=separator, encoding=encoding or own.encoding)

    def check_columns(self, path: Path, options: FileOptions, keep: Sequence[str] = ()) -> None:
        """Refuse a file without columns that the model needs, or that are to be kept."""
        columns = columns_of(path, options)
        needed = [column.name for column in first_pipeline(self.model).named_steps[PREPARER].report_ if column.used]
        if lacking := [name for name in needed if name not in columns]:
            shown = ", ".join(map(repr, lacking[:8])) + (" …" if len(lacking) > 8 else "")
            raise DataError(f"{path}: the model needs {shown}, which {'is' if len(lacking) == 1 else 'are'} not in the file.")
        if unknown := [name for name in keep if name not in columns]:
            raise RunError(f"--keep {unknown[0]}: there is no such column in {path}.")

    def schema(self) -> dict[str, Any]:
        """The types of columns as they were in training, where polars could take them for others; numbers need not be whole."""
        import polars as pl

        kinds = first_pipeline(self.model).named_steps[PREPARER].kinds_
        known = {"String": pl.String, "Int64": pl.Int64, "Float64": pl.Float64}
        types = {
            name: pl.Float64 if kinds.get(name) == "number" and kind != "String" else known.get(kind)
            for name, kind in self.plan.schema.items()
        }
        return {name: kind for name, kind in types.items() if kind is not None and name in kinds}

"""The model of a finished run, and how a file of new rows is read for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import mercer
from mercer._lazy import lazy_property
from mercer._runs.alerts import Alert
from mercer._runs.errors import DataError, RunError
from mercer._runs.figures import Mark
from mercer._runs.folder import Plan, RunFolder
from mercer._runs.new_rows import TrainingTypes
from mercer._runs.pipelines import PREPARER, first_pipeline
from mercer._runs.profile import Profile, Watch
from mercer._runs.reading import FileOptions, ReadTable, RowFile, scan_pieces
from mercer._runs.settings import RunSettings, Settings

if TYPE_CHECKING:
    import polars as pl


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

    def options(self, separator: str | None = None, encoding: str | None = None, sheet: str | None = None) -> FileOptions:
        """How a file of new rows is read: as the one that the run learnt from, where nothing else is said."""
        own = self.plan.settings.file
        return replace(own, separator=separator, encoding=encoding or own.encoding, sheet=sheet)

    def file(self, path: Path, options: FileOptions) -> RowFile:
        """A file of new rows; of sheets the one that the run learnt from, if the file has it and nothing else is said."""
        own = self.plan.settings.file.sheet
        file = RowFile(path, options)
        if file.kind == "sheets" and options.sheet is None and own is not None:
            return RowFile(path, replace(options, sheet=own))
        return file

    @property
    def columns(self) -> list[str]:
        """The columns that the model uses."""
        return list(self._kinds)

    @lazy_property
    def preparers(self) -> list[Any]:
        """What prepares columns: one, or one a member of a blend."""
        members = [self.model] if hasattr(self.model, "steps") else getattr(self.model, "estimators_", [])
        return [member.named_steps[PREPARER] for member in members or [first_pipeline(self.model)]]

    @property
    def _kinds(self) -> dict[str, str]:
        """Of the columns that any of them uses; where they differ, by the first."""
        used = ((column.name, found.kinds_[column.name]) for found in self.preparers for column in found.report_ if column.used)
        kinds: dict[str, str] = {}
        for name, kind in used:
            kinds.setdefault(name, kind)
        return kinds

    def check_columns(self, file: RowFile, keep: Sequence[str] = ()) -> None:
        """Refuse a file without columns that the model needs, or that are to be kept."""
        columns = set(file.columns)
        if lacking := [name for name in self.columns if name not in columns]:
            shown = ", ".join(map(repr, lacking[:8])) + (" …" if len(lacking) > 8 else "")
            raise DataError(
                f"{file.path}: the model needs {shown}, which {'is' if len(lacking) == 1 else 'are'} not in the file."
            )
        if unknown := [name for name in keep if name not in columns]:
            raise RunError(f"--keep {unknown[0]}: there is no such column in {file.path}.")

    @lazy_property
    def profile(self) -> Profile:
        """What the columns of training were like."""
        return Profile.read(self.folder.profile)

    @lazy_property
    def types(self) -> TrainingTypes:
        """In which types the columns were in training."""
        own = self.plan.settings.file
        mark: Mark = "comma" if own.decimal_comma else "point"
        return TrainingTypes(self.plan.schema, self._kinds, self.profile.marks, mark, own.nulls)

    def read(self, file: RowFile) -> ReadTable:
        """All rows of a file in the types of training, and what there is to say of them."""
        watch = Watch(self.profile)
        pieces = []
        for piece in scan_pieces(file):
            table, columns, strange = self.types.typed(piece.table, piece.numbers, str(file.path))
            watch.see(columns, strange)
            pieces.append((table, piece.numbers))
        whole = _joined([table for table, _ in pieces])
        guesses = [Alert("info", None, guess, None) for guess in file.guesses]
        return ReadTable(whole, np.concatenate([numbers for _, numbers in pieces]), (*guesses, *watch.alerts()))


def _joined(tables: list[pl.DataFrame]) -> pl.DataFrame:
    """Pieces of one table as a whole; of types that differ the one that holds both."""
    import polars as pl

    return pl.concat(tables, how="vertical_relaxed")

"""The file that a run learns from: the user's, or a table that comes with Mercer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer._runs.errors import RunError
from mercer._runs.folder import Plan, RunFolder, digest_of
from mercer._runs.reading import NumberedTable, read_table
from mercer._runs.settings import RunSettings, Settings
from mercer.datasets import dataset_path, list_datasets
from mercer.datasets._tables import ENTRIES

if TYPE_CHECKING:
    import polars as pl


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
        files = {} if embedded_name(settings) else {"data": str(self.data.resolve())}
        if self.test is not None:
            files["test"] = str(self.test.resolve())
        test_digest = None if self.test is None else digest_of(self.test)
        return RunFolder.begin(path, settings, digest_of(self.data), kinds, files, test_digest)

    def read_test(self, settings: Settings, table: pl.DataFrame) -> NumberedTable | None:
        """The rows of the test file, words where the table that learns has words; None where there is no such file."""
        import polars as pl

        if self.test is None:
            return None
        words = {name: kind for name, kind in table.schema.items() if kind == pl.String}
        return read_table(self.test, settings.file, words)


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

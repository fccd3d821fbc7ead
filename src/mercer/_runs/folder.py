"""The folder of a run: what was asked, what is finished, and in the end the model, the report and the script.

Every command that learns from a table leaves such a folder; its plan says which one it was.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mercer._runs.errors import RunError
from mercer._runs.journal import Journal, Shelf
from mercer._runs.settings import SETTINGS, RunSettings

if TYPE_CHECKING:
    from mercer._report import AnyContent

FORMAT = 1
Asked = TypeVar("Asked", bound=RunSettings)


@dataclass(frozen=True)
class Plan(Generic[Asked]):
    """What a run sets out from."""

    settings: Asked
    digest: str  # of the data
    schema: dict[str, str]  # the types of the columns
    files: Mapping[str, str] = field(default_factory=dict)  # where "data" and "test" lay; none for an embedded table
    test_digest: str | None = None  # of the file of test rows

    def to_dict(self) -> dict[str, Any]:
        """For the run's folder."""
        written = {"format": FORMAT, "command": self.settings.command, "settings": self.settings.to_dict()}
        return {
            **written,
            "data": self.digest,
            "schema": self.schema,
            "files": dict(self.files),
            "test_data": self.test_digest,
        }


class RunFolder:
    """Names of files, and the two that a run writes to as it goes: the journal and the shelf of predictions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.plan = path / "run.json"
        self.model = path / "model.mercer"
        self.report_json = path / "report.json"
        self.report_html = path / "report.html"
        self.tested_model = path / "tested-model.mercer"  # where the model has learnt from the test rows too, after the test
        self.test_rows = path / "test-rows.parquet"  # what the tested model says of them
        self.decision = path / "decision.json"  # what labels are predicted by, where costs were given
        self.intervals = path / "intervals.json"  # how far from a prediction the truth may lie, where that was asked for
        self.profile = path / "profile.json"  # what the columns of training were like, which new rows are compared with
        self.sample = path / "rows.parquet"  # of training rows, which explanations are made with
        self.journal = Journal(path / "journal.jsonl")
        self.shelf = Shelf(path / "folds")

    def script(self, command: str) -> Path:
        """Plain code that repeats the result of a command."""
        return self.path / f"{command}.py"

    @staticmethod
    def refuse_existing(path: Path, command: str) -> None:
        """A folder that holds anything is refused, so that no earlier run is overwritten."""
        try:
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                hint = f" `mercer {command} --resume {path}` goes on with it." if (path / "run.json").exists() else ""
                raise RunError(f"--out {path}: it exists already.{hint} Name another folder.")
        except (OSError, ValueError) as error:
            raise RunError(f"--out {path}: {getattr(error, 'strerror', None) or error}.") from error

    @classmethod
    def begin(
        cls,
        path: Path,
        settings: RunSettings,
        digest: str,
        schema: Mapping[str, str],
        files: Mapping[str, str] | None = None,
        test_digest: str | None = None,
    ) -> RunFolder:
        """A new folder, with a `Plan` of these."""
        cls.refuse_existing(path, settings.command)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"--out {path}: the folder cannot be made ({error.strerror or error}).") from error
        folder = cls(path)
        folder.write_plan(Plan(settings, digest, dict(schema), files or {}, test_digest))
        return folder

    @classmethod
    def existing(cls, path: Path) -> RunFolder:
        """The folder of a run that was begun, with a plan that can be read."""
        if not (path / "run.json").is_file():
            raise RunError(f"{path}: there is no run here (no run.json).")
        folder = cls(path)
        folder.read_plan()
        return folder

    def write_plan(self, plan: Plan[Any]) -> None:
        write_whole(self.plan, _to_json(plan.to_dict()))

    def read_plan(self) -> Plan[RunSettings]:
        """What was asked, and of what data."""
        try:
            stored = json.loads(self.plan.read_text())
            if stored["format"] != FORMAT:
                raise RunError(f"{self.plan}: format {stored['format']!r} is not known; this version knows {FORMAT}.")
            kind = SETTINGS[stored.get("command", "train")]
            settings, schema = kind.from_dict(stored["settings"]), dict(stored["schema"])
            return Plan(settings, str(stored["data"]), schema, dict(stored.get("files", {})), stored.get("test_data"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{self.plan}: the file is damaged ({type(error).__name__}: {error}).") from error

    def read_plan_of(self, kind: type[Asked]) -> Plan[Asked]:
        """The same for a command that must be the one that began the run."""
        plan = self.read_plan()
        if not isinstance(plan.settings, kind):
            began = plan.settings.command
            raise RunError(f"{self.path}: this is a run of `mercer {began}`; `mercer {began} --resume {self.path}` goes on.")
        return Plan(plan.settings, plan.digest, plan.schema, plan.files, plan.test_digest)

    @property
    def seconds_spent(self) -> float:
        """By earlier parts of the run, up to the last thing that they finished."""
        return max((line["at"] for line in self.journal), default=0.0)

    def read_report(self) -> AnyContent:
        from mercer._report import ReportError, read_json

        if not self.report_json.is_file():
            command = self.read_plan().settings.command
            raise RunError(
                f"{self.path}: the run is not finished (no report.json). `mercer {command} --resume {self.path}` goes on."
            )
        try:
            return read_json(self.report_json)
        except ReportError as error:
            raise RunError(str(error)) from error


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _to_json(content: Any) -> str:
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)


def digest_of(path: Path) -> str:
    """What identifies the contents of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()

"""The course of every run: where it begins, what it writes down on the way, and the report at its end."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic

import mercer
from mercer._report import check, write_html, write_json
from mercer._runs.clock import Clock, OutOfTime
from mercer._runs.files import STANDARD_INPUT, spool
from mercer._runs.folder import Asked, RunFolder
from mercer._runs.settings import RunSettings
from mercer._runs.sources import Sources


@dataclass(frozen=True)
class Start(Generic[Asked]):
    """What a run begins with: settings and the file that they name, new ones or those of the run that is resumed."""

    path: Path
    settings: Asked
    sources: Sources
    _resumed: RunFolder | None
    _waiting: tempfile.TemporaryDirectory[str] | None = None  # holds what came on standard input until there is a folder

    @property
    def source(self) -> Path:
        """The file that is learnt from; what came on standard input lies in the folder as soon as there is one."""
        kept = None if self._waiting is None else Path(self.settings.source)
        return kept if kept is not None and kept.is_file() else self.sources.data

    @classmethod
    def of(cls, settings: Asked, path: Path, *, resume: bool) -> Start[Asked]:
        if not resume:
            RunFolder.refuse_existing(path, settings.command)
            if settings.source != STANDARD_INPUT:
                return cls(path, settings, Sources.of(settings), None)
            waiting = tempfile.TemporaryDirectory(prefix="mercer-")
            source = spool(Path(waiting.name), "input")
            settings = dataclasses.replace(settings, source=str(path / source.name))
            return cls(path, settings, dataclasses.replace(Sources.of(settings), data=source), None, waiting)
        folder = RunFolder.existing(path)
        plan = folder.read_plan_of(type(settings))
        return cls(path, plan.settings, Sources.of_plan(plan), folder)

    def folder(self, schema: Mapping[str, Any]) -> RunFolder:
        """The folder of the run, made when it is asked for: what is wrong with the table is said before there is one."""
        if self._resumed is not None:
            return self._resumed
        folder = self.sources.begin(self.path, self.settings, schema)
        if self._waiting is not None:  # rows that come only once stay in the folder, so that the run can be resumed
            shutil.move(self.sources.data, self.settings.source)
            self._waiting.cleanup()
        return folder


class StagedSearch:
    """A search that goes through stages, and what all of them ask: the time for one fit, and the journal of the folder."""

    def __init__(self, settings: RunSettings, folder: RunFolder, clock: Clock) -> None:
        self.folder, self.clock = folder, clock
        self.errors: dict[str, str] = {}  # tracebacks of what failed, by name
        self._cap = settings.model_seconds or max(2.0, 0.1 * settings.seconds)  # for one fit

    def _write(self, kind: str, **values: Any) -> None:
        """Into the journal, with the time that the run has taken so far."""
        self.folder.journal.add(kind, at=self.clock.elapsed, **values)

    def _note_failure(self, name: str, error: Exception, /, **values: Any) -> str:
        """Write down why something failed; the reason in one line."""
        self.errors[name] = "".join(traceback.format_exception(error))
        reason = in_one_line(error)
        self._write("failed", **values, reason=reason)
        return reason


def in_one_line(error: Exception) -> str:
    kind = "time" if isinstance(error, OutOfTime) else type(error).__name__
    return ": ".join([kind, *str(error).strip().splitlines()[:1]])


def heading(title: str, command: str) -> dict[str, Any]:
    """What every report says of itself."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return {"format": 1, "title": title, "created": created, "command": command, "mercer": mercer.__version__}


def write_report(content: Mapping[str, Any], folder: RunFolder) -> Any:
    """Check the content and write it, for programs and for people."""
    report = check(content)
    write_json(report, folder.report_json)
    write_html(report, folder.report_html)
    return report

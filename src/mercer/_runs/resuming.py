"""Going on with a run: with more time, and wherever its files lie now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mercer._runs.errors import RunError
from mercer._runs.folder import Asked, Plan, RunFolder
from mercer._runs.sources import check_unchanged


@dataclass(frozen=True)
class GoingOn:
    """What may be said of a run that is resumed; all else is as it was."""

    seconds: float | None = None  # more, beyond what the run has spent so far; None: what is left of its time
    data: Path | None = None  # where the file of the data is now
    test: Path | None = None


def go_on(path: Path, kind: type[Asked], said: GoingOn) -> Asked:
    """The settings of the run in a folder, which says from now on what was said."""
    folder = RunFolder.existing(path)
    plan = folder.read_plan_of(kind)
    changed = _with_files(plan, said)
    if said.seconds is not None:
        if not said.seconds > 0:
            raise RunError(f"--time {said.seconds:g}: it must be a positive time, such as 90s, 5m or 1h.")
        changed = replace(changed, settings=replace(plan.settings, seconds=folder.seconds_spent + said.seconds))
    if changed != plan:
        folder.write_plan(changed)
    return changed.settings


def _with_files(plan: Plan[Asked], said: GoingOn) -> Plan[Asked]:
    files = dict(plan.files)
    if said.test is not None and plan.test_digest is None:
        raise RunError(f"--test-file {said.test}: the run was begun without one. Begin a new one.")
    given: list[tuple[str, Path | None, Any, str]] = [
        ("data", said.data, plan.digest, "--data"),
        ("test", said.test, plan.test_digest, "--test-file"),
    ]
    for name, file, digest, flag in given:
        if file is None:
            continue
        if not file.is_file():
            raise RunError(f"{flag} {file}: there is no such file.")
        check_unchanged(file, digest)
        files[name] = str(file.resolve())
    return replace(plan, files=files)

"""What a run has finished, line by line, each on disk before the next step: a kill loses nothing that is written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mercer._runs.errors import RunError


class Journal:
    """Lines of JSON, only ever added to. A last line that a kill cut short is dropped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = list(self._read())

    def _read(self) -> Iterator[dict[str, Any]]:
        if not self.path.exists():
            return
        raw = self.path.read_bytes()
        whole, _, torn = raw.rpartition(b"\n")
        if torn:
            with self.path.open("r+b") as file:
                file.truncate(len(whole) + 1 if whole else 0)
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise RunError(f"{self.path}: line {number} is damaged ({error}). The run cannot be resumed.") from error

    def add(self, kind: str, **values: Any) -> None:
        """Write one line through to the disk."""
        line = {"kind": kind, **values}
        with self.path.open("ab") as file:
            file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._lines.append(line)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._lines)

    def of(self, kind: str, **values: Any) -> list[dict[str, Any]]:
        """The lines of a kind with these values, in order."""
        return [line for line in self._lines if line["kind"] == kind and all(line.get(k) == v for k, v in values.items())]


class Shelf:
    """Arrays by name in a folder, each written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def put(self, name: str, values: Any) -> None:
        target = self.folder / f"{name}.npy"
        partial = target.with_suffix(".partial")
        with partial.open("wb") as file:
            np.save(file, np.asarray(values), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)

    def drop(self, name: str) -> None:
        (self.folder / f"{name}.npy").unlink(missing_ok=True)

    def get(self, name: str) -> Any:
        """The array, or None."""
        path = self.folder / f"{name}.npy"
        return np.load(path, allow_pickle=False) if path.exists() else None

"""What a run shows while it goes: an entry for everything that is tried, and the stage that it has come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")  # a frozen dataclass


class Entries(Generic[Entry]):
    """Entries by name. `watch` is called after every change."""

    def __init__(self, watch: Callable[[Any], None] | None = None) -> None:
        self._entries: dict[str, Entry] = {}
        self._watch = watch
        self.stage = ""

    def get(self, name: str) -> Entry:
        return self._entries[name]

    def update(self, name: str, **changes: Any) -> Entry:
        entry: Entry = replace(self.get(name), **changes)  # type: ignore[type-var]
        self._entries[name] = entry
        self.notify()
        return entry

    def begin(self, stage: str) -> None:
        self.stage = stage
        self.notify()

    def notify(self) -> None:
        if self._watch is not None:
            self._watch(self)

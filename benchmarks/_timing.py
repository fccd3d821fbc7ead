"""Times the contenders of a case in turns, in this process."""

from __future__ import annotations

import gc
import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data

# OpenMP and BLAS threads spin for up to about 25 ms after a call; the next contender must not pay for them.
_PAUSE = 0.03
# A turn repeats a short call for this long, so that it is not the first, cold, call after the pause that counts.
_TURN = 0.01
_MAX_ROUNDS = 50
_MAX_SPREAD = 1.5
# A contender whose first run takes longer than this many seconds is not run again: that run counts.
_SLOW = 10.0


@dataclass(frozen=True)
class Effort:
    """How long to measure: at least `min_rounds`, more while the rounds of a case have taken less than `budget` seconds."""

    min_rounds: int = 3
    budget: float = 2.0


@dataclass(frozen=True)
class Measurement:
    """What one contender did in a case, or the problem that kept it out."""

    contender: str
    seconds: float | None = None  # the best
    spread: float | None = None  # the median of the turns over the best
    n_runs: int = 0
    quality: float | None = None
    n_iter: int | None = None
    problem: str | None = None

    @property
    def is_noisy(self) -> bool:
        """Whether the turns differ so much that something else must have used the machine."""
        return (self.spread or 0.0) > _MAX_SPREAD


@dataclass(frozen=True)
class Result:
    """The measurements of a case. A ratio is the peer's time over Mercer's: above 1, Mercer is faster."""

    group: str
    case: Case
    measurements: tuple[Measurement, ...]

    def of(self, contender: str) -> Measurement | None:
        return next((m for m in self.measurements if m.contender == contender), None)

    @property
    def timed_peers(self) -> list[Measurement]:
        return [m for m in self.measurements if m.contender != MERCER and m.seconds is not None]

    def is_worse(self, contender: str) -> bool:
        """Whether the quality of a contender is behind the best of the case by more than the tolerance."""
        values = [m.quality for m in self.measurements if m.quality is not None]
        mine = self.of(contender)
        if mine is None or mine.quality is None:
            return False
        return self.case.quality.is_worse(mine.quality, self.case.quality.best([v for v in values if v == v] or values))

    def ratio_to(self, peer: Measurement | None) -> float | None:
        mine = self.of(MERCER)
        if mine is None or peer is None or mine.seconds is None or peer.seconds is None:
            return None
        return peer.seconds / mine.seconds

    @property
    def fastest_peer(self) -> Measurement | None:
        """The fastest of the peers whose quality is not behind: speed is only compared at equal accuracy."""
        peers = [m for m in self.timed_peers if not self.is_worse(m.contender)]
        return min(peers, key=lambda m: m.seconds or 0.0, default=None)

    @property
    def ratio_to_scikit_learn(self) -> float | None:
        return self.ratio_to(self.of(SCIKIT_LEARN))

    @property
    def ratio_to_fastest(self) -> float | None:
        return self.ratio_to(self.fastest_peer)


@dataclass
class _Entry:
    """A contender that runs."""

    name: str
    model: Any
    quality: float
    n_iter: int | None
    turns: list[float] = field(default_factory=list)  # the best time of each
    n_runs: int = 0

    @property
    def is_slow(self) -> bool:
        return self.n_runs == 1 and self.turns[0] > _SLOW


def measure(group: str, case: Case, effort: Effort) -> Result:
    """Warm up and judge every contender once, then time them round after round."""
    data = case.make_data()
    entries: dict[str, _Entry | str] = {c.name: _enter(case, c, data) for c in case.contenders}
    running = [entry for entry in entries.values() if isinstance(entry, _Entry)]
    with _quiet(), _no_garbage_collection():
        begin = time.perf_counter()
        for n_rounds in range(_MAX_ROUNDS):
            if n_rounds >= effort.min_rounds and time.perf_counter() - begin > effort.budget:
                break
            for entry in running:
                if not entry.is_slow:
                    _take_turn(case, entry, data)
    return Result(group, case, tuple(_measurement(name, entry) for name, entry in entries.items()))


def _enter(case: Case, contender: Contender, data: Data) -> _Entry | str:
    """Run a contender once; the reason where it cannot take part."""
    try:
        estimator = contender.load()
    except (ImportError, AttributeError) as error:
        return f"not available: {error}"
    try:
        with _quiet(), _sklearnex_log() as messages:
            model = case.prepare(estimator, data)
            begin = time.perf_counter()
            outcome = case.run(model, data)
            seconds = time.perf_counter() - begin
            quality = float(case.quality.measure(model, outcome, data))
    except Exception as error:  # a contender that fails must not end the run
        return f"failed: {type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
    if any("fallback" in message for message in messages):
        return "not available: runs scikit-learn's own code here"
    n_iter = getattr(outcome, "n_iter_", None)
    entry = _Entry(contender.name, model, quality, None if n_iter is None else int(np.max(n_iter)))
    if seconds > _SLOW:
        entry.turns, entry.n_runs = [seconds], 1
    return entry


def _take_turn(case: Case, entry: _Entry, data: Data) -> None:
    time.sleep(_PAUSE)
    spent, best = 0.0, float("inf")
    while spent < _TURN:
        begin = time.perf_counter()
        outcome = case.run(entry.model, data)
        seconds = time.perf_counter() - begin
        del outcome  # freed outside the timing, and before the next call needs the memory
        best = min(best, seconds)
        entry.n_runs += 1
        spent += seconds
    entry.turns.append(best)


def _measurement(name: str, entry: _Entry | str) -> Measurement:
    if isinstance(entry, str):
        return Measurement(name, problem=entry)
    best = min(entry.turns)
    spread = float(np.median(entry.turns)) / best
    return Measurement(name, best, spread, entry.n_runs, entry.quality, entry.n_iter)


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def _sklearnex_log() -> Iterator[list[str]]:
    """What sklearnex logs, kept off the screen: the only way in which it tells that it hands a call to scikit-learn."""
    messages: list[str] = []
    logger = logging.getLogger("sklearnex")
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    before = logger.level, logger.handlers, logger.propagate
    logger.level, logger.handlers, logger.propagate = logging.INFO, [handler], False
    logger.manager._clear_cache()  # type: ignore[attr-defined]  # a level set directly is otherwise not seen
    try:
        yield messages
    finally:
        logger.level, logger.handlers, logger.propagate = before
        logger.manager._clear_cache()  # type: ignore[attr-defined]

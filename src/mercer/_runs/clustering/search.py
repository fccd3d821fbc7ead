"""The comparison of clusterings: all of them once, then checks of the best. After a kill it goes on where it was."""

from __future__ import annotations

import dataclasses
import itertools
import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from threadpoolctl import threadpool_limits

from mercer._parallel import serial_blas
from mercer._runs.clock import Clock, time_cap
from mercer._runs.clustering.board import ClusterBoard, Clustering
from mercer._runs.clustering.checks import MOST_CHECKED, ReferenceTables, reference_of, stability_of
from mercer._runs.clustering.measures import by_size, least_rows, measure, some_rows
from mercer._runs.clustering.methods import Data, Trial
from mercer._runs.clustering.table import ClusterTable
from mercer._runs.course import StagedSearch, in_one_line
from mercer._runs.folder import RunFolder
from mercer._runs.settings import ClusterSettings

_FIRST_LOOK = 0.5  # of the time
_LEAST_LOOKED = 3  # clusterings that are tried however short the time is
_LEAST_CHECKED = 1


class ClusterSearch(StagedSearch):
    """One pass over all stages; what the folder holds from an earlier pass is not done again."""

    def __init__(
        self, table: ClusterTable, settings: ClusterSettings, folder: RunFolder, clock: Clock, board: ClusterBoard
    ) -> None:
        super().__init__(settings, folder, clock)
        self.settings, self.board = settings, board
        self.data = Data(table.sample)
        X = self.data.X
        self._checked = X[some_rows(len(X), MOST_CHECKED, settings.seed)]
        names = list(table.preparer.get_feature_names_out())
        self._tables = ReferenceTables(self._checked, table.report, names, settings.seed)
        self._trials: dict[str, Trial] = {}

    def run(self, trials: Sequence[Trial]) -> bool:
        """Fill the board. False if the user interrupted."""
        self._trials = {trial.name: trial for trial in trials}
        for trial in trials:
            self.board.add(Clustering(trial.name, trial.method.name, trial.settings))
        try:
            with serial_blas(), threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of clusterings that may not be chosen; those of the final fit are shown
                self._look()
                self._check()
        except KeyboardInterrupt:
            return False
        finally:
            for entry in list(self.board):
                if entry.status in ("waiting", "running"):
                    self.board.update(entry.name, status="skipped", reason="the time was up")
            self._write("ended")
        return True

    def trial(self, name: str) -> Trial:
        return self._trials[name]

    # ---- the first look

    def _look(self) -> None:
        self.board.begin("first look")
        for number, name in enumerate(self._trials):
            is_late = self.clock.elapsed > _FIRST_LOOK * self.clock.seconds and number >= _LEAST_LOOKED
            if not is_late or self._known("fitted", name) or self._known("failed", name):
                self._fit(name)

    def _fit(self, name: str) -> None:
        """Fit and measure one clustering, or take what the folder has of it."""
        if not (self._known("fitted", name) or self._known("failed", name)):
            self.board.update(name, status="running")
            try:
                started = time.perf_counter()
                with time_cap(self._cap):
                    labels, model = self._trials[name].method.fit(self._trials[name].settings, self.data, self.settings.seed)
                seconds = time.perf_counter() - started
                found = measure(self.data.X, by_size(labels), model, self.settings.seed)
                self._write("fitted", name=name, seconds=seconds, **dataclasses.asdict(found))
            except Exception as error:
                self._note_failure(name, error, name=name)
        if failed := self._known("failed", name):
            self.board.update(name, status="failed", reason=failed["reason"])
            return
        line = self._known("fitted", name)
        assert line is not None
        values = {key: value for key, value in line.items() if key not in ("kind", "at", "name")}
        reason = self._unfit(line)
        self.board.update(name, status="unfit" if reason else "ok", reason=reason, **values)

    def _unfit(self, found: dict[str, Any]) -> str | None:
        """Why a clustering is no answer, whatever its measures say."""
        low, high = self.settings.clusters
        least = least_rows(len(self.data))
        if found["n_clusters"] < 2 or found["silhouette"] is None:
            return "one cluster" if found["noise"] < 1 else "noise alone"
        if not low <= found["n_clusters"] <= high:
            return f"{found['n_clusters']} clusters are not what --clusters asks for"
        if found["noise"] > 0.5:
            return f"{found['noise']:.0%} of the rows are noise"
        if found["smallest"] < least:
            return f"a cluster of {found['smallest']} rows: odd rows set apart, not a group (at least {least} are asked for)"
        return None

    # ---- checks

    def _check(self) -> None:
        """The clearest of each method; then all of the method that did best, and the others in turns."""
        self.board.begin("checks")
        turns = self._in_turns()
        is_done = self._check_all(turns[0] if turns else [], least=_LEAST_CHECKED)
        leaders = sorted((entry for entry in self.board if entry.is_checked), key=lambda entry: -(entry.excess or 0.0))
        rest = [name for turn in turns[1:] for name in turn]
        first = [name for name in rest if leaders and self.board.get(name).method == leaders[0].method]
        if is_done:
            self._check_all([*first, *(name for name in rest if name not in first)])

    def _in_turns(self) -> list[list[str]]:
        """The clearest of each method, the best first; the second of each, and so on."""
        methods: dict[str, list[str]] = {}
        for entry in sorted(self.board.with_status("ok"), key=lambda entry: -(entry.silhouette or 0.0)):
            methods.setdefault(entry.method, []).append(entry.name)
        return [[name for name in turn if name is not None] for turn in itertools.zip_longest(*methods.values())]

    def _check_all(self, names: Sequence[str], *, least: int = 0) -> bool:
        """Check these one after the other; False where the time is up before the last."""
        for number, name in enumerate(names):
            if self.clock.left <= 0 and number >= least and not self._known("checked", name):
                return False
            self._check_one(name, is_capped=number >= least)
        return True

    def _check_one(self, name: str, *, is_capped: bool) -> None:
        if not self._known("checked", name):
            trial, seed = self._trials[name], self.settings.seed
            try:
                # Without a single check nothing can be said: the first ones may take their time.
                with time_cap(max(self._cap, self.clock.left / 4)) if is_capped else nullcontext():
                    reference = reference_of(trial, self.board.get(name).n_clusters or 0, self._tables, seed)
                    stability = stability_of(trial, self._checked, seed)
            except Exception as error:
                self.board.update(name, reason=f"the checks failed: {in_one_line(error)}")
                return
            self._write(
                "checked",
                name=name,
                reference=reference.mean,
                reference_high=reference.high,
                stability=stability.mean,
                stability_spread=stability.spread,
            )
        line = self._known("checked", name)
        assert line is not None
        self.board.update(name, **{key: value for key, value in line.items() if key not in ("kind", "at", "name")})

    # ---- the journal

    def _known(self, kind: str, name: str) -> dict[str, Any] | None:
        lines = self.folder.journal.of(kind, name=name)
        return lines[-1] if lines else None

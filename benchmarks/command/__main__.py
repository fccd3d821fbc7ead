"""`mercer train` against FLAML and scikit-learn's histogram boosting: the same rows, threads and seconds, on real tables."""

from __future__ import annotations

import argparse
import shlex
import signal
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import _machine
from benchmarks.command import _contenders, _report
from benchmarks.command._contenders import BOOSTING, CONTENDERS, FLAML, MERCER, Ways
from benchmarks.command._process import FailedError, end_all
from benchmarks.command._scores import poisson_deviance, score
from benchmarks.command._split import Case, Split
from benchmarks.command._store import Store
from benchmarks.command._tables import COUNTS, TABLES

PEERS = Path("build/bench/flaml/bin/python")
_USUAL = (BOOSTING, FLAML, MERCER)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.command", description=__doc__)
    parser.add_argument(
        "--json", type=Path, default=Path("build/bench/command.json"), metavar="FILE", help="where results stay"
    )
    parser.add_argument("--filter", default="", metavar="TEXT", help="only cases whose 'kind: table: seed s: b s' holds TEXT")
    parser.add_argument("--seconds", type=float, nargs="+", default=[60, 300], help="budgets (60 and 300)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="of the split and of the search (0, 1 and 2)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cases side by side, a thread each (1)")
    parser.add_argument(
        "--only", nargs="+", choices=CONTENDERS, default=_USUAL, metavar="WHO", help=f"of {', '.join(CONTENDERS)}"
    )
    parser.add_argument("--again", action="store_true", help="measure what is chosen again, though there are results")
    parser.add_argument("--report", action="store_true", help="measure nothing; show the results that there are")
    parser.add_argument("--quick", action="store_true", help="two small tables in five seconds: a smoke test")
    parser.add_argument("--peers", type=Path, default=PEERS, metavar="PYTHON", help=f"that has FLAML and pyarrow ({PEERS})")
    parser.add_argument("--train", default="", metavar="OPTIONS", help="more options of `mercer train`: --train='--refit'")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the run folders of Mercer stay")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables as Markdown")
    options = parser.parse_args()
    if options.jobs < 1 or min(options.seconds) <= 0 or min(options.seeds) < 0:
        parser.error("--jobs must be at least 1, --seconds positive and --seeds not negative")
    if not _choose(options):
        parser.error(f"--filter {options.filter}: no case of these seconds has that in its name")
    return options


def _choose(options: argparse.Namespace) -> list[Case]:
    seconds, seeds = ([5.0], [0]) if options.quick else (options.seconds, options.seeds)
    cases = [
        Case(table, seed, budget)
        for budget in seconds  # first, so that what two budgets share is known when the second one comes
        for table in TABLES
        if table.is_quick == options.quick
        for seed in seeds
        if table.only_seconds in (None, budget)
    ]
    return [case for case in cases if options.filter.lower() in case.label.lower()]


@dataclass(frozen=True)
class Bench:
    """What every case is measured with."""

    store: Store
    ways: Ways
    only: tuple[str, ...]
    jobs: int
    show: Callable[[str], None]
    stop: threading.Event

    def measure(self, case: Case) -> None:
        """The contenders one after another, beside as many other cases; what is known already is left out."""
        if self.stop.is_set():
            return
        with tempfile.TemporaryDirectory(prefix="mercer-bench-") as folder:
            split = Split(case.table, case.seed, Path(folder))
            left = [who for who in self.only if not self.store.is_done(who, case, split)]
            if left:
                split.write()
            for who in left:
                if self.stop.is_set():
                    return
                place = Path(folder) / who.replace(" ", "-")
                place.mkdir()
                self._measure_one(who, case, split, place)

    def _measure_one(self, who: str, case: Case, split: Split, folder: Path) -> None:
        entry: dict[str, Any] = {"table": case.table.name, "kind": case.table.kind, "seed": case.seed, "seconds": case.seconds}
        entry |= {"contender": who, "measure": case.table.measure, "data": split.digest, "jobs": self.jobs}
        try:
            outcome = _contenders.run(who, case, split, self.ways, folder)
        except FailedError as error:
            if self.stop.is_set():
                return
            self.store.put(who, case, {**entry, "problem": str(error)}, split, None)
            self.show(f"{case.label}: {who}: {error}")
            return
        entry |= {"score": score(case.table.measure, split.y_test, outcome.values), **outcome.facts}
        if case.table.kind == COUNTS:
            entry["poisson_deviance"] = poisson_deviance(split.y_test, outcome.values)
        self.store.put(who, case, entry, split, outcome)
        figures = f"{case.table.measure} {entry['score']:.4f}, {entry['seconds_taken']:.0f} s, {entry['bytes'] / 1e6:.2f} MB"
        self.show(f"{case.label}: {who}: {figures}, {entry['winner']}")


def _measure_all(bench: Bench, cases: list[Case]) -> None:
    """Ctrl-C, and a `kill` too, end what runs and go on to the tables of what there is."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.default_int_handler)
    with ThreadPoolExecutor(bench.jobs) as pool:
        futures = [pool.submit(bench.measure, case) for case in cases]
        try:
            for future in futures:
                future.result()
        except KeyboardInterrupt:
            bench.show("interrupted: the next run goes on here")
            bench.stop.set()
            end_all()
            for future in futures:
                future.cancel()


def main() -> None:
    options = _parse()
    machine = _machine.describe()
    width = max(map(len, machine))
    print("\n".join(f"{name:>{width}}: {value}" for name, value in machine.items()), flush=True)

    cases, only = _choose(options), tuple(options.only)
    if options.quick:
        options.json = options.json.with_name("command-quick.json")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    store = Store(options.json, machine)
    if not options.report:
        if options.again or options.quick:
            for case in cases:
                for who in only:
                    store.forget(who, case)
        ways = Ways(options.peers.absolute(), tuple(shlex.split(options.train)), options.keep and options.keep.absolute())
        if ways.keep:
            ways.keep.mkdir(parents=True, exist_ok=True)
        _measure_all(Bench(store, ways, only, options.jobs, lambda text: print(text, flush=True), threading.Event()), cases)
    text = _report.report(_report.Results(store, cases, CONTENDERS))
    print("\n" + text)
    if options.markdown:
        options.markdown.write_text(text + "\n")


if __name__ == "__main__":
    main()

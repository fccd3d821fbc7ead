"""The command: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import TextIO

from benchmarks import _machine, _report
from benchmarks._case import Case, find_groups
from benchmarks._memory import MemoryResult, measure_memory
from benchmarks._timing import Effort, Result, measure

Chosen = list[tuple[str, Case]]


def _parse(groups: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--group", action="append", choices=groups, help="only this family (may be repeated)")
    parser.add_argument("--filter", default="", metavar="TEXT", help="only cases whose 'group: table: name' holds TEXT")
    parser.add_argument("--quick", action="store_true", help="a handful of small cases, briefly: a smoke test")
    parser.add_argument("--repeats", type=int, metavar="N", help="rounds at least (default: 3); short cases get more")
    parser.add_argument("--json", metavar="FILE", help="write everything as JSON; - is the standard output")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables as Markdown")
    return parser.parse_args()


def _choose(groups: dict[str, list[Case]], options: argparse.Namespace) -> Chosen:
    return [
        (group, case)
        for group, cases in groups.items()
        if not options.group or group in options.group
        for case in cases
        if options.filter.lower() in f"{group}: {case.label}".lower() and (case.is_quick or not options.quick)
    ]


def _run_times(chosen: Chosen, effort: Effort, show: Callable[[str], None]) -> list[Result]:
    """Time every case, showing each row as it comes; Ctrl-C goes on to the summary of what there is."""
    results: list[Result] = []
    for (group, _), members in groupby(chosen, key=lambda entry: (entry[0], entry[1].heading)):
        cases = [case for _, case in members]
        widths = _report.column_widths(cases[0], [case.name for case in cases])
        show(f"\n{group}: {_report.caption(cases[0])}")
        show(_report.aligned(_report.header_cells(cases[0]), widths))
        try:
            for case in cases:
                results.append(measure(group, case, effort))
                show(_report.aligned(_report.result_cells(results[-1]), widths))
        except KeyboardInterrupt:
            show("interrupted")
            break
    return results


def _run_memory(chosen: Chosen, show: Callable[[str], None]) -> list[MemoryResult]:
    results = [measure_memory(group, case) for group, case in chosen if case.small_data is not None]
    if results:
        show("\nPeak memory beyond the input, over the size of the input")
        show("\n".join(_report.memory_lines(results)))
    return results


def main() -> None:
    groups = find_groups()
    options = _parse(list(groups))
    screen: TextIO = sys.stderr if options.json == "-" else sys.stdout

    def show(text: str) -> None:
        print(text, file=screen, flush=True)

    machine = _machine.describe()
    width = max(map(len, machine))
    show("\n".join(f"{name:>{width}}: {value}" for name, value in machine.items()))

    chosen = _choose(groups, options)
    default = Effort(budget=0.3) if options.quick else Effort()
    effort = Effort(default.min_rounds if options.repeats is None else max(1, options.repeats), default.budget)
    results = _run_times(chosen, effort, show)
    memory = _run_memory(chosen, show)
    show("\n" + "\n".join(_report.summary_lines(results)))

    if options.json:
        text = json.dumps(_report.as_json(machine, results, memory), indent=1)
        if options.json == "-":
            print(text)
        else:
            Path(options.json).write_text(text + "\n")
    if options.markdown:
        Path(options.markdown).write_text(_report.markdown(machine, results, memory))


if __name__ == "__main__":
    main()

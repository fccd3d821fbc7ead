"""Turns results into rows, Markdown and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from benchmarks._case import MERCER, SCIKIT_LEARN, Case
from benchmarks._memory import MemoryResult, MemoryUse
from benchmarks._timing import Measurement, Result

Row = list[str]
_MEMORY_HEADER = ["case", "input MB", "mercer extra / input", "scikit-learn extra / input"]


def header_cells(case: Case) -> Row:
    return ["case", *(f"{contender.name} ms" for contender in case.contenders), "x sklearn", "x fastest", "n_iter", "quality"]


def result_cells(result: Result) -> Row:
    """One row a case; the last two cells hold a figure a contender, in the order of the columns."""
    measurements = result.measurements
    n_iters = ["-" if m.n_iter is None else str(m.n_iter) for m in measurements]
    return [
        result.case.name,
        *(_milliseconds(m) for m in measurements),
        _ratio(result.ratio_to_scikit_learn),
        _ratio(result.ratio_to_fastest),
        "/".join(n_iters) if any(m.n_iter is not None for m in measurements) else "-",
        _qualities(result),
    ]


def caption(case: Case) -> str:
    """The table's title and how its quality is measured."""
    quality = case.quality
    direction = "lower" if quality.is_lower_better else "higher"
    return f"{case.table} (quality: {quality.name}, {direction} is better)"


def _milliseconds(measurement: Measurement) -> str:
    if measurement.seconds is None:
        return "n/a" if measurement.problem and measurement.problem.startswith("not available") else "failed"
    return f"{1e3 * measurement.seconds:.4g}{'~' if measurement.is_noisy else ''}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _qualities(result: Result) -> str:
    """A quality that equals the one before it is written `=`; `!` marks one behind the best by more than the tolerance."""
    cells: list[str] = []
    before = ""
    for m in result.measurements:
        text = "-" if m.quality is None else f"{m.quality:.6g}{'!' if result.is_worse(m.contender) else ''}"
        cells.append("=" if text == before and text != "-" else text)
        before = text
    return " / ".join(cells)


def memory_cells(result: MemoryResult) -> Row:
    uses = {use.contender: use for use in result.uses}
    sizes = [use.input_bytes for use in result.uses if use.input_bytes is not None]
    extras = [_extra(uses.get(name)) for name in (MERCER, SCIKIT_LEARN)]
    return [result.case.label, f"{sizes[0] / 1e6:.1f}" if sizes else "-", *extras]


def _extra(use: MemoryUse | None) -> str:
    if use is None or use.ratio is None:
        return "failed" if use and use.problem and use.problem.startswith("failed") else "n/a"
    return f"{use.ratio:.3f}"


def aligned(cells: Row, widths: list[int]) -> str:
    """A line of text: the name to the left, figures to the right."""
    first, *rest = cells
    return "  ".join(
        [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
    ).rstrip()


def column_widths(case: Case, names: Iterable[str]) -> list[int]:
    """Widths that are known before the first result, so that rows can be printed as they come."""
    header = header_cells(case)
    first = max(len("case"), *(len(name) for name in names))
    # The quality comes last and has no width, so that it may be as long as it likes.
    return [first, *(max(9, len(cell)) for cell in header[1:-1]), 0]


def memory_lines(results: list[MemoryResult]) -> list[str]:
    rows = [_MEMORY_HEADER, *map(memory_cells, results)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_MEMORY_HEADER))]
    return [aligned(row, widths) for row in rows]


def geometric_mean(values: Iterable[float | None]) -> tuple[float | None, int]:
    logs = [math.log(value) for value in values if value is not None]
    return (math.exp(math.fsum(logs) / len(logs)) if logs else None), len(logs)


def summary(results: list[Result]) -> dict[str, Any]:
    """Means a group, and the lists of what to look at. A mean counts only cases of comparable quality."""
    groups: dict[str, Any] = {}
    for group, members in groupby(results, key=lambda result: result.group):
        fair = [result for result in members if not result.is_worse(MERCER)]
        to_sklearn = geometric_mean(r.ratio_to_scikit_learn for r in fair if not r.is_worse(SCIKIT_LEARN))
        to_fastest = geometric_mean(r.ratio_to_fastest for r in fair)
        groups[group] = {
            "ratio_to_scikit_learn": to_sklearn[0],
            "n_cases_scikit_learn": to_sklearn[1],
            "ratio_to_fastest_peer": to_fastest[0],
            "n_cases_fastest_peer": to_fastest[1],
            "n_noisy": sum(any(m.is_noisy for m in r.measurements) for r in fair if r.ratio_to_fastest is not None),
        }
    return {
        "groups": groups,
        "not_fastest": list(_not_fastest(results)),
        "worse_quality": [f"{r.group}: {r.case.label}" for r in results if r.is_worse(MERCER)],
        "noisy": [f"{r.group}: {r.case.label}" for r in results if any(m.is_noisy for m in r.measurements)],
        "problems": _problems(results),
    }


def _not_fastest(results: list[Result]) -> Iterator[str]:
    """Every faster peer counts here, a less accurate one with a remark."""
    for result in results:
        peer = min(result.timed_peers, key=lambda m: m.seconds or 0.0, default=None)
        ratio = result.ratio_to(peer)
        if peer is not None and ratio is not None and ratio < 1:
            remark = " at worse quality" if result.is_worse(peer.contender) else ""
            yield f"{result.group}: {result.case.label}: {ratio:.2f} x {peer.contender}{remark}"


def _problems(results: list[Result]) -> list[str]:
    """Who is missing and why, each once with the number of cases."""
    counts: dict[str, int] = {}
    for result in results:
        for m in result.measurements:
            if m.problem is not None:
                text = f"{result.group}: {m.contender} {m.problem}"
                counts[text] = counts.get(text, 0) + 1
    return [f"{text} ({n} {'case' if n == 1 else 'cases'})" for text, n in counts.items()]


def summary_lines(results: list[Result]) -> list[str]:
    found = summary(results)
    lines = ["Geometric means (a peer's time over Mercer's, cases of comparable quality):"]
    for group, means in found["groups"].items():
        lines.append(
            f"- {group}: {_ratio(means['ratio_to_scikit_learn'])} x scikit-learn ({means['n_cases_scikit_learn']} cases), "
            f"{_ratio(means['ratio_to_fastest_peer'])} x the fastest peer "
            f"({means['n_cases_fastest_peer']} cases, {means['n_noisy']} of them noisy)"
        )
    lists = {
        "Mercer is not fastest in": found["not_fastest"],
        "Mercer's quality is worse in": found["worse_quality"],
        "To be measured again on an idle machine": found["noisy"],
        "Did not take part": found["problems"],
    }
    for title, entries in lists.items():
        lines += ["", f"{title}:{'' if entries else ' none'}", *(f"- {entry}" for entry in entries)]
    return lines


def markdown(machine: dict[str, str], results: list[Result], memory: list[MemoryResult]) -> str:
    """The whole report: a heading a group, a table a kind of case."""
    lines = ["# Benchmark results", "", *(f"- {name}: {value}" for name, value in machine.items()), ""]
    lines += ["## Summary", "", *summary_lines(results), ""]
    for group, members in groupby(results, key=lambda result: result.group):
        lines += [f"## {group}", ""]
        for _, table in groupby(members, key=lambda result: result.case.heading):
            rows = list(table)
            lines += [
                f"### {caption(rows[0].case)}",
                "",
                *_markdown_table(header_cells(rows[0].case), map(result_cells, rows)),
                "",
            ]
        uses = [result for result in memory if result.group == group]
        if uses:
            lines += ["### Peak memory beyond the input", "", *_markdown_table(_MEMORY_HEADER, map(memory_cells, uses)), ""]
    return "\n".join(lines)


def _markdown_table(header: Row, rows: Iterable[Row]) -> list[str]:
    rules = [":--", *["--:"] * (len(header) - 1)]
    return ["| " + " | ".join(row) + " |" for row in (header, rules, *rows)]


def as_json(machine: dict[str, str], results: list[Result], memory: list[MemoryResult]) -> dict[str, Any]:
    return {
        "machine": machine,
        "results": [_result_json(result) for result in results],
        "memory": [
            {
                "group": r.group,
                "table": r.case.table,
                "name": r.case.name,
                "uses": [{**vars(u), "ratio": u.ratio} for u in r.uses],
            }
            for r in memory
        ],
        "summary": summary(results),
    }


def _result_json(result: Result) -> dict[str, Any]:
    fastest = result.fastest_peer
    return {
        "group": result.group,
        "table": result.case.table,
        "name": result.case.name,
        "quality": result.case.quality.name,
        "is_lower_better": result.case.quality.is_lower_better,
        "measurements": [
            {**vars(m), "is_worse": result.is_worse(m.contender), "is_noisy": m.is_noisy} for m in result.measurements
        ],
        "ratio_to_scikit_learn": result.ratio_to_scikit_learn,
        "ratio_to_fastest_peer": result.ratio_to_fastest,
        "fastest_peer": None if fastest is None else fastest.contender,
    }

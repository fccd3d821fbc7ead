"""From results to tables: a row a split, a row a table, ranks, and where Mercer is behind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from benchmarks.command._contenders import MERCER
from benchmarks.command._scores import IS_LOWER_BETTER, ahead, standard_error
from benchmarks.command._split import Case
from benchmarks.command._store import Entry, Store
from benchmarks.command._tables import COUNTS, Table

Row = list[str]


@dataclass(frozen=True)
class Lead:
    """By how much Mercer is ahead of a peer (negative: behind), in units of the measure; infinitely where one failed."""

    value: float
    error: float

    @property
    def standing(self) -> str:
        """More than one standard error decides."""
        if abs(self.value) <= self.error:
            return "level"
        return "ahead" if self.value > 0 else "behind"

    def __str__(self) -> str:
        if math.isinf(self.value):
            return "the peer failed" if self.value > 0 else "failed!"
        mark = "!" if self.standing == "behind" else ""
        return f"{self.value:+.4f} ± {self.error:.4f}{mark}"


class Results:
    """The entries of chosen cases, and the leads, each computed once."""

    def __init__(self, store: Store, cases: Sequence[Case], contenders: Sequence[str]) -> None:
        self.cases, self._store, self._asked = list(cases), store, list(contenders)
        self.contenders = [who for who in contenders if any(self.entry(who, case) for case in cases)]
        self.peers = [who for who in self.contenders if who != MERCER and MERCER in self.contenders]
        self._leads: dict[tuple[str, Case], Lead | None] = {}

    def entry(self, who: str, case: Case) -> Entry | None:
        """None where nothing was measured or the contender failed."""
        found = self._store.get(who, case)
        return found if found and "problem" not in found else None

    def _has_failed(self, who: str, case: Case) -> bool:
        problem = (self._store.get(who, case) or {}).get("problem", "")
        return bool(problem) and not problem.startswith("not available")

    def problems(self) -> list[str]:
        found = [(case, who, self._store.get(who, case)) for case in self.cases for who in self._asked]
        return [f"{case.label}: {who}: {entry['problem']}" for case, who, entry in found if entry and "problem" in entry]

    def lead(self, peer: str, case: Case) -> Lead | None:
        if (peer, case) not in self._leads:
            self._leads[peer, case] = self._lead(peer, case)
        return self._leads[peer, case]

    def _lead(self, peer: str, case: Case) -> Lead | None:
        mine, other = self.entry(MERCER, case), self.entry(peer, case)
        if mine is not None and self._has_failed(peer, case):
            return Lead(math.inf, 0.0)
        if other is not None and self._has_failed(MERCER, case):
            return Lead(-math.inf, 0.0)
        if mine is None or other is None or mine["data"] != other["data"]:
            return None
        (y, first), (_, second) = self._store.predictions(mine), self._store.predictions(other)
        measure = case.table.measure
        return Lead(ahead(measure, mine["score"], other["score"]), standard_error(measure, y, first, second))

    def of_tables(self, peer: str) -> dict[tuple[Table, float], Lead]:
        """Over seeds: the mean lead. Its error is the larger of what the test rows and what the seeds say."""
        found = {}
        for key, cases in groupby(sorted(self.cases, key=_by_table), key=lambda case: (case.table, case.seconds)):
            leads = [lead for case in cases if (lead := self.lead(peer, case))]
            if leads:
                found[key] = _mean(leads)
        return found


def _by_table(case: Case) -> tuple[float, str, int]:
    return case.seconds, case.table.name, case.seed


def _mean(leads: Sequence[Lead]) -> Lead:
    values, n = [lead.value for lead in leads], len(leads)
    if infinite := [value for value in values if math.isinf(value)]:
        return Lead(min(infinite), 0.0)
    rows = math.sqrt(sum(lead.error**2 for lead in leads) / n / n)
    seeds = float(np.std(values, ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    return Lead(float(np.mean(values)), max(rows, seeds))


def split_rows(results: Results) -> list[Row]:
    """A row a split and budget, in the order of the contenders where a cell has several figures."""
    who = results.contenders
    joined = " / ".join(who)
    heads = ["table", "kind", "seconds", "seed", "measure", *who, *(f"ahead of {peer}" for peer in results.peers)]
    heads += ["Poisson deviance", f"seconds taken: {joined}", "processor s", "peak MB", "MB", "winners", "load"]
    known = [case for case in results.cases if any(results.entry(name, case) for name in who)]
    return [heads, *(_split_row(results, case) for case in sorted(known, key=_by_table))]


def _split_row(results: Results, case: Case) -> Row:
    entries = [results.entry(who, case) for who in results.contenders]

    def each(name: str, form: str, scale: float = 1.0) -> str:
        values = [None if entry is None else entry.get(name) for entry in entries]
        return " / ".join("-" if value is None else format(value / scale, form) for value in values)

    return [
        *(case.table.name, case.table.kind, f"{case.seconds:g}", str(case.seed), _measure(case.table)),
        *("-" if entry is None else f"{entry['score']:.4f}" for entry in entries),
        *(str(results.lead(peer, case) or "-") for peer in results.peers),
        each("poisson_deviance", ".4f") if case.table.kind == COUNTS else "-",
        each("seconds_taken", ".0f"),
        each("processor_seconds", ".0f"),
        each("peak_bytes", ".0f", 1e6),
        each("bytes", ".2f", 1e6),
        " / ".join("-" if entry is None else entry["winner"] for entry in entries),
        f"{max(entry['load'] for entry in entries if entry):.1f}",
    ]


def _measure(table: Table) -> str:
    return table.measure + (" (lower is better)" if IS_LOWER_BETTER[table.measure] else "")


def table_rows(results: Results) -> list[Row]:
    """A row a table and budget, over seeds."""
    leads = {peer: results.of_tables(peer) for peer in results.peers}
    heads = ["table", "seconds", "measure", *(f"ahead of {peer}" for peer in results.peers)]
    keys = sorted({key for found in leads.values() for key in found}, key=lambda key: (key[1], key[0].name))
    rows = [
        [table.name, f"{seconds:g}", _measure(table), *(str(leads[peer].get((table, seconds), "-")) for peer in results.peers)]
        for table, seconds in keys
    ]
    return [heads, *rows]


def standing_rows(results: Results) -> list[Row]:
    """A row a peer and budget: mean ranks of the two (1 is better, 1.5 a tie), and on how many tables who is ahead."""
    rows = [["peer", "seconds", "tables", "mean rank of Mercer", "of the peer", "ahead", "level", "behind", "behind on"]]
    for peer in results.peers:
        found = results.of_tables(peer)
        for seconds in sorted({seconds for _, seconds in found}):
            leads = {table.name: lead for (table, budget), lead in found.items() if budget == seconds}
            rank = float(np.mean([1.5 - 0.5 * np.sign(lead.value) for lead in leads.values()]))
            standings = [lead.standing for lead in leads.values()]
            counts = [str(standings.count(standing)) for standing in ("ahead", "level", "behind")]
            behind = ", ".join(name for name, lead in leads.items() if lead.standing == "behind")
            rows.append([peer, f"{seconds:g}", str(len(leads)), f"{rank:.2f}", f"{3 - rank:.2f}", *counts, behind or "-"])
    return rows


def _versions(results: Results) -> dict[str, str]:
    """What each contender was, each version once."""
    found: dict[str, list[str]] = {}
    for case in results.cases:
        for who in results.contenders:
            if entry := results.entry(who, case):
                packages = (f"{package} {version or 'not installed'}" for package, version in entry["versions"].items())
                text = ", ".join([*packages, *entry.get("options", ())])
                found.setdefault(who, []).extend([text] if text not in found.get(who, []) else [])
    return {who: "; ".join(texts) for who, texts in found.items()}


def as_markdown(rows: Sequence[Row]) -> str:
    heads, *rest = rows
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, ["---"] * len(heads), *rest])


def report(results: Results) -> str:
    """All of it as Markdown."""
    parts = []
    if results.peers:
        parts += ["### Standing\n\n" + as_markdown(standing_rows(results)), "### Tables\n\n" + as_markdown(table_rows(results))]
    if results.contenders:
        parts.append("### Splits\n\n" + as_markdown(split_rows(results)))
        parts.append("\n".join(f"- {who}: {versions}" for who, versions in _versions(results).items()))
    if problems := results.problems():
        parts.append("Not measured:\n\n" + "\n".join(f"- {problem}" for problem in problems))
    return "\n\n".join(parts)

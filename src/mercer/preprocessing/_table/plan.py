"""Which columns of a table are used and how: from kinds to treatments, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from mercer._columns import Column, Table
from mercer._kinds import as_kind
from mercer._params import _REFUSED, Rule
from mercer.preprocessing._table.dates import DateTreatment
from mercer.preprocessing._table.kinds import USED_KINDS, Finding, KindFinder
from mercer.preprocessing._table.needs import Needs
from mercer.preprocessing._table.report import ColumnReport
from mercer.preprocessing._table.text import TextTreatment
from mercer.preprocessing._table.treatments import CategoryTreatment, NumberTreatment, Treatment


class Kinds(Rule):
    """A dict from columns to kinds; whether the table has the columns is checked with the data."""

    def accept(self, value: Any) -> Any:
        is_given = isinstance(value, Mapping) and all(isinstance(kind, str) and kind in USED_KINDS for kind in value.values())
        return dict(value) if is_given else _REFUSED

    def describe(self) -> str:
        return f"a dict from columns to kinds, which are {', '.join(map(repr, USED_KINDS))}"


class ColumnList(Rule):
    """Names or numbers of columns."""

    def accept(self, value: Any) -> Any:
        is_list = hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping))
        return list(value) if is_list else _REFUSED

    def describe(self) -> str:
        return "a list of names or numbers of columns"


def column_number(table: Table, which: Any, parameter: str) -> int:
    """The place of a column that a parameter names."""
    if isinstance(which, str) and which in table.names:
        return table.names.index(which)
    if isinstance(which, int) and not isinstance(which, bool) and 0 <= which < len(table.names):
        return which
    shown = ", ".join(map(repr, table.names[:10])) + (", …" if len(table.names) > 10 else "")
    raise ValueError(
        f"TablePreparer: {parameter} names the column {which!r}, which X does not have; it must be one of {shown} or a number "
        f"from 0 to {len(table.names) - 1}."
    )


def plan_table(
    table: Table, params: SimpleNamespace, needs: Needs
) -> tuple[list[tuple[int, Treatment]], list[tuple[str, Finding | None]]]:
    """The treatments by column, coded categories first, and for every column its kind and finding (None: left out unread)."""
    given = {column_number(table, which, "kinds"): kind for which, kind in (params.kinds or {}).items()}
    dropped = {column_number(table, which, "drop") for which in (params.drop or ())}
    if both := sorted(given.keys() & dropped):
        raise ValueError(f"TablePreparer: column {table.names[both[0]]!r} is in kinds and in drop; name it in one of them.")
    finder = KindFinder(params)
    treatments: list[tuple[int, Treatment]] = []
    found: list[tuple[str, Finding | None]] = []
    for number in range(len(table.names)):
        if number in dropped:
            found.append(("dropped", None))
            continue
        column = table.column(number)
        finding = finder.find(column, given.get(number))
        found.append((finding.kind, finding))
        if finding.kind in USED_KINDS:
            treatments.append(
                (number, _fit_treatment(as_kind(column, finding.kind, params.invalid), finding.kind, params, needs))
            )
    return sorted(treatments, key=lambda planned: not planned[1].is_categorical), found


def _fit_treatment(column: Column, kind: str, params: SimpleNamespace, needs: Needs) -> Treatment:
    if kind == "category":
        return CategoryTreatment.fit(column, needs, min_frequency=params.min_frequency)
    if kind == "text":
        return TextTreatment.fit(column, needs, max_words=params.max_words, n_components=params.text_components)
    if kind in ("date", "datetime"):
        return DateTreatment.fit(column, kind, needs)
    return NumberTreatment.fit(column, kind, needs, skew_limit=params.skew_limit)


def output_names(names: Iterable[str], treatments: list[tuple[int, Treatment]]) -> list[tuple[str, ...]]:
    """The names of the outputs of each treatment, all different."""
    names = list(names)
    taken: set[str] = set()

    def unique(name: str) -> str:
        count, free = 2, name
        while free in taken:
            free = f"{name} ({count})"
            count += 1
        taken.add(free)
        return free

    return [tuple(unique(f"{names[number]}{suffix}") for suffix in treatment.suffixes) for number, treatment in treatments]


def make_report(
    table: Table, treatments: list[tuple[int, Treatment]], found: list[tuple[str, Finding | None]]
) -> list[ColumnReport]:
    """One record a column of the table, in its order."""
    named = zip(treatments, output_names(table.names, treatments), strict=True)
    outputs = {number: (treatment, names) for (number, treatment), names in named}
    report = []
    for number, (name, (kind, finding)) in enumerate(zip(table.names, found, strict=True)):
        treatment, names = outputs.get(number, (None, ()))
        is_used = treatment is not None
        report.append(
            ColumnReport(
                name=name,
                kind=kind,
                used=is_used,
                reason="given by drop" if finding is None else finding.reason,
                treatment=_describe(treatment, finding),
                override=_override(name, kind, is_used),
                missing_share=0.0 if finding is None else finding.n_missing / table.n_rows,
                n_distinct=0 if finding is None else finding.n_distinct,
                outputs=names,
            )
        )
    return report


def _describe(treatment: Treatment | None, finding: Finding | None) -> str:
    if treatment is None:
        return "left out"
    has_missing = finding is not None and finding.n_missing > 0
    return f"{treatment.describe()}; {treatment.describe_missing()}" if has_missing else treatment.describe()


def _override(name: str, kind: str, is_used: bool) -> str:
    if is_used:
        other = "text" if kind == "category" else "category"
        return f"drop=[{name!r}] leaves it out; kinds={{{name!r}: {other!r}}} takes it for another kind"
    if kind == "dropped":
        return f"without {name!r} in drop it is looked at"
    return f"kinds={{{name!r}: 'category'}} or another kind keeps it"

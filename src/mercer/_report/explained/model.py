"""How a whole model goes by its columns, from explanations of test rows within a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._explaining.contributions import MOST_EXACT, by_structure, contributions
from mercer._explaining.table_model import TableModel, Unit
from mercer._report.content import RowError
from mercer._report.explained.columns import Leading, dependence_of, has_few_words, shares_of, swarm_of
from mercer._report.explained.interactions import interactions_of
from mercer._report.explained.model_content import ExplainedError, ModelExplained
from mercer._report.explained.surrogate import surrogate_of
from mercer._tables import IntArray, Table, as_table
from mercer.inspection import Explanation

_MOST_ROWS = 300
_FIRST_ROWS = 8
_ENOUGH_ROWS = 60  # that more background rows and coalitions are better than more rows
_N_TIMED, _SLOW = (100, 2000), 0.02  # rows whose prediction is timed, and seconds that the first may take before the others
_N_COALITIONS = 500  # for one row
_MOST_SWARMS = 3
_MOST_DEPENDENCES = 4
_MOST_ERRORS = 3
_SHARES = (0.55, 0.8)  # of the time: when explanations of rows and then interactions must end


@dataclass(frozen=True)
class Rows:
    """The tables of a report as the explanations take them: the columns that the model uses."""

    found: TableModel
    train: Table
    test: Table
    numbers: IntArray  # of the test rows in their source

    @classmethod
    def of(cls, model: Any, classes: Sequence[Any] | None, train: Table, test: Table, numbers: IntArray) -> Rows:
        found = TableModel.of(model, classes)
        if names := list(found.reports()):
            train, test = (as_table(table.data[names], "X") for table in (train, test))
        return cls(found, train, test, numbers)


def explain_model(
    rows: Rows, y_train: Any, errors: Sequence[RowError], seed: int, seconds: float
) -> tuple[ModelExplained | None, list[str]]:
    """All of it, with notes on what the time did not allow; None where the model is too slow to explain a few rows."""
    start = time.monotonic()
    found, notes = rows.found, []
    per_row = _seconds_per_row(rows)
    background_order = np.random.default_rng([seed, 0]).permutation(rows.train.n_rows)
    plan = _plan(rows, background_order, per_row, seconds * _SHARES[0])
    if plan is None:
        note = f"Explanations: predictions take {1e3 * per_row:.3g} ms a row, too long for them in the time of the report."
        return None, [note]
    background = rows.train.take(np.sort(background_order[: plan.n_background]))

    def explain(places: IntArray) -> Explanation:
        return _explained(rows, background, plan, places, seed, math.inf)[0]

    wrong = _explained_errors(rows, errors[:_MOST_ERRORS], explain)
    order = np.random.default_rng([seed, 1]).permutation(rows.test.n_rows)[:_MOST_ROWS]
    explanation, unit, explained = _explained(rows, background, plan, order, seed, start + _SHARES[0] * seconds)
    if len(explained) < len(order):
        notes.append(f"Explanations: the time allowed {len(explained)} of {rows.test.n_rows} test rows.")
    table = as_table(rows.test.take(explained), "X_test")
    shown = [Leading.of(explanation, output) for output in _outputs_shown(found, y_train)]
    interactions, pairs_note = interactions_of(rows, shown[0], per_row, seed, start + _SHARES[1] * seconds)
    surrogate, tree_note = surrogate_of(rows, seed, per_row, seconds)
    notes += [note for note in (pairs_note, tree_note) if note]
    content = ModelExplained(
        unit=unit,
        method=explanation.method,
        n_rows=len(explained),
        n_test=rows.test.n_rows,
        n_background=background.shape[0],
        swarms=[swarm_of(each, table, _label(found, each.output)) for each in shown],
        dependence=_dependences(found, shown, table),
        interactions=interactions,
        errors=wrong,
        surrogate=surrogate,
    )
    return content, notes


@dataclass(frozen=True)
class _Plan:
    """How much of the model is asked for: background rows, and coalitions for one row where it has no structure to read."""

    n_background: int
    n_evaluations: int | None  # None: as many as the explainer takes by itself

    def cost(self, n_columns: int) -> int:
        """The predictions for one row."""
        whole = 2**n_columns if n_columns <= MOST_EXACT else max(_N_COALITIONS, 4 * n_columns + 2)
        return self.n_background * (whole if self.n_evaluations is None else min(self.n_evaluations, whole))


def _plan(rows: Rows, background_order: IntArray, per_row: float, seconds: float) -> _Plan | None:
    """The best plan by which enough rows can be explained in the time; None where the least one is good for none."""
    n_columns = len(rows.train.names)
    orders = [2 * (n_columns + 1) * count for count in (3, 1)]  # as many orders of the columns, there and back
    plans = [_Plan(100, None), _Plan(30, None), _Plan(30, orders[0]), _Plan(15, orders[0]), _Plan(10, orders[1])]
    background = rows.train.take(background_order[: plans[0].n_background])
    if by_structure(rows.found, rows.test.take(np.arange(1)), background) is not None:
        return plans[0]
    for plan in plans:
        if plan.cost(n_columns) * per_row * min(_ENOUGH_ROWS, rows.test.n_rows) <= seconds:
            return plan
    return plans[-1] if plans[-1].cost(n_columns) * per_row * _FIRST_ROWS <= seconds else None


def _seconds_per_row(rows: Rows) -> float:
    """Of predictions of many rows at once, as explanations ask for them; of few rows where even these are slow."""
    took, n_rows = 0.0, 0
    for n_rows in _N_TIMED:
        timed = rows.train.take(np.arange(n_rows) % rows.train.n_rows)
        rows.found(timed)  # once for what is only done the first time
        begin = time.perf_counter()
        rows.found(timed)
        took = time.perf_counter() - begin
        if took > _SLOW:
            break
    return took / n_rows


def _explained(
    rows: Rows, background: Any, plan: _Plan, places: IntArray, seed: int, deadline: float
) -> tuple[Explanation, Unit, IntArray]:
    """Test rows in a given order, in parts that grow, until all are explained or the time is up."""
    parts: list[Explanation] = []
    done, size, unit = 0, _FIRST_ROWS, rows.found.unit
    while done < len(places) and size >= 1:
        begin = time.monotonic()
        part = rows.test.take(places[done : done + size])
        explanation, unit = contributions(rows.found, part, background, seed=seed, n_evaluations=plan.n_evaluations)
        parts.append(explanation)
        done += len(explanation)
        left, took = deadline - time.monotonic(), time.monotonic() - begin
        size = int(min(4 * size, max(0.0, size * left / max(took, 1e-9))))
    return _joined(parts), unit, places[:done]


def _joined(parts: Sequence[Explanation]) -> Explanation:
    first = parts[0]
    return Explanation(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.base_values for part in parts]),
        feature_names=first.feature_names,
        method=first.method,
        predictions=np.concatenate([part.sums if part.predictions is None else part.predictions for part in parts]),
    )


def _outputs_shown(found: TableModel, y_train: Any) -> list[int]:
    """A number, the second of two classes, or the most frequent of several."""
    if found.classes is None:
        return [0]
    if len(found.classes) == 2:
        return [1]
    labels = np.asarray(y_train)
    counts = [int(np.sum(labels == label)) for label in found.classes]
    order: list[int] = np.argsort(np.negative(counts), kind="stable").tolist()
    return order[:_MOST_SWARMS]


def _label(found: TableModel, output: int) -> str | None:
    return None if found.classes is None else str(found.classes[output])


def _dependences(found: TableModel, shown: Sequence[Leading], table: Table) -> list[Any]:
    """Of the columns that give most over all outputs shown, each for the output that it gives most to."""
    sizes: FloatArray = np.stack([each.sizes for each in shown])
    in_use = {j for each in shown for j in each.order}
    leading = [j for j in np.argsort(-sizes.max(axis=0), kind="stable").tolist() if j in in_use and has_few_words(table, j)]
    best = sizes.argmax(axis=0)
    return [
        dependence_of(shown[best[j]].values[:, j], table, j, _label(found, shown[best[j]].output))
        for j in leading[:_MOST_DEPENDENCES]
    ]


def _explained_errors(
    rows: Rows, errors: Sequence[RowError], explain: Callable[[IntArray], Explanation]
) -> list[ExplainedError]:
    """For each of the worst errors what spoke for the class that it was wrongly given, or for the number."""
    if not errors:
        return []
    found = rows.found
    place_of = {number: place for place, number in enumerate(rows.numbers.tolist())}
    places = np.asarray([place_of[error["row"]] for error in errors], dtype=np.intp)
    explanation, table = explain(places), as_table(rows.test.take(places), "X_test")
    made = []
    for place, error in enumerate(errors):
        output = 0 if found.classes is None else list(map(str, found.classes)).index(error["predicted"])
        part = explanation[place, :, output]
        made.append(
            ExplainedError(
                row=error["row"],
                true=error["true"],
                predicted=error["predicted"],
                label=_label(found, output),
                output=float(part.sums if part.predictions is None else part.predictions),
                base=float(part.base_values),
                contributions=shares_of(part, table, place),
            )
        )
    return made

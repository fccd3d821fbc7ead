"""One row of a file, explained: what each column gave to its prediction, and what would change it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

import mercer
from mercer._arrays import FloatArray
from mercer._explaining.counterfactuals import Goal, nearest_row, smallest_changes
from mercer._explaining.lime import POOR_FIT
from mercer._report.content import FORMAT
from mercer._report.explained.content import Change, ClassOutput, ColumnChange, Neighbour, RowContent, Share
from mercer._report.numbers import number
from mercer._runs.explanation import Explaining, without_rounding
from mercer._runs.pipelines import model_name
from mercer._tables import as_text
from mercer.inspection import Explanation

_POOR = "The surrogate fits the model badly near this row: its weights say little. Shapley values (--method auto) add up."


def explain_row(found: Explaining, row: int, command: str | None) -> RowContent:
    """All that is said of the row with this number."""
    place = found.place_of(row)
    own = found.rows[place : place + 1]
    texts = found.texts(place)
    explained = found.explained(own)
    explanation = explained.explanation
    outputs = found.found(own)[0]
    at = int(found.output_of(outputs[None])[0])
    goal = found.goal(outputs)
    part = explanation[0, :, at]
    said = float(part.sums if part.predictions is None else part.predictions)
    classes = found.found.classes
    fidelity = None if explained.fidelity is None else float(explained.fidelity[0, at])
    return RowContent(
        format=FORMAT,
        kind="row",
        title=f"Row {row} of {found.data.name}",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        mercer=mercer.__version__,
        run=str(found.run),
        source=str(found.data),
        row=row,
        target=found.settings.target,
        model=model_name(found.found.model),
        predicted=_predicted(found, outputs),
        label=None if classes is None else str(classes[at]),
        unit=explained.unit,
        output=said,
        base=float(part.base_values),
        classes=_class_outputs(found, outputs),
        contributions=_shares(part, found.columns, texts),
        method=explanation.method,
        fidelity=fidelity,
        additivity_error=explanation.additivity_error if fidelity is None else None,
        n_background=found.background.height,
        goal=_goal_words(found, goal),
        changes=_changes(found, goal, own, texts),
        neighbour=_neighbour(found, goal, own, texts),
        n_sampled=found.table.height,
        n_train=found.sample.n_train,
        notes=[] if fidelity is None or fidelity >= POOR_FIT else [_POOR],
    )


def _predicted(found: Explaining, outputs: FloatArray) -> str:
    """The prediction in words."""
    if found.found.classes is None:
        return number(float(outputs[0]))
    return str(found.found.classes[int(found.found.codes(outputs[None])[0])])


def _output(found: Explaining, outputs: FloatArray) -> float:
    """The number that goes with a prediction: itself, or the output of the class that is predicted."""
    return float(outputs[0 if found.found.classes is None else int(found.found.codes(outputs[None])[0])])


def _class_outputs(found: Explaining, outputs: FloatArray) -> list[ClassOutput] | None:
    """Every class with its output, the likeliest first."""
    if found.found.classes is None:
        return None
    order = np.argsort(-outputs, kind="stable").tolist()
    return [ClassOutput(label=str(found.found.classes[code]), output=float(outputs[code])) for code in order]


def _shares(part: Explanation, columns: list[str], texts: dict[str, str]) -> list[Share]:
    """What each column gave, the largest first."""
    errors = part.standard_errors
    values = without_rounding(part.values[None], part.base_values[None])[0]
    return [
        Share(
            column=columns[j],
            value=texts[columns[j]],
            contribution=float(values[j]),
            error=None if errors is None or not np.isfinite(errors[j]) else float(errors[j]),
        )
        for j in np.argsort(-np.abs(values), kind="stable").tolist()
    ]


def _goal_words(found: Explaining, goal: Goal) -> str:
    if found.found.classes is None:
        return f"a prediction that is higher or lower by {number(goal.margin)} or more"
    if goal.target is not None:
        return f"the prediction {found.found.classes[goal.target]}"
    return f"another prediction than {_predicted(found, goal.outputs)}"


def _changes(found: Explaining, goal: Goal, own: Any, texts: dict[str, str]) -> list[Change]:
    return [
        Change(
            column=change.column,
            before=texts[change.column],
            after=as_text(change.value),
            predicted=_predicted(found, change.outputs),
            output=_output(found, change.outputs),
            distance=change.distance,
        )
        for change in smallest_changes(goal, own, found.table, found.kinds)
    ]


def _neighbour(found: Explaining, goal: Goal, own: Any, texts: dict[str, str]) -> Neighbour | None:
    nearest = nearest_row(goal, own, found.table, found.kinds)
    if nearest is None:
        return None
    return Neighbour(
        row=int(found.sample.numbers[nearest.place]),
        predicted=_predicted(found, nearest.outputs),
        output=_output(found, nearest.outputs),
        distance=nearest.distance,
        n_reached=nearest.n_reached,
        changes=[
            ColumnChange(column=name, before=texts[name], after=as_text(found.sample.X[name][nearest.place]))
            for name in nearest.changed
        ],
    )

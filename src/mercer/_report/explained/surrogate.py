"""A small tree that answers as the model does, in the words of the user's columns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._columns import MOMENT, Table as Columns
from mercer._report.explained.model_content import SurrogateTree, TreeLine
from mercer._report.numbers import number
from mercer._stand_in import stand_in
from mercer._tables import as_table
from mercer.inspection import surrogate_tree
from mercer.preprocessing import TablePreparer

if TYPE_CHECKING:
    from mercer._report.explained.model import Rows

_MOST_ROWS = 5000
_LEAST_ROWS = 30
_DEPTH = 3
_SHARE = 0.1  # of the time, for asking the model
_DAYS, _MISSING = "__elapsed_days", "__missing"


def surrogate_of(rows: Rows, seed: int, per_row: float, seconds: float) -> tuple[SurrogateTree | None, str | None]:
    """A tree of depth three fitted to what the model answers to training rows, and a note where there is none."""
    n_rows = min(rows.train.n_rows, _MOST_ROWS, int(_SHARE * seconds / max(per_row, 1e-12)))
    if n_rows < min(_LEAST_ROWS, rows.train.n_rows):
        return None, "Surrogate tree: the time did not allow to ask the model for enough rows."
    chosen = np.sort(np.random.default_rng([seed, 2]).permutation(rows.train.n_rows)[:n_rows])
    table = as_table(rows.train.take(chosen), "X_train")
    names = _Names(table)
    if not names.outputs:
        return None, None
    found = rows.found
    outputs = found(table.data)
    if found.classes is None:
        model = stand_in(outputs[:, 0])
    else:
        labels = np.asarray(found.classes)
        model = stand_in(labels[found.codes(outputs)], classes=labels)
    made = surrogate_tree(model, names.matrix, _DEPTH, min_samples_leaf=max(5, n_rows // 50), random_state=seed)
    lines = list(_lines(made.tree, names, found.classes))
    return SurrogateTree(
        measure=made.measure,
        fidelity=float(made.fidelity),
        baseline=float(made.baseline),
        n_train=int(made.n_train),
        n_test=int(made.n_test),
        lines=lines,
    ), None


class _Names:
    """The matrix that the tree is fitted to, and what its splits say in the user's columns. Free text is left out."""

    def __init__(self, table: Any) -> None:
        self._table = table
        preparer = TablePreparer(None, scaling=False, categories="one-hot", missing="impute").fit(table.data)
        made = preparer.get_feature_names_out().tolist()
        of_column = {output: column for column in preparer.report_ if column.used for output in column.outputs}
        kept = [j for j, name in enumerate(made) if of_column[name].kind != "text"]
        self.outputs = [made[j] for j in kept]
        self.matrix = preparer.transform(table.data)[:, kept]
        self._columns = {name: of_column[name] for name in self.outputs}

    def rule(self, feature: int, threshold: float, *, is_low: bool) -> str:
        """What holds of rows that go one way at a split."""
        output = self.outputs[feature]
        column = self._columns[output]
        rest = output.removeprefix(column.name)
        if rest == _MISSING or rest.startswith(_MISSING):
            return f"{column.name} is {'known' if is_low else 'missing'}"
        if rest.startswith("="):
            word = rest.removeprefix("=")
            return f"{column.name} is {'not ' if is_low else ''}{word}"
        if column.kind == "boolean":
            return f"{column.name} is {'false' if is_low else 'true'}"
        sign = "≤" if is_low else ">"
        if rest == _DAYS:
            return f"{column.name} {sign} {self._date(column.name, threshold)}"
        part = rest.removeprefix("__").replace("_", " ")
        return f"{column.name}{f' ({part})' if part else ''} {sign} {number(threshold)}"

    def _date(self, name: str, days: float) -> str:
        """The day so many days after the first one."""
        column = Columns.of(self._table.data, "report").column(self._table.names.index(name))
        if column.storage != MOMENT:
            return f"day {number(days, 0)}"
        first: datetime = column.values[~column.is_missing].min().astype("datetime64[us]").item()
        return str((first + timedelta(days=float(days))).date())


def _lines(tree: Any, names: _Names, classes: tuple[Any, ...] | None) -> Iterator[TreeLine]:
    """The nodes, each below the one that it comes from; where all below one say the same, it is a leaf."""
    nodes = tree.tree_

    def says(node: int) -> str:
        value = np.asarray(nodes.value[node]).reshape(-1)
        return number(float(value[0])) if classes is None else str(tree.classes_[int(value.argmax())])

    def below(node: int) -> set[str]:
        """All that is said at the leaves below a node."""
        low, high = int(nodes.children_left[node]), int(nodes.children_right[node])
        return {says(node)} if low < 0 else below(low) | below(high)

    def walk(node: int, depth: int, rule: str) -> Iterator[TreeLine]:
        low, high = int(nodes.children_left[node]), int(nodes.children_right[node])
        is_leaf = low < 0 or len(below(node)) == 1
        yield TreeLine(depth=depth, rule=rule, says=says(node), n=int(nodes.n_node_samples[node]), is_leaf=is_leaf)
        if not is_leaf:
            feature, threshold = int(nodes.feature[node]), float(nodes.threshold[node])
            yield from walk(low, depth + 1, names.rule(feature, threshold, is_low=True))
            yield from walk(high, depth + 1, names.rule(feature, threshold, is_low=False))

    return walk(0, 0, "all rows")

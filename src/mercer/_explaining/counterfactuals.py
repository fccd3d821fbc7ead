"""What would change a prediction: the nearest row that is predicted otherwise, and the smallest change of one column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._explaining.scales import Distances
from mercer._explaining.table_model import TableModel

if TYPE_CHECKING:
    import polars as pl

_MOST_VALUES = 100  # of a column that are looked at first
_UNCHANGED = ("text", "identifier")  # kinds of which another value is not within anyone's reach


@dataclass(frozen=True)
class Goal:
    """What counts as another prediction: another class, a certain one, or a number that is farther away than a margin."""

    found: TableModel
    outputs: FloatArray  # of the row itself, of shape (n_outputs,)
    target: int | None = None  # the class that is wanted; None: any other
    margin: float = 0.0

    def reached(self, outputs: FloatArray) -> npt.NDArray[np.bool_]:
        """For each row of outputs whether it is there."""
        if self.found.classes is None:
            return np.asarray(np.abs(outputs[:, 0] - self.outputs[0]) >= self.margin)
        codes = self.found.codes(outputs)
        if self.target is not None:
            return np.asarray(codes == self.target)
        return np.asarray(codes != self.found.codes(self.outputs[None])[0])


@dataclass(frozen=True)
class NearestRow:
    """The training row that is nearest of those that are predicted otherwise."""

    place: int  # among the rows that were looked at
    outputs: FloatArray
    distance: float
    changed: tuple[str, ...]  # columns in which it differs, the farthest first
    n_reached: int  # rows that are predicted otherwise


@dataclass(frozen=True)
class Change:
    """The smallest change of one column that changes the prediction, all others left as they are."""

    column: str
    value: Any
    outputs: FloatArray
    distance: float


def nearest_row(goal: Goal, row: pl.DataFrame, table: pl.DataFrame, kinds: dict[str, str]) -> NearestRow | None:
    """None where no row of the table is predicted otherwise; of rows that are equally near, the first."""
    outputs = goal.found(table)
    places = np.flatnonzero(goal.reached(outputs))
    if len(places) == 0:
        return None
    distances = Distances(row, table, kinds)
    place = int(places[np.argmin(distances.total[places])])
    apart = distances.by_column[place]
    changed = tuple(distances.names[j] for j in np.argsort(-apart, kind="stable") if apart[j] > 0)
    return NearestRow(place, outputs[place], float(distances.total[place]), changed, len(places))


def smallest_changes(goal: Goal, row: pl.DataFrame, table: pl.DataFrame, kinds: dict[str, str]) -> list[Change]:
    """For each column that can change the prediction by itself the smallest change that does, the smallest of all first.

    A column takes values that it has in the table: a hundred of them, spread evenly, and then all those between the nearest of
    these that changes the prediction and the row's own. Missing values are none to strive for, and free text is left as it is.
    """
    searches = [_Search.of(goal, row, table, name, kinds) for name in table.columns if kinds.get(name) not in _UNCHANGED]
    for stage in (_Search.spread, _Search.between):
        asked = [(search, stage(search)) for search in searches]
        asked = [(search, places) for search, places in asked if len(places)]
        if not asked:
            continue
        import polars as pl

        outputs = goal.found(pl.concat([search.rows(places) for search, places in asked]))
        ends = np.cumsum([len(places) for _, places in asked])[:-1]
        for (search, places), part in zip(asked, np.split(outputs, ends), strict=True):
            search.look(places, part)
    return sorted((search.best for search in searches if search.best), key=lambda change: change.distance)


class _Search:
    """The search in one column. Its values are in the order of their distance from the row's own."""

    def __init__(self, goal: Goal, row: pl.DataFrame, name: str, values: Any, distances: FloatArray) -> None:
        self._goal, self._row, self._name = goal, row, name
        order = np.argsort(distances, kind="stable")
        order = order[distances[order] > 0]
        self._values, self._distances = values.gather(order), distances[order]
        self._looked: set[int] = set()
        self._place: int | None = None
        self.best: Change | None = None

    @classmethod
    def of(cls, goal: Goal, row: pl.DataFrame, table: pl.DataFrame, name: str, kinds: dict[str, str]) -> _Search:
        values = table[name].drop_nulls().unique(maintain_order=True)
        if values.dtype.is_float():
            values = values.filter(values.is_finite())
        if not len(values):
            return cls(goal, row, name, values, np.zeros(0))
        scale = Distances(row.select(name), table.select(name), kinds).by_column[:, 0]  # by the spread of all rows
        first = _first_places(table[name], values)
        return cls(goal, row, name, values, scale[first])

    def spread(self) -> npt.NDArray[np.intp]:
        """Values to begin with."""
        n = len(self._values)
        return np.unique(np.linspace(0, n - 1, min(n, _MOST_VALUES)).round().astype(np.intp)) if n else np.zeros(0, np.intp)

    def between(self) -> npt.NDArray[np.intp]:
        """Values that are nearer than the best one so far and farther than those that were looked at before it."""
        if self._place is None:
            return np.zeros(0, dtype=np.intp)
        before = max((place for place in self._looked if place < self._place), default=-1)
        return np.arange(before + 1, self._place)

    def rows(self, places: npt.NDArray[np.intp]) -> pl.DataFrame:
        """The row with each of these values in its column."""
        return self._row[np.zeros(len(places), dtype=np.intp)].with_columns(self._values.gather(places).alias(self._name))

    def look(self, places: npt.NDArray[np.intp], outputs: FloatArray) -> None:
        """Remember the nearest value that is there."""
        self._looked.update(places.tolist())
        for at in np.flatnonzero(self._goal.reached(outputs))[:1].tolist():
            self._place = int(places[at])
            distance = float(self._distances[self._place])
            self.best = Change(self._name, self._values[self._place], outputs[at], distance)


def _first_places(column: Any, values: Any) -> npt.NDArray[np.intp]:
    """Where in a column each of its values is first found."""
    place: dict[Any, int] = {}
    for number, value in enumerate(column.to_list()):
        place.setdefault(value, number)
    return np.asarray([place[value] for value in values.to_list()], dtype=np.intp)

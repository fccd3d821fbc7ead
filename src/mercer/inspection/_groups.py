"""`Grouped`: columns that are one player, such as the one-hot columns of a category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._params import InvalidParameterError
from mercer._tables import as_text
from mercer.inspection._explanation import Explanation


@dataclass(frozen=True)
class Players:
    """The players that columns belong to: their names, and the player of each column."""

    names: list[Any]
    of_column: npt.NDArray[np.int32]

    @classmethod
    def single(cls, names: Sequence[Any]) -> Players:
        """Each column a player of its own."""
        return cls(list(names), np.arange(len(names), dtype=np.int32))

    @property
    def is_single(self) -> bool:
        return len(self.names) == len(self.of_column)

    def columns_of(self, player: int) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self.of_column == player)

    def sums(self, per_column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The sums over the columns of each player; the columns are the second axis."""
        total = np.zeros((len(per_column), len(self.names), *per_column.shape[2:]), dtype=per_column.dtype)
        for column, player in enumerate(self.of_column.tolist()):
            total[:, player] += per_column[:, column]
        return total

    def anything(self, per_column: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Whether it holds for some column of each player."""
        return np.stack([per_column[:, self.columns_of(player)].any(axis=1) for player in range(len(self.names))], axis=1)

    def cells(self, data: npt.NDArray[Any], column_names: Sequence[Any]) -> npt.NDArray[Any]:
        """What the rows have of each player: a value, the column that is hot, or the values of its columns in words."""
        if self.is_single:
            return data
        shown = np.empty((len(data), len(self.names)), dtype=object)
        for player in range(len(self.names)):
            columns = self.columns_of(player)
            for i, row in enumerate(data):
                shown[i, player] = _shown(row[columns].tolist(), [column_names[j] for j in columns])
        return shown


def _shown(values: list[Any], names: list[Any]) -> Any:
    if len(values) == 1:
        return values[0]
    is_hot = all(value in (0, 1) for value in values) and sum(values) == 1
    return str(names[values.index(1)]) if is_hot else ", ".join(f"{n}={as_text(v)}" for n, v in zip(names, values, strict=True))


@dataclass(frozen=True)
class Grouped:
    r"""Columns that are one player: what they give, they give together.

    The Shapley value of a group is that of the game whose players are groups,

    .. math:: \phi_G = \sum_{S \not\ni G} \frac{|S|! (m - |S| - 1)!}{m!} (v(S \cup G) - v(S)),

    which explainers by coalitions find where they are given groups. Where values add up over columns, as those of a linear
    model do, they are the sums over the columns of a group, which `sums` gives for any explanation.

    Parameters
    ----------
    groups : dict
        The columns of each group, by names or numbers. A column that is in none stays alone.

    Examples
    --------
    >>> from mercer.inspection import Explanation, Grouped
    >>> explanation = Explanation([[1.0, 2.0, 4.0]], [0.5], feature_names=["red", "blue", "size"])
    >>> Grouped({"colour": ["red", "blue"]}).sums(explanation).values
    array([[3., 4.]])
    """

    groups: Mapping[Any, Sequence[Any]]

    @classmethod
    def by_prefix(cls, names: Sequence[str], separator: str = "_") -> Grouped:
        """Groups of the columns that have the same words before the last separator, as encoders of categories name them."""
        groups: dict[str, list[str]] = {}
        for name in names:
            prefix, found, _ = str(name).rpartition(separator)
            if found:
                groups.setdefault(prefix, []).append(name)
        return cls({prefix: members for prefix, members in groups.items() if len(members) > 1})

    def players(self, owner: str, names: Sequence[Any]) -> Players:
        """The players among columns of these names, in the order of their first columns."""
        places = {name: j for j, name in reversed(list(enumerate(names)))}
        group_of: dict[int, Any] = {}
        for group, members in self.groups.items():
            if isinstance(members, str) or len(members) == 0:
                raise ValueError(f"{owner}: the group {group!r} is {members!r}; it must be a list of columns, at least one.")
            for member in members:
                column = _column(owner, group, member, places, len(names))
                if column in group_of:
                    raise ValueError(
                        f"{owner}: the column {names[column]!r} is in the groups {group_of[column]!r} and {group!r}; it may be "
                        "in one alone."
                    )
                group_of[column] = group
        found: list[Any] = []
        number: dict[Any, int] = {}
        of_column = np.empty(len(names), dtype=np.int32)
        for j, name in enumerate(names):
            key = ("group", group_of[j]) if j in group_of else ("column", j)
            if key not in number:
                number[key] = len(found)
                found.append(group_of.get(j, name))
            of_column[j] = number[key]
        return Players(found, of_column)

    def sums(self, explanation: Explanation) -> Explanation:
        """An explanation of columns as one of groups: values are added up, and interactions within a group are its own."""
        names = list(explanation.feature_names)
        players = self.players("Grouped", names)
        if explanation.axes is None or explanation.axes[:2] != ("row", "feature"):
            raise ValueError("Grouped: the explanation is a part of one; sum up the whole and take the part afterwards.")
        interactions = explanation.interactions
        if interactions is not None:
            rows = players.sums(interactions)
            interactions = players.sums(rows.swapaxes(1, 2)).swapaxes(1, 2)
        return replace(
            explanation,
            values=players.sums(explanation.values),
            data=None if explanation.data is None else players.cells(explanation.data, names),
            feature_names=players.names,
            method=f"{explanation.method}, summed over groups" if explanation.method else "",
            interactions=interactions,
            standard_errors=explanation.standard_errors if players.is_single else None,  # they do not add up
        )


def _column(owner: str, group: Any, member: Any, places: Mapping[Any, int], n_columns: int) -> int:
    """The number of a column that is named or numbered."""
    if member in places:
        return places[member]
    if isinstance(member, int | np.integer) and -n_columns <= member < n_columns:
        return int(member) % n_columns
    words = ", ".join(map(repr, places))
    raise ValueError(f"{owner}: the group {group!r} has {member!r}, which is no column; there are {words}.")


def grouped(owner: str, groups: Any) -> Grouped:
    """The groups, which may be a dict."""
    if isinstance(groups, Mapping):
        return Grouped(groups)
    if not isinstance(groups, Grouped):
        raise InvalidParameterError(
            f"{owner}: groups={groups!r} is not valid; it must be None, a dict of columns by group or a Grouped."
        )
    return groups


def players_of(owner: str, groups: Any, names: Sequence[Any]) -> Players:
    """The players where `groups` is None, a dict or a `Grouped`."""
    if groups is None:
        return Players.single(names)
    return grouped(owner, groups).players(owner, names)

"""What a process is told besides transitions and rewards: which states are terminal, what things are called, where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._params import Integer, check_value


def terminals_of(terminals: Any, n_states: int) -> npt.NDArray[np.bool_]:
    given = np.asarray(terminals)
    if given.dtype == bool and given.shape == (n_states,):
        return given.copy()
    is_terminal = np.zeros(n_states, dtype=bool)
    if given.size == 0:
        return is_terminal
    if given.ndim != 1 or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n_states:
        raise ValueError(f"MDP: terminals={terminals!r} must be states from 0 to {n_states - 1}, or one truth for each state.")
    is_terminal[given] = True
    return is_terminal


def names_of(owner: str, names: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    if isinstance(names, str) or len(names) != n:
        raise ValueError(f"MDP: {owner} must hold {n} names, not {names!r}.")
    return tuple(map(str, names))


def layout_of(layout: Any, cells: Any, n_states: int) -> tuple[tuple[int, int] | None, Any]:
    if layout is None:
        if cells is not None:
            raise ValueError("MDP: cells are those of a grid; give its layout too.")
        return None, None
    n_rows, n_columns = (check_value("MDP", f"layout[{axis}]", size, Integer(1)) for axis, size in enumerate(layout))
    if n_rows * n_columns > n_states:
        raise ValueError(f"MDP: layout={layout!r} has more cells than there are states ({n_states}).")
    if cells is None:
        return (n_rows, n_columns), None
    table = np.asarray(cells, dtype=str)
    if table.shape != (n_rows, n_columns):
        raise ValueError(f"MDP: cells has the shape {table.shape}; it must be {(n_rows, n_columns)}.")
    return (n_rows, n_columns), table

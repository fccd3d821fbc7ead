"""Processes to learn by: grids, graphs, the lake, the cliff, a warehouse and a gambler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._params import Integer, Real, check_value
from mercer.rl._mdp import MDP

MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))  # in the order of Gymnasium's lake
NAMES = ("left", "down", "right", "up")
CLIFF_MOVES, CLIFF_NAMES = ((-1, 0), (0, 1), (1, 0), (0, -1)), ("up", "right", "down", "left")

_LAKES = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"),
}

Outcomes = dict[int, dict[int, list[tuple[float, int, float]]]]


def grid_world(
    cells: Sequence[str],
    *,
    reward: float = 0.0,
    goal_reward: float = 0.0,
    trap_reward: float = -1.0,
    slip: float = 0.0,
    teleports: Mapping[tuple[int, int], tuple[int, int]] | None = None,
    discount: float | None = 0.99,
    horizon: int | None = None,
) -> MDP:
    """A walk on a grid, to the left, down, right or up; who walks into a wall stays.

    Parameters
    ----------
    cells : sequence of str
        The rows of the grid: "." free, "S" free and the only start, "#" a wall, "G" a goal and "X" a trap, both terminal.
        Without an "S" episodes begin anywhere.
    reward : float, default=0.0
        What each step is paid.
    goal_reward, trap_reward : float, default=0.0 and -1.0
        What is paid on top by the step into a goal or a trap.
    slip : float, default=0.0
        The probability of a step to one of the two sides instead, each half of it.
    teleports : dict {(row, column): (row, column)}, default=None
        Cells from which every action leads elsewhere.
    discount, horizon
        As of :class:`MDP`.

    Returns
    -------
    mdp : MDP
        Its states are the cells, row by row; walls are terminal states that nothing leads to.

    Examples
    --------
    >>> from mercer.rl import grid_world, value_iteration
    >>> mdp = grid_world(["..G", ".#X", "S.."], reward=-0.04, goal_reward=1.0, slip=0.2)
    >>> print(mdp.render(policy=value_iteration(mdp)))
    > > G
    ^ # X
    ^ < <
    """
    slip = check_value("grid_world", "slip", slip, Real(least=0, most=1))
    grid = _grid(cells, ".S#GX", "grid_world")
    outcomes: Outcomes = {}
    n_columns = grid.shape[1]
    elsewhere = {_place(grid, a, "teleports"): _place(grid, b, "teleports") for a, b in (teleports or {}).items()}
    paid = {"G": reward + goal_reward, "X": reward + trap_reward}
    for (row, column), cell in np.ndenumerate(grid):
        state = row * n_columns + column
        if cell in "#GX":
            continue
        outcomes[state] = {}
        for action in range(4):
            turns = ((1 - slip, action), (slip / 2, (action - 1) % 4), (slip / 2, (action + 1) % 4))
            made: dict[int, float] = {}
            for odds, move in turns if slip else turns[:1]:
                to = elsewhere.get(state, _step(grid, row, column, MOVES[move]))
                made[to] = made.get(to, 0.0) + odds
            outcomes[state][action] = [(odds, to, paid.get(str(grid.flat[to]), reward)) for to, odds in made.items() if odds]
    return MDP.from_outcomes(
        outcomes, n_states=grid.size, discount=discount, horizon=horizon, initial=_start(grid), action_names=NAMES,
        layout=grid.shape, cells=np.where(grid == "S", ".", grid),
    )  # fmt: skip


def frozen_lake(
    cells: str | Sequence[str] = "4x4", *, is_slippery: bool = True, discount: float | None = 0.99, horizon: int | None = None
) -> MDP:
    """The frozen lake: from "S" over ice "F" to the goal "G", which pays 1, past holes "H".

    On slippery ice a step goes to either side as often as ahead.

    Parameters
    ----------
    cells : {"4x4", "8x8"} or sequence of str, default="4x4"
        The map: one of Gymnasium's two, or rows of S, F, H and G.
    is_slippery : bool, default=True
        Whether steps go astray.
    discount, horizon
        As of :class:`MDP`. Gymnasium ends episodes after 100 steps on the small map, and 200 on the large one.

    Examples
    --------
    >>> from mercer.rl import frozen_lake, value_iteration
    >>> mdp = frozen_lake(discount=1.0)
    >>> round(float(value_iteration(mdp).v_[0]), 4)
    0.8235
    """
    if isinstance(cells, str) and cells not in _LAKES:
        raise ValueError(f"frozen_lake: cells={cells!r} is not one of {', '.join(map(repr, _LAKES))}, nor a list of rows.")
    grid = _grid(_LAKES[cells] if isinstance(cells, str) else cells, "SFHG", "frozen_lake")
    outcomes: Outcomes = {}
    for (row, column), cell in np.ndenumerate(grid):
        if cell in "HG":
            continue
        of_state = outcomes.setdefault(row * grid.shape[1] + column, {})
        for action in range(4):
            moves = [(action - 1) % 4, action, (action + 1) % 4] if is_slippery else [action]
            places = [_step(grid, row, column, MOVES[move]) for move in moves]
            of_state[action] = [(1 / len(places), to, float(grid.flat[to] == "G")) for to in places]
    return MDP.from_outcomes(
        outcomes, n_states=grid.size, discount=discount, horizon=horizon, initial=_start(grid), action_names=NAMES,
        layout=grid.shape, cells=np.select([grid == "H", grid == "G"], ["X", "G"], "."),
    )  # fmt: skip


def cliff_walking(n_rows: int = 4, n_columns: int = 12, *, discount: float | None = 0.99, horizon: int | None = None) -> MDP:
    """The cliff: from the lower left corner to the lower right one at -1 a step; a step off the edge costs 100 and leads back.

    Parameters
    ----------
    n_rows, n_columns : int, default=4 and 12
        The size of the grid.
    discount, horizon
        As of :class:`MDP`.

    Examples
    --------
    >>> from mercer.rl import cliff_walking, value_iteration
    >>> float(value_iteration(cliff_walking(discount=1.0)).v_[36])
    -13.0

    References
    ----------
    R. Sutton and A. Barto, Reinforcement Learning (MIT Press, 2018), example 6.6.
    """
    n_rows = check_value("cliff_walking", "n_rows", n_rows, Integer(2))
    n_columns = check_value("cliff_walking", "n_columns", n_columns, Integer(2))
    grid = np.full((n_rows, n_columns), ".")
    grid[-1, 1:-1], grid[-1, -1] = "X", "G"
    start = (n_rows - 1) * n_columns
    outcomes: Outcomes = {}
    for (row, column), cell in np.ndenumerate(grid):
        if cell != ".":
            continue
        of_state = outcomes.setdefault(row * n_columns + column, {})
        for action, move in enumerate(CLIFF_MOVES):
            to = _step(grid, row, column, move)
            of_state[action] = [(1.0, start, -100.0) if grid.flat[to] == "X" else (1.0, to, -1.0)]
    return MDP.from_outcomes(
        outcomes, n_states=grid.size, discount=discount, horizon=horizon, initial=start, action_names=CLIFF_NAMES,
        layout=grid.shape, cells=grid,
    )  # fmt: skip


def gambler(goal: int = 100, *, win: float = 0.4, discount: float | None = 1.0, horizon: int | None = None) -> MDP:
    """A gambler stakes any part of what is there, but no more than is lacking, on a coin.

    It ends when all is lost or the goal is reached, which pays 1.

    Parameters
    ----------
    goal : int, default=100
        What is to be reached.
    win : float, default=0.4
        The probability that a stake is doubled.
    discount, horizon
        As of :class:`MDP`.

    Returns
    -------
    mdp : MDP
        Its states are the capital, its actions the stakes, from 1 on.

    Examples
    --------
    >>> from mercer.rl import gambler, policy_iteration
    >>> policy_iteration(gambler(goal=10)).v_[[1, 5, 9]].round(4)
    array([0.0435, 0.4   , 0.8075])

    References
    ----------
    R. Sutton and A. Barto, Reinforcement Learning (MIT Press, 2018), example 4.3.
    """
    goal = check_value("gambler", "goal", goal, Integer(2))
    win = check_value("gambler", "win", win, Real(above=0, below=1))
    outcomes: Outcomes = {
        capital: {
            stake: [(win, capital + stake, float(capital + stake == goal)), (1 - win, capital - stake, 0.0)]
            for stake in range(1, min(capital, goal - capital) + 1)
        }
        for capital in range(1, goal)
    }
    return MDP.from_outcomes(outcomes, n_states=goal + 1, discount=discount, horizon=horizon)


def inventory(
    capacity: int = 20,
    *,
    demand: float = 5.0,
    price: float = 4.0,
    cost: float = 2.0,
    order_cost: float = 4.0,
    holding_cost: float = 0.1,
    discount: float | None = 0.99,
    horizon: int | None = None,
) -> MDP:
    """A warehouse: each day so much is ordered, then so much is asked for, and what is there is sold.

    Parameters
    ----------
    capacity : int, default=20
        How much there is room for: states are what is in stock, actions what is ordered, as far as there is room.
    demand : float, default=5.0
        The mean of what is asked for in a day, which has Poisson's law.
    price, cost : float, default=4.0 and 2.0
        What a piece is sold and bought for.
    order_cost : float, default=4.0
        What an order costs, however large.
    holding_cost : float, default=0.1
        What a piece left in the evening costs.
    discount, horizon
        As of :class:`MDP`.

    Examples
    --------
    >>> from mercer.rl import inventory, policy_iteration
    >>> policy_iteration(inventory()).policy_[:6]
    array([20, 19, 18, 17, 16,  0])

    References
    ----------
    H. Scarf, The optimality of (S, s) policies in the dynamic inventory problem (1960).
    """
    from scipy.stats import poisson

    capacity = check_value("inventory", "capacity", capacity, Integer(1))
    demand = check_value("inventory", "demand", demand, Real(above=0))
    asked = np.arange(capacity + 1)
    odds, tail = poisson.pmf(asked, demand), poisson.sf(asked - 1, demand)  # of so much, and of so much or more
    outcomes: Outcomes = {}
    for stock in range(capacity + 1):
        for ordered in range(capacity - stock + 1):
            there = stock + ordered
            paid = -cost * ordered - order_cost * (ordered > 0)
            sold = np.arange(there + 1)
            chances = np.append(odds[:there], tail[there])
            entries = [
                (float(p), int(there - s), float(paid + price * s - holding_cost * (there - s)))
                for p, s in zip(chances, sold, strict=True)
            ]
            outcomes.setdefault(stock, {})[ordered] = entries
    return MDP.from_outcomes(outcomes, n_states=capacity + 1, discount=discount, horizon=horizon, initial=0)


def graph_world(
    neighbours: Mapping[int, Sequence[int]] | Sequence[Sequence[int]],
    rewards: Any,
    *,
    terminals: Sequence[int] = (),
    teleports: Mapping[int, Mapping[int, float]] | None = None,
    discount: float | None = 0.95,
    horizon: int | None = None,
) -> MDP:
    """A walk on a graph, where an action is the state that it leads to, and a reward belongs to the state that is reached.

    Parameters
    ----------
    neighbours : dict or sequence of sequences of int
        Where one may go from each state. A state that is its own neighbour is one where one may stay.
    rewards : array-like of shape (n_states,)
        What the arrival in each state is paid.
    terminals : sequence of int, default=()
        States in which a walk ends.
    teleports : dict {state: {state: probability}}, default=None
        States whose one action, named as they are, leads elsewhere by chance.
    discount, horizon
        As of :class:`MDP`.

    Examples
    --------
    >>> from mercer.rl import graph_world, value_iteration
    >>> walk = graph_world([[1, 2], [0, 3], [0, 3], []], [0, 0, -1, 10], terminals=[3], discount=0.9)
    >>> value_iteration(walk).policy_
    array([ 1,  3,  3, -1])
    """
    paid = np.asarray(rewards, dtype=np.float64)
    if paid.ndim != 1 or len(paid) != len(neighbours):
        raise ValueError(f"graph_world: rewards has the shape {paid.shape}; there are {len(neighbours)} states.")
    lists = neighbours if isinstance(neighbours, Mapping) else dict(enumerate(neighbours))
    outcomes: Outcomes = {}
    for state, following in lists.items():
        if state in terminals:
            continue
        if teleports is not None and state in teleports:
            outcomes[state] = {state: [(odds, to, float(paid[to])) for to, odds in teleports[state].items()]}
            continue
        outside = [to for to in following if not 0 <= to < len(paid)]
        if outside or not len(following):
            lack = (
                f"leads to {outside[0]}; there are {len(paid)} states"
                if outside
                else "leads nowhere, and is not among the terminals"
            )
            raise ValueError(f"graph_world: state {state} {lack}.")
        outcomes[state] = {int(to): [(1.0, int(to), float(paid[to]))] for to in following}
    return MDP.from_outcomes(outcomes, n_states=len(paid), discount=discount, horizon=horizon)


def _grid(cells: Sequence[str], letters: str, owner: str) -> npt.NDArray[np.str_]:
    rows = [list(row) for row in cells]
    if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise ValueError(f"{owner}: cells must be rows of one length.")
    if unknown := {cell for row in rows for cell in row} - set(letters):
        raise ValueError(f"{owner}: a cell is {min(unknown)!r}; it must be one of {' '.join(letters)}.")
    return np.array(rows)


def _place(grid: npt.NDArray[np.str_], cell: tuple[int, int], name: str) -> int:
    row, column = cell
    if not (0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]) or grid[row, column] == "#":
        raise ValueError(f"grid_world: {name} names {cell}, which is no cell to be in.")
    return int(row * grid.shape[1] + column)


def _step(grid: npt.NDArray[np.str_], row: int, column: int, move: tuple[int, int]) -> int:
    """The state after a move: the same at the border and before a wall."""
    to = (row + move[0], column + move[1])
    is_free = 0 <= to[0] < grid.shape[0] and 0 <= to[1] < grid.shape[1] and grid[to] != "#"
    return int(to[0] * grid.shape[1] + to[1] if is_free else row * grid.shape[1] + column)


def _start(grid: npt.NDArray[np.str_]) -> int | None:
    found = np.flatnonzero(grid.ravel() == "S")
    if len(found) > 1:
        raise ValueError("Of cells S there may be one; without any, episodes begin in any cell.")
    return int(found[0]) if len(found) else None

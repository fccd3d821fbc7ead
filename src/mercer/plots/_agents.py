"""Agents: values and policies on a grid, returns as they grow, regret as it stops to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Integer, check_value
from mercer.plots._axes import COLOURS, make_axes, place_legend, style
from mercer.plots._models import name_of

# Of an action's name, the way from the middle of a cell to where its arrow ends: right and up.
_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}
_MOST_NUMBERS = 144  # cells that have room for a number each


def plot_grid(mdp: Any, plan: Any = None, *, values: Any = None, policy: Any = None, ax: Any = None) -> Any:
    """Draw the values of states that are the cells of a grid, and what a policy does in them.

    Parameters
    ----------
    mdp : MDP
        One with a layout, such as that of :func:`mercer.rl.grid_world`.
    plan : plan, agent or None, default=None
        What has values (`v_`, or `q_`) and a policy (`policy_`, or `greedy_policy_`).
    values : array-like of shape (n_states,), default=None
        Values to draw in the place of those of the plan.
    policy : array-like of int of shape (n_states,), default=None
        Actions to draw in the place of those of the plan.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_grid
    >>> from mercer.rl import frozen_lake, value_iteration
    >>> lake = frozen_lake()
    >>> plot_grid(lake, value_iteration(lake)).get_title()
    'Values and actions'
    """
    if mdp.layout is None:
        raise ValueError("plot_grid: the states of the process are not the cells of a grid (MDP(layout=...)).")
    values, policy = _values(plan) if values is None else values, _policy(plan) if policy is None else policy
    for name, given in (("values", values), ("policy", policy)):
        if given is not None and np.shape(given) != (mdp.n_states,):
            raise ValueError(f"plot_grid: {name} has the shape {np.shape(given)}; there are {mdp.n_states} states.")
    ax = make_axes(ax)
    n_rows, n_columns = mdp.layout
    n_cells = n_rows * n_columns
    cells = np.where(mdp.is_terminal[:n_cells], "T", ".").reshape(mdp.layout) if mdp.cells is None else mdp.cells
    shown = np.ma.masked_array(
        np.zeros(mdp.layout) if values is None else np.asarray(values, dtype=float)[:n_cells].reshape(mdp.layout),
        mdp.is_terminal[:n_cells].reshape(mdp.layout) | (values is None),  # their value of zero is none of the range
    )
    image = ax.imshow(shown, cmap="cividis", aspect="equal")
    _draw_cells(ax, cells, has_values=values is not None)
    if values is not None:
        ax.figure.colorbar(image, ax=ax, label="value", shrink=0.8)
    if policy is not None:
        _draw_actions(ax, mdp, np.asarray(policy)[:n_cells], shown)
    elif values is not None and n_cells <= _MOST_NUMBERS:
        _draw_numbers(ax, shown)
    ax.set(xticks=[], yticks=[])
    parts = [word for word, given in (("values", values), ("actions", policy)) if given is not None]
    ax.set_title(" and ".join(parts).capitalize() or "The grid")
    return ax


def _values(plan: Any) -> Any:
    if plan is None or hasattr(plan, "v_"):
        return getattr(plan, "v_", None)
    return np.max(plan.q_, axis=1)


def _policy(plan: Any) -> Any:
    return getattr(plan, "policy_", getattr(plan, "greedy_policy_", None))


def _draw_cells(ax: Any, cells: Any, *, has_values: bool) -> None:
    """Lines between cells, walls, and letters of goals and traps."""
    from matplotlib.patches import Rectangle

    n_rows, n_columns = cells.shape
    colours = {"#": "#404040", "G": COLOURS[2], "X": COLOURS[1], "T": COLOURS[6]}
    for (row, column), cell in np.ndenumerate(cells):
        if cell == "#":
            ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, color=colours["#"], linewidth=0))
        elif cell in colours:
            ax.add_patch(
                Rectangle((column - 0.5, row - 0.5), 1, 1, color=colours[cell], linewidth=0, alpha=1 if has_values else 0.9)
            )
            ax.text(column, row, cell, ha="center", va="center", color="white", weight="bold")
    if n_rows * n_columns <= 4 * _MOST_NUMBERS:
        ax.hlines(np.arange(1, n_rows) - 0.5, -0.5, n_columns - 0.5, color="white", linewidth=0.6)
        ax.vlines(np.arange(1, n_columns) - 0.5, -0.5, n_rows - 0.5, color="white", linewidth=0.6)


def _ink(shown: Any, row: int, column: int) -> str:
    """White on the dark half of the colours, black on the other."""
    if np.ma.getmaskarray(shown)[row, column]:
        return "black"
    low, high = float(shown.min()), float(shown.max())
    return "white" if float(shown[row, column]) <= (low + high) / 2 else "black"


def _draw_actions(ax: Any, mdp: Any, policy: Any, shown: Any) -> None:
    n_columns = mdp.layout[1]
    for state in np.flatnonzero((policy >= 0) & ~mdp.is_terminal[: len(policy)]):
        row, column = divmod(int(state), n_columns)
        name = str(policy[state]) if mdp.action_names is None else mdp.action_names[policy[state]]
        ink = _ink(shown, row, column)
        if name in _WAYS:
            x, y = (0.3 * way for way in _WAYS[name])
            tip, tail = (column + x, row - y), (column - x, row + y)
            arrow = {"arrowstyle": "-|>", "color": ink, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}
            ax.annotate("", tip, tail, arrowprops=arrow)
        else:
            ax.text(column, row, name, ha="center", va="center", fontsize="small", color=ink)


def _draw_numbers(ax: Any, shown: Any) -> None:
    for (row, column), value in np.ndenumerate(shown.data):
        if not np.ma.getmaskarray(shown)[row, column]:
            ax.text(column, row, f"{value:.2g}", ha="center", va="center", fontsize="small", color=_ink(shown, row, column))


def plot_returns(
    learnt: Any, *, of: str = "returns", window: int | None = None, confidence: float = 0.95, ax: Any = None
) -> Any:
    """Draw how the returns of agents grow with episodes, with an interval where there are several runs.

    Parameters
    ----------
    learnt : agent, LearningCurves, or dict {name: agent or LearningCurves}
        What has a history: fitted agents, or the runs of :func:`mercer.rl.learning_curves`.
    of : {"returns", "lengths", "td_errors"}, default="returns"
        What is drawn.
    window : int or None, default=None
        Over how many episodes a point is the mean; None means a fiftieth of them.
    confidence : float, default=0.95
        The level of intervals over runs.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_returns
    >>> from mercer.rl import QLearning, cliff_walking
    >>> plot_returns(QLearning(random_state=0).fit(cliff_walking(), n_episodes=100)).get_xlabel()
    'episode'
    """
    named = learnt if isinstance(learnt, Mapping) else {_name(learnt): learnt}
    ax = make_axes(ax)
    for index, (name, one) in enumerate(named.items()):
        runs = _runs(one, of)
        width = max(1, runs.shape[1] // 50) if window is None else check_value("plot_returns", "window", window, Integer(1))
        width = min(width, runs.shape[1])
        sums = np.cumsum(np.pad(runs, ((0, 0), (1, 0))), axis=1)
        smooth = (sums[:, width:] - sums[:, :-width]) / width
        _draw_runs(ax, np.arange(width, runs.shape[1] + 1), smooth, confidence, str(name), index)
    ax.set(xlabel="episode", ylabel={"returns": "return", "lengths": "steps", "td_errors": "mean |TD error|"}[of])
    ax.set_title("Learning curves" if len(named) > 1 else f"Learning curve of {next(iter(named))}")
    ax.grid(alpha=0.25)
    if len(named) > 1:
        place_legend(ax, "best")
    return ax


def _name(learnt: Any) -> str:
    agents = getattr(learnt, "agents", [learnt])
    return name_of(agents[0])


def _runs(one: Any, of: str) -> FloatArray:
    """The runs of what has learnt, one a row."""
    keys = {"returns": "return", "lengths": "length", "td_errors": "td_error"}
    if of not in keys:
        raise ValueError(f"plot_returns: of={of!r} is not valid; it must be one of {', '.join(map(repr, keys))}.")
    if hasattr(one, "agents"):
        return np.asarray(getattr(one, of), dtype=float)
    if not hasattr(one, "history_"):
        raise TypeError(f"plot_returns: {one!r} has no history; fit the agent first, or give the result of learning_curves.")
    return np.asarray(one.history_[keys[of]], dtype=float)[None]


def _draw_runs(ax: Any, x: Any, runs: FloatArray, confidence: float, label: str, index: int) -> None:
    from scipy.stats import t as student

    mean = runs.mean(axis=0)
    ax.plot(x, mean, label=label, **style(index))
    if len(runs) > 1:
        reach = student.ppf((1 + confidence) / 2, len(runs) - 1) * runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
        ax.fill_between(x, mean - reach, mean + reach, color=style(index)["color"], alpha=0.18, linewidth=0)


def plot_regret(runs: Any, *, confidence: float = 0.95, ax: Any = None) -> Any:
    """Draw what strategies of bandits lose against always the best arm.

    Parameters
    ----------
    runs : BanditRuns or sequence of BanditRuns
        The result of :func:`mercer.rl.play_bandit`, of one strategy or of several.
    confidence : float, default=0.95
        The level of intervals over runs.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_regret
    >>> from mercer.rl import play_bandit
    >>> plot_regret([play_bandit([0.3, 0.6], name, random_state=0) for name in ("ucb1", "thompson")]).get_ylabel()
    'regret'
    """
    several = list(runs) if isinstance(runs, Sequence) else [runs]
    ax = make_axes(ax)
    for index, one in enumerate(several):
        _draw_runs(ax, np.arange(1, one.regrets.shape[1] + 1), one.regrets, confidence, one.strategy, index)
    ax.set(xlabel="pull", ylabel="regret", title="Regret against the best arm")
    ax.grid(alpha=0.25)
    place_legend(ax, "upper left")
    return ax

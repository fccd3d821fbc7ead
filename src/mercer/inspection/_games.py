"""`shapley_value`: what each player of any game gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._aligned import aligned
from mercer._arrays import FloatArray
from mercer._jobs import run_jobs
from mercer._params import Function, Integer, Null, NumberOfJobs, OneOf, RandomState, check_value
from mercer._random import as_random_state
from mercer.inspection._coalition_rows import MaskArray
from mercer.inspection._exact import ExactPlan
from mercer.inspection._explainer import Plan
from mercer.inspection._permutation import PermutationPlan, all_orders

_MOST_EXACT = 20
_N_ORDERS = 100
_N_JOBS_SPLIT = 16  # calls of one job, so that handing them out costs little


@dataclass(frozen=True, eq=False, repr=False)
class ShapleyValues:
    """What each player of a game gets.

    Attributes
    ----------
    values : ndarray of shape (n_players,) or (n_players, n_outputs)
        What each gets.
    standard_errors : ndarray of the shape of values, or None
        Of values that were sampled; None where they are exact.
    empty_value, full_value : float or ndarray of shape (n_outputs,)
        What nobody and what all together are worth.
    n_evaluations : int
        How many coalitions were asked for.
    """

    values: FloatArray
    standard_errors: FloatArray | None
    empty_value: Any
    full_value: Any
    n_evaluations: int

    @property
    def efficiency_error(self) -> float:
        """How far the values are from adding up to what all are worth above nobody."""
        gap = self.values.sum(axis=0) - (self.full_value - self.empty_value)
        return float(np.max(np.abs(gap), initial=0.0))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        values: FloatArray = self.values.astype(self.values.dtype if dtype is None else dtype, copy=copy is not False)
        return values

    def __repr__(self) -> str:
        how = "exact" if self.standard_errors is None else "sampled"
        return f"ShapleyValues({len(self.values)} players; {how}, {self.n_evaluations} coalitions)"

    def __str__(self) -> str:
        if self.values.ndim > 1:
            return repr(self)
        errors = [""] * len(self.values) if self.standard_errors is None else [f"± {e:.2g}" for e in self.standard_errors]
        rows = [(str(i), f"{v:.6g}", error) for i, (v, error) in enumerate(zip(self.values, errors, strict=True))]
        return "\n".join(aligned([("player", "value", ""), *rows], left=(0, 2)))


def shapley_value(
    game: Callable[[Any], Any],
    n_players: int,
    *,
    coalition: str = "set",
    method: str = "auto",
    n_permutations: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ShapleyValues:
    r"""What each player of a game gets: the mean of what they add to those before them, over all orders.

    .. math:: \phi_i = \sum_{S \subseteq N \setminus \{i\}} \frac{|S|! (n - |S| - 1)!}{n!} (v(S \cup \{i\}) - v(S))

    Parameters
    ----------
    game : callable
        What a coalition is worth: a number, or a vector of numbers.
    n_players : int
        How many there are; they are numbered from 0.
    coalition : {"set", "mask", "masks"}, default="set"
        What the game is called with: a frozenset of numbers, a vector of truths, or a matrix of them with one line for each of
        many coalitions, for which it gives as many values.
    method : {"auto", "exact", "permutation"}, default="auto"
        All 2^n coalitions, or orders that are drawn and walked there and back. "auto" means exact for up to 12 players.
    n_permutations : int, default=None
        How many orders are drawn; 100 where nothing is said. Where all orders are no more, each is walked once and the values
        are exact.
    random_state : int, RandomState instance or None, default=None
        What draws orders.
    n_jobs : int, default=None
        How many calls of the game run at a time; one where nothing is said, and always with "masks".

    Returns
    -------
    values : ShapleyValues
        The values, with standard errors where orders were drawn.

    Notes
    -----
    Each distinct coalition is asked for once. The values add up to what all are worth above nobody; players who may stand for
    one another get the same, who adds nothing gets 0, and the values of a sum of games are the sums of their values.

    Examples
    --------
    >>> from mercer.inspection import shapley_value
    >>> print(shapley_value(lambda S: {0, 1} <= S or {0, 2} <= S, 3))
    player     value
    0       0.666667
    1       0.166667
    2       0.166667

    References
    ----------
    Shapley, "A value for n-person games", 1953.
    """
    owner = "shapley_value"
    check_value(owner, "game", game, Function())
    n = check_value(owner, "n_players", n_players, Integer(1))
    kind = check_value(owner, "coalition", coalition, OneOf("set", "mask", "masks"))
    chosen = check_value(owner, "method", method, OneOf("auto", "exact", "permutation"))
    n_orders = check_value(owner, "n_permutations", n_permutations, Null() | Integer(1))
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs())
    plan = _plan(n, chosen, n_orders, random)
    masks, is_vector = plan.masks, False
    worth = np.asarray(_values(game, masks, kind, jobs), dtype=np.float64)
    if worth.ndim not in (1, 2) or len(worth) != len(masks) or not np.isfinite(worth).all():
        raise ValueError(
            f"{owner}: the game gives an array of shape {worth.shape} for {len(masks)} coalitions; it must give a finite "
            "number, or as many in each, for every coalition."
        )
    is_vector = worth.ndim == 2
    lines = worth.reshape(1, len(worth), -1)
    sizes = masks.sum(axis=1)
    empty, full = lines[0, np.argmin(sizes)], lines[0, np.argmax(sizes)]
    found, errors = plan.solve(lines, empty, full[None])
    if isinstance(plan, PermutationPlan) and plan.is_complete:
        errors = None

    def shown(values: FloatArray) -> Any:
        return values if is_vector else values[..., 0]

    return ShapleyValues(shown(found[0]), None if errors is None else shown(errors[0]), shown(empty), shown(full), len(masks))


def _plan(n: int, method: str, n_orders: int | None, random: np.random.RandomState) -> Plan:
    if method == "exact" or (method == "auto" and n <= 12 and n_orders is None):
        if n > _MOST_EXACT:
            raise ValueError(
                f"shapley_value: {n} players have 2**{n} coalitions; method='exact' takes {_MOST_EXACT} players at most. Use "
                "'permutation'."
            )
        return ExactPlan(n)
    wanted = _N_ORDERS if n_orders is None else n_orders
    if n <= 8 and (complete := all_orders(n)).n_orders <= wanted:
        return complete
    return PermutationPlan(np.argsort(random.random_sample((wanted, n)), axis=1))


def _values(game: Callable[[Any], Any], masks: MaskArray, kind: str, n_jobs: int | None) -> Any:
    """What the game says of each coalition."""
    if kind == "masks":
        return game(masks.astype(bool))
    parts = [masks[start : start + _N_JOBS_SPLIT] for start in range(0, len(masks), _N_JOBS_SPLIT)]
    with run_jobs([partial(_values_of_part, game, part, kind) for part in parts], n_jobs) as results:
        return [value for part in results for value in part]


def _values_of_part(game: Callable[[Any], Any], masks: MaskArray, kind: str) -> list[Any]:
    if kind == "mask":
        return [game(mask.astype(bool)) for mask in masks]
    return [game(frozenset(_members(mask))) for mask in masks]


def _members(mask: npt.NDArray[np.uint8]) -> list[int]:
    members: list[int] = np.flatnonzero(mask).tolist()
    return members

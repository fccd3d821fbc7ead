"""Environments as agents see them: states or points in, numbers of actions out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.rl._tiles import TileCoding


@dataclass(frozen=True)
class World:
    """What is known of an environment of Gymnasium's kind: `encode` makes a state or a point of an observation."""

    n_actions: int
    first_action: int
    n_states: int | None  # None: points, in tiles
    tiling: TileCoding | None
    encode: Callable[[Any], Any] | None = None  # None: observations are what is wanted
    space: Any = 0  # what the first state is called, or the sizes of tuples


def world_of(owner: str, env: Any, tiling: TileCoding | None) -> World:
    """What an agent needs to know of an environment; an error if it is none, or cannot be learnt from."""
    for name in ("reset", "step", "observation_space", "action_space"):
        if not hasattr(env, name):
            raise TypeError(
                f"{owner}: env={env!r} has no {name}; it must be an MDP, or an environment of Gymnasium's (reset, step, "
                "observation_space, action_space)."
            )
    actions = env.action_space
    if _kind(actions) != "Discrete":
        raise ValueError(f"{owner}: the action space is {actions}; it must be Discrete.")
    n_actions, first = int(actions.n), int(getattr(actions, "start", 0))
    space = env.observation_space
    if _kind(space) == "Box":
        coding = _tiling_of(owner, space, tiling)
        return World(n_actions, first, None, coding, _as_point if len(space.shape) != 1 else None)
    if tiling is not None:
        raise ValueError(f"{owner}: the observation space is {space}, whose states need no tiling; leave it out.")
    if _kind(space) == "Discrete":
        offset = int(getattr(space, "start", 0))
        return World(n_actions, first, int(space.n), None, None if offset == 0 else lambda seen: int(seen) - offset, offset)
    sizes = _sizes(owner, space)
    return World(n_actions, first, int(np.prod(sizes)), None, _Ravel(sizes), sizes)


def _kind(space: Any) -> str:
    """The name of a space's class, or of that of Gymnasium's that it comes from."""
    names = [base.__name__ for base in type(space).__mro__]
    known = ("Discrete", "Box", "MultiDiscrete", "Tuple")
    return next((name for name in names if name in known), type(space).__name__)


def _tiling_of(owner: str, space: Any, tiling: TileCoding | None) -> TileCoding:
    low, high = np.ravel(space.low).astype(float), np.ravel(space.high).astype(float)
    if tiling is None:
        is_bounded = np.isfinite(low) & np.isfinite(high) & (np.abs(low) < 1e6) & (np.abs(high) < 1e6)
        if not is_bounded.all():
            raise ValueError(
                f"{owner}: axis {np.flatnonzero(~is_bounded)[0]} of the observation space has no bounds; give "
                "tiling=TileCoding(low, high) with those that matter."
            )
        return TileCoding(low, high)
    if len(tiling.low) != len(low):
        raise ValueError(f"{owner}: the tiling has {len(tiling.low)} axes; observations have {len(low)}.")
    return tiling


def _as_point(seen: Any) -> Any:
    return np.ascontiguousarray(seen, dtype=np.float64).ravel()


def _sizes(owner: str, space: Any) -> tuple[int, ...]:
    if _kind(space) == "MultiDiscrete" and np.ndim(space.nvec) == 1 and not np.any(getattr(space, "start", 0)):
        return tuple(int(n) for n in space.nvec)
    if _kind(space) == "Tuple" and all(_kind(part) == "Discrete" and not getattr(part, "start", 0) for part in space.spaces):
        return tuple(int(part.n) for part in space.spaces)
    raise ValueError(
        f"{owner}: the observation space is {space}; it must be Discrete, MultiDiscrete, a Tuple of Discrete, or a Box."
    )


class _Ravel:
    """The place of a tuple of numbers in a table."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self._sizes = sizes

    def __call__(self, seen: Any) -> int:
        place = 0
        for size, value in zip(self._sizes, seen, strict=True):
            place = place * size + int(value)
        return place

"""Gymnasium's environments: their dynamics where they tell them, and what agents need to know of their spaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray


@dataclass(frozen=True)
class Tables:
    """The dynamics of an environment."""

    outcomes: dict[int, dict[int, list[tuple[float, int, float]]]]
    n_states: int
    initial: FloatArray | None
    max_steps: int | None
    layout: tuple[int, int] | None
    cells: Any


def tables_of(env: Any) -> Tables:
    """What `env.unwrapped.P` says: {state: {action: [(probability, next state, reward, whether the episode ends)]}}."""
    bare = getattr(env, "unwrapped", env)
    dynamics = getattr(bare, "P", None)
    if not isinstance(dynamics, dict):
        raise ValueError(
            f"MDP.from_gymnasium: {env!r} does not tell its dynamics (env.unwrapped.P). An agent can learn from the "
            "environment itself: agent.fit(env)."
        )
    n_states = 1 + max(dynamics)
    law = getattr(bare, "initial_state_distrib", None)
    initial = None if law is None else np.asarray(law, dtype=np.float64)
    arrivals = [entry for actions in dynamics.values() for entries in actions.values() for entry in entries if entry[0]]
    passed = {to for _, to, _, ends in arrivals if not ends}
    ended = {to for _, to, _, ends in arrivals if ends}
    terminal = ended - passed
    outcomes = {
        state: {
            int(action): [
                (float(p), n_states if ends and to not in terminal else int(to), float(r)) for p, to, r, ends in entries
            ]
            for action, entries in actions.items()
        }
        for state, actions in dynamics.items()
        if state not in terminal
    }
    n = n_states + bool(ended & passed)
    if initial is not None:
        initial = np.append(initial, np.zeros(n - n_states))
    spec = getattr(env, "spec", None)
    cells = getattr(bare, "desc", None)
    layout = None if cells is None or np.ndim(cells) != 2 or np.size(cells) != n_states else np.shape(cells)
    marks = None
    if layout is not None:
        letters = np.asarray(cells).astype(str)
        marks = np.select([letters == "H", letters == "G"], ["X", "G"], ".")
    return Tables(outcomes, n, initial, getattr(spec, "max_episode_steps", None), layout, marks)

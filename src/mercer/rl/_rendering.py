"""A process as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.rl._mdp import MDP

ARROWS = {"left": "<", "down": "v", "right": ">", "up": "^"}


def render(mdp: MDP, values: Any, policy: Any) -> str:
    """The states in a grid if they are cells of one, else one a line."""
    texts = cell_texts(mdp, values, policy)
    if mdp.layout is None:
        return "\n".join(f"{state}: {text}" for state, text in enumerate(texts))
    n_rows, n_columns = mdp.layout
    width = max(map(len, texts[: n_rows * n_columns]))
    lines = [texts[row * n_columns : (row + 1) * n_columns] for row in range(n_rows)]
    return "\n".join(" ".join(text.rjust(width) for text in line) for line in lines)


def cell_texts(mdp: MDP, values: Any, policy: Any) -> list[str]:
    """What stands for each state: a value, an action, or the kind of its cell."""
    kinds = ["." if not is_end else "T" for is_end in mdp.is_terminal]
    if mdp.cells is not None:
        kinds[: mdp.cells.size] = mdp.cells.ravel().tolist()
    if values is not None:
        given = np.asarray(getattr(values, "v_", values), dtype=np.float64)
        if given.shape != (mdp.n_states,):
            raise ValueError(f"render: values has the shape {given.shape}; there are {mdp.n_states} states.")
        return [kind if kind == "#" else f"{value:.3g}" for kind, value in zip(kinds, given, strict=True)]
    if policy is None:
        return kinds
    for name in ("policy_", "greedy_policy_"):
        policy = getattr(policy, name, policy)
    actions = np.asarray(policy)
    if actions.shape != (mdp.n_states,):
        raise ValueError(f"render: policy has the shape {actions.shape}; there are {mdp.n_states} states.")
    return [
        kind if mdp.is_terminal[state] else action_text(mdp, int(action))
        for state, (kind, action) in enumerate(zip(kinds, actions, strict=True))
    ]


def action_text(mdp: MDP, action: int) -> str:
    name = str(action) if mdp.action_names is None else mdp.action_names[action]
    return ARROWS.get(name, name)

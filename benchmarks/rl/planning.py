"""Value iteration, modified policy iteration and policy iteration, each method against the same one of the peers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._case import MERCER, Case, Contender, Data, Quality

DISCOUNT, TOLERANCE = 0.99, 1e-3  # the bound on values that all are asked for

METHODS = ("value_iteration", "modified_policy_iteration", "policy_iteration")
_ALGORITHMS = {"value_iteration": "vi", "modified_policy_iteration": "mpi", "policy_iteration": "pi"}  # as mdpsolver calls them


def cases() -> Iterator[Case]:
    for n_states, n_actions, n_next, reach in ((10_000, 10, 10, None), (1_000_000, 4, 3, 1000), (2_000, 4, 4, None)):
        for method in METHODS:
            peers = ["quantecon", "mdpsolver"]
            if n_states == 1_000_000:
                # mdpsolver takes lists of Python's numbers, and quantecon factorises a matrix that fills.
                peers = [] if method == "policy_iteration" else ["quantecon"]
            if n_states == 10_000 and method == "policy_iteration":
                peers.remove("quantecon")  # it factorises a matrix of random rows, which fills
            where = "anywhere" if reach is None else f"within {reach:,}"
            yield Case(
                f"planning, discount {DISCOUNT}",
                f"{method.replace('_', ' ')}, {n_states:,} states x {n_actions}, {n_next} outcomes {where}",
                partial(_process, n_states, n_actions, n_next, reach),
                tuple(
                    Contender(name, f"benchmarks.rl.planning:{kind}", {"method": method})
                    for name, kind in ((MERCER, "Mercer"), ("quantecon", "Quantecon"), ("mdpsolver", "Mdpsolver"))
                    if name == MERCER or name in peers
                ),
                lambda model, data: model.run(),
                Quality("largest error of a value", _error, atol=TOLERANCE),
                prepare=lambda contender, data: contender(data=data),
                is_quick=n_states == 2_000,
            )


@lru_cache(maxsize=1)
def _process(n_states: int, n_actions: int, n_next: int, reach: int | None) -> Data:
    """Rows (state * n_actions + action) of transitions, and rewards."""
    random = np.random.RandomState(0)
    n = n_states * n_actions
    if reach is None:
        following = random.randint(0, n_states, size=(n, n_next))
    else:
        own = np.repeat(np.arange(n_states), n_actions)[:, None]
        following = (own + random.randint(-reach, reach + 1, size=(n, n_next))) % n_states
    odds = random.dirichlet(np.ones(n_next), size=n)
    rows = sp.csr_matrix((odds.ravel(), following.ravel(), np.arange(n + 1) * n_next), shape=(n, n_states))
    rows.sum_duplicates()
    return Data(rows, random.randn(n_states, n_actions))


_exact: dict[int, Any] = {}  # values to a millionth, by the number of states


def _error(model: Any, outcome: Any, data: Data) -> float:
    n_states = len(data.y)
    if n_states not in _exact:
        v = Mercer("policy_iteration", data, tol=1e-6).run()
        residual = (data.y + DISCOUNT * (data.X @ v).reshape(data.y.shape)).max(axis=1) - v
        assert np.abs(residual).max() < 1e-6  # by SciPy's product, so that nobody judges himself
        _exact[n_states] = v
    return float(np.abs(np.asarray(outcome) - _exact[n_states]).max())


class Mercer:
    def __init__(self, method: str, data: Data, tol: float = TOLERANCE) -> None:
        from mercer import rl

        self._solve, self._tol = getattr(rl, method), tol
        self._mdp = rl.MDP(data.X, data.y, discount=DISCOUNT)

    def run(self) -> Any:
        return self._solve(self._mdp, tol=self._tol).v_


class Quantecon:
    def __init__(self, method: str, data: Data) -> None:
        from quantecon.markov import DiscreteDP

        states, actions = np.divmod(np.arange(data.y.size), data.y.shape[1])
        self._process, self._method = DiscreteDP(data.y.ravel(), data.X, DISCOUNT, states, actions), method

    def run(self) -> Any:
        # Its epsilon is twice the distance from the best values.
        return self._process.solve(method=self._method, epsilon=2 * TOLERANCE, max_iter=1_000_000).v


class Mdpsolver:
    def __init__(self, method: str, data: Data) -> None:
        import mdpsolver

        self._model, self._method = mdpsolver.model(), _ALGORITHMS[method]
        n_actions = data.y.shape[1]
        rows = [slice(*data.X.indptr[row : row + 2]) for row in range(data.y.size)]
        grouped = [rows[state * n_actions : (state + 1) * n_actions] for state in range(len(data.y))]
        self._model.mdp(
            discount=DISCOUNT, rewards=data.y.tolist(),
            tranMatProbs=[[data.X.data[row].tolist() for row in group] for group in grouped],
            tranMatColumns=[[data.X.indices[row].tolist() for row in group] for group in grouped],
        )  # fmt: skip

    def run(self) -> Any:
        self._model.solve(algorithm=self._method, tolerance=TOLERANCE, update="standard", parallel=True)
        return self._model.getValueVector()

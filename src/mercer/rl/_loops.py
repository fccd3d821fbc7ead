"""Where no terminal state is reached: with a discount of 1 values are sums without end there, which is an error that names the
loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from mercer._arrays import FloatArray
from mercer.rl._mdp import MDP, matrix_of
from mercer.rl._pairs import Integers

_MOST_NAMED = 8  # states of a loop
_N_POWERS = 2000  # steps after which the law of a loop is taken to have settled


@dataclass(frozen=True)
class Loop:
    """States that are never left; in the order in which they follow one another, where each has one that follows."""

    states: tuple[int, ...]
    is_ring: bool

    def __str__(self) -> str:
        shown = list(map(str, self.states[:_MOST_NAMED]))
        more = len(self.states) - len(shown)
        tail = [f"... ({more} more)"] if more else []
        return " -> ".join([*shown, *tail, shown[0]]) if self.is_ring else ", ".join([*shown, *tail])


class ImproperPolicyError(ValueError):
    """Rewards are summed up without a discount, and a policy need not come to an end. `states` are those of a loop."""

    def __init__(self, message: str, states: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.states = states


def way_to_end(mdp: MDP, is_allowed: npt.NDArray[np.bool_] | None = None) -> Integers:
    """A pair for each state by which a terminal state comes nearer, among those that are allowed; -1 where none does."""
    model = mdp._model
    pairs = np.repeat(np.arange(len(mdp.pair_states)), np.diff(model.pair_starts))
    used = np.asarray(model.probabilities) > 0
    if is_allowed is not None:
        used &= is_allowed[pairs]
    pairs, following = pairs[used], np.asarray(model.next)[used]
    n = mdp.n_states
    ends = np.flatnonzero(mdp.is_terminal)
    # From the end of all, which is one state more, against the arrows.
    backward = _arrows(np.append(following, np.full(len(ends), n)), np.append(mdp.pair_states[pairs], ends), n + 1)
    _, towards = breadth_first_order(backward, n, directed=True, return_predecessors=True)
    chosen = np.full(n, -1, dtype=np.int64)
    leads_on = following == towards[mdp.pair_states[pairs]]
    chosen[mdp.pair_states[pairs[leads_on]][::-1]] = pairs[leads_on][::-1]  # the first of several
    return chosen


def require_an_end(mdp: MDP) -> Integers:
    """A policy, as pairs, that ends from every state; an error where none does."""
    pairs = way_to_end(mdp)
    stuck = (pairs < 0) & ~mdp.is_terminal
    if stuck.any():
        loop = _loop(_graph(mdp, None), stuck)
        raise ImproperPolicyError(
            f"With discount=1 every state must be able to reach a terminal one; whatever is done, none is reached from "
            f"the loop of states {loop}. Name terminals, or take a discount below 1.",
            loop.states,
        )
    return pairs


def endless_loop(mdp: MDP) -> Loop | None:
    """A loop that episodes may come to and never leave, whatever is done there; None if there is none."""
    stuck = (way_to_end(mdp) < 0) & ~mdp.is_terminal
    if not stuck.any():
        return None
    graph, n = _graph(mdp, None), mdp.n_states
    first = np.flatnonzero(mdp.initial)
    edges = graph.tocoo()
    forward = _arrows(np.append(edges.row, np.full(len(first), n)), np.append(edges.col, first), n + 1)
    is_met = np.zeros(n + 1, dtype=bool)
    is_met[breadth_first_order(forward, n, directed=True, return_predecessors=False)] = True
    return _loop(graph, stuck & is_met[:n]) if (stuck & is_met[:n]).any() else None


def stuck_states(chain: Any, mdp: MDP) -> npt.NDArray[np.bool_]:
    """The states of a chain from which no terminal state is reached."""
    edges = _edges(chain, mdp).tocoo()
    ends, n = np.flatnonzero(mdp.is_terminal), mdp.n_states
    backward = _arrows(np.append(edges.col, np.full(len(ends), n)), np.append(edges.row, ends), n + 1)
    is_stuck = np.ones(n + 1, dtype=bool)
    is_stuck[breadth_first_order(backward, n, directed=True, return_predecessors=False)] = False
    return is_stuck[:n]


def require_proper(chain: Any, mdp: MDP, what: str) -> None:
    """An error where a chain need not come to an end."""
    is_stuck = stuck_states(chain, mdp)
    if is_stuck.any():
        refuse_loop(_loop(_edges(chain, mdp), is_stuck), what)


def _edges(chain: Any, mdp: MDP) -> sp.csr_array:
    matrix = matrix_of(chain, mdp.n_states)
    matrix.eliminate_zeros()
    return matrix


def refuse_loop(loop: Loop, what: str) -> None:
    raise ImproperPolicyError(
        f"{what} is improper: it stays for ever in the loop of states {loop}, and with discount=1 what it is paid there "
        "is summed up without end. Take a discount below 1, or a reward that makes the loop not worth staying in.",
        loop.states,
    )


def proper_choice(mdp: MDP, of_pairs: FloatArray, values: FloatArray) -> Integers:
    """The best pair of each state, of those that are as good as equal one that leads to an end; an error where none does."""
    slack = 1e-9 * max(1.0, float(np.abs(values).max()))
    is_best = of_pairs >= values[mdp.pair_states] - slack
    pairs = way_to_end(mdp, is_best)
    stuck = (pairs < 0) & ~mdp.is_terminal
    if stuck.any():
        refuse_loop(_loop(_graph(mdp, is_best), stuck), "The best policy")
    return pairs


def paying_loop(mdp: MDP, chain: Any) -> Loop | None:
    """A loop of a chain that is never left and pays on average: it is worth more than any number. None if there is none."""
    matrix = _edges(chain, mdp)
    is_closed, of_state = _closed_classes(matrix)
    inside = np.flatnonzero(is_closed[of_state] & ~mdp.is_terminal)
    if not len(inside):
        return None
    within, classes = matrix[inside][:, inside], of_state[inside]
    law = 1.0 / np.bincount(classes)[classes]
    for _ in range(_N_POWERS):  # half a step at a time, so that circles settle
        law = (law + within.T @ law) / 2
    gains = np.bincount(classes, law * np.asarray(chain.rewards)[inside], minlength=len(is_closed))
    best = int(np.argmax(gains))
    scale = float(np.abs(np.asarray(chain.rewards)[inside]).max())
    return _loop(matrix, of_state == best) if gains[best] > 1e-6 * scale else None


def _closed_classes(graph: sp.csr_array) -> tuple[npt.NDArray[np.bool_], Integers]:
    """Which strong components no edge leaves, and the component of each state."""
    edges = graph.tocoo()
    n, of_state = connected_components(_arrows(edges.row, edges.col, graph.shape[0]), directed=True, connection="strong")
    is_closed = np.ones(n, dtype=bool)
    is_closed[of_state[edges.row[of_state[edges.row] != of_state[edges.col]]]] = False
    return is_closed, of_state


def _arrows(start: Any, end: Any, n: int) -> sp.csr_array:
    """A graph of n places, counted in 32 bits: older versions of SciPy walk no other."""
    places = (np.asarray(start, dtype=np.int32), np.asarray(end, dtype=np.int32))
    return sp.csr_array((np.ones(len(places[0])), places), shape=(n, n))


def _graph(mdp: MDP, is_allowed: npt.NDArray[np.bool_] | None) -> sp.csr_array:
    """Which state may follow which, by the allowed pairs."""
    model = mdp._model
    pairs = np.repeat(np.arange(len(mdp.pair_states)), np.diff(model.pair_starts))
    used = np.asarray(model.probabilities) > 0
    if is_allowed is not None:
        used &= is_allowed[pairs]
    return _arrows(mdp.pair_states[pairs[used]], np.asarray(model.next)[used], mdp.n_states)


def _loop(graph: sp.csr_array, within: npt.NDArray[np.bool_]) -> Loop:
    """The states of a loop that is never left, among some that are not: in their order where each is followed by one other."""
    states = np.flatnonzero(within)
    part = graph[states][:, states]
    is_closed, of_state = _closed_classes(part)
    members = np.flatnonzero(is_closed[of_state] & (of_state == of_state[np.flatnonzero(is_closed[of_state])[0]]))
    following = {int(i): part.indices[part.indptr[i] : part.indptr[i + 1]] for i in members}
    path = [int(members[0])]
    while len(path) < len(members) and all(len(each) == 1 for each in following.values()):
        path.append(int(following[path[-1]][0]))
    is_ring = len(path) == len(members)
    return Loop(tuple(int(states[i]) for i in (path if is_ring else members)), is_ring)

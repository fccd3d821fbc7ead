"""Planning by linear programming: slow and exact, with what the other methods find to be judged by."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from mercer._trace import Status
from mercer.rl._loops import proper_choice, require_an_end
from mercer.rl._mdp import MDP
from mercer.rl._plan import BellmanCertificate, Plan, require_discounted
from mercer.rl._policy import actions_of

_SIZE = 1e-7  # of a residual: what HiGHS calls feasible


def linear_programming(mdp: MDP) -> Plan:
    r"""The best policy by a linear program.

    .. math:: \min_v \sum_s v(s) \quad\text{with}\quad v(s) \ge r(s, a) + \gamma \sum_t p(t | s, a)\, v(t)

    Parameters
    ----------
    mdp : MDP
        The process.

    Returns
    -------
    plan : Plan

    Notes
    -----
    By SciPy's HiGHS, for thousands of states at most. With a discount of 1 a program without a solution is one where some
    policy is paid without end, which is an error.

    Examples
    --------
    >>> from mercer.rl import linear_programming, frozen_lake
    >>> round(float(linear_programming(frozen_lake(discount=0.99)).v_[0]), 4)
    0.542

    References
    ----------
    F. d'Epenoux, A probabilistic production and inventory problem, Management Science 10 (1963).
    """
    discount = require_discounted("linear_programming", mdp)
    if discount == 1.0:
        require_an_end(mdp)
    model, n_pairs = mdp._model, len(mdp.pair_states)
    outcomes = sp.csr_array(
        (model.probabilities.copy(), model.next.copy(), model.pair_starts.copy()), shape=(n_pairs, mdp.n_states)
    )
    own = sp.csr_array((np.ones(n_pairs), (np.arange(n_pairs), mdp.pair_states)), shape=outcomes.shape)
    limits = np.where(mdp.is_terminal, 0.0, np.inf)
    found = linprog(
        np.ones(mdp.n_states), A_ub=discount * outcomes - own, b_ub=-np.asarray(model.rewards),
        bounds=np.column_stack([-limits, limits]), method="highs",
    )  # fmt: skip
    if found.status != 0:
        raise ValueError(f"linear_programming: the program has no solution ({found.message})")
    v, best, q = np.empty(mdp.n_states), np.empty(mdp.n_states, dtype=np.int64), np.empty(n_pairs)
    model.backup(discount, found.x, v, best, 1)
    model.pair_values(discount, found.x, q, 1)
    if discount == 1.0:
        best = proper_choice(mdp, q, v)
    residual = float(np.abs(v - found.x).max())
    bound = None if discount == 1.0 else discount / (1 - discount) * residual
    aim = _SIZE * max(1.0, float(np.abs(v).max()))
    status = Status.CONVERGED.given(is_reached=residual <= aim)
    certificate = BellmanCertificate("linear program", status, None, "Bellman residual", residual, aim, bound=bound)
    return Plan(v, actions_of(mdp, best), mdp.table(q), certificate)

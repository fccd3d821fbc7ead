"""Planning without a discount of its own: over a number of steps, and for the average reward."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._parallel import effective_threads
from mercer._params import Integer, Null, NumberOfJobs, Real, Verbosity, check_value
from mercer._trace import Record, iterate, log, warn
from mercer.rl._mdp import MDP
from mercer.rl._plan import BellmanCertificate, HorizonPlan, Plan
from mercer.rl._policy import actions_of


def backward_induction(mdp: MDP, horizon: int | None = None, *, n_jobs: int | None = None) -> HorizonPlan:
    r"""The best policy over a number of steps, from the last one back.

    .. math:: v_t(s) = \max_a r(s, a) + \gamma \sum_u p(u | s, a)\, v_{t+1}(u)

    Parameters
    ----------
    mdp : MDP
        The process. Where it is about average rewards (``discount=None``) rewards are summed up.
    horizon : int or None, default=None
        The number of steps; None means that of the process.
    n_jobs : int or None, default=None
        The number of threads; None means all. The result does not depend on it.

    Returns
    -------
    plan : HorizonPlan

    Notes
    -----
    Exact, in O(horizon x outcomes).

    Examples
    --------
    >>> from mercer.rl import backward_induction, inventory
    >>> plan = backward_induction(inventory(), horizon=4)
    >>> plan.policy_[:, 0]
    array([17, 14,  9,  5])

    References
    ----------
    M. Puterman, Markov Decision Processes (Wiley, 1994), chapter 4.
    """
    horizon = check_value("backward_induction", "horizon", mdp.horizon if horizon is None else horizon, Integer(1) | Null())
    if horizon is None:
        raise ValueError("backward_induction: the process has no horizon; give the number of steps.")
    n_threads = effective_threads(check_value("backward_induction", "n_jobs", n_jobs, NumberOfJobs()))
    discount = 1.0 if mdp.discount is None else mdp.discount
    values = np.zeros((horizon + 1, mdp.n_states))
    policy = np.empty((horizon, mdp.n_states), dtype=np.int64)
    best = np.empty(mdp.n_states, dtype=np.int64)
    for step in reversed(range(horizon)):
        mdp._model.backup(discount, values[step + 1], values[step], best, n_threads)
        policy[step] = actions_of(mdp, best)
    return HorizonPlan(values, policy)


def relative_value_iteration(
    mdp: MDP,
    *,
    tol: float = 1e-6,
    max_iter: int = 100_000,
    damping: float = 0.5,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Plan:
    r"""The policy of the best average reward :math:`g`: :math:`g + h(s) = \max_a r(s, a) + \sum_t p(t | s, a)\, h(t)`.

    Parameters
    ----------
    mdp : MDP
        The process, whose discount is not read.
    tol : float, default=1e-6
        How far `gain_` may be from the best average reward.
    max_iter : int, default=100000
        The largest number of sweeps.
    damping : float, default=0.5
        What share of its value a state keeps in a sweep, so that chains that run in circles settle too.
    n_jobs : int or None, default=None
        The number of threads; None means all. The result does not depend on it.
    verbose : int, default=0
        Whether to log each sweep.

    Returns
    -------
    plan : Plan
        With `gain_`, and values relative to that of the first state.

    Notes
    -----
    The changes of a sweep have the best average reward between them, whatever the values (Odoni, 1969). They meet where any
    state can be reached from any other by some policy; elsewhere the gain may depend on the first state, and a warning says so.

    Examples
    --------
    >>> from mercer.rl import MDP, relative_value_iteration
    >>> circle = MDP([[[0, 1], [1, 0]], [[1, 0], [0, 1]]], rewards=[[1.0, 0.2], [4.0, 2.0]], discount=None)
    >>> relative_value_iteration(circle).gain_
    2.5

    References
    ----------
    M. Puterman, Markov Decision Processes (Wiley, 1994), section 8.5.
    """
    owner = "relative_value_iteration"
    tol = check_value(owner, "tol", tol, Real(above=0))
    max_iter = check_value(owner, "max_iter", max_iter, Integer(1))
    damping = check_value(owner, "damping", damping, Real(least=0, below=1))
    verbose = check_value(owner, "verbose", verbose, Verbosity())
    if mdp.is_terminal.any():
        raise ValueError(
            f"{owner}: state {np.flatnonzero(mdp.is_terminal)[0]} is terminal: after it there are no rewards to average. Let "
            "it lead back to the start, or take a discount."
        )
    solver = _Relative(mdp, tol, damping, effective_threads(check_value(owner, "n_jobs", n_jobs, NumberOfJobs())))

    def watch(record: Record) -> bool:
        log(verbose, "%s: gain %.8g, residual %.8g", owner, record["gain"], record["residual"])
        return False

    status, history = iterate(solver, max_iter=max_iter, watch=watch)
    q = np.empty(len(mdp.pair_states))
    mdp._model.pair_values(1.0, solver.v, q, solver.n_threads)
    gain, residual = solver.gain, solver.residual
    certificate = BellmanCertificate(
        "relative value iteration", status, None, "half the range of what a step gains", residual, tol, bound=residual
    )
    if not status.is_success:
        warn(
            f"{owner}: after {len(history)} sweeps states gain between {gain - residual:.6g} and {gain + residual:.6g} a step. "
            "Raise max_iter or tol; if this does not help, the average depends on the first state.",
            ConvergenceWarning,
        )
    return Plan(solver.v, actions_of(mdp, solver.best), mdp.table(q - gain), certificate, history, gain)


class _Relative:
    """Sweeps whose values are taken off that of the first state."""

    def __init__(self, mdp: MDP, tol: float, damping: float, n_threads: int) -> None:
        self._mdp, self._tol, self._damping, self.n_threads = mdp, tol, damping, n_threads
        self.v, self._out = np.zeros(mdp.n_states), np.empty(mdp.n_states)
        self.best = np.empty(mdp.n_states, dtype=np.int64)
        self.gain = self.residual = np.inf

    def step(self) -> Record:
        least, most = self._mdp._model.backup(1.0, self.v, self._out, self.best, self.n_threads)
        self.gain, self.residual = (least + most) / 2, (most - least) / 2
        if not self.is_done:
            self._out -= self._out[0]
            self.v = self._damping * self.v + (1 - self._damping) * self._out
        return {"gain": self.gain, "residual": self.residual}

    @property
    def is_done(self) -> bool:
        return bool(self.residual <= self._tol)

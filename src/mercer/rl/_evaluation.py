"""Values of a given policy."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Integer, NumberOfJobs, OneOf, Real, Verbosity, check_value
from mercer._trace import Record, Status, iterate, log, warn
from mercer.rl._loops import require_proper
from mercer.rl._mdp import MDP
from mercer.rl._plan import BellmanCertificate, Evaluation, bound_of, require_discounted, tolerated
from mercer.rl._policy import checked_policy

_RULES = {
    "method": OneOf("krylov", "iterative"),
    "tol": Real(above=0),
    "max_iter": Integer(1),
    "n_jobs": NumberOfJobs(),
    "verbose": Verbosity(),
}


def policy_evaluation(
    mdp: MDP,
    policy: Any = None,
    *,
    method: str = "krylov",
    tol: float = 1e-8,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Evaluation:
    r"""The values of a policy: the solution of :math:`(I - \gamma P_\pi)\, v = r_\pi`.

    Parameters
    ----------
    mdp : MDP
        The process.
    policy : array-like, plan, agent or None, default=None
        An action for each state, probabilities of shape (n_states, n_actions), or what has one; None is any action alike.
    method : {"krylov", "iterative"}, default="krylov"
        Solve the equation by stabilised biconjugate gradients, or iterate :math:`v \leftarrow r_\pi + \gamma P_\pi v`. Where
        the first breaks down short of `tol`, the second goes on from what it reached.
    tol : float, default=1e-8
        How far values may be from exact ones; with a discount of 1, what may be left of the equation.
    max_iter : int, default=10000
        The largest number of iterations.
    n_jobs : int or None, default=None
        The number of threads; None means all. The result does not depend on it.
    verbose : int, default=0
        Whether to log each iteration.

    Returns
    -------
    evaluation : Evaluation

    Notes
    -----
    An iteration takes O(outcomes of the pairs that the policy takes). A policy that need not come to an end is an error where
    the discount is 1.

    Examples
    --------
    >>> from mercer.rl import grid_world, policy_evaluation
    >>> mdp = grid_world(["G..", "...", "..G"], reward=-1.0, discount=1.0)
    >>> policy_evaluation(mdp).v_.round(3).reshape(3, 3)
    array([[ 0., -7., -9.],
           [-7., -8., -7.],
           [-9., -7.,  0.]])

    References
    ----------
    H. van der Vorst, Bi-CGSTAB, SIAM J. Sci. Stat. Comput. 13 (1992).
    """
    given = {"method": method, "tol": tol, "max_iter": max_iter, "n_jobs": n_jobs, "verbose": verbose}
    method, tol, max_iter, n_jobs, verbose = (
        check_value("policy_evaluation", name, given[name], rule) for name, rule in _RULES.items()
    )
    discount, n_threads = require_discounted("policy_evaluation", mdp), effective_threads(n_jobs)
    chain = kernels.PolicyChain(mdp._model, checked_policy(mdp, policy), n_threads)
    if discount == 1.0:
        require_proper(chain, mdp, "The policy")
    aim = tolerated(discount, tol)
    v, history, status, name = np.zeros(mdp.n_states), list[Record](), Status.MAX_ITER, "iteration of the policy's equation"
    if method == "krylov":
        n_iter, residual = chain.solve(discount, v, aim, max_iter, n_threads)
        history, name = [{"n_products": float(n_iter), "residual": residual}], "stabilised biconjugate gradients"
    if method == "iterative" or history[0]["residual"] > aim:
        sweeps = _Sweeps(mdp, chain, discount, v, tol, n_threads)

        def watch(record: Record) -> bool:
            log(verbose, "policy_evaluation: residual %.8g", record["residual"])
            return False

        _, swept = iterate(sweeps, max_iter=max_iter, watch=watch)
        v, history = sweeps.v, history + swept
    return _finished(mdp, chain, discount, v, (aim, n_threads), history, status, name)


def _finished(
    mdp: MDP,
    chain: Any,
    discount: float,
    v: FloatArray,
    settings: tuple[float, int],
    history: list[Record],
    status: Status,
    name: str,
) -> Evaluation:
    aim, n_threads = settings
    out, q = np.empty(mdp.n_states), np.empty(len(mdp.pair_states))
    least, most = chain.backup(discount, v, out, n_threads)
    bound, shift = bound_of(mdp, discount, least, most)
    residual = max(abs(least), abs(most)) if shift == 0.0 else (most - least) / 2
    status = status.given(is_reached=residual <= aim)
    out += shift
    mdp._model.pair_values(discount, out, q, n_threads)
    certificate = BellmanCertificate(name, status, None, "residual of the policy's equation", residual, aim, bound=bound)
    if not status.is_success:
        warn(f"policy_evaluation: the residual is {residual:.3g}, above {aim:.3g}. Raise max_iter or tol.", ConvergenceWarning)
    return Evaluation(out, mdp.table(q), certificate, history)


class _Sweeps:
    """Iterates the equation of a policy."""

    def __init__(self, mdp: MDP, chain: Any, discount: float, v: FloatArray, tol: float, n_threads: int) -> None:
        self._mdp, self._chain, self._discount, self._tol, self._n_threads = mdp, chain, discount, tol, n_threads
        self.v, self._next = v, np.empty_like(v)
        self.is_done = False

    def step(self) -> Record:
        least, most = self._chain.backup(self._discount, self.v, self._next, self._n_threads)
        self.v, self._next = self._next, self.v
        residual = max(abs(least), abs(most))
        bound, _ = bound_of(self._mdp, self._discount, least, most)
        self.is_done = (residual if bound is None else bound) <= self._tol
        return {"residual": residual} if bound is None else {"residual": residual, "bound": bound}

"""Planning with a discount: value iteration, policy iteration and what lies between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Integer, NumberOfJobs, OneOf, Real, Rule, Verbosity, check_value
from mercer._trace import Record, Status, iterate, log, warn
from mercer.rl._loops import paying_loop, proper_choice, refuse_loop, require_an_end, stuck_states
from mercer.rl._mdp import MDP
from mercer.rl._pairs import Integers
from mercer.rl._plan import BellmanCertificate, Plan, bound_of, require_discounted, tolerated
from mercer.rl._policy import actions_of

_RULES: Mapping[str, Rule] = {
    "tol": Real(above=0),
    "max_iter": Integer(1),
    "sweep": OneOf("jacobi", "gauss-seidel"),
    "n_sweeps": Integer(1),
    "n_jobs": NumberOfJobs(),
    "verbose": Verbosity(),
}
_MOST_STALLED = 60  # iterations without a smaller residual where it is no more than rounding may be
_ROUNDING = 1e-12  # of the largest value; a larger residual may stay for as long as rewards take through a long chain
_N_QUICK, _QUICK = 12, 0.6  # sweeps before a Krylov method, as long as each leaves no more than this share of an error
_FORCING = 0.1  # of the residual: to what a policy is evaluated before it is improved


class _Planner(ABC):
    """What all methods share: values, a backup of them, and when they are good enough."""

    name: ClassVar[str]

    def __init__(self, owner: str, mdp: MDP, tol: float, n_jobs: int | None) -> None:
        self.mdp, self.owner, self.tol = mdp, owner, tol
        self.discount, self.n_threads = require_discounted(owner, mdp), effective_threads(n_jobs)
        self.aim = tolerated(self.discount, tol)
        self.proper = require_an_end(mdp) if self.discount == 1.0 else None
        self.v = np.zeros(mdp.n_states)
        self.out, self.best = np.empty(mdp.n_states), np.empty(mdp.n_states, dtype=np.int64)
        self.residual, self.error, self.bound = np.inf, np.inf, np.inf
        self._least_residual, self._n_stalled, self._n_steps = np.inf, 0, 0

    @abstractmethod
    def advance(self) -> None:
        """One iteration: `v` becomes better, and what its change was is `seen`."""

    def step(self) -> Record:
        self.advance()
        self._n_steps += 1
        if self.residual < self._least_residual:
            self._least_residual, self._n_stalled = self.residual, 0
        elif self.residual <= _ROUNDING * max(1.0, float(np.abs(self.v).max())):
            self._n_stalled += 1
        if self.discount == 1.0 and self._n_steps >= 64 and self._n_steps & (self._n_steps - 1) == 0:
            self.refuse_growth()
        return {"residual": self.residual, **({} if self.discount == 1.0 else {"bound": self.bound})}

    @property
    def is_done(self) -> bool:
        return (self.residual if self.discount == 1.0 else self.bound) <= self.tol or self._n_stalled >= _MOST_STALLED

    def error_of(self, least: float, most: float) -> float:
        """The size of a change, but for what all values have in common where that may be shifted."""
        may_shift = self.discount < 1.0 and not self.mdp.is_terminal.any()
        return (most - least) / 2 if may_shift else max(abs(least), abs(most))

    def seen(self, least: float, most: float) -> None:
        self.residual, self.error = max(abs(least), abs(most)), self.error_of(least, most)
        bound, _ = bound_of(self.mdp, self.discount, least, most)
        self.bound = np.inf if bound is None else bound

    def back_up(self) -> None:
        """`out` is what a backup makes of `v`, `best` the pairs that it takes."""
        self.seen(*self.mdp._model.backup(self.discount, self.v, self.out, self.best, self.n_threads))

    def refuse_growth(self) -> None:
        """An error where the values of a loop grow without end."""
        out, best = np.empty_like(self.v), np.empty_like(self.best)
        self.mdp._model.backup(self.discount, self.v, out, best, self.n_threads)
        self.refuse_paying_loop(kernels.PolicyChain(self.mdp._model, best, self.n_threads))

    def refuse_paying_loop(self, chain: Any) -> None:
        if (loop := paying_loop(self.mdp, chain)) is not None:
            refuse_loop(loop, "The best policy")

    def plan(self, max_iter: int, verbose: int) -> Plan:
        def watch(record: Record) -> bool:
            log(verbose, "%s: %s", self.owner, ", ".join(f"{key} {value:.8g}" for key, value in record.items()))
            return False

        status, history = iterate(self, max_iter=max_iter, watch=watch)
        return self._finished(status, history)

    def _finished(self, status: Status, history: list[Record]) -> Plan:
        mdp = self.mdp
        q = np.empty(len(mdp.pair_states))
        least, most = mdp._model.backup(self.discount, self.v, self.out, self.best, self.n_threads)
        mdp._model.pair_values(self.discount, self.v, q, self.n_threads)
        bound, shift = bound_of(mdp, self.discount, least, most)
        residual = self.error_of(least, most)
        status = status.given(is_reached=residual <= self.aim)
        if self.discount == 1.0:
            self.best = proper_choice(mdp, q, self.out)
        certificate = BellmanCertificate(self.name, status, None, "Bellman residual", residual, self.aim, bound=bound)
        if not status.is_success:
            reach = f"the Bellman residual is {residual:.3g}, above {self.aim:.3g}"
            warn(f"{self.owner}: after {len(history)} iterations {reach}. Raise max_iter or tol.", ConvergenceWarning)
        return Plan(self.out + shift, actions_of(mdp, self.best), mdp.table(q + shift), certificate, history)


class _Jacobi(_Planner):
    name = "value iteration"

    def advance(self) -> None:
        self.seen(*self.mdp._model.backup(self.discount, self.v, self.out, None, self.n_threads))
        self.v, self.out = self.out, self.v


class _GaussSeidel(_Planner):
    """In place, up and down through the states in turns: what lies behind, and what lies before, is as new as can be."""

    name = "value iteration by Gauss and Seidel"
    _is_upward = False

    def advance(self) -> None:
        self.out[:] = self.v
        least, most = self.mdp._model.backup_in_place(self.discount, self.out, self.v, self._is_upward, self.n_threads)
        self._is_upward = not self._is_upward
        self.residual = max(abs(least), abs(most))
        self.bound = np.inf if self.discount == 1.0 else self.discount / (1 - self.discount) * self.residual


class _Modified(_Planner):
    """Backups of the best pairs alone between those of all."""

    name = "modified policy iteration"

    def __init__(self, owner: str, mdp: MDP, tol: float, n_jobs: int | None, n_sweeps: int) -> None:
        super().__init__(owner, mdp, tol, n_jobs)
        self._n_sweeps = n_sweeps

    def advance(self) -> None:
        self.back_up()
        self.v, self.out = self.out, self.v
        if self.is_done:
            return
        chain = kernels.PolicyChain(self.mdp._model, self.best, self.n_threads)
        enough = max(_FORCING * self.error, self.aim / 2)
        for _ in range(self._n_sweeps):
            least, most = chain.backup(self.discount, self.v, self.out, self.n_threads)
            self.v, self.out = self.out, self.v
            if self.error_of(least, most) <= enough:  # what is left belongs to the policy
                break


class _PolicyIteration(_Planner):
    """Evaluates a policy by sweeps where they are enough and by a Krylov method elsewhere, and improves it."""

    name = "policy iteration"

    def __init__(self, owner: str, mdp: MDP, tol: float, n_jobs: int | None) -> None:
        super().__init__(owner, mdp, tol, n_jobs)
        self.pairs: Integers | None = self.proper
        if self.pairs is None:
            self.back_up()
            self.pairs = self.best.copy()
        self._n_changed, self._own = len(self.pairs), np.empty_like(self.v)

    def advance(self) -> None:
        assert self.pairs is not None
        chain = kernels.PolicyChain(self.mdp._model, self.pairs, self.n_threads)
        self._evaluate(chain)
        self.back_up()
        changed = self._improved(self.pairs, chain)
        improved = np.where(changed, self.best, self.pairs)
        if self.discount == 1.0:
            improved = self._ending(improved, self.pairs)
        self._n_changed, self.pairs = int(np.sum(changed)), improved

    def step(self) -> Record:
        return {**super().step(), "n_changed": float(self._n_changed)}

    def _ending(self, pairs: Integers, before: Integers) -> Integers:
        """A policy that ends: where rounding has made one improper that is worth no more, it stays what it was."""
        chain = kernels.PolicyChain(self.mdp._model, pairs, self.n_threads)
        is_stuck = stuck_states(chain, self.mdp)
        if is_stuck.any():
            self.refuse_paying_loop(chain)
        return np.where(is_stuck, before, pairs)

    def _evaluate(self, chain: Any) -> None:
        """The values of a policy, to a share of what the last one left to improve."""
        floor = self.aim / 2
        wanted, before = max(_FORCING * self.error, floor), np.inf
        for _ in range(_N_QUICK):  # where chains mix fast, sweeps are all that it takes
            error = self._sweep(chain)
            if not np.isfinite(wanted):  # of the first policy nothing is known: a share of its own error
                wanted = max(_FORCING * error, floor)
            if error <= wanted:
                return
            if error > _QUICK * before:
                break
            before = error
        _, residual = chain.solve(self.discount, self.v, wanted, 500, self.n_threads)
        n_left = 0 if residual <= wanted else 200
        for _ in range(n_left):
            if self._sweep(chain) <= wanted:
                break

    def _sweep(self, chain: Any) -> float:
        least, most = chain.backup(self.discount, self.v, self.out, self.n_threads)
        self.v, self.out = self.out, self.v
        return self.error_of(least, most)

    def _improved(self, pairs: Integers, chain: Any) -> Any:
        """Where the best pair is another one and better by more than rounding, so that ties change nothing."""
        chain.backup(self.discount, self.v, self._own, self.n_threads)
        slack = 1e-12 * np.maximum(1.0, np.abs(self.out))
        return (self.best != pairs) & (self.out > self._own + slack)


class _Prioritized(_Planner):
    """Backs up where most is in error, until nothing is above a threshold that falls."""

    name = "prioritised sweeping"
    n_backups = 0

    def advance(self) -> None:
        if not np.isfinite(self.residual):
            self.back_up()
        threshold = max(self.aim / 2, 0.1 * self.residual)
        self.n_backups = self.mdp._model.sweep_by_priority(self.discount, threshold, 50 * len(self.v), self.v)
        self.back_up()

    def step(self) -> Record:
        return {**super().step(), "n_backups": float(self.n_backups)}


def _checked(owner: str, given: Mapping[str, Any]) -> list[Any]:
    return [check_value(owner, name, value, _RULES[name]) for name, value in given.items()]


def value_iteration(
    mdp: MDP, *, tol: float = 1e-6, max_iter: int = 100_000, sweep: str = "jacobi", n_jobs: int | None = None, verbose: int = 0
) -> Plan:
    r"""The best policy by iterating Bellman's equation.

    .. math:: v(s) \leftarrow \max_a r(s, a) + \gamma \sum_t p(t | s, a)\, v(t)

    Parameters
    ----------
    mdp : MDP
        The process.
    tol : float, default=1e-6
        How far values may be from exact ones; with a discount of 1, the largest Bellman residual.
    max_iter : int, default=100000
        The largest number of sweeps.
    sweep : {"jacobi", "gauss-seidel"}, default="jacobi"
        Whether a sweep reads the values of the one before, or, up and down in turns, what is new of the states around.
    n_jobs : int or None, default=None
        The number of threads; None means all. The result does not depend on it.
    verbose : int, default=0
        Whether to log each sweep.

    Returns
    -------
    plan : Plan

    Notes
    -----
    A sweep takes O(outcomes). Without terminal states sweeps of Jacobi's end by the range of the changes, not by their size:
    values that rise alike everywhere are shifted to where they rise to, after as many sweeps as the process needs to forget its
    start. Those of Gauss and Seidel end by the size, and pay where rewards come from few places.
    With a discount of 1 a policy that is worth no end is an error that names the loop of states (:func:`policy_iteration` too).

    Examples
    --------
    >>> from mercer.rl import gambler, value_iteration
    >>> plan = value_iteration(gambler(goal=100, win=0.4))
    >>> float(plan.v_[50].round(4)), int(plan.policy_[50])
    (0.4, 50)

    References
    ----------
    R. Bellman, A Markovian decision process, J. Math. Mech. 6 (1957); J. MacQueen, J. Math. Anal. Appl. 14 (1966).
    """
    given = {"tol": tol, "max_iter": max_iter, "sweep": sweep, "n_jobs": n_jobs, "verbose": verbose}
    tol, max_iter, sweep, n_jobs, verbose = _checked("value_iteration", given)
    planner = _GaussSeidel if sweep == "gauss-seidel" else _Jacobi
    return planner("value_iteration", mdp, tol, n_jobs).plan(max_iter, verbose)


def modified_policy_iteration(
    mdp: MDP, *, tol: float = 1e-6, max_iter: int = 100_000, n_sweeps: int = 20, n_jobs: int | None = None, verbose: int = 0
) -> Plan:
    """The best policy by sweeps over all pairs, with sweeps over the best pairs alone between them.

    Parameters
    ----------
    mdp : MDP
        The process.
    tol : float, default=1e-6
        How far values may be from exact ones; with a discount of 1, the largest Bellman residual.
    max_iter : int, default=100000
        The largest number of sweeps over all pairs.
    n_sweeps : int, default=20
        How many sweeps over the best pairs follow each, at most: they end where they change a tenth of what the sweep changed.
    n_jobs : int or None, default=None
        The number of threads; None means all. The result does not depend on it.
    verbose : int, default=0
        Whether to log each iteration.

    Returns
    -------
    plan : Plan

    Notes
    -----
    An iteration takes O(outcomes + n_sweeps x outcomes of the best pairs).

    Examples
    --------
    >>> from mercer.rl import frozen_lake, modified_policy_iteration
    >>> round(float(modified_policy_iteration(frozen_lake(discount=0.99)).v_[0]), 4)
    0.542

    References
    ----------
    M. Puterman and M. Shin, Modified policy iteration algorithms, Management Science 24 (1978).
    """
    given = {"tol": tol, "max_iter": max_iter, "n_sweeps": n_sweeps, "n_jobs": n_jobs, "verbose": verbose}
    tol, max_iter, n_sweeps, n_jobs, verbose = _checked("modified_policy_iteration", given)
    return _Modified("modified_policy_iteration", mdp, tol, n_jobs, n_sweeps).plan(max_iter, verbose)


def policy_iteration(mdp: MDP, *, tol: float = 1e-6, max_iter: int = 1000, n_jobs: int | None = None, verbose: int = 0) -> Plan:
    """The best policy by evaluating one and improving it until nothing improves.

    Parameters
    ----------
    mdp : MDP
        The process.
    tol : float, default=1e-6
        How far values may be from exact ones; with a discount of 1, the largest Bellman residual.
    max_iter : int, default=1000
        The largest number of policies.
    n_jobs : int or None, default=None
        The number of threads; None means all. The result does not depend on it.
    verbose : int, default=0
        Whether to log each policy.

    Returns
    -------
    plan : Plan

    Notes
    -----
    Policies are evaluated by a few sweeps where their chains mix fast, and by a Krylov method elsewhere, to a tenth of what the
    one before left to improve. Where that does not get there, sweeps of the policy go on.

    Examples
    --------
    >>> from mercer.rl import cliff_walking, policy_iteration
    >>> plan = policy_iteration(cliff_walking(discount=1.0))
    >>> float(plan.v_[36])
    -13.0

    References
    ----------
    R. Howard, Dynamic Programming and Markov Processes (MIT Press, 1960).
    """
    given = {"tol": tol, "max_iter": max_iter, "n_jobs": n_jobs, "verbose": verbose}
    tol, max_iter, n_jobs, verbose = _checked("policy_iteration", given)
    return _PolicyIteration("policy_iteration", mdp, tol, n_jobs).plan(max_iter, verbose)


def prioritized_sweeping(
    mdp: MDP, *, tol: float = 1e-6, max_iter: int = 1000, n_jobs: int | None = None, verbose: int = 0
) -> Plan:
    """The best policy by backing up next the state whose value is most in error.

    Parameters
    ----------
    mdp : MDP
        The process.
    tol : float, default=1e-6
        How far values may be from exact ones; with a discount of 1, the largest Bellman residual.
    max_iter : int, default=1000
        The largest number of rounds, after each of which all states are looked at.
    n_jobs : int or None, default=None
        The number of threads of these looks; backups come one after another.
    verbose : int, default=0
        Whether to log each round.

    Returns
    -------
    plan : Plan

    Notes
    -----
    It pays where rewards are rare and far apart: a backup takes O(outcomes of the state), and O(log) for each state that
    may lead there.

    Examples
    --------
    >>> from mercer.rl import grid_world, prioritized_sweeping
    >>> plan = prioritized_sweeping(grid_world(["...", ".#.", "..G"], goal_reward=1.0, discount=0.9))
    >>> plan.v_.reshape(3, 3).round(3)
    array([[0.729, 0.81 , 0.9  ],
           [0.81 , 0.   , 1.   ],
           [0.9  , 1.   , 0.   ]])

    References
    ----------
    A. Moore and C. Atkeson, Prioritized sweeping, Machine Learning 13 (1993).
    """
    given = {"tol": tol, "max_iter": max_iter, "n_jobs": n_jobs, "verbose": verbose}
    tol, max_iter, n_jobs, verbose = _checked("prioritized_sweeping", given)
    return _Prioritized("prioritized_sweeping", mdp, tol, n_jobs).plan(max_iter, verbose)

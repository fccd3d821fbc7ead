"""Planning: every method finds the same values, to the bound that it certifies, as direct solutions and linear programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer.exceptions import ConvergenceWarning
from mercer.rl import (
    MDP,
    backward_induction,
    cliff_walking,
    frozen_lake,
    gambler,
    grid_world,
    inventory,
    linear_programming,
    modified_policy_iteration,
    policy_evaluation,
    policy_iteration,
    prioritized_sweeping,
    relative_value_iteration,
    value_iteration,
)
from mercer.rl._loops import ImproperPolicyError
from tests.reference import decisions


def _by_gauss_seidel(mdp, **settings):
    return value_iteration(mdp, sweep="gauss-seidel", **settings)


METHODS = {
    "jacobi": value_iteration,
    "gauss-seidel": _by_gauss_seidel,
    "modified": modified_policy_iteration,
    "policy": policy_iteration,
    "prioritised": prioritized_sweeping,
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def random_process(seed, n_states, n_actions, n_next, n_terminals=0):
    """Transitions with `n_next` outcomes a pair and rewards; rows of terminal states are zeros."""
    random = np.random.RandomState(seed)
    P = np.zeros((n_states, n_actions, n_states))
    for s in range(n_states - n_terminals):
        for a in range(n_actions):
            reached = random.choice(n_states, size=min(n_next, n_states), replace=False)
            P[s, a, reached] = random.dirichlet(np.ones(len(reached)))
    R = random.randn(n_states, n_actions)
    R[n_states - n_terminals :] = 0
    return P, R, list(range(n_states - n_terminals, n_states))


processes = st.builds(
    random_process,
    st.integers(0, 2**31 - 1),
    st.integers(2, 12),
    st.integers(1, 4),
    st.integers(1, 4),  # with one outcome a pair chains run in circles, with some terminals they are absorbed
    st.integers(0, 1),
)
discounts = st.sampled_from([0.0, 0.5, 0.9, 0.99])


@every_method
@settings(max_examples=15, deadline=None)
@given(process=processes, discount=discounts)
def test_values_are_exact_to_the_bound_that_is_certified(method, process, discount):
    P, R, terminals = process
    plan = method(MDP(P, R, discount=discount, terminals=terminals), tol=1e-6)
    exact = decisions.best_values_by_iteration(P, R, discount)
    assert plan.certificate_.converged
    assert plan.certificate_.bound <= 1e-6 * (1 + 1e-9)
    assert np.abs(plan.v_ - exact).max() <= plan.certificate_.bound + 1e-10
    acting = np.setdiff1d(np.arange(len(P)), terminals)
    policy = np.zeros(P.shape[:2])
    policy[acting, plan.policy_[acting]] = 1
    worth = decisions.policy_values(P, R, policy, discount)
    assert (worth >= exact - 2 * plan.certificate_.bound - 1e-10).all()
    np.testing.assert_allclose(plan.q_.max(axis=1)[acting], plan.v_[acting], atol=1e-12)
    assert (plan.policy_[terminals] == -1).all()


@every_method
@pytest.mark.parametrize("discount", [1.0, 0.999])
def test_rewards_come_through_a_long_chain(method, discount):
    """For as long as they take, the residual is what it was; what an end pays is in no value before they have come through."""
    n = 300
    P = np.zeros((n, 1, n))
    P[np.arange(n - 1), 0, np.arange(1, n)] = 1
    mdp = MDP(P, np.full((n, 1), -1.0) * (np.arange(n)[:, None] < n - 1), discount=discount, terminals=[n - 1])
    plan = method(mdp, tol=1e-8)
    assert plan.certificate_.converged
    left = np.arange(n - 1, -1, -1)
    exact = -left if discount == 1.0 else -(1 - discount**left) / (1 - discount)
    np.testing.assert_allclose(plan.v_, exact, atol=1e-8)


@pytest.mark.parametrize("seed", [5785, 1, 2])
def test_sweeps_in_place_go_on_where_the_residual_stays(seed):
    P, R, terminals = random_process(seed, 7, 1, 1, 1)
    plan = _by_gauss_seidel(MDP(P, R, discount=0.99, terminals=terminals), tol=1e-6)
    assert plan.certificate_.converged


@settings(max_examples=10, deadline=None)
@given(process=processes, discount=discounts)
def test_a_linear_program_finds_the_same(process, discount):
    P, R, terminals = process
    mdp = MDP(P, R, discount=discount, terminals=terminals)
    by_program, by_policies = linear_programming(mdp), policy_iteration(mdp, tol=1e-8)
    np.testing.assert_allclose(by_program.v_, by_policies.v_, atol=by_program.certificate_.bound + 2e-8)


def test_no_policy_is_better_than_the_best():
    P, R, _ = random_process(3, 5, 3, 3)
    np.testing.assert_allclose(policy_iteration(MDP(P, R, discount=0.9)).v_, decisions.best_values(P, R, 0.9), atol=1e-6)


@pytest.mark.parametrize("method", ["krylov", "iterative"])
@settings(max_examples=15, deadline=None)
@given(process=processes, discount=discounts, seed=st.integers(0, 1000))
def test_the_values_of_a_policy_solve_its_equation(method, process, discount, seed):
    P, R, terminals = process
    mdp = MDP(P, R, discount=discount, terminals=terminals)
    policy = np.random.RandomState(seed).dirichlet(np.ones(P.shape[1]), size=len(P))
    found = policy_evaluation(mdp, policy, method=method, tol=1e-9)
    exact = decisions.policy_values(P, R, policy, discount)
    assert np.abs(found.v_ - exact).max() <= found.certificate_.bound + 1e-10
    np.testing.assert_allclose(found.q_, R + discount * P @ exact, atol=1e-8)


def test_a_chain_that_only_goes_on_is_evaluated_where_krylov_spaces_are_small():
    """Of a long one-way street the method sees one more state with each product."""
    n = 400
    mdp = MDP.from_outcomes({s: {0: [(1.0, s + 1, -1.0)]} for s in range(n)}, discount=1.0)
    np.testing.assert_allclose(policy_evaluation(mdp).v_, np.arange(n + 1) - n, atol=1e-6)
    np.testing.assert_allclose(policy_iteration(mdp).v_, np.arange(n + 1) - n, atol=1e-6)


@every_method
def test_worlds_without_a_discount_have_the_values_of_the_book(method):
    assert method(frozen_lake(discount=1.0), tol=1e-10).v_[0] == pytest.approx(14 / 17, abs=1e-6)
    assert method(cliff_walking(discount=1.0)).v_[36] == pytest.approx(-13)
    plan = method(gambler(goal=16), tol=1e-9)
    np.testing.assert_allclose(plan.v_[[4, 8, 12]], [0.16, 0.4, 0.64], atol=1e-6)  # bold play
    assert plan.certificate_.bound is None


def test_the_best_policy_without_a_discount_ends_though_waiting_is_as_good():
    """On the lake values are probabilities of arriving: to stay for ever next to the goal solves Bellman's equation too."""
    mdp = frozen_lake(is_slippery=False, discount=1.0)
    for method in METHODS.values():
        plan = method(mdp)
        np.testing.assert_allclose(policy_evaluation(mdp, plan).v_, plan.v_, atol=1e-6)


def _two_rooms(stay):
    """Two states that lead to each other for `stay` a step, or to the end for -1."""
    return {0: {0: [(1.0, 1, stay)], 1: [(1.0, 2, -1.0)]}, 1: {0: [(1.0, 0, stay)], 1: [(1.0, 2, -1.0)]}}


@every_method
def test_a_loop_that_pays_for_ever_is_an_error_that_names_it(method):
    with pytest.raises(ImproperPolicyError, match=r"improper.*loop of states (0 -> 1 -> 0|1 -> 0 -> 1)") as error:
        method(MDP.from_outcomes(_two_rooms(0.5), discount=1.0), max_iter=2000)
    assert set(error.value.states) == {0, 1}
    assert method(MDP.from_outcomes(_two_rooms(0.5), discount=0.9)).v_[0] == pytest.approx(5.0)
    assert method(MDP.from_outcomes(_two_rooms(-0.5), discount=1.0)).v_[0] == pytest.approx(-1.0)


@every_method
def test_states_that_reach_no_end_are_an_error_that_names_their_loop(method):
    outcomes = {0: {0: [(0.5, 1, 0.0), (0.5, 3, 0.0)]}, 1: {0: [(1.0, 2, 0.0)]}, 2: {0: [(1.0, 1, 0.0)], 1: [(1.0, 2, 0.0)]}}
    with pytest.raises(ImproperPolicyError, match="none is reached from the loop of states 1, 2"):
        method(MDP.from_outcomes(outcomes, discount=1.0))


def test_an_improper_policy_is_an_error_that_names_its_loop():
    mdp = grid_world(["..", ".G"], reward=-1.0, discount=1.0)
    with pytest.raises(ImproperPolicyError, match="The policy is improper: it stays for ever in the loop of states 0 -> 0"):
        policy_evaluation(mdp, [0, 0, 0, 0])
    assert policy_evaluation(mdp.with_(discount=0.5), [0, 0, 0, 0]).v_[0] == pytest.approx(-2)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), n_next=st.integers(2, 4))
def test_relative_values_find_the_best_average_reward(seed, n_next):
    P, R, _ = random_process(seed, 5, 2, 5)
    plan = relative_value_iteration(MDP(P, R, discount=None), tol=1e-8)
    assert plan.gain_ == pytest.approx(decisions.best_average(P, R), abs=1e-7)
    np.testing.assert_allclose(np.max(R + P @ plan.v_, axis=1), plan.gain_ + plan.v_, atol=1e-7)


def test_an_average_that_depends_on_the_start_is_told():
    apart = MDP([[[1.0, 0.0]], [[0.0, 1.0]]], [[1.0], [3.0]], discount=None)
    with pytest.warns(ConvergenceWarning, match="states gain between 1 and 3 a step"):
        relative_value_iteration(apart, max_iter=50)
    with pytest.raises(ValueError, match="state 5 is terminal"):
        relative_value_iteration(frozen_lake(discount=None))


def test_backward_induction_looks_at_every_course_of_action():
    P, R, _ = random_process(0, 4, 2, 3)
    plan = backward_induction(MDP(P, R, discount=0.9, horizon=3))
    v = np.zeros(4)
    for step in (2, 1, 0):
        q = R + 0.9 * P @ v
        v = q.max(axis=1)
        np.testing.assert_allclose(plan.v_[step], v)
        np.testing.assert_array_equal(plan.policy_[step], q.argmax(axis=1))


def test_the_warehouse_has_a_policy_of_two_levels():
    """Order up to a level where the stock is below another (Scarf, 1960)."""
    policy = policy_iteration(inventory()).policy_
    orders = np.flatnonzero(policy > 0)
    assert np.array_equal(orders, np.arange(len(orders)))
    assert len(set(orders + policy[orders])) == 1


@every_method
def test_the_number_of_threads_changes_nothing(method):
    random = np.random.RandomState(0)
    n, k = 20_000, 3
    following = random.randint(0, n, size=(n * k, 2))
    mdp = MDP.from_pairs(
        np.repeat(np.arange(n), k), np.tile(np.arange(k), n), _two_outcomes(following, n), random.randn(n * k), discount=0.8
    )
    plans = [method(mdp, n_jobs=n_jobs, tol=1e-3) for n_jobs in (1, 4)]
    np.testing.assert_array_equal(plans[0].v_, plans[1].v_)
    np.testing.assert_array_equal(plans[0].policy_, plans[1].policy_)


def _two_outcomes(following, n_states):
    import scipy.sparse as sp

    rows = np.repeat(np.arange(len(following)), 2)
    return sp.csr_array((np.full(following.size, 0.5), (rows, following.ravel())), shape=(len(following), n_states))


def test_too_few_iterations_are_told():
    with pytest.warns(
        ConvergenceWarning, match="value_iteration: after 3 iterations the Bellman residual is .* Raise max_iter"
    ):
        plan = value_iteration(frozen_lake(), max_iter=3)
    assert not plan.certificate_.converged
    assert "ended" in repr(plan.certificate_) or "max_iter" in repr(plan.certificate_)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: value_iteration(frozen_lake(), tol=0.0), "value_iteration: tol=0.0 is not valid"),
        (lambda: value_iteration(frozen_lake(), sweep="up"), "sweep='up' is not valid; it must be 'jacobi' or 'gauss-seidel'"),
        (lambda: value_iteration(frozen_lake(horizon=9)), "ends after horizon=9 steps"),
        (lambda: policy_iteration(frozen_lake(discount=None)), "use relative_value_iteration"),
        (lambda: backward_induction(frozen_lake()), "the process has no horizon"),
        (lambda: policy_evaluation(frozen_lake(), [1, 2]), r"it must hold an action \(an integer\) for each of the 16 states"),
        (lambda: policy_evaluation(frozen_lake(), [4] * 16), "policy: state 0 has no action 4"),
        (lambda: policy_evaluation(frozen_lake(), np.ones((16, 4))), "probabilities of state 0 must not be negative"),
        (lambda: policy_evaluation(gambler(goal=4), [0, 2, 1, 1, 0]), "policy: state 1 has no action 2"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""`shapley_value`: the definition, its axioms, and samples whose errors are what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer._native import kernels
from mercer.inspection import shapley_value
from tests.reference.shapley import interaction_value, shapley_values

few = settings(max_examples=25, deadline=None)


def drawn_game(seed, n, n_outputs=None):
    """A game whose values are drawn, by coalition."""
    shape = (2**n,) if n_outputs is None else (2**n, n_outputs)
    values = np.random.RandomState(seed).standard_normal(shape)
    return lambda S: values[sum(1 << i for i in S)]


def test_the_weights_of_three_players_are_a_third_and_a_sixth():
    for number, share in (((), 1 / 3), ((1,), 1 / 6), ((2,), 1 / 6), ((1, 2), 1 / 3)):
        gain = {frozenset(number) | {0}: 1.0}
        values = shapley_value(lambda S, gain=gain: gain.get(S, 0.0), 3).values
        assert values[0] == pytest.approx(share, rel=1e-15)


@few
@given(seed=st.integers(0, 2**31), n=st.integers(1, 6), n_outputs=st.sampled_from([None, 1, 3]))
def test_exact_values_are_those_of_the_definition(seed, n, n_outputs):
    game = drawn_game(seed, n, n_outputs)
    found = shapley_value(game, n)
    assert np.allclose(found.values, shapley_values(game, n), rtol=0, atol=1e-12)
    assert found.standard_errors is None
    assert found.n_evaluations == 2**n
    assert found.efficiency_error < 1e-12


@few
@given(seed=st.integers(0, 2**31), n=st.integers(2, 6), method=st.sampled_from(["exact", "permutation"]))
def test_values_hold_the_axioms(seed, n, method):
    one, other = drawn_game(seed, n), drawn_game(seed + 1, n)
    how = {"method": method, "random_state": seed, "n_permutations": 4}

    def values(game):
        return shapley_value(game, n, **how).values

    assert values(one).sum() == pytest.approx(one(frozenset(range(n))) - one(frozenset()), abs=1e-12)
    assert np.allclose(values(lambda S: 2 * one(S) + other(S)), 2 * values(one) + values(other), rtol=0, atol=1e-12)
    assert values(lambda S: one(S - {0}))[0] == 0


@few
@given(seed=st.integers(0, 2**31), n=st.integers(2, 6))
def test_interchangeable_players_get_the_same(seed, n):
    game = drawn_game(seed, n)
    swap = {0: 1, 1: 0}

    def symmetric(S):
        return game(S) + game(frozenset(swap.get(i, i) for i in S))

    values = shapley_value(symmetric, n).values
    assert values[0] == pytest.approx(values[1], abs=1e-12)


def test_all_orders_are_exact():
    game = drawn_game(3, 5)
    found = shapley_value(game, 5, method="permutation", n_permutations=60)
    assert np.allclose(found.values, shapley_values(game, 5), rtol=0, atol=1e-12)
    assert found.standard_errors is None


def test_standard_errors_of_samples_are_right():
    game, n = drawn_game(0, 7), 7
    exact = shapley_value(game, n).values
    scaled = []
    for seed in range(60):
        found = shapley_value(game, n, n_permutations=20, random_state=seed)
        scaled.append((found.values - exact) / found.standard_errors)
    assert 0.9 < np.std(scaled) < 1.25
    assert abs(np.mean(scaled)) < 0.1


@pytest.mark.parametrize("kind", ["set", "mask", "masks"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_games_are_called_as_they_ask(kind, n_jobs):
    games = {"set": _of_set, "mask": _of_mask, "masks": _of_masks}
    found = shapley_value(games[kind], 4, coalition=kind, n_jobs=n_jobs)
    assert np.allclose(np.asarray(found), shapley_values(_of_set, 4), rtol=0, atol=1e-12)
    assert "player" in str(found)
    assert repr(found) == "ShapleyValues(4 players; exact, 16 coalitions)"


def _of_set(S):
    return sum(S) + len(S) ** 2 / 2 + 3.0 * ({0, 2} <= S)


def _of_mask(mask):
    return _of_set(frozenset(np.flatnonzero(mask).tolist()))


def _of_masks(masks):
    return np.array([_of_mask(mask) for mask in masks])


def test_kernel_of_interactions_is_the_definition():
    n, game = 5, drawn_game(9, 5)
    values = np.array([game(frozenset(i for i in range(n) if s >> i & 1)) for s in range(2**n)])[None]
    out = np.zeros((1, n * n))
    kernels.exact_shapley_interactions(values, n, 1, out, 1)
    matrix = out.reshape(n, n)
    for i in range(n):
        for j in range(i):
            assert matrix[i, j] == matrix[j, i] == pytest.approx(interaction_value(game, n, i, j), abs=1e-12)


def test_kernels_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="1 to 25 players"):
        kernels.exact_shapley_values(np.zeros((1, 4)), 60, 1, np.zeros((1, 60)), 1)
    with pytest.raises(ValueError, match="a value per coalition"):
        kernels.exact_shapley_values(np.zeros((1, 5)), 2, 1, np.zeros((1, 2)), 1)
    x, background, masks = np.zeros((2, 3)), np.zeros((4, 3)), np.zeros((2, 3), dtype=np.uint8)
    player, row, mask = (np.array(v, dtype=np.int32) for v in ([0, 1, 2], [0, 1], [0, 1]))
    for broken in ({"player": player + 1}, {"row": row + 1}, {"mask": mask - 1}, {"player": player[:2]}):
        given = {"player": player, "row": row, "mask": mask, **broken}
        with pytest.raises(ValueError, match=r"range|per column"):
            kernels.coalition_rows(x, background, masks, given["player"], given["row"], given["mask"], np.zeros((8, 3)), 1)
    with pytest.raises(ValueError, match="one target and weight"):
        kernels.surrogate_products(x, np.zeros((1, 1)), np.zeros(2), np.zeros((5, 5)), 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_players": 0}, "n_players=0 is not valid"),
        ({"coalition": "list"}, "coalition='list' is not valid"),
        ({"n_players": 21, "method": "exact"}, "takes 20 players at most"),
        ({"game": lambda S: np.nan}, "must give a finite number"),
        ({"game": 3}, "it must be a callable"),
    ],
)
def test_what_is_wrong_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        shapley_value(**{"game": len, "n_players": 2, **arguments})

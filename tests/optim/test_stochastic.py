"""Stochastic descent on finite sums: sampling, epochs, averaging, and honest endings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mercer.optim import Adam, CosineDecay, InverseDecay, Momentum, sgd_minimize
from mercer.optim._sampling import Batches

OPTIMIZERS = {"sgd": 0.05, "momentum": 0.01, "nesterov": 0.01, "adagrad": 0.5, "rmsprop": 0.01, "adam": 0.02}


class LeastSquares:
    """f_i(x) = 1/2 (<a_i, x> - b_i)^2, which remembers the terms it was asked for."""

    def __init__(self, n=60, d=3, noise=0.3, seed=0):
        random = np.random.RandomState(seed)
        self.A = random.randn(n, d)
        self.b = self.A @ random.randn(d) + noise * random.randn(n)
        self.solution = np.linalg.lstsq(self.A, self.b, rcond=None)[0]
        self.n, self.d, self.asked = n, d, []

    def grad(self, x, indices):
        self.asked.append(indices.copy())
        A, b = self.A[indices], self.b[indices]
        return A.T @ (A @ x - b) / len(indices)

    def fun(self, x, indices):
        return 0.5 * np.mean((self.A[indices] @ x - self.b[indices]) ** 2)

    def run(self, **options):
        return sgd_minimize(self.grad, np.zeros(self.d), self.n, fun=self.fun, **({"random_state": 0} | options))


# ---- sampling


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from(["full", "cyclic", "random", "shuffle"]), st.integers(0, 99))
def test_an_epoch_is_n_terms_in_batches_of_the_given_size(n, size, sampling, seed):
    batches = Batches(n, min(size, n), sampling, np.random.RandomState(seed))
    for _ in range(2):
        epoch = list(batches.epoch())
        assert len(epoch) == batches.n_batches
        assert sum(map(len, epoch)) == n
        assert all(len(batch) == batches.batch_size for batch in epoch[:-1])
        terms = np.concatenate(epoch)
        assert ((terms >= 0) & (terms < n)).all()
        if sampling in ("full", "cyclic"):
            np.testing.assert_array_equal(terms, np.arange(n))
        if sampling == "shuffle":
            np.testing.assert_array_equal(np.sort(terms), np.arange(n))


def test_shuffling_gives_every_term_once_in_a_new_order_and_drawing_repeats_some():
    problem = LeastSquares()
    problem.run(sampling="shuffle", n_epochs=2)
    first, second = np.concatenate(problem.asked[:60]), np.concatenate(problem.asked[60:])
    assert sorted(first) == sorted(second) == list(range(60))
    assert not np.array_equal(first, second)
    problem = LeastSquares()
    problem.run(sampling="random", n_epochs=1)
    assert len(np.unique(np.concatenate(problem.asked))) < 60


def test_the_full_gradient_with_plain_descent_is_gradient_descent():
    problem, x = LeastSquares(), np.zeros(3)
    trace = problem.run(sampling="full", rate=0.3, n_epochs=5).trace
    for k in range(5):
        x = x - 0.3 * problem.A.T @ (problem.A @ x - problem.b) / 60
        np.testing.assert_allclose(trace.x[k + 1], x)


def test_cyclic_descent_by_hand():
    problem, x = LeastSquares(n=7), np.zeros(3)
    result = problem.run(sampling="cyclic", batch_size=3, rate=0.1, n_epochs=2)
    for _ in range(2):
        for batch in ([0, 1, 2], [3, 4, 5], [6]):
            A, b = problem.A[batch], problem.b[batch]
            x = x - 0.1 * A.T @ (A @ x - b) / len(batch)
    np.testing.assert_allclose(result.x, x)
    assert (result.n_updates, result.njev, result.n_terms, result.nit) == (6, 6, 14, 2)


# ---- convergence


@pytest.mark.parametrize("sampling", ["full", "cyclic", "random", "shuffle"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimiser_comes_near_the_solution_with_every_sampling(optimizer, sampling):
    problem = LeastSquares()
    n_epochs = 1500 if sampling == "full" else 120
    result = problem.run(
        optimizer=optimizer, rate=OPTIMIZERS[optimizer], sampling=sampling, batch_size=4, n_epochs=n_epochs, schedule="cosine"
    )
    assert result.success
    np.testing.assert_allclose(result.x, problem.solution, atol=0.03)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_sum_whose_terms_agree_is_solved_to_tolerance(optimizer):
    problem = LeastSquares(noise=0.0)
    result = problem.run(
        optimizer=optimizer, rate=OPTIMIZERS[optimizer], schedule="exponential", schedule_by="epoch", n_epochs=2000, tol=1e-4
    )
    assert result.success, result.message
    assert result.status == 0
    assert result.nit < 2000
    assert np.linalg.norm(problem.grad(result.x, np.arange(60))) <= 1e-4
    assert result.trace.grad_norm[-1] <= 1e-4 < result.trace.grad_norm[-2]
    np.testing.assert_allclose(result.jac, problem.grad(result.x, np.arange(60)))


def test_decay_brings_plain_descent_nearer_than_a_constant_rate():
    problem = LeastSquares(noise=1.0)
    constant = problem.run(rate=0.1, n_epochs=50)
    decaying = problem.run(rate=0.1, n_epochs=50, schedule=InverseDecay(0.01))
    assert np.linalg.norm(decaying.x - problem.solution) < 0.3 * np.linalg.norm(constant.x - problem.solution)


def test_the_mean_of_the_iterates_is_what_averaging_gives():
    problem = LeastSquares(noise=1.0)
    plain = problem.run(rate=0.1, n_epochs=3, batch_size=60, sampling="cyclic")
    averaged = problem.run(rate=0.1, n_epochs=3, batch_size=60, sampling="cyclic", average=True)
    np.testing.assert_allclose(averaged.x, plain.trace.x[1:].mean(axis=0))
    late = problem.run(rate=0.1, n_epochs=3, batch_size=60, sampling="cyclic", average=2)
    np.testing.assert_allclose(late.trace.x[1], plain.trace.x[1])
    np.testing.assert_allclose(late.x, plain.trace.x[2:].mean(axis=0))
    wandering, steady = problem.run(rate=0.1, n_epochs=50), problem.run(rate=0.1, n_epochs=50, average=10)
    assert np.linalg.norm(steady.x - problem.solution) < 0.5 * np.linalg.norm(wandering.x - problem.solution)
    assert steady.fun == pytest.approx(problem.fun(steady.x, np.arange(60)))


# ---- rates


def test_the_rate_follows_the_schedule_by_update_or_by_epoch():
    problem = LeastSquares(n=4)
    by_update = problem.run(rate=0.1, schedule="inverse", n_epochs=3).trace.step
    np.testing.assert_allclose(by_update[1:], 0.1 / np.array([4, 8, 12]))
    by_epoch = problem.run(rate=0.1, schedule="inverse", schedule_by="epoch", n_epochs=3).trace.step
    np.testing.assert_allclose(by_epoch[1:], 0.1 / np.array([1, 2, 3]))
    cosine = problem.run(rate=0.1, schedule="cosine", n_epochs=3).trace.step
    np.testing.assert_allclose(cosine[1:], [0.1 * CosineDecay(12)(t) for t in (3, 7, 11)])
    own = problem.run(rate=0.1, schedule=lambda t: 0.5**t, schedule_by="epoch", n_epochs=3).trace.step
    np.testing.assert_allclose(own[1:], [0.1, 0.05, 0.025])


def test_the_default_rate_is_the_optimisers():
    problem = LeastSquares(n=4)
    assert problem.run(n_epochs=1).trace.step[-1] == 0.01
    assert problem.run(optimizer=Adam(), n_epochs=1).trace.step[-1] == 0.001


# ---- the result


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    problem = LeastSquares()
    first, again = problem.run(optimizer="adam", n_epochs=4), problem.run(optimizer="adam", n_epochs=4)
    np.testing.assert_array_equal(first.trace.x, again.trace.x)
    assert not np.array_equal(first.x, problem.run(optimizer="adam", n_epochs=4, random_state=1).x)


def test_the_trace_has_one_record_an_epoch():
    problem = LeastSquares()
    result = problem.run(n_epochs=4, tol=1e-9)
    assert len(result.trace) == 5
    assert [record.k for record in result.trace] == list(range(5))
    np.testing.assert_allclose(result.trace.fun, [problem.fun(x, np.arange(60)) for x in result.trace.x])
    np.testing.assert_allclose(result.trace.jac, [problem.grad(x, np.arange(60)) for x in result.trace.x])
    assert result.nfev == 5
    assert result.njev == 4 * 60 + 5
    assert result.n_terms == 4 * 60 + 5 * 60


def test_without_fun_and_tol_nothing_more_is_computed():
    problem = LeastSquares()
    result = sgd_minimize(problem.grad, np.zeros(3), 60, n_epochs=2, random_state=0, keep_path=False)
    assert np.isnan(result.fun)
    assert (result.nfev, result.njev) == (0, 120)
    assert np.isnan(result.trace.grad_norm[0])
    assert result.trace[1].x is None
    np.testing.assert_array_equal(result.x, problem.run(n_epochs=2).x)


def test_a_callback_can_stop():
    result = LeastSquares().run(callback=lambda record: record.k == 2)
    assert (result.status, result.success, result.nit) == (99, False, 2)


# ---- failures are values


@pytest.mark.parametrize("has_fun", [True, False])
@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "nesterov"])
def test_too_large_a_rate_is_reported_as_divergence(optimizer, has_fun, recwarn):
    problem = LeastSquares()
    options = {"fun": problem.fun} if has_fun else {}
    result = sgd_minimize(problem.grad, np.zeros(3), 60, optimizer=optimizer, rate=5.0, random_state=0, **options)
    assert (result.success, result.status) == (False, 3)
    assert "Diverged" in result.message
    assert "rate below 5" in result.message
    assert np.isfinite(result.x).all()
    assert not recwarn.list


def test_a_tolerance_that_is_not_reached_is_reported():
    result = LeastSquares().run(n_epochs=3, tol=1e-12)
    assert (result.success, result.status) == (False, 1)
    assert f"gradient norm at {result.trace.grad_norm[-1]:.3g} > tol=1e-12" in result.message


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_reported(bad):
    problem = LeastSquares()
    result = sgd_minimize(lambda x, i: x * bad, np.ones(3), 60)
    assert (result.success, result.status) == (False, 3)
    assert "gradient of a batch is not finite in epoch 1" in result.message
    np.testing.assert_array_equal(result.x, np.ones(3))
    result = sgd_minimize(problem.grad, np.ones(3), 60, fun=lambda x, i: bad)
    assert (result.status, result.nit) == (3, 0)
    assert "at x0" in result.message


# ---- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples=0"),
        ({"x0": [np.inf]}, "NaN or infinity"),
        ({"x0": [[1.0]]}, "x0 of shape"),
        ({"grad": 3}, "grad=3"),
        ({"fun": 3}, "fun=3"),
        ({"optimizer": "adamw"}, "optimizer='adamw' is not valid; it must be 'sgd' or"),
        ({"optimizer": Momentum}, "is not valid"),
        ({"rate": 0}, "rate=0"),
        ({"schedule": "linear"}, "schedule='linear' is not valid; it must be 'constant' or 'inverse'"),
        ({"schedule": InverseDecay}, "is not valid"),
        ({"schedule_by": "batch"}, "schedule_by='batch'"),
        ({"sampling": "bootstrap"}, "sampling='bootstrap'"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"batch_size": 11}, "batch_size=11 is not valid; it must be at most n_samples=10"),
        ({"n_epochs": 0}, "n_epochs=0"),
        ({"tol": 0}, "tol=0"),
        ({"average": 0.5}, "average=0.5"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"callback": 1}, "callback=1"),
        ({"keep_path": "no"}, "keep_path='no'"),
    ],
)
def test_bad_parameters_are_refused_by_name(options, message):
    arguments = {"grad": lambda x, i: x, "x0": [1.0], "n_samples": 10} | options
    with pytest.raises(ValueError, match=message):
        sgd_minimize(**arguments)


def test_functions_that_return_the_wrong_thing_are_refused():
    with pytest.raises(ValueError, match=r"grad returned an array of shape \(1,\); it must be of shape \(2,\)"):
        sgd_minimize(lambda x, i: x[:1], [1.0, 2.0], 3)
    with pytest.raises(ValueError, match=r"fun returned an object of shape \(2,\)"):
        sgd_minimize(lambda x, i: x, [1.0, 2.0], 3, fun=lambda x, i: x)


def test_without_tol_the_gradient_of_an_epoch_is_the_mean_of_its_gradients():
    gradients = []

    def grad(x, indices):
        gradients.append((len(indices), 2 * x - indices.mean()))
        return gradients[-1][1]

    trace = sgd_minimize(grad, [1.0], 5, batch_size=2, sampling="cyclic", n_epochs=1).trace
    expected = sum(size * gradient for size, gradient in gradients) / 5
    np.testing.assert_allclose(trace.jac[1], expected)
    assert trace.grad_norm[1] == pytest.approx(abs(expected[0]))


def test_functions_that_work_in_place_or_return_x_itself_do_no_harm():
    def in_place(x, indices):
        x *= 2
        return x

    first = sgd_minimize(in_place, [1.0, -3.0], 4, n_epochs=2, rate=0.1)
    apart = sgd_minimize(lambda x, indices: 2 * x, [1.0, -3.0], 4, n_epochs=2, rate=0.1)
    np.testing.assert_array_equal(first.trace.x, apart.trace.x)
    np.testing.assert_array_equal(first.trace.jac[1:], apart.trace.jac[1:])

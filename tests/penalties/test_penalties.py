"""Every penalty against its definition: prox, conjugate, derivative, distance to optimality; names and parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import ElasticNet as PeerElasticNet, MultiTaskLasso

from mercer.penalties import L1, L2, PENALTIES, Box, ElasticNet, GroupL2, L1Ball, L2Ball, Lp, NoPenalty, Penalty, get_penalty

SEPARABLE = [
    NoPenalty(),
    L2(alpha=0.7),
    L1(alpha=0.7),
    L1(alpha=0.0),
    ElasticNet(alpha=1.3, l1_ratio=0.4),
    ElasticNet(alpha=1.3, l1_ratio=0.0),
    ElasticNet(alpha=1.3, l1_ratio=1.0),
    Lp(alpha=0.7, p=0.5),
    Lp(alpha=0.7, p=0.1),
    Lp(alpha=0.7, p=0.9),
    Lp(alpha=0.0),
    Box(),
    Box(low=-1.0, high=0.5),
    Box(low=2.0, high=2.0),
    Box(low=-np.inf, high=0.0),
]
every_separable = pytest.mark.parametrize("penalty", SEPARABLE, ids=repr)
coefficients = st.floats(-5, 5) | st.sampled_from([0.0, -1.0, 0.5, 2.0])
steps = st.floats(0.01, 10)


def naive_value(penalty, w):
    """The formula of a separable penalty at many single coefficients."""
    if isinstance(penalty, Box):
        return np.where((w < penalty.low) | (w > penalty.high), np.inf, 0.0)
    formulas = {
        "none": lambda: 0 * w,
        "l2": lambda: penalty.alpha / 2 * w**2,
        "l1": lambda: penalty.alpha * np.abs(w),
        "elasticnet": lambda: penalty.alpha * (penalty.l1_ratio * np.abs(w) + (1 - penalty.l1_ratio) / 2 * w**2),
        "lp": lambda: penalty.alpha * np.abs(w) ** penalty.p,
    }
    return formulas[penalty.name]()


@every_separable
@given(w=arrays(np.float64, 4, elements=coefficients))
def test_value_is_the_sum_of_the_formula(penalty, w):
    assert penalty.value(w) == pytest.approx(naive_value(penalty, w).sum())


@every_separable
@settings(max_examples=60, deadline=None)
@given(w=coefficients, step=steps)
def test_prox_is_the_minimum_of_its_definition(penalty, w, step):
    point = penalty.prox(w, step)
    ends = [end for end in (getattr(penalty, "low", 0.0), getattr(penalty, "high", 0.0)) if np.isfinite(end)]
    z = np.concatenate([np.linspace(-6, 6, 2401), point + np.linspace(-0.05, 0.05, 401), [0.0, w], ends])

    def objective(z):
        return step * naive_value(penalty, z) + (z - w) ** 2 / 2

    least = objective(z).min()
    assert objective(point) <= least + 1e-13 * (1 + abs(least))


@every_separable
@settings(max_examples=60, deadline=None)
@given(w=coefficients, step=steps)
def test_the_step_of_prox_lies_in_the_subdifferential_where_it_ends(penalty, w, step):
    point = penalty.prox(w, step)
    distance = penalty.subdifferential_distance(point, (point - w) / step)
    assert distance <= 1e-13 * (1 + abs(w) + abs(point)) / step


@pytest.mark.parametrize("p", [0.1, 0.5, 2 / 3, 0.9])
@pytest.mark.parametrize("strength", [1e-6, 0.1, 1.0, 1e4])
def test_prox_of_lp_jumps_at_its_threshold_and_is_exact_beyond(p, strength):
    penalty = Lp(alpha=strength, p=p)
    least = (2 * strength * (1 - p)) ** (1 / (2 - p))
    threshold = least + strength * p * least ** (p - 1)
    assert penalty.prox(threshold * (1 - 1e-9), 1.0) == 0
    assert penalty.prox(-threshold * (1 + 1e-9), 1.0) == pytest.approx(-least, rel=1e-4)
    w = threshold * np.geomspace(1 + 1e-9, 1e6, 300)
    z = penalty.prox(w, 1.0)
    np.testing.assert_allclose(z + strength * p * z ** (p - 1), w, rtol=1e-14)
    # Equal to zero in value at the threshold.
    assert strength * least**p + (least - threshold) ** 2 / 2 == pytest.approx(threshold**2 / 2)


def test_prox_of_the_half_penalty_is_the_known_formula():
    w = np.linspace(1.6, 9, 50)  # Xu et al. 2012, for lambda |z|^(1/2) + (z - w)^2 / 2 with lambda = 1
    angle = np.arccos(1 / 4 * (w / 3) ** -1.5)
    expected = 2 / 3 * w * (1 + np.cos(2 * np.pi / 3 - 2 / 3 * angle))
    np.testing.assert_allclose(Lp(alpha=1.0, p=0.5).prox(w, 1.0), expected, rtol=1e-12)


@pytest.mark.parametrize("penalty", [penalty for penalty in SEPARABLE if penalty.is_convex], ids=repr)
@settings(max_examples=60, deadline=None)
@given(w=coefficients, u=st.floats(-4, 4))
def test_fenchel_young_holds_with_equality_on_the_subdifferential(penalty, w, u):
    surplus = penalty.value(w) + penalty.conjugate(u) - u * w
    assert surplus >= -1e-12
    if penalty.subdifferential_distance(w, -u) == 0:
        assert surplus <= 1e-12
    point = penalty.prox(w, 1.0)  # w - point is in the subdifferential at point
    u = w - point
    if penalty.is_smooth or np.isfinite(penalty.conjugate(u)):
        assert penalty.value(point) + penalty.conjugate(u) == pytest.approx(u * point, abs=1e-12)


@every_separable
@pytest.mark.parametrize("u", [-3.0, -0.6, -0.01, 0.0, 0.3, 0.69, 0.71, 2.0])
def test_conjugate_is_the_supremum(penalty, u):
    if not penalty.is_convex:
        with pytest.raises(NotImplementedError, match=r"is not convex.*choose a convex penalty"):
            penalty.conjugate(u)
        return
    far = np.geomspace(10, 1e6, 200)
    z = np.concatenate([np.linspace(-10, 10, 20001), far, -far])
    supremum = np.max(u * z - naive_value(penalty, z))
    if np.isinf(penalty.conjugate(u)):
        assert supremum > 1e3
    else:
        assert supremum == pytest.approx(penalty.conjugate(u), abs=1e-6)


def test_conjugate_of_several_coefficients_is_the_sum():
    assert L2(alpha=2.0).conjugate([2.0, 4.0]) == 5.0
    assert ElasticNet(alpha=1.0, l1_ratio=0.5).conjugate([0.5, -1.5]) == 1.0
    assert Box(low=-1.0, high=2.0).conjugate([3.0, -3.0]) == 9.0
    assert Box().conjugate([-3.0, 0.0]) == 0.0
    assert Box().conjugate([-3.0, 1e-9]) == np.inf


@every_separable
@settings(max_examples=60, deadline=None)
@given(w=st.floats(-5, 5))
def test_derivative_is_the_limit_of_differences(penalty, w):
    assume(penalty.is_smooth or abs(w) > 0.05)
    if isinstance(penalty, Box):
        with pytest.raises(NotImplementedError, match="use a method that takes `prox`"):
            penalty.derivative(w)
        return
    expected = (penalty.value(w + 1e-5) - penalty.value(w - 1e-5)) / 2e-5
    assert penalty.derivative(w) == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_derivative_counts_kinks_as_zero():
    for penalty in (L1(), ElasticNet(), Lp()):
        assert penalty.derivative([0.0, 0.0]).tolist() == [0, 0]


@every_separable
def test_convex_flag_tells_what_midpoints_show(penalty):
    w = np.linspace(-3, 3, 121)
    middle, chord = naive_value(penalty, (w[:, None] + w) / 2), (naive_value(penalty, w[:, None]) + naive_value(penalty, w)) / 2
    excess = np.max(np.where(np.isinf(chord), -np.inf, middle - np.where(np.isinf(chord), 0, chord)))
    is_convex_here = penalty.is_convex or penalty.alpha == 0
    assert excess <= 1e-12 if is_convex_here else excess > 1e-3


@pytest.mark.parametrize("penalty", [p for p in SEPARABLE if not isinstance(p, (Box, Lp))], ids=repr)
def test_lipschitz_constants_hold_and_are_attained(penalty):
    w = np.linspace(-50, 50, 10002)
    slopes = np.abs(np.diff(naive_value(penalty, w)) / np.diff(w)).max()
    bends = np.abs(np.diff(penalty.derivative(w)) / np.diff(w)).max()
    for reached, constant in ((slopes, penalty.lipschitz), (bends, penalty.derivative_lipschitz)):
        if np.isfinite(constant):
            assert reached == pytest.approx(constant, abs=1e-9)
        else:
            assert reached > 20 or (constant == np.inf and penalty.alpha == 0)


def test_distance_to_the_subdifferential_by_hand():
    assert L1(alpha=1.0).subdifferential_distance([0.0, 0.0, 2.0, -2.0], [0.5, -3.0, -1.0, -1.0]).tolist() == [0, 2, 0, 2]
    assert L2(alpha=2.0).subdifferential_distance([1.0], [-2.5]).tolist() == [0.5]
    assert ElasticNet(alpha=2.0).subdifferential_distance([1.0, 0.0], [-2.0, 1.5]).tolist() == [0, 0.5]
    assert Lp().subdifferential_distance([0.0, 4.0], [9.0, -0.25]).tolist() == [0, 0]
    assert Lp(alpha=0.0).subdifferential_distance([0.0], [9.0]).tolist() == [9]
    box = Box(low=0.0, high=1.0)
    # At the lower bound a positive gradient holds the coefficient there; at the upper one a negative gradient does.
    assert box.subdifferential_distance([0.0, 0.0, 1.0, 1.0, 0.5, 2.0], [3, -3, 3, -3, -3, 0]).tolist() == [
        0,
        3,
        3,
        0,
        3,
        np.inf,
    ]
    assert Box(low=2.0, high=2.0).subdifferential_distance([2.0, 2.0], [3.0, -3.0]).tolist() == [0, 0]
    assert NoPenalty().subdifferential_distance([1.0], [-0.5]).tolist() == [0.5]


# ---- at the solutions of the peer


def test_distance_vanishes_at_the_solution_of_the_peers_elastic_net():
    random = np.random.RandomState(0)
    X, y = random.randn(40, 8), random.randn(40)
    model = PeerElasticNet(alpha=0.1, l1_ratio=0.6, tol=1e-12, fit_intercept=False).fit(X, y)
    gradient = X.T @ (X @ model.coef_ - y) / 40
    penalty = ElasticNet(alpha=0.1, l1_ratio=0.6)
    assert (model.coef_ == 0).any()
    assert penalty.subdifferential_distance(model.coef_, gradient).max() < 1e-7
    assert penalty.subdifferential_distance(model.coef_ + 0.01, gradient).max() > 1e-4


def test_group_distance_vanishes_at_the_solution_of_the_peers_multi_task_lasso():
    random = np.random.RandomState(0)
    X, Y = random.randn(40, 8), random.randn(40, 3)
    model = MultiTaskLasso(alpha=0.15, tol=1e-12, fit_intercept=False).fit(X, Y)
    W = model.coef_.T
    gradient = X.T @ (X @ W - Y) / 40
    distance = GroupL2(alpha=0.15).subdifferential_distance(W, gradient)
    assert (W == 0).all(axis=1).any()
    assert distance.shape == (8,)
    assert distance.max() < 1e-7
    assert GroupL2(alpha=0.1).subdifferential_distance(W, gradient).max() > 0.01


# ---- groups


@settings(max_examples=60, deadline=None)
@given(W=arrays(np.float64, (3, 2), elements=coefficients), step=steps, seed=st.integers(0, 1000))
def test_group_prox_is_the_minimum_of_its_definition(W, step, seed):
    penalty = GroupL2(alpha=0.8)
    point = penalty.prox(W, step)

    def objective(Z):
        return step * penalty.value(Z) + ((Z - W) ** 2).sum() / 2

    random = np.random.RandomState(seed)
    nearby = [point + scale * random.randn(3, 2) for scale in (1e-3, 1e-2, 0.1, 1.0) for _ in range(10)]
    assert objective(point) <= min(map(objective, [*nearby, W, 0 * W])) + 1e-12
    distance = penalty.subdifferential_distance(point, (point - W) / step)
    assert (distance <= 1e-12 * (1 + np.abs(W).max()) / step).all()


def test_group_penalty_by_hand():
    penalty = GroupL2(alpha=2.0)
    W = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert penalty.value(W) == 10
    np.testing.assert_allclose(penalty.derivative(W), [[1.2, 1.6], [0, 0]])
    assert penalty.conjugate([[1.2, 1.6]]) == 0
    assert penalty.conjugate([[1.2, 1.7]]) == np.inf
    np.testing.assert_allclose(penalty.prox(W, [1.0, 5.0]), [[1.8, 2.4], [0, 0]])
    np.testing.assert_allclose(penalty.subdifferential_distance(W, [[-1.2, -1.6], [0.0, 3.0]]), [0, 1], atol=1e-15)
    assert (penalty.lipschitz, penalty.is_separable) == (2.0, False)
    with pytest.raises(ValueError, match="w has 1 dimensions; it must have 2"):
        penalty.prox([1.0], 1.0)


def test_one_column_of_groups_is_the_l1_penalty():
    w = np.array([3.0, -0.5, 0.0, -2.0])
    assert GroupL2(alpha=0.7).value(w[:, None]) == pytest.approx(L1(alpha=0.7).value(w))
    np.testing.assert_allclose(GroupL2(alpha=0.7).prox(w[:, None], 1.0)[:, 0], L1(alpha=0.7).prox(w, 1.0))


# ---- balls

BALLS = [L1Ball(radius=1.5), L2Ball(radius=1.5)]
every_ball = pytest.mark.parametrize("ball", BALLS, ids=repr)


def norm_of(ball, w):
    return np.linalg.norm(np.ravel(w), 1 if isinstance(ball, L1Ball) else 2)


@every_ball
@settings(max_examples=80, deadline=None)
@given(w=arrays(np.float64, (3, 2), elements=coefficients), seed=st.integers(0, 1000))
def test_the_prox_of_a_ball_is_the_nearest_point_in_it(ball, w, seed):
    point = ball.prox(w, 0.3)
    assert ball.value(point) == 0
    if norm_of(ball, w) <= ball.radius:
        np.testing.assert_array_equal(point, w)
        return
    assert norm_of(ball, point) == pytest.approx(ball.radius)
    # No point of the ball lies on the other side of the plane through the projection: its condition.
    others = np.random.RandomState(seed).randn(300, 3, 2)
    others *= ball.radius / np.array([norm_of(ball, other) for other in others])[:, None, None]
    corners = ball.radius * np.concatenate([np.eye(6), -np.eye(6)]).reshape(12, 3, 2)
    inner = np.einsum("ijk,jk->i", np.concatenate([others, corners]) - point, w - point)
    assert inner.max() <= 1e-12 * (1 + np.abs(w).max()) ** 2
    assert ball.subdifferential_distance(point, point - w).max() <= 1e-12 * (1 + np.abs(w).max())


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_the_threshold_of_the_l1_projection_is_that_of_bisection(n):
    w = np.random.default_rng(n).standard_cauchy(n)
    radius = 0.3 * np.abs(w).sum()
    low, high = 0.0, np.abs(w).max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(np.abs(w) - middle, 0).sum() > radius else (low, middle)
    np.testing.assert_allclose(L1Ball(radius).prox(w, 1.0), L1(alpha=1.0).prox(w, low), rtol=1e-9, atol=1e-12 * radius)


@every_ball
@settings(max_examples=60, deadline=None)
@given(u=arrays(np.float64, 4, elements=coefficients), w=arrays(np.float64, 4, elements=coefficients))
def test_the_conjugate_of_a_ball_is_its_support_function(ball, u, w):
    point = ball.prox(w, 1.0)
    assert ball.conjugate(u) >= u @ point - 1e-12
    furthest = ball.prox(1e9 * u, 1.0)
    assert ball.conjugate(u) == pytest.approx(u @ furthest, rel=1e-6, abs=1e-9)


@every_ball
@pytest.mark.parametrize("seed", range(5))
def test_the_strength_of_a_bound_is_that_of_the_penalty_with_the_same_solution(ball, seed):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(30, 6)), random.normal(size=30) * 5
    w, step = np.zeros(6), 1 / np.linalg.norm(X, 2) ** 2
    for _ in range(1_000):  # projected gradient descent
        w = ball.prox(w - step * X.T @ (X @ w - y), 1.0)
    gradient = X.T @ (X @ w - y)
    alpha = ball.strength(w, gradient)
    assert alpha > 0
    penalty = L1(alpha) if isinstance(ball, L1Ball) else L2(alpha)
    assert penalty.subdifferential_distance(w, gradient).max() < 1e-7
    assert ball.subdifferential_distance(w, gradient).max() < 1e-7
    assert ball.subdifferential_distance(w, gradient + 0.1 * random.normal(size=6)).max() > 1e-3


@every_ball
def test_a_ball_by_hand(ball):
    assert ball.strength([0.1, 0.0], [3.0, 4.0]) == 0  # inside, nothing is held back
    assert ball.subdifferential_distance([0.1, 0.0], [3.0, -4.0]).tolist() == [3, 4]
    assert ball.subdifferential_distance([3.0, 0.0], [0.0, 0.0]).tolist() == [np.inf, np.inf]
    assert ball.value([3.0, 0.0]) == np.inf
    with pytest.raises(NotImplementedError, match="use a method that takes `prox`"):
        ball.derivative([1.0])


# ---- types, names, parameters


@pytest.mark.parametrize("penalty", [*SEPARABLE, GroupL2(), L1Ball(), L2Ball()], ids=repr)
def test_float32_and_the_argument_are_kept(penalty):
    w = np.array([[0.3, -2.0, 0.0]], dtype=np.float32)
    before = w.copy()
    results = [penalty.prox(w, 0.5), penalty.subdifferential_distance(w, 0.1 * w)]
    if not isinstance(penalty, (Box, L1Ball, L2Ball)):
        results.append(penalty.derivative(w))
    assert all(result.dtype == np.float32 for result in results)
    assert all(not np.shares_memory(result, w) for result in results)
    np.testing.assert_array_equal(w, before)
    assert isinstance(penalty.value(w), float)
    np.testing.assert_allclose(results[0], penalty.prox(w.astype(np.float64), 0.5), rtol=1e-6)


@every_separable
def test_steps_can_differ_by_coefficient(penalty):
    w, steps = np.array([3.0, -1.0]), np.array([0.5, 2.0])
    assert penalty.prox(w, steps).tolist() == [penalty.prox(one, step) for one, step in zip(w, steps, strict=True)]


def test_every_penalty_is_found_by_its_name():
    assert all(type(get_penalty(name)) is PENALTIES[name] for name in PENALTIES)
    assert get_penalty("elastic_net", alpha=2, l1_ratio=1) == ElasticNet(alpha=2.0, l1_ratio=1.0)
    assert get_penalty("l21") == GroupL2()
    assert get_penalty(None) == NoPenalty()
    mine = Lp(p=0.3)
    assert get_penalty(mine) is mine
    assert isinstance(mine, Penalty)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: get_penalty("l3"), "penalty='l3' is not valid; it must be a Penalty or one of 'l2', 'l1'.*'elastic_net'"),
        (lambda: get_penalty("l1", p=2), "p=2 is not valid; the penalty 'l1' takes alpha"),
        (lambda: get_penalty("none", alpha=2), "alpha=2 is not valid; the penalty 'none' takes no parameters"),
        (lambda: get_penalty(L1(), alpha=2), "has its parameters"),
        (lambda: L1(alpha=-1), "L1: alpha=-1 is not valid; it must be a finite number >= 0"),
        (lambda: ElasticNet(l1_ratio=1.1), "ElasticNet: l1_ratio=1.1 is not valid"),
        (lambda: Lp(p=1), r"Lp: p=1 is not valid; it must be a finite number > 0 and < 1"),
        (lambda: Lp(p=0), "Lp: p=0 is not valid"),
        (lambda: Lp(p="half"), "Lp: p='half' is not valid"),
        (lambda: Box(low=1, high=0), "Box: low=1.0 and high=0.0 leave nothing between them; low must be <= high"),
        (lambda: L1Ball(radius=0), "L1Ball: radius=0 is not valid; it must be a finite number > 0"),
        (lambda: L2Ball(radius=np.inf), "L2Ball: radius=inf is not valid"),
        (lambda: L1Ball(radius=1.0).strength([2.0, 0.0], [0.0, 0.0]), "norm 2, outside the ball of radius=1; project it first"),
        (lambda: Box(low=np.nan), "Box: low=nan is not valid; it must be a number or an infinity"),
    ],
)
def test_wrong_names_and_parameters_are_refused_with_what_would_do(make, message):
    with pytest.raises(ValueError, match=message):
        make()

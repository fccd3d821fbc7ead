"""Bounds by their formulas, asked forwards and backwards, and what is read off fitted models."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom

from mercer._params import InvalidParameterError
from mercer.ensemble import AdaBoostClassifier
from mercer.kernel_ridge import KernelRidge
from mercer.linear_model import LogisticRegression, Ridge
from mercer.neighbors import KNeighborsClassifier
from mercer.pipeline import make_pipeline
from mercer.preprocessing import StandardScaler
from mercer.svm import SVC
from mercer.theory import (
    VC,
    Bernstein,
    BinomialTest,
    BoostingMargin,
    Catoni,
    Compression,
    DeletedNeighbors,
    EmpiricalBernstein,
    EmpiricalRademacher,
    FiniteClass,
    Hoeffding,
    Margin,
    Massart,
    McAllester,
    McDiarmid,
    Occam,
    Rademacher,
    RealizableFiniteClass,
    RealizableVC,
    RegularizedLoss,
    Seeger,
    UniformStability,
    bound,
    growth_function,
    sample_size,
    shatters,
    vc_dimension,
)
from mercer.tree import DecisionTreeClassifier

INPUTS = {
    Hoeffding: {},
    McDiarmid: {"scale": 2.0},
    Bernstein: {"variance": 0.05},
    EmpiricalBernstein: {"variance": 0.05},
    FiniteClass: {"size": 100},
    RealizableFiniteClass: {"size": 100},
    Massart: {"log_size": 7.0},
    VC: {"dimension": 5},
    RealizableVC: {"dimension": 5},
    Rademacher: {"complexity": 0.1},
    EmpiricalRademacher: {"complexity": 0.1},
    Margin: {"complexity": 0.1, "margin": 0.5},
    BoostingMargin: {"dimension": 2, "margin": 0.5},
    UniformStability: {"beta": 1.0},
    Occam: {"bits": 50.0},
    Compression: {"n_kept": 5},
    McAllester: {"divergence": 3.0},
    Seeger: {"divergence": 3.0},
    BinomialTest: {},
    DeletedNeighbors: {"n_neighbors": 3},
}


@pytest.mark.parametrize("kind", INPUTS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("precision", [0.5, 0.07])
def test_the_rows_for_a_precision_are_the_fewest_that_reach_it(kind, precision):
    made = kind(m=50, delta=0.05, **INPUTS[kind])
    m = made.rows_for(precision)
    assert made.precision_for(m) <= precision
    assert m == 1 or made.precision_for(m - 1) > precision


@pytest.mark.parametrize("kind", INPUTS, ids=lambda kind: kind.__name__)
def test_more_rows_and_more_doubt_make_a_bound_smaller(kind):
    gaps = [kind(m=1000, delta=0.05, **INPUTS[kind]).precision_for(m) for m in (500, 1000, 2000, 50_000)]
    assert all(first > second for first, second in pairwise(gaps))
    assert kind(m=1000, delta=0.2, **INPUTS[kind]).value < kind(m=1000, delta=0.01, **INPUTS[kind]).value


def test_the_notes_bound_of_a_finite_class_is_the_two_sided_one():
    made = FiniteClass(size=10, m=100, delta=0.05, risk=0.1, two_sided=True)
    assert made.value == pytest.approx(0.1 + math.sqrt((math.log(10) + math.log(2 / 0.05)) / 200), rel=1e-14)


def test_the_constants_of_replacing_a_row():
    made = UniformStability(beta=3.0, loss_bound=2.0, m=50, delta=0.1, risk=0.5)
    assert made.value == pytest.approx(0.5 + 3 / 50 + (2 * 3 + 2) * math.sqrt(math.log(10) / 100), rel=1e-14)


def test_the_bound_of_a_regularised_loss_has_no_delta():
    made = RegularizedLoss(lipschitz=2.0, strength=0.5, m=100)
    assert made.gap == pytest.approx(2 * 4 / (0.5 * 100))
    assert made.holds == "in expectation"
    assert not made.is_vacuous
    with pytest.raises(InvalidParameterError, match=r"delta=0\.05 is not valid; it must be None"):
        RegularizedLoss(lipschitz=2.0, strength=0.5, m=100, delta=0.05)


@settings(max_examples=30, deadline=None)
@given(m=st.integers(1, 400), data=st.data(), delta=st.sampled_from([0.5, 0.05, 1e-9]))
def test_the_binomial_bound_is_where_the_tail_is_delta(m, data, delta):
    errors = data.draw(st.integers(0, m))
    p = BinomialTest(m=m, delta=delta, risk=errors / m).value
    assert p == 1 if errors == m else binom.cdf(errors, m, p) == pytest.approx(delta, rel=1e-5)


def test_tails_too_small_for_a_float_are_inverted():
    made = Compression(n_kept=300, m=1000, delta=0.05, risk=0.01)
    log_choices = math.log(1001) + math.lgamma(1001) - math.lgamma(301) - math.lgamma(701)
    tail = binom.logpmf(np.arange(8), 700, made.value)
    assert np.logaddexp.reduce(tail) == pytest.approx(math.log(0.05) - log_choices, abs=1e-6)


def test_seegers_bound_is_never_above_mcallesters():
    for risk in (0.0, 0.01, 0.2, 0.5):
        inputs = {"m": 300, "delta": 0.05, "divergence": 4.0, "risk": risk}
        assert Seeger(**inputs).value <= McAllester(**inputs).value


def test_catonis_bound_has_no_risk_below_its_divergence():
    made = Catoni(m=100, delta=0.05, divergence=0.0, risk=0.0, C=2.0)
    assert made.value == pytest.approx((1 - 0.05 ** (1 / 100)) / (1 - math.exp(-2)))


@settings(max_examples=40, deadline=None)
@given(d=st.integers(0, 12), m=st.integers(1, 60))
def test_the_growth_function_is_sauers_sum(d, m):
    assert growth_function(d, m) == sum(math.comb(m, i) for i in range(d + 1))


def test_growth_of_huge_classes_is_infinite_and_no_error():
    assert growth_function(5000, 100_000) == math.inf
    assert VC(dimension=200_000, m=10**6, delta=0.05).is_vacuous


def test_a_bound_says_when_it_is_vacuous():
    assert "(vacuous)" in repr(VC(dimension=100, m=50, delta=0.05))
    assert "vacuous" not in repr(VC(dimension=1, m=50_000, delta=0.05))
    assert Hoeffding(m=1, delta=0.01, span=5.0).is_vacuous


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hoeffding(m=0, delta=0.1), "Hoeffding: m=0 is not valid"),
        (lambda: Hoeffding(m=10, delta=1.0), r"delta=1\.0 is not valid"),
        (lambda: VC(m=10, delta=0.1, dimension=2.5), "dimension"),
        (lambda: Compression(m=10, delta=0.1, n_kept=11), "there are m=10 rows"),
        (lambda: Bernstein(m=10, delta=0.1, variance=0.3), "losses within"),
        (lambda: RealizableVC(m=10, delta=0.1, dimension=2, risk=0.1), "risk"),
        (lambda: Massart(m=10, delta=0.1, log_size=1.0).rows_for(0.0), "precision"),
        (lambda: sample_size(0.1, bound="vc"), "dimension"),
        (lambda: sample_size(0.1, bound="none"), "bound='none'"),
        (lambda: sample_size(0.1, colour="red"), "Hoeffding takes risk, span, two_sided"),
    ],
)
def test_wrong_inputs_are_named(make, message):
    with pytest.raises(InvalidParameterError, match=message):
        make()


# ---- what is read off models


@pytest.fixture(scope="module")
def two_classes():
    random = np.random.RandomState(0)
    X = random.normal(size=(300, 4))
    return X, (X[:, 0] + 0.3 * random.normal(size=300) > 0).astype(int)


def test_a_linear_machine_has_its_dimension_its_norm_and_its_support_vectors_read(two_classes):
    X, y = two_classes
    model = SVC(kernel="linear").fit(X, y)
    table = bound(model, X, y)
    assert table["VC"].bound.inputs == {"m": 300, "delta": 0.05, "risk": table.risk, "dimension": 5}
    assert table["compression"].bound.n_kept == len(model.support_)
    assert [entry.value for entry in table.entries] == sorted(entry.value for entry in table.entries)
    assert table["margin"].bound.complexity == pytest.approx(math.sqrt((X**2).sum() + 300) / 300)
    assert "compression" in repr(table)
    assert table.to_frame().shape[0] == len(table.entries)


def test_margins_of_a_kernel_machine_are_those_of_its_norm_in_feature_space(two_classes):
    X, y = two_classes
    linear = bound(SVC(kernel="linear").fit(X, y), X, y)
    same = bound(SVC(kernel="poly", degree=1, gamma=1.0, coef0=0.0).fit(X, y), X, y)
    assert same["margin"].value == pytest.approx(linear["margin"].value, rel=1e-6)
    assert same["VC"].bound.dimension == 5
    assert "takes" not in same.why_not.get("margin", "")


def test_what_is_taken_from_all_rows_compresses_nothing(two_classes):
    X, y = two_classes
    assert "gamma='scale'" in bound(SVC().fit(X, y), X, y).why_not["compression"]
    assert "compression" not in bound(SVC(gamma=0.5).fit(X, y), X, y).why_not


def test_trees_are_counted_and_told(two_classes):
    X, y = two_classes
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    table = bound(model, X, y)
    splits = model.get_n_leaves() - 1
    assert table["Occam"].bound.bits == (2 * splits + 1) + splits * (2 + 64) + (splits + 1)
    catalan = math.comb(2 * splits, splits) / (splits + 1)
    ways = math.log(catalan) + splits * math.log(4 * 301) + (splits + 1) * math.log(2)
    assert table["growth of trees"].bound.log_size == pytest.approx(ways)


def test_test_rows_give_the_tightest_bounds_and_pipelines_nothing_else(two_classes):
    X, y = two_classes
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:200], y[:200])
    table = bound(model, X[:200], y[:200], X_test=X[200:], y_test=y[200:])
    assert {entry.name for entry in table.entries} == {"test set, binomial", "test set, Hoeffding"}
    assert table.tightest.name == "test set, binomial"
    assert "pipeline" in table.why_not["VC"]


def test_ridge_without_intercept_has_its_stability_read():
    random = np.random.RandomState(0)
    X = random.uniform(-1, 1, size=(500, 2))
    y = X[:, 0]
    table = bound(Ridge(alpha=5000.0, fit_intercept=False).fit(X, y), X, y)
    same = bound(KernelRidge(alpha=5000.0, kernel="linear").fit(X, y), X, y)
    assert table["uniform stability"].value == pytest.approx(same["uniform stability"].value, rel=1e-8)
    assert table["regularised loss"].bound.delta is None
    assert "intercept" in bound(Ridge().fit(X, y), X, y).why_not["uniform stability"]
    assert "loss_bound" in bound(Ridge().fit(X, y), X, y, X_test=X, y_test=y).why_not["test set"]
    assert bound(Ridge().fit(X, y), X, y, X_test=X, y_test=y, loss_bound=4.0).tightest.name == "test set, Bernstein"


def test_neighbours_and_votes_are_read(two_classes):
    X, y = two_classes
    assert bound(KNeighborsClassifier(3).fit(X, y), X, y)["neighbours"].bound.n_neighbors == 3
    votes = bound(AdaBoostClassifier(n_estimators=5).fit(X, y), X, y)
    assert votes["boosting margin"].is_vacuous
    assert "weighted vote" in votes.why_not.get("margin", "") or "coef_" in votes.why_not["margin"]


def test_the_boosted_stumps_dimension_is_at_least_the_true_one(two_classes):
    X, y = two_classes
    table = bound(AdaBoostClassifier(n_estimators=3).fit(X, y), X, y)
    stump = DecisionTreeClassifier(max_depth=1)
    assert table["boosting margin"].bound.dimension >= vc_dimension(stump, 4, most=5, random_state=0).lower


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y, model: bound(model, X, y, delta=0.0), "delta"),
        (lambda X, y, model: bound(model, X, y[:5]), "one value a row"),
        (lambda X, y, model: bound(model, X, y, X_test=X), "belong together"),
    ],
)
def test_wrong_calls_of_bound_are_named(two_classes, call, message):
    X, y = two_classes
    with pytest.raises(InvalidParameterError, match=message):
        call(X, y, LogisticRegression().fit(X, y))


# ---- shattering


def test_lines_shatter_three_points_and_no_four():
    found = vc_dimension(SVC(kernel="linear", C=1e6), 2, most=4, random_state=0)
    assert (found.lower, found.upper) == (3, 3)
    assert shatters(SVC(kernel="linear", C=1e6), found.points)
    assert not shatters(SVC(kernel="linear", C=1e6), [[0, 0], [1, 1], [2, 2]])


def test_stumps_on_a_line_have_dimension_two_and_free_trees_shatter_what_they_are_given():
    assert vc_dimension(DecisionTreeClassifier(max_depth=1), 1, random_state=0).lower == 2
    assert vc_dimension(DecisionTreeClassifier(), 1, most=6, random_state=0).lower == 6


def test_too_many_points_are_refused():
    with pytest.raises(InvalidParameterError, match="16 at most"):
        shatters(DecisionTreeClassifier(), np.zeros((17, 1)))


# ---- formulas, written out once more


def _root(x):
    return math.sqrt(x)


L20, L40 = math.log(20), math.log(40)  # ln(1/delta), ln(2/delta)
FORMULAS = [
    (Hoeffding(m=200, delta=0.05, risk=0.1, span=2.0), 0.1 + 2 * _root(L20 / 400)),
    (McDiarmid(m=200, delta=0.05, risk=0.1, scale=3.0), 0.1 + 3 * _root(L20 / 400)),
    (Bernstein(m=200, delta=0.05, variance=0.04), _root(0.08 * L20 / 200) + L20 / 600),
    (EmpiricalBernstein(m=200, delta=0.05, variance=0.04), _root(0.08 * L40 / 200) + 7 * L40 / (3 * 199)),
    (FiniteClass(m=200, delta=0.05, size=50), _root((math.log(50) + L20) / 400)),
    (RealizableFiniteClass(m=200, delta=0.05, size=50), (math.log(50) + L20) / 200),
    (Massart(m=200, delta=0.05, log_size=3.0), _root(6 / 200) + _root(L20 / 400)),
    (VC(m=200, delta=0.05, dimension=2), _root(2 * math.log(1 + 200 + 19900) / 200) + _root(L20 / 400)),
    (RealizableVC(m=200, delta=0.05, dimension=1), 2 / 200 * (math.log2(401) + math.log2(40))),
    (Rademacher(m=200, delta=0.05, complexity=0.03), 0.06 + _root(L20 / 400)),
    (EmpiricalRademacher(m=200, delta=0.05, complexity=0.03), 0.06 + 3 * _root(L40 / 400)),
    (Margin(m=200, delta=0.05, complexity=0.03, margin=0.5), 0.12 + 3 * _root(L40 / 400)),
    (BoostingMargin(m=200, delta=0.05, dimension=1, margin=0.5), 4 * _root(2 * math.log(201) / 200) + _root(L20 / 400)),
    (Occam(m=200, delta=0.05, bits=10.0), _root((10 * math.log(2) + L20) / 400)),
    (McAllester(m=200, delta=0.05, divergence=2.0), _root((2 + math.log(2 * _root(200) / 0.05)) / 400)),
    (Seeger(m=200, delta=0.05, divergence=2.0), 1 - math.exp(-(2 + math.log(2 * _root(200) / 0.05)) / 200)),
    (DeletedNeighbors(m=200, delta=0.05, n_neighbors=3), _root(19 / 10)),
    (Compression(m=200, delta=0.05, n_kept=2), 1 - (0.05 / (201 * 19900)) ** (1 / 198)),
    (BinomialTest(m=200, delta=0.05), 1 - 0.05 ** (1 / 200)),
]


@pytest.mark.parametrize(("made", "expected"), FORMULAS, ids=lambda each: type(each).__name__)
def test_a_bound_is_its_formula(made, expected):
    assert made.value == pytest.approx(expected, rel=1e-9)

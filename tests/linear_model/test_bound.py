"""The strength that corresponds to a bound: the penalised fit then has the norm of the bound, and is what the bound allows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.linear_model import Lasso, Ridge, strength_of_bound
from mercer.penalties import L1Ball, L2Ball
from tests.linear_model.test_lasso import make_data

SHAPES = [(60, 5), (12, 30), (300, 40)]


def fit(kind, alpha, X, y, weights, fit_intercept):
    model = Ridge(alpha, fit_intercept=fit_intercept) if kind is L2Ball else None
    model = model or Lasso(alpha, fit_intercept=fit_intercept, tol=1e-12, max_iter=20_000)
    return model.fit(X, y, weights)


@pytest.mark.parametrize("kind", [L1Ball, L2Ball])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_penalised_fit_has_the_norm_of_the_bound(kind, shape, fit_intercept, is_weighted, as_sparse):
    X, y = make_data(3, *shape)
    X, weights = X + 0.5, np.linspace(0.2, 3, shape[0]) if is_weighted else None
    given = sp.csr_array(X) if as_sparse else X
    norm = 1 if kind is L1Ball else 2
    free = np.linalg.norm(fit(kind, 1e-6, X, y, weights, fit_intercept).coef_, norm)
    for share in (0.05, 0.5, 0.9):
        alpha = strength_of_bound(given, y, kind(share * free), sample_weight=weights, fit_intercept=fit_intercept)
        assert alpha > 0
        model = fit(kind, alpha, X, y, weights, fit_intercept)
        assert np.linalg.norm(model.coef_, norm) == pytest.approx(share * free, rel=1e-6)


@pytest.mark.parametrize("kind", [L1Ball, L2Ball])
def test_it_is_the_multiplier_of_the_bound_at_the_solution(kind):
    X, y = make_data(4, 40, 6)
    ball, alpha = kind(1.0), strength_of_bound(X, y, kind(1.0), fit_intercept=False)
    coef = fit(kind, alpha, X, y, None, False).coef_
    scale = len(y) if kind is L1Ball else 1  # the units of Lasso and of Ridge
    assert ball.strength(ball.prox(coef, 1.0), X.T @ (X @ coef - y) / scale) == pytest.approx(alpha, rel=1e-6)


@pytest.mark.parametrize("kind", [L1Ball, L2Ball])
def test_a_loose_bound_needs_no_penalty(kind):
    X, y = make_data(5, 40, 6)
    assert strength_of_bound(X, y, kind(1e6)) == 0
    assert strength_of_bound(X, np.ones(40), kind(0.1)) == 0
    assert strength_of_bound(np.ones((40, 2)), y, kind(0.1)) == 0


def test_wrong_bounds_are_refused():
    with pytest.raises(ValueError, match=r"strength_of_bound: bound=2\.0 is not valid; it must be"):
        strength_of_bound(np.eye(3), [1.0, 2, 3], 2.0)

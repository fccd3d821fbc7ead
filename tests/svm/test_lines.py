"""Lines of a kernel that are kept, and variables that leave the problem for a while."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.svm import SVC, SVR, NuSVC
from mercer.svm._block_smo import BlockSMO
from mercer.svm._lines import AllLines, LineCache


def _matrix(n=60):
    return RBF(gamma=0.5).on(np.random.RandomState(0).randn(n, 3))


@pytest.mark.parametrize("seed", range(5))
def test_a_cache_of_few_lines_gives_those_asked_for_whichever_were_asked_for_before(seed):
    random, matrix = np.random.RandomState(seed), _matrix()
    whole, cache = matrix.rows(np.arange(60)), LineCache(matrix, 20)
    for left in (np.arange(60), np.sort(random.permutation(60)[:40]), np.sort(random.permutation(40)[:25])):
        left = left.astype(np.int32)
        if len(left) < 60:
            cache.restrict(left)
            whole = whole[np.ix_(left, left)]
        for _ in range(20):
            rows = random.randint(len(left), size=20).astype(np.int32)
            np.testing.assert_array_equal(cache.store[cache.fetch(rows)], whole[rows])
    cache.release()
    rows = np.arange(20, dtype=np.int32)
    np.testing.assert_array_equal(cache.store[cache.fetch(rows)], matrix.rows(rows))


def test_lines_not_asked_for_longest_make_room():
    class Counted:
        def __init__(self):
            self.matrix, self.asked = _matrix(), []
            self.n_rows, self.dtype = self.matrix.n_rows, self.matrix.dtype

        def rows(self, rows, out=None):
            self.asked += rows.tolist()
            return self.matrix.rows(rows, out=out)

    counted = Counted()
    cache = LineCache(counted, 3)
    for rows in ([0, 1, 2], [0], [3], [0, 2], [4], [1]):
        cache.fetch(np.array(rows, dtype=np.int32))
    assert counted.asked == [0, 1, 2, 3, 4, 1]


@pytest.mark.parametrize("kind", [AllLines, LineCache])
def test_lines_of_all_rows_are_added_to_their_values_also_where_few_are_left(kind):
    matrix = _matrix()
    whole = matrix.rows(np.arange(60))
    lines = AllLines(whole) if kind is AllLines else LineCache(matrix, 10)
    lines.restrict(np.arange(5, 25, dtype=np.int32))
    rows, changes, values = np.array([3, 40], dtype=np.int32), np.array([2.0, -1.0]), np.zeros(60)
    lines.add_all(rows, changes, values, 1)
    np.testing.assert_allclose(values, changes @ whole[rows], rtol=1e-12)


@pytest.mark.parametrize(("cls", "params"), [(SVC, {"C": 100.0}), (SVR, {"C": 10.0}), (NuSVC, {"nu": 0.2})])
@pytest.mark.parametrize("max_iter", [-1, 2500])
def test_leaving_out_what_cannot_move_changes_no_solution(cls, params, max_iter, monkeypatch):
    random = np.random.RandomState(0)
    X = random.randn(1500, 4)
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * random.randn(1500)
    y = y if cls is SVR else y > 0
    monkeypatch.setattr("mercer.svm._block_smo.SHRINK_EVERY", 1)
    sizes = []
    solve = BlockSMO._solve
    monkeypatch.setattr(BlockSMO, "_solve", lambda self, *of: (sizes.append(len(self._active.values)), solve(self, *of))[1])
    if max_iter != -1:
        with pytest.warns(Warning, match="max_iter=2500"):
            model = cls(max_iter=max_iter, **params).fit(X, y)
        exact = RBF(gamma=model.kernel_.gamma).on(X).rows(model.support_).T @ model.dual_coef_[0] + model.intercept_
        values = model.predict(X) if cls is SVR else model.decision_function(X)
        np.testing.assert_allclose(values, exact, atol=1e-8 * np.abs(exact).max())
        return
    model = cls(**params).fit(X, y)
    assert min(sizes) < 1500
    sizes.clear()
    whole = cls(shrinking=False, **params).fit(X, y)
    assert set(sizes) == {1500}
    a, b = model.certificate_, whole.certificate_
    assert a.converged
    assert b.converged
    assert min(a.primal, b.primal) >= max(a.dual, b.dual)
    np.testing.assert_allclose(a.dual, b.dual, rtol=1e-4)

import numpy as np
import pytest
import scipy.sparse as sp

from mercer._arrays import require_countable, tidy
from mercer.cluster import kmeans_plusplus
from mercer.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier, enet_path, lasso_path
from mercer.preprocessing import MaxAbsScaler
from mercer.svm import LinearSVC


@pytest.fixture
def X():
    """Sparse rows with indices of 64 bits."""
    rows = sp.random_array((30, 6), density=0.4, format="csr", rng=np.random.default_rng(0))
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


def short(X):
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


FUNCTIONS = {
    "kmeans_plusplus": lambda X, y: kmeans_plusplus(X, 3, random_state=0)[0],
    "enet_path": lambda X, y: enet_path(X, y, alphas=3)[1],
    "lasso_path": lambda X, y: lasso_path(X, y, alphas=3)[1],
    "labels of several kinds": lambda X, y: RidgeClassifier().fit(X, np.c_[y > 0, y > 1].astype(int)).coef_,
    "an intercept as a column": lambda X, y: LogisticRegression(solver="liblinear").fit(X, y > 0).coef_,
    "a dual method": lambda X, y: LinearSVC(dual=True, random_state=0).fit(X, y > 0).coef_,
    "a part of the rows": lambda X, y: SGDClassifier(random_state=0).partial_fit(X, y > 0, classes=[False, True]).coef_,
    "there and back": lambda X, y: (scaler := MaxAbsScaler().fit(X)).inverse_transform(scaler.transform(X)).toarray(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_long_indices_of_sparse_rows_change_nothing(name, X):
    y = np.random.default_rng(1).normal(size=X.shape[0])
    np.testing.assert_array_equal(FUNCTIONS[name](X, y), FUNCTIONS[name](short(X), y))
    assert X.indices.dtype == X.indptr.dtype == np.int64


def test_sparse_rows_in_good_order_are_not_copied(X):
    assert np.shares_memory(tidy(X).data, X.data)
    ready = short(X)
    assert tidy(ready) is ready


def test_an_index_that_32_bits_would_turn_into_another_is_refused(X):
    X.indices[3] = 2**32 + 1
    with pytest.raises(ValueError, match="indices must be < 6"):
        MaxAbsScaler().fit(X)


@pytest.mark.parametrize("shape", [(2**31, 2), (2, 2**31)])
def test_more_rows_or_columns_than_32_bits_count_are_refused_before_they_are_converted(shape):
    with pytest.raises(ValueError, match=r"tidy: X is sparse with 1 entries.*to 2147483647 at most.*fewer rows at a time"):
        require_countable(tidy, sp.coo_array(([1.0], ([0], [0])), shape=shape))

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from mercer._arrays import check_weights, require_countable, tidy
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


def test_rows_in_another_order_are_sorted_in_a_copy():
    X = sp.csr_array((np.array([1.0, 2, 3, 4]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    data, indices = X.data.copy(), X.indices.copy()
    assert MaxAbsScaler().fit(X).scale_.tolist() == [2, 7, 1]
    np.testing.assert_array_equal(X.data, data)
    np.testing.assert_array_equal(X.indices, indices)


def frame(X):
    return pd.DataFrame(X, columns=list("abc"))


ROWS = np.random.default_rng(0).normal(size=(30, 3))


def spoilt(values, place, value):
    values = values.copy()
    values[place] = value
    return values


# What plain arrays, which take a short way, are refused for or warned about; scikit-learn's checks see lists.
WRONG = {
    "NaN": (spoilt(ROWS, (3, 1), np.nan), np.arange(30) % 2),
    "infinity": (spoilt(ROWS, (3, 1), np.inf), np.arange(30) % 2),
    "no rows": (ROWS[:0], np.arange(0)),
    "no columns": (ROWS[:, :0], np.arange(30) % 2),
    "too few labels": (ROWS, np.arange(29) % 2),
    "a label that is NaN": (ROWS, spoilt(np.arange(30) % 2.0, 5, np.nan)),
    "labels that are numbers": (ROWS, np.linspace(0, 1, 30)),
    "a label for almost every row": (ROWS, np.arange(30)),
    "labels in two columns": (ROWS, np.arange(60).reshape(30, 2) % 2),
}


@pytest.mark.parametrize("name", WRONG)
def test_plain_arrays_are_refused_as_lists_are(name):
    def said(X, y):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                LogisticRegression().fit(X, y)
            except ValueError as error:
                return str(error)
        return {str(warning.message) for warning in caught}

    X, y = WRONG[name]
    answer = said(X, y)
    assert answer
    assert answer == said(pd.DataFrame(X).to_numpy(dtype=object), y)


def test_plain_arrays_record_their_features_and_forget_the_names_of_others():
    y = np.arange(30) % 2
    model = LogisticRegression().fit(frame(ROWS), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.fit(ROWS[:, :2], y)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 3 features, but LogisticRegression is expecting 2"):
        model.predict(ROWS)
    partial = SGDClassifier().partial_fit(ROWS, y, classes=[0, 1])
    with pytest.raises(ValueError, match="X has 2 features, but SGDClassifier is expecting 3"):
        partial.partial_fit(ROWS[:, :2], y)


@pytest.mark.parametrize("labels", [np.arange(30) % 3, np.arange(30) % 2 == 0, np.array(["no", "yes"])[np.arange(30) % 2]])
def test_plain_labels_are_those_of_a_list(labels):
    mine, same = LogisticRegression().fit(ROWS, labels), LogisticRegression().fit(ROWS.tolist(), labels.tolist())
    np.testing.assert_array_equal(mine.classes_, same.classes_)
    np.testing.assert_array_equal(mine.coef_, same.coef_)


def test_a_weight_of_no_dimension_is_an_error_of_type_as_in_scikit_learn():
    np.testing.assert_array_equal(check_weights(2.0, 3, np.float64), [2, 2, 2])
    with pytest.raises(TypeError, match=r"got scalar `array\(1\.\)` instead: sample_weight must be a vector"):
        check_weights(np.array(1), 3, np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_of_another_byte_order_keep_their_precision(dtype):
    X = np.random.RandomState(0).rand(20, 3).astype(dtype)
    scales = [MaxAbsScaler().fit(each).scale_ for each in (X, X.astype(X.dtype.newbyteorder()))]
    np.testing.assert_array_equal(*scales, strict=True)

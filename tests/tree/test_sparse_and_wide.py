"""Trees on sparse and on wide data: the same trees, whatever X is stored in and however its columns are read."""

from __future__ import annotations

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from mercer._native import kernels
from mercer._trees.by_function import Limits
from mercer._trees.growth import Growth, Targets
from mercer._trees.rows import kernel_rows
from mercer.ensemble import RandomForestClassifier
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor
from tests.tree.growing import CLASSES, grow

LIMITS = Limits(2**31, 2, 1, 0.0, 0.0, 0)
CRITERIA = (*CLASSES, "squared_error", "absolute_error", "poisson")
NUMBERS = np.array([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0])


def hollow_table(random, n, d, *, share=0.2, has_missing=False, has_full=True):
    """Mostly zeros, with values on both sides of zero, an empty column, and a full column or two."""
    X = np.where(random.random((n, d)) < share, random.choice(NUMBERS, (n, d)), 0.0)
    if has_full:
        X[:, -1] = random.normal(size=n)
    if d > 2:
        X[:, 1] = 0.0
    if has_missing:
        X[random.random((n, d)) < 0.05] = np.nan
    return X


def targets_of(random, criterion, n, n_outputs):
    if criterion in CLASSES:
        return random.integers(0, 3, (n, n_outputs))
    y = random.normal(size=(n, n_outputs)).round(3)
    return np.abs(y) if criterion == "poisson" else y


def model_for(criterion, is_random, **params):
    if criterion in CLASSES:
        return (ExtraTreeClassifier if is_random else DecisionTreeClassifier)(criterion=criterion, **params)
    return (ExtraTreeRegressor if is_random else DecisionTreeRegressor)(criterion=criterion, **params)


def assert_equal_trees(one, other):
    """To the last bit."""
    for name in ("children_left", "children_right", "feature", "threshold", "missing_go_to_left"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("impurity", "value", "n_node_samples", "weighted_n_node_samples"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    criterion=st.sampled_from(CRITERIA),
    is_random=st.booleans(),
    shape=st.sampled_from([(1, 3), (12, 4), (60, 12), (40, 60)]),
    n_outputs=st.integers(1, 2),
    is_weighted=st.booleans(),
    has_missing=st.booleans(),
    max_features=st.sampled_from([None, 1, 3]),
    stops=st.sampled_from([{}, {"max_leaf_nodes": 5}, {"min_samples_leaf": 3}, {"min_weight_fraction_leaf": 0.1}]),
    form=st.sampled_from([sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.coo_array]),
)
def test_a_tree_of_sparse_rows_is_that_of_the_dense_ones(
    seed, criterion, is_random, shape, n_outputs, is_weighted, has_missing, max_features, stops, form
):
    random = np.random.default_rng(seed)
    X = hollow_table(random, *shape, has_missing=has_missing)
    y = targets_of(random, criterion, shape[0], n_outputs)
    weights = random.integers(0, 3, shape[0]) + (random.random() < 0.5) * random.random(shape[0]) if is_weighted else None
    if weights is not None and not weights.any():
        weights = None
    if criterion == "poisson" and (np.average(y, axis=0, weights=weights) <= 0).any():
        return
    params = {"max_features": max_features, "random_state": 0, **stops}
    dense, sparse = (model_for(criterion, is_random, **params).fit(given, y, sample_weight=weights) for given in (X, form(X)))
    assert_equal_trees(dense.tree_, sparse.tree_)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(form(X)))
    np.testing.assert_array_equal(dense.apply(X), sparse.apply(form(X)))
    assert (dense.decision_path(X) != sparse.decision_path(form(X))).nnz == 0


@pytest.mark.parametrize("direction", [-1, 1])
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
@pytest.mark.parametrize("is_random", [False, True])
def test_monotone_trees_of_sparse_rows_are_those_of_dense_ones(direction, criterion, is_random):
    random = np.random.default_rng(0)
    X = hollow_table(random, 80, 40)
    y = targets_of(random, criterion, 80, 1)[:, 0]
    y = (y > 0).astype(int) if criterion == "gini" else y
    params = {"monotonic_cst": np.full(40, direction), "random_state": 0}
    dense, sparse = (model_for(criterion, is_random, **params).fit(given, y) for given in (X, sp.csr_array(X)))
    assert_equal_trees(dense.tree_, sparse.tree_)


WIDE = ("WideColumns", "RankedColumns")


def both_ways(criterion, X, y, weights=None, **options):
    return [grow(criterion, X, y, weights, kind=kind, **options) for kind in WIDE]


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    criterion=st.sampled_from(CRITERIA),
    is_hollow=st.booleans(),
    has_missing=st.booleans(),
    n_outputs=st.integers(1, 2),
    is_weighted=st.booleans(),
    max_features=st.sampled_from([None, 1, 4]),
    n_draws=st.sampled_from([0, 50]),
    stops=st.sampled_from([{}, {"max_leaves": 6}, {"min_rows_leaf": 4}, {"min_weight_leaf": 3.0}, {"max_depth": 3}]),
)
def test_columns_that_are_gathered_give_the_trees_of_ranked_ones(
    seed, criterion, is_hollow, has_missing, n_outputs, is_weighted, max_features, n_draws, stops
):
    """Sums of whole numbers are exact, so that what is left for the zeros is what they add up to."""
    random = np.random.default_rng(seed)
    X = hollow_table(random, 50, 9, has_missing=has_missing)
    if not is_hollow:
        X = np.where(X == 0, random.normal(size=X.shape).round(1), X)
    y = targets_of(random, criterion, 50, n_outputs)
    if criterion not in CLASSES:
        y = np.ceil(4 * y)
        y[25:] = y[:25] if criterion == "poisson" else -y[:25]  # the mean, which is taken off first, is a whole number
    weights = random.integers(0, 4, 50).astype(float) if is_weighted else None
    options = {"max_features": max_features, "n_draws": n_draws, "seeds": (3,), **stops}
    wide, ranked = both_ways(criterion, X, y, weights, **options)
    if criterion in ("entropy", "poisson") and is_hollow:  # whose logarithms are rounded, and mended as rows move
        assert wide[0].impurity[0] == pytest.approx(ranked[0].impurity[0], rel=1e-12)
        return
    assert_equal_trees(wide[0], ranked[0])


@pytest.mark.parametrize("n_threads", [2, 5])
@pytest.mark.parametrize("kind", ["WideColumns", "PlainColumns"])
@pytest.mark.parametrize("stops", [{}, {"max_leaves": 40}])
def test_threads_do_not_change_a_tree(n_threads, kind, stops):
    random = np.random.default_rng(0)
    X = hollow_table(random, 5000, 12, share=0.1)
    y = (X[:, 2:4].sum(axis=1) + random.normal(size=5000))[:, None]
    one, several = (
        grow("squared_error", X, y, kind=kind, max_features=5, n_threads=n, is_pair=True, **stops) for n in (1, n_threads)
    )
    assert_equal_trees(one[0], several[0])


def test_stored_zeros_and_repeated_entries_mean_what_they_add_up_to():
    random = np.random.default_rng(0)
    X = hollow_table(random, 60, 8)
    y = random.normal(size=60)
    rows, columns = np.nonzero(X)
    halves = X[rows, columns] / 2
    zeros = np.argwhere(X == 0)[::3]
    entries = np.concatenate([halves, halves, np.zeros(len(zeros))])
    places = np.concatenate([rows, rows, zeros[:, 0]]), np.concatenate([columns, columns, zeros[:, 1]])
    given = sp.coo_array((entries, places), shape=X.shape)
    for form in ("csr", "csc"):
        untidy = given.asformat(form)
        untidy.indices, untidy.indptr = untidy.indices.astype(np.int32), untidy.indptr.astype(np.int32)
        if form == "csr":  # the constructor sums what is repeated: repeat it by hand
            order = np.lexsort((places[1], places[0]))
            indptr = np.concatenate([[0], np.cumsum(np.bincount(places[0], minlength=60))])
            untidy = sp.csr_array((entries[order], places[1][order].astype(np.int32), indptr.astype(np.int32)), shape=X.shape)
            assert not untidy.has_canonical_format
        before = untidy.data.copy()
        for model in (DecisionTreeRegressor, ExtraTreeRegressor):
            dense = model(random_state=0).fit(X, y)
            sparse = model(random_state=0).fit(untidy, y)
            assert_equal_trees(dense.tree_, sparse.tree_)
            np.testing.assert_array_equal(sparse.predict(untidy), dense.predict(X))
        np.testing.assert_array_equal(untidy.data, before)


@pytest.mark.parametrize("model", [DecisionTreeClassifier(random_state=0), ExtraTreeClassifier(random_state=0)])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_type_of_index_and_number_is_taken(model, index, dtype):
    random = np.random.default_rng(0)
    X = hollow_table(random, 50, 30).astype(dtype)
    y = random.integers(0, 2, 50)
    sparse = sp.csr_array(X)
    sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
    assert_equal_trees(model.fit(X, y).tree_, type(model)(random_state=0).fit(sparse, y).tree_)


@pytest.mark.parametrize("kind", ["WideColumns", "PlainColumns"])
def test_nothing_but_zeros_is_a_leaf(kind):
    X = np.zeros((6, 300))
    tree = grow("gini", X, np.arange(6)[:, None] % 2, kind=kind, max_features=4)[0]
    assert tree.node_count == 1


@pytest.mark.parametrize("kind", ["WideColumns", "PlainColumns"])
def test_entries_next_to_zero_are_no_signal(kind):
    X = np.zeros((40, 50))
    X[::4, 3], X[1::4, 5] = 5e-8, -5e-8
    y = np.arange(40)[:, None] % 4 // 2
    assert grow("gini", X, y, kind=kind)[0].node_count == 1
    X[::5, 7] = 1.0
    assert set(grow("gini", X, y, kind=kind)[0].feature) <= {7, -2}


def test_a_draw_goes_on_until_a_column_varies():
    """Of many columns one varies, full or hollow: whatever is drawn first, it is found."""
    for kind in ("WideColumns", "PlainColumns"):
        for share in (1.0, 0.05):
            X = np.zeros((40, 500))
            X[:, 77] = np.where(np.arange(40) < 40 * share, np.arange(40) + 1.0, 0.0)
            y = (X[:, 77] > np.median(X[X[:, 77] > 0, 77]))[:, None].astype(int)
            for seed in range(5):
                tree = grow("gini", X, y, kind=kind, max_features=2, seeds=(seed,))[0]
                assert tree.feature[0] == 77


def test_weights_that_rounding_leaves_of_the_zeros_are_not_divided_by():
    """The zeros of the first column weigh less than the rounding of the sum of all weights."""
    X = np.zeros((40, 3))
    X[:15, 0], X[::2, 1], X[1:20:3, 2] = 1.0, 1.0, 2.0
    weights = np.where(X[:, 0] > 0, 1e17, 1.0)
    y = (np.arange(40) % 2).astype(float)[:, None]
    for criterion in ("squared_error", "gini"):
        tree = grow(criterion, X, y if criterion == "squared_error" else y.astype(int), weights, kind="WideColumns")[0]
        assert np.isfinite(tree.value).all()
        assert np.isfinite(tree.impurity).all()


def test_the_choice_of_columns_depends_on_the_values_alone():
    random = np.random.default_rng(0)
    hollow, full = hollow_table(random, 200, 100, share=0.05, has_full=False), random.normal(size=(200, 30))
    for X, max_features, is_wide in ((hollow, 100, True), (hollow, 5, True), (full, 30, False), (full, 5, False)):
        growth = Growth("gini", "best", LIMITS, max_features)
        kinds = {type(growth.columns(form(X), None, 1)) for form in (np.asarray, np.asfortranarray, sp.csr_array)}
        assert kinds == {kernels.WideColumns if is_wide else kernels.RankedColumns}
    wide = random.normal(size=(50, 3000))
    assert isinstance(Growth("gini", "best", LIMITS, 54).columns(wide, None, 1), kernels.WideColumns)


def test_categories_are_ranked():
    X = np.zeros((20, 60))
    flags = np.zeros(60, dtype=np.uint8)
    flags[3] = 1
    assert isinstance(Growth("gini", "best", LIMITS, 5).columns(X, flags, 1), kernels.RankedColumns)


class TestSparseRows:
    @pytest.mark.parametrize(
        ("indices", "indptr", "n_columns", "message"),
        [
            ([0, 3], [0, 1, 2], 3, "out of range"),
            ([0, -1], [0, 1, 2], 3, "out of range"),
            ([1, 0], [0, 2, 2], 3, "must rise"),
            ([1, 1], [0, 2, 2], 3, "must rise"),
            ([0, 1], [0, 2, 1], 3, "must not decrease"),
            ([0, 1], [0, 1, 3], 3, "behind the entries"),
            ([0, 1], [0, -1, 2], 3, "must not decrease"),
        ],
    )
    def test_a_broken_structure_is_refused(self, indices, indptr, n_columns, message):
        for index in (np.int32, np.int64):
            with pytest.raises(ValueError, match=message):
                kernels.SparseRows(np.ones(2), np.array(indices, dtype=index), np.array(indptr, dtype=index), n_columns, None)

    def test_columns_of_another_number_are_refused(self):
        X = sp.csr_array(np.eye(4))
        store = grow("gini", np.eye(4), np.arange(4)[:, None] % 2)
        with pytest.raises(ValueError, match="as many columns"):
            store.apply(X[:, :3], n_threads=1)

    def test_what_is_ready_passes_through(self):
        rows = kernel_rows(sp.csr_array(np.eye(4)))
        assert kernel_rows(rows) is rows
        assert rows.shape == (4, 4)


@given(
    X=hnp.arrays(
        np.float64,
        st.tuples(st.integers(2, 20), st.integers(1, 8)),
        elements=st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, np.nan, np.inf, -np.inf]),
    ),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_infinite_values_are_values_like_any_other(X, seed):
    """Kernels take them, though estimators refuse them."""
    y = np.random.default_rng(seed).integers(0, 2, len(X))[:, None]
    wide, ranked = both_ways("gini", X, y)
    assert_equal_trees(wide[0], ranked[0])


def test_targets_of_one_number_take_the_quick_way():
    """What is written for two classes and one target is as right as for several."""
    random = np.random.default_rng(0)
    X = hollow_table(random, 90, 20, has_missing=True)
    y = random.integers(-3, 4, 90).astype(float)
    y[45:] = -y[:45]  # the mean, which is taken off first, is zero
    for target in (Targets(y[:, None]), Targets((y > 0).astype(np.int32)[:, None], 2)):
        criterion = "gini" if target.n_classes else "squared_error"
        stores = []
        for kind in WIDE:
            growth = Growth(criterion, "best", LIMITS._replace(min_rows_leaf=2), 7)
            columns = kernels.WideColumns(X, 2, 1) if kind == "WideColumns" else kernels.RankedColumns(X, None, 1)
            seeds = np.arange(4, dtype=np.uint64)
            stores.append(growth.grow(columns, target, None, seeds=seeds, n_threads=1))
        np.testing.assert_array_equal(stores[0].nodes, stores[1].nodes)


FORMS = (
    np.ascontiguousarray,
    np.asfortranarray,
    lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    lambda X: np.repeat(X, 3, axis=0)[::3],
)


@pytest.mark.parametrize("kind", ["WideColumns", "PlainColumns"])
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_read_in_place_give_the_trees_of_copied_ones(kind, criterion, dtype):
    """However X lies, with full columns only or hollow ones in between, with missing values."""
    random = np.random.default_rng(0)
    full = random.normal(size=(60, 70)).astype(dtype)
    mixed = hollow_table(random, 60, 70, has_missing=True).astype(dtype)
    mixed[:, ::3] = full[:, ::3]
    for X in (full, mixed):
        y = targets_of(random, criterion, 60, 1)
        first, *others = (
            grow(criterion, form(X), y, kind=kind, max_features=4, seeds=(7,), n_looks=n_looks)[0]
            for form in FORMS
            for n_looks in (4, 10**6)
        )
        for other in others:
            assert_equal_trees(first, other)


def test_columns_keep_what_they_read_in_place():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 40)), random.integers(0, 2, 200)
    for make in (
        lambda: kernels.PlainColumns(X.copy(), None, 40, 1),
        lambda: kernels.WideColumns(X.copy(order="F"), 2, 1),
        lambda: kernels.wide_columns_if_faster(X.copy(), 1, 1, 1),
    ):
        kept = make()
        others = [np.full_like(X, 3.0) for _ in range(20)]  # where it lay, if it were given back
        grown = kernels.grow_classes(
            "gini", kept, y[:, None].astype(np.int32), 2, None, np.zeros(1, dtype=np.uint64), 0, 40,
            kernels.GrowthLimits(3, 2, 1, 0.0, 0.0, 0), 1,
        )  # fmt: skip
        assert len(grown[1]) > 5
        del others


def test_forests_have_their_trees_in_the_order_of_the_seeds():
    """Whichever of them is finished first: the first has most rows to grow on."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(3000, 4)), random.integers(0, 3, (3000, 1))
    weights = np.zeros((6, 3000))
    for tree, n in enumerate((3000, 20, 500, 30, 1000, 10)):
        weights[tree, :n] = 1
    for kind in ("RankedColumns", "PlainColumns", "WideColumns"):
        forests = (grow("gini", X, y, weights.ravel(), kind=kind, seeds=range(6), max_features=2, n_threads=n) for n in (1, 3))
        one, several = ([store[t] for t in range(6)] for store in forests)
        for tree, other in zip(one, several, strict=True):
            assert_equal_trees(tree, other)
        assert [tree.n_node_samples[0] for tree in several] == [3000, 20, 500, 30, 1000, 10]


@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(max_depth=2), RandomForestClassifier(n_estimators=40, random_state=0)]
)
def test_predictions_read_the_columns_that_trees_split_on(model):
    """Few columns or all, sorted or not; what the others hold makes no difference."""
    random = np.random.default_rng(0)
    X = hollow_table(random, 80, 40)
    model.fit(sp.csr_array(X), (X[:, 3] > 0) | (X[:, 7] < 0))
    used = {int(f) for tree in getattr(model, "estimators_", [model]) for f in tree.tree_.feature if f >= 0}
    other = np.where(np.isin(np.arange(40), list(used)), X, 1.0)
    expected = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(sp.csr_array(other)), expected)
    untidy = sp.csr_array(other)
    for begin, end in zip(untidy.indptr[:-1], untidy.indptr[1:], strict=True):
        untidy.indices[begin:end], untidy.data[begin:end] = untidy.indices[begin:end][::-1], untidy.data[begin:end][::-1]
    untidy.has_sorted_indices = True  # SciPy keeps what it once knew
    np.testing.assert_array_equal(model.predict_proba(untidy), expected)


@pytest.mark.parametrize("wrong", [-1, 40, 2**31 - 1])
def test_a_broken_sparse_matrix_is_refused_by_predictions(wrong):
    random = np.random.default_rng(0)
    X = sp.csr_array(hollow_table(random, 80, 40))
    model = DecisionTreeClassifier(max_depth=2).fit(X, random.integers(0, 2, 80))
    X.indices[100] = wrong
    with pytest.raises(ValueError, match="indices"):
        model.predict(X)
    X.indices[100] = 0
    X.data[100] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X)

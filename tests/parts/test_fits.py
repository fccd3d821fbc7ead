"""Fits of rows in parts are those of the rows together, whatever the parts and wherever they lie."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone

from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from mercer.preprocessing import StandardScaler
from tests.parts.families import N_ROWS, Family, capable, families, in_parts, table, takes_weights

X, NUMBERS, LABELS, WEIGHTS = table()
IS_HIGH = np.median(NUMBERS) < NUMBERS
FAMILIES = families()
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
cuttings = st.lists(st.integers(0, N_ROWS), max_size=6).map(sorted)


def data_of(family: Family) -> tuple[Any, ...]:
    target = {None: (), "numbers": (NUMBERS,), "classes": (LABELS,)}[family.target]
    return X, *target


def fitted(family: Family, wrap: Any = lambda array: array, *, is_weighted: bool = False) -> Any:
    weights = {"sample_weight": wrap(WEIGHTS)} if is_weighted else {}
    return clone(family.model).fit(*map(wrap, data_of(family)), **weights)


def require_equal(family: Family, one: Any, other: Any, *, rtol: float = 1e-7) -> None:
    for name in family.compared:
        expected, found = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-9 * max(1, np.abs(expected).max()), err_msg=name)
        assert found.dtype == expected.dtype


def test_the_families_here_are_all_that_there_are() -> None:
    assert {type(family.model).__name__ for family in FAMILIES} == set(capable())


@every_family
@settings(max_examples=6, deadline=None)
@given(cuts=cuttings)
def test_parts_give_the_model_of_all_rows(family: Family, cuts: list[int]) -> None:
    require_equal(family, fitted(family), fitted(family, lambda array: in_parts(array, cuts)))


@every_family
def test_weights_in_parts_count_as_they_do_together(family: Family) -> None:
    if not takes_weights(family.model) or family.model.get_params().get("class_weight"):
        pytest.skip("there are no weights of rows, or none beside those of classes")
    cuts = [0, 1, 100, 100, N_ROWS - 3]
    one, other = fitted(family, is_weighted=True), fitted(family, lambda array: in_parts(array, cuts), is_weighted=True)
    require_equal(family, one, other)


@every_family
def test_the_same_parts_give_the_same_bits_wherever_they_lie(family: Family) -> None:
    cuts = list(range(25, N_ROWS, 25))  # more than are merged at a time

    def chunked(array: Any) -> Any:
        return da.from_array(array, chunks=(25, *array.shape[1:]))

    models = [fitted(family, lambda array: in_parts(array, cuts))]
    with dask.config.set(scheduler="threads", num_workers=3):
        models.append(fitted(family, chunked))
    for name in family.compared:
        bits = [np.asarray(getattr(model, name)).tobytes() for model in models]
        assert bits[0] == bits[1], name


def test_float32_is_kept() -> None:
    def wrap(array: Any) -> Any:
        return in_parts(array.astype(np.float32), [100])

    model = Ridge().fit(wrap(X), wrap(NUMBERS))
    assert model.coef_.dtype == np.float32
    assert StandardScaler().fit(wrap(X)).transform(wrap(X)).dtype == np.float32


def test_columns_that_depend_on_others_are_found_out_part_by_part() -> None:
    dependent = np.column_stack([X, X[:, 0] + X[:, 1]])
    together, apart = LinearRegression().fit(dependent, NUMBERS), LinearRegression()
    apart.fit(in_parts(dependent, [50, 120]), in_parts(NUMBERS, [50, 120]))
    np.testing.assert_allclose(apart.coef_, together.coef_, atol=1e-9)
    assert apart.rank_ == together.rank_ == 4
    assert "singular value" in apart.certificate_.method


def test_a_fit_in_parts_has_a_certificate_and_a_summary() -> None:
    both = [LogisticRegression(C=np.inf, tol=1e-9).fit(X, IS_HIGH)]
    both.append(LogisticRegression(C=np.inf, tol=1e-9).fit(in_parts(X, [9, 77]), in_parts(IS_HIGH, [9, 77])))
    assert all(model.certificate_.converged for model in both)
    np.testing.assert_allclose(*(model.summary().std_err for model in both), rtol=1e-6)
    np.testing.assert_allclose(
        LinearRegression().fit(in_parts(X, [9]), in_parts(NUMBERS, [9])).summary().std_err,
        LinearRegression().fit(X, NUMBERS).summary().std_err,
        rtol=1e-9,
    )


def test_separable_classes_are_told_in_parts_too() -> None:
    with pytest.warns(UserWarning, match="perfectly separable"):
        LogisticRegression(C=np.inf).fit(in_parts(X, [60]), in_parts(X[:, 0] > 3, [60]))


def test_k_means_in_parts_starts_well_and_alike_for_any_place_of_the_parts() -> None:
    from mercer.cluster import KMeans

    random = np.random.default_rng(0)
    blobs = np.concatenate([random.normal(centre, 0.1, size=(60, 2)) for centre in ((0, 0), (9, 0), (0, 9), (9, 9))])
    blobs = blobs[random.permutation(len(blobs))]
    best = KMeans(4, random_state=0, n_init=10).fit(blobs).inertia_
    model = KMeans(4, random_state=3).fit(in_parts(blobs, [30, 60, 90]))
    assert model.inertia_ == pytest.approx(best)
    again = KMeans(4, random_state=3).fit(da.from_array(blobs, chunks=((30, 30, 30, 150), (2,))))
    assert (again.cluster_centers_ == model.cluster_centers_).all()
    assert not hasattr(model, "labels_")
    assert model.score(in_parts(blobs, [100])) == pytest.approx(-best)


def test_a_cluster_that_lost_its_rows_takes_the_farthest_one() -> None:
    from mercer.cluster import KMeans

    points = np.array([[0.0], [1.0], [2.0], [50.0]])
    start = np.array([[0.5], [30.0], [1000.0]])
    model = KMeans(3, init=start, n_init=1).fit(in_parts(points, [2]))
    assert set(model.predict(points)) == {0, 1, 2}
    assert model.inertia_ <= 0.5

"""String kernels against enumeration of all words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from threadpoolctl import threadpool_limits

import mercer
from mercer.kernel_ridge import KernelRidge
from mercer.kernels import Spectrum, Subsequence, is_psd
from tests.reference import kernels as naive

WORDS = st.lists(st.text("abc", max_size=7), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(X=WORDS, Y=WORDS, length=st.integers(1, 4), decay=st.floats(0.1, 1.0))
def test_string_kernels_agree_with_enumeration(X, Y, length, decay):
    for kernel, formula in (
        (Spectrum(length), naive.spectrum(length)),
        (Subsequence(length, decay), naive.subsequence(length, decay)),
    ):
        exact = naive.matrix(formula, X)
        np.testing.assert_allclose(kernel(X), exact, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(kernel(X, Y), naive.matrix(formula, X, Y), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(exact), rtol=1e-10, atol=1e-12)
        matrix = kernel.on(X)
        np.testing.assert_allclose(matrix.rows([0]), exact[:1], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(matrix.against(Y), naive.matrix(formula, Y, X), rtol=1e-10, atol=1e-12)
        assert is_psd(exact)
        assert is_psd(kernel.normalized()(X))


def test_symbols_may_be_anything_that_can_be_hashed():
    sentences = [["the", "cat", "sat"], ["the", "cat", "ran"], ["a", "dog", "ran"]]
    pairs = [[(1, "x"), None, 3.5], [(1, "x"), None], [None]]
    for rows in (sentences, [tuple(row) for row in sentences], pairs):
        np.testing.assert_allclose(Spectrum(2)(rows), naive.matrix(naive.spectrum(2), rows))
        np.testing.assert_allclose(Subsequence(2, 0.7)(rows), naive.matrix(naive.subsequence(2, 0.7), rows))
    np.testing.assert_array_equal(Spectrum(1)(np.array(["ab", "b"])), [[2, 1], [1, 1]])
    counts = Spectrum(2).feature_map(sentences)
    np.testing.assert_array_equal((counts @ counts.T).toarray(), Spectrum(2)(sentences))


def test_wrong_rows_are_named():
    for kernel in (Spectrum(), Subsequence()):
        with pytest.raises(ValueError, match=r"X\[1\]=3 is no sequence"):
            kernel(["abc", 3])
        with pytest.raises(ValueError, match="is one sequence; it must be a list of sequences"):
            kernel("abc")


def test_bits_do_not_depend_on_the_number_of_threads():
    random = np.random.RandomState(0)
    X = ["".join(random.choice(list("acgt"), 200)) for _ in range(20)]
    found = []
    for n_threads in (1, 4):
        with threadpool_limits(n_threads, user_api="mercer"):
            found.append(Subsequence(3, 0.8)(X))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[0].T)


def test_models_of_strings_predict_and_are_saved(tmp_path):
    words, y = ["banana", "ananas", "car", "cart", "card", "bar"], [1.0, 1, 0, 0, 0, 0]
    model = KernelRidge(0.1, kernel=Subsequence(2, 0.5).normalized()).fit(words, y)
    banana, cars = model.predict(["bananas", "cars"])
    assert banana > 0.8 > 0.2 > cars
    mercer.save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.mercer").predict(words), model.predict(words))
    with pytest.raises(ValueError, match="a list of sequences, at least one"):
        model.predict([])

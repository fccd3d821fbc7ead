"""Parameters of any shapes in one vector: the same numbers twice, and the same steps as array by array."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._flat import FlatParameters
from mercer.optim import SGD, AdaGrad, Adam, Momentum, Nesterov, RMSProp

SHAPES = [(3, 4), (4,), (), (0, 2), (4, 1)]


def _arrays(dtype=np.float64):
    random = np.random.RandomState(0)
    return [np.asarray(random.randn(*shape), dtype=dtype) for shape in SHAPES]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_views_of_the_vector_and_copies_of_what_was_given(dtype):
    given = _arrays(dtype)
    parameters = FlatParameters(given)
    assert parameters.vector.dtype == dtype
    np.testing.assert_array_equal(parameters.vector, np.concatenate([array.ravel() for array in given]))
    for view, array in zip(parameters.arrays, given, strict=True):
        assert view.shape == array.shape
        assert not np.shares_memory(view, array)
        np.testing.assert_array_equal(view, array)
    parameters.vector[:] = 7
    assert all((view == 7).all() for view in parameters.arrays)
    parameters.arrays[1][2] = 5
    assert parameters.vector[12 + 2] == 5


def test_any_numbers_become_floats_and_no_array_at_all_is_no_parameter():
    assert FlatParameters([[1, 2], np.float32(3)]).vector.tolist() == [1.0, 2.0, 3.0]
    assert FlatParameters([[1, 2]]).vector.dtype == np.float64
    assert FlatParameters([]).vector.shape == (0,)
    assert FlatParameters(array for array in _arrays()).arrays[0].shape == (3, 4)


def test_gradients_have_the_same_layout_and_begin_at_zero():
    parameters = FlatParameters(_arrays(np.float32))
    gradients = parameters.like()
    assert not gradients.vector.any()
    assert gradients.vector.dtype == np.float32
    assert [array.shape for array in gradients.arrays] == SHAPES
    gradients.arrays[0][...] = 1
    assert gradients.vector.sum() == 12


@pytest.mark.parametrize(
    "optimizer", [SGD(), Momentum(), Nesterov(), AdaGrad(), RMSProp(), Adam()], ids=lambda each: type(each).__name__
)
def test_steps_over_one_vector_are_those_over_the_arrays_to_the_bit(optimizer):
    one_by_one, parameters = _arrays(), FlatParameters(_arrays())
    states, state = [optimizer.init(array) for array in one_by_one], optimizer.init(parameters.vector)
    random = np.random.RandomState(1)
    for _ in range(5):
        gradients = parameters.like()
        gradients.vector[:] = random.randn(len(gradients.vector))
        optimizer.update(parameters.vector, gradients.vector, state, rate=0.1)
        for array, gradient, own in zip(one_by_one, gradients.arrays, states, strict=True):
            optimizer.update(array, gradient, own, rate=0.1)
    for view, array in zip(parameters.arrays, one_by_one, strict=True):
        np.testing.assert_array_equal(view, array)

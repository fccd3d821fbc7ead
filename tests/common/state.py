"""The fitted state of an estimator, to be compared bit by bit or within rounding."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from mercer._saved import NAMES
from mercer._trees.store import Tree

OUTPUTS = ("predict", "predict_proba", "decision_function", "transform")
# How a fit went, not what it found: rounding may change it.
TRACE = ("history_", "certificate_", "n_iter_", "dual_gap_")


def fitted_attributes(model: BaseEstimator) -> dict[str, Any]:
    """All public attributes that end with an underscore, set or computed."""
    names = {name for name in vars(model) if name.endswith("_")}
    names |= {name for name in dir(type(model)) if name.endswith("_") and isinstance(getattr(type(model), name), property)}
    return {name: getattr(model, name) for name in sorted(names) if not name.startswith("_") and hasattr(model, name)}


def traces_of_a_fit(model: BaseEstimator) -> set[str]:
    """What a fit would leave on the instance, private attributes too, apart from parameters and callbacks."""
    return set(vars(model)) - set(model.get_params(deep=False)) - {"_skl_callbacks"}


def outputs(model: BaseEstimator, X: Any) -> dict[str, Any]:
    """What the methods give, sparse matrices as dense ones."""
    given = {name: getattr(model, name)(X) for name in OUTPUTS if hasattr(model, name)}
    return {name: value.toarray() if sp.issparse(value) else value for name, value in given.items()}


def bits(value: Any) -> Any:
    """A value that equals another's only where every bit of both is equal."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return ("objects", value.shape, [bits(item) for item in value.ravel()])
        return (str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, (float, np.floating)):
        return (type(value).__name__, float(value).hex())
    if isinstance(value, Tree) or (type(value) in NAMES and "__reduce__" in vars(type(value))):
        return bits(value.__reduce__()[1])
    if isinstance(value, BaseEstimator):
        return bits(fitted_attributes(value))
    if dataclasses.is_dataclass(value):
        return {f.name: bits(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if sp.issparse(value):
        csr = value.tocsr()
        return ("sparse", csr.shape, bits(csr.data), bits(csr.indices), bits(csr.indptr))
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [bits(item) for item in value]
    return repr(value)


def assert_same_bits(one: BaseEstimator, other: BaseEstimator) -> None:
    mine, yours = fitted_attributes(one), fitted_attributes(other)
    assert mine.keys() == yours.keys()
    differing = [name for name in mine if bits(mine[name]) != bits(yours[name])]
    assert not differing, {name: (mine[name], yours[name]) for name in differing}


def _assert_close(name: str, one: Any, other: Any, rtol: float) -> None:
    if isinstance(one, np.ndarray) and one.dtype.kind in "fc":
        scale = np.abs(one).max(initial=0)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * scale, err_msg=name)
    elif isinstance(one, (float, np.floating)):
        np.testing.assert_allclose(one, other, rtol=rtol, err_msg=name)
    elif isinstance(one, np.ndarray) and one.dtype != object:  # members of an ensemble are compared by what they predict
        np.testing.assert_array_equal(one, other, err_msg=name)
    # Numbers of rows that members drew are not compared: repeated rows have other numbers.
    elif isinstance(one, list) and all(isinstance(item, np.ndarray) and item.dtype.kind in "fc" for item in one):
        assert len(one) == len(other), name
        for mine, yours in zip(one, other, strict=True):
            _assert_close(name, mine, yours, rtol)
    elif isinstance(one, (int, str, np.integer)):
        assert one == other, name


def _length(value: Any) -> tuple[int, ...]:
    return (len(value),) if isinstance(value, list) else np.shape(value)[:1]


def assert_close(
    one: BaseEstimator,
    other: BaseEstimator,
    *,
    rtol: float = 1e-7,
    n_rows: tuple[int, int] | None = None,
    shared_only: bool = False,
    passed_over: tuple[str, ...] = (),
) -> None:
    """Equal up to rounding, but for the attributes passed over.

    With `n_rows`, the rows fitted on differ in number, and what has one value a row is passed over. With `shared_only`, one
    may have attributes that the other has not.
    """
    mine, yours = fitted_attributes(one), fitted_attributes(other)
    assert shared_only or mine.keys() == yours.keys()
    for name in (mine.keys() & yours.keys()) - {*TRACE, *passed_over}:
        shapes = tuple(_length(value) for value in (mine[name], yours[name]))
        if n_rows is not None and shapes == ((n_rows[0],), (n_rows[1],)):
            continue
        _assert_close(name, mine[name], yours[name], rtol)


def assert_outputs_close(one: BaseEstimator, other: BaseEstimator, X: Any, *, rtol: float = 1e-7) -> None:
    mine, yours = outputs(one, X), outputs(other, X)
    assert mine.keys() == yours.keys()
    for name in mine:
        _assert_close(name, np.asarray(mine[name]), np.asarray(yours[name]), rtol)

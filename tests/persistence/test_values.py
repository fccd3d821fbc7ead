"""Values of every kind that a file holds, and those that it does not."""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator
from sklearn.model_selection import PredefinedSplit, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.utils import Bunch

import mercer
from mercer import losses, penalties
from mercer._persistence.encode import Encoder
from mercer._persistence.registry import constructor_fields, registry
from mercer._trace import Certificate, Status
from mercer.linear_model import Ridge, SGDRegressor
from mercer.preprocessing import StandardScaler
from mercer.tree import ID3


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("values") / "model.mercer"


def round_trip(value, path):
    model = Ridge()
    model.value_ = value
    mercer.save(model, path)
    return mercer.load(path).value_


def same(one, other):
    """Equal in type, in value and in every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        is_alike = (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype == object:
            return is_alike and all(map(same, one.ravel().tolist(), other.ravel().tolist()))
        orders = [array.flags.c_contiguous >= array.flags.f_contiguous for array in (one, other)]
        return is_alike and one.tobytes() == other.tobytes() and orders[0] == orders[1]
    if isinstance(one, (float, np.floating)):
        return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (one != one and other != other)
    if isinstance(one, (complex, np.complexfloating)):
        return same(float(one.real), float(other.real)) and same(float(one.imag), float(other.imag))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one), list(other)) and same(list(one.values()), list(other.values()))
    return one == other or (one != one and other != other)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.complex_numbers(), st.binary(),
    st.floats().map(np.float64), st.floats(width=32).map(np.float32), st.integers(-128, 127).map(np.int8),
    st.integers(0, 2**64 - 1).map(np.uint64), st.booleans().map(np.bool_), st.text().map(np.str_),
)  # fmt: skip
DTYPES = st.one_of(
    hnp.boolean_dtypes(), hnp.integer_dtypes(endianness="="), hnp.unsigned_integer_dtypes(endianness="="),
    hnp.floating_dtypes(endianness="=", sizes=(16, 32, 64)), hnp.complex_number_dtypes(endianness="=", sizes=(64, 128)),
    hnp.unicode_string_dtypes(endianness="=", min_len=1), hnp.byte_string_dtypes(min_len=1),
    hnp.datetime64_dtypes(endianness="="), hnp.timedelta64_dtypes(endianness="="),
)  # fmt: skip
ARRAYS = DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)))
KEYS = st.one_of(st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False), st.tuples(st.integers(), st.text()))
VALUES = st.recursive(
    st.one_of(SCALARS, ARRAYS),
    lambda inner: st.one_of(st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(KEYS, inner)),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(value=VALUES)
def test_any_value_comes_back_as_it_was(value):
    model, file = Ridge(), io.BytesIO()
    model.value_ = value
    mercer.save(model, file)
    assert same(mercer.load(file.getvalue()).value_, value)


@pytest.mark.parametrize(
    "value",
    [
        2**100, -(2**64), 2**53, -(2**53) - 1, math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, 0.1, "\ud800", "a\0b", "",
        slice(1, None, 2), {1, 2, 3}, frozenset({"a"}), set(), {(1, "a"): 2, None: 3}, Bunch(a=1, b=[2]),
        np.float64, np.int32, float, object, np.dtype("f4"), np.dtype("O"), np.dtype("M8[ns]"), np.log1p, np.mean,
        np.str_("a\0"), np.bytes_(b"\0"), np.datetime64("2020-01-01"), np.timedelta64(3, "s"), np.datetime64("NaT", "ns"),
        np.float16(0.1), np.complex64(1 + 2j),
        Status.MAX_ITER, Certificate("a", Status.CONVERGED, 1.0, "b", math.nan, 0.1), losses.Huber(2.0), penalties.L1(0.5),
        np.array(5.0), np.empty((0, 3)), np.empty((3, 0), dtype="U3"), np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(["a", None, 1.5, ("x",)], dtype=object), np.empty((2, 0), dtype=object), np.array([["a", "bc"]]),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_special_values_come_back_as_they_were(value, path):
    assert same(round_trip(value, path), value)


def test_arrays_that_are_not_contiguous_or_of_another_byte_order_keep_their_values(path):
    whole = np.arange(24.0).reshape(4, 6)
    for array in (whole[::2, 1:4], whole[:, ::-1], whole.astype(">f8"), np.array(["a", "bc"], dtype=">U2"), whole[1:3, 0]):
        loaded = round_trip(array, path)
        np.testing.assert_array_equal(loaded, array)
        assert loaded.dtype.isnative
        assert loaded.flags.writeable


def test_lists_of_arrays_in_an_array_of_objects_stay_apart(path):
    ragged = np.empty(2, dtype=object)
    ragged[:] = [np.arange(3), np.arange(3)]
    loaded = round_trip(ragged, path)
    assert loaded.shape == (2,)
    assert [part.tolist() for part in loaded] == [[0, 1, 2], [0, 1, 2]]


@pytest.mark.parametrize(
    "cv", [ShuffleSplit(3, test_size=0.2, random_state=1), TimeSeriesSplit(gap=1), PredefinedSplit([0, 1, -1])]
)
def test_splitters_split_alike(cv, path):
    X = np.zeros((3 if isinstance(cv, PredefinedSplit) else 30, 1))
    for one, other in zip(cv.split(X), round_trip(cv, path).split(X), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_a_random_state_goes_on_where_it_was(path):
    random = np.random.RandomState(7)
    random.standard_normal(5)  # an odd number leaves one for later
    loaded = round_trip(random, path)
    np.testing.assert_array_equal(loaded.standard_normal(2000), random.standard_normal(2000))


# ---- what is refused


class Colour(Enum):
    RED = 1


class Ours(Ridge):
    pass


def cyclic():
    model = SGDRegressor()
    model.self_ = model
    return model


def deep():
    value = []
    for _ in range(1000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda x: x, r"model\.value_: a Python function \(<lambda>\) cannot be stored"),
        ([1, {"a": print}], r"model\.value_\[1\]\.a: a Python function \(print\)"),
        ({2: math.sin}, r"model\.value_\[2\]: a Python function \(sin\)"),
        (Ours(), r"model\.value_: the class tests\.persistence\.test_values\.Ours is not one that Mercer's files hold"),
        (Colour.RED, r"model\.value_: an object of the class tests\.persistence\.test_values\.Colour cannot be stored"),
        (Colour, r"the class tests\.persistence\.test_values\.Colour cannot be stored"),
        (open, "cannot be stored"),
        (
            np.ma.mrecords.MaskedRecords((1,)) if hasattr(np.ma, "mrecords") else np.zeros(1).view(np.recarray),
            "cannot be stored",
        ),
        (np.zeros(2, dtype="f8,i4"), r"model\.value_: an array of dtype .* cannot be stored"),
        (np.zeros(2, dtype=np.longdouble), "cannot be stored"),
        (np.longdouble(1), "cannot be stored"),
        (np.random.default_rng(0), "Generator cannot be stored"),
        (np.random.RandomState(np.random.PCG64(0)), "a random generator of kind PCG64 cannot be stored; use MT19937"),
        (cyclic(), r"model\.value_\.self_: an object that holds itself"),
        (deep(), "nested more than 100 deep"),
        (range(3), "range cannot be stored"),
        (memoryview(b"a"), "memoryview cannot be stored"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_not_data_is_refused_with_the_place_where_it_is(value, message, path):
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(TypeError, match=message):
        round_trip(value, path)
    assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.parametrize("model", [Ridge, None, 3, "model", [Ridge()], {"a": 1}], ids=repr)
def test_only_an_estimator_can_be_saved(model, path):
    with pytest.raises(TypeError, match="it must be an estimator"):
        mercer.save(model, path)


def test_what_a_reader_would_refuse_is_not_written(path):
    for model, message in (
        (Ridge(alpha=-1.0), r"model: Ridge: alpha=-1\.0 is not valid"),
        (make_pipeline(Ridge(alpha="x")), r"model\.steps\[0\]\[1\]: Ridge: alpha='x' is not valid"),
    ):
        with pytest.raises(TypeError, match=message):
            mercer.save(model, path)
    model = Ridge()
    model.keys_ = {k * (2**61 - 1) for k in range(1, 1000)}
    with pytest.raises(TypeError, match=r"model\.keys_: too many keys have the same hash"):
        mercer.save(model, path)
    for _ in range(120):
        outer = Ridge()
        outer.inner_, model = model, outer
    model.keys_ = None
    with pytest.raises(TypeError, match="more than 100 deep"):
        mercer.save(model, path)


NAMES = st.one_of(st.text(), st.sampled_from([*dir(Ridge), "alpha", "coef_", "threshold", "_skl_callbacks", "note", "é"]))


@settings(max_examples=200, deadline=None)
@given(attributes=st.dictionaries(NAMES, VALUES, max_size=3), alpha=SCALARS, solver=SCALARS)
def test_what_save_takes_load_gives_back(attributes, alpha, solver):
    model = Ridge(alpha=alpha, solver=solver)
    vars(model).update(attributes)
    file = io.BytesIO()
    try:
        mercer.save(model, file)
    except TypeError:
        return
    loaded = vars(mercer.load(file.getvalue()))
    kept = {name: value for name, value in vars(model).items() if name != "_skl_callbacks"}
    assert loaded.keys() == kept.keys()
    assert all(same(loaded[name], value) for name, value in kept.items())


# ---- the registry


def test_every_record_has_its_state_in_the_parameters_of_its_constructor():
    for name in registry().records:
        assert all(field.isidentifier() for field in constructor_fields(registry().records[name])), name


def test_names_of_classes_in_files_are_public_or_ours():
    for name in registry().estimators:
        assert name.startswith(("mercer.", "sklearn."))
        assert "._" not in name
        assert issubclass(registry().estimators[name], BaseEstimator)
    assert registry().estimators.name_of(StandardScaler) == "mercer.preprocessing.StandardScaler"


@pytest.mark.parametrize("kind", ["estimators", "records", "enums", "functions", "types"])
def test_a_name_alone_finds_what_stands_under_it_among_all(kind):
    names = getattr(registry(), kind)
    everything = names._collect()
    for name, thing in everything.items():
        assert names._find(name) is thing
        assert names[name] is thing


def _modules_after(text):
    """The modules that a fresh interpreter has imported when it has run the text."""
    code = f"{text}\nimport sys\nprint(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    return set(done.stdout.split())


def test_loading_imports_no_more_than_the_family_of_the_model(path):
    mercer.save(StandardScaler().fit([[0.0], [1.0]]), path)
    modules = _modules_after(f"import mercer\nmercer.load({str(path)!r})")
    assert "mercer.preprocessing" in modules
    assert not modules & {"mercer.cluster", "mercer.ensemble", "mercer.linear_model", "mercer.svm", "mercer.tree"}


def test_names_that_are_not_ours_import_nothing_of_their_own():
    names = ["antigravity", "antigravity.fly", "antigravity:fly", "mercer._command.main", "mercer.antigravity", ".x", ""]
    code = f"""
from mercer._persistence.registry import registry
for name in {names!r}:
    for kind in (registry().estimators, registry().records, registry().enums):
        assert name not in kind, name
"""
    assert not _modules_after(code) & {"antigravity", "mercer._command"}


def test_the_functions_that_the_document_lists_are_those_that_files_may_hold():
    text = (Path(__file__).parents[2] / "docs" / "format.md").read_text()
    for name in registry().functions:
        module, _, function = name.rpartition(".")
        assert f"`{module}" in text
        assert module not in ("numpy", "scipy.special") or f"`{function}`" in text, name


def test_values_computed_when_first_asked_for_are_not_stored():
    model = ID3().fit([["a"], ["b"], ["a"]], [0, 1, 0])
    assert model.tree_.depths.tolist() == [0, 1, 1]
    encoder = Encoder()
    encoder.add(model)
    stored = next(entry for entry in encoder.objects if entry.get("class") == "MultiwayTree")
    assert stored["fields"].keys() == {"feature", "parent", "code", "n_rows", "counts", "gain"}

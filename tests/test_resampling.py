"""What all resamplers share: strategies, tables in and out, errors; and imbalanced-learn's answers from the same seed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from mercer._discovery import public_estimators
from mercer._resampling.base import Resampler
from mercer.over_sampling import SMOTE, SMOTEN, SMOTENC, RandomOverSampler
from mercer.under_sampling import CondensedNearestNeighbour, NearMiss, RandomUnderSampler, TomekLinks

CLASSES = sorted({cls for cls in public_estimators().values() if issubclass(cls, Resampler)}, key=lambda cls: cls.__name__)
NUMERIC = [cls for cls in CLASSES if cls not in (SMOTENC, SMOTEN)]


def make(cls, **params):
    if cls is SMOTENC:
        params.setdefault("categorical_features", [0])
    sampler = cls(**params)
    return sampler.set_params(random_state=0) if "random_state" in sampler.get_params() else sampler


def make_rows(counts=(60, 25, 15), dtype=np.float64):
    random = np.random.RandomState(0)
    y = np.repeat(np.arange(len(counts)), counts)
    order = random.permutation(len(y))
    return (3 * random.randn(len(y), 4) + 2 * y[:, None]).astype(dtype)[order], y[order]


@pytest.mark.parametrize("cls", CLASSES)
def test_frames_come_out_as_they_went_in(cls):
    X, y = make_rows()
    X = np.round(X)
    expected, y_expected = make(cls).fit_resample(X, y)
    types = ["int64", "float64", "float32", "Int64"]
    names = np.array(["first", "second", "third"])
    frame = pd.DataFrame(X, columns=list("abcd")).astype(dict(zip("abcd", types, strict=True)))
    target = pd.Series(pd.Categorical(names[y]), name="kind")
    X_new, y_new = make(cls).fit_resample(frame, target)
    assert [str(dtype) for dtype in X_new.dtypes] == types
    assert y_new.name == "kind"
    assert y_new.dtype == target.dtype
    assert X_new.index.equals(y_new.index)
    if cls not in (SMOTEN, SMOTENC):  # whose categories are what the types are
        cut = np.column_stack([np.trunc(expected[:, 0]), expected[:, 1:3], np.trunc(expected[:, 3])])
        np.testing.assert_allclose(X_new.to_numpy(dtype=float), cut, rtol=1e-6)
        assert (y_new == names[y_expected]).all()
    schema = {"a": pl.Int32, "b": pl.Float64, "c": pl.Float32, "d": pl.Int8}
    X_new, y_new = make(cls).fit_resample(pl.DataFrame(X, schema=list("abcd")).cast(schema), pl.Series("kind", names[y]))
    assert X_new.schema == schema
    assert (y_new.name, y_new.dtype, len(y_new)) == ("kind", pl.String, len(y_expected))


def test_categories_of_frames_stay_categories():
    random = np.random.RandomState(0)
    colours = pd.CategoricalDtype(["red", "green", "blue", "never seen"])
    frame = pd.DataFrame(
        {"size": random.randn(50), "colour": pd.Series(random.choice(colours.categories[:3], 50), dtype=colours)}
    )
    y = np.repeat(["rare", "common"], [10, 40])
    X_new, _ = SMOTENC("auto", random_state=0).fit_resample(frame, y)
    assert X_new.dtypes.equals(frame.dtypes)
    assert not X_new.isna().any(axis=None)
    other = pl.DataFrame({"size": frame["size"].to_numpy(), "colour": frame["colour"].astype(str).tolist()})
    for kind in (pl.String, pl.Categorical, pl.Enum(["red", "green", "blue"])):
        X_new, _ = SMOTENC("auto", random_state=0).fit_resample(other.cast({"colour": kind}), y)
        assert X_new.schema["colour"] == kind
        assert X_new.null_count().sum_horizontal().item() == 0
    missing = other.with_columns(pl.when(pl.int_range(50) % 7 == 0).then(None).otherwise(pl.col("size")).alias("size"))
    X_new, _ = SMOTE(random_state=0).fit_resample(missing.select("size", twice=2 * pl.col("size")), y)
    assert X_new["size"].null_count() > missing["size"].null_count()
    assert not X_new["size"].is_nan().any()


@pytest.mark.parametrize("cls", NUMERIC)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8, bool])
def test_types_of_arrays_are_kept(cls, dtype):
    X, y = make_rows()
    X = X.astype(dtype) if dtype is not np.uint8 else np.abs(X).astype(dtype)
    try:
        X_new, y_new = make(cls).fit_resample(X, y.astype(np.int16))
    except (ValueError, RuntimeError):
        assert dtype is bool  # too few different rows for some methods
        return
    assert (X_new.dtype, y_new.dtype) == (dtype, np.int16)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("labels", [[False, True], ["a", "b"], [-1, 7], [1.5, 2.5]])
def test_any_labels_will_do(cls, labels):
    X, y = make_rows((60, 25))
    target = np.array(labels, dtype=object if isinstance(labels[0], str) else None)[y]
    if isinstance(labels[0], float):
        with pytest.raises(ValueError, match="Unknown label type"):
            make(cls).fit_resample(np.round(X), target)
        return
    X_new, y_new = make(cls).fit_resample(np.round(X), target)
    expected, y_expected = make(cls).fit_resample(np.round(X), y)
    np.testing.assert_array_equal(X_new, expected)
    assert (y_new == np.array(labels)[y_expected]).all()


@pytest.mark.parametrize("cls", CLASSES)
def test_indicators_stay_indicators(cls):
    X, y = make_rows()
    X = np.round(X)
    _, expected = make(cls).fit_resample(X, y)
    for n_classes in (2, 3):
        keep = y < n_classes
        _, expected = make(cls).fit_resample(X[keep], y[keep])
        _, indicators = make(cls).fit_resample(X[keep], np.eye(n_classes, dtype=int)[y[keep]])
        assert indicators.shape == (len(expected), n_classes)
        assert (indicators.argmax(axis=1) == expected).all()
        assert (indicators.sum(axis=1) == 1).all()
    with pytest.raises(ValueError, match="several labels"):
        make(cls).fit_resample(X, np.ones((len(X), 3), dtype=int))


@pytest.mark.parametrize("cls", NUMERIC)
def test_sparse_stays_sparse_with_the_dense_answer(cls):
    X, y = make_rows()
    X[np.abs(X) < 1] = 0
    expected, y_expected = make(cls).fit_resample(X, y)
    for kind in (sp.csr_matrix, sp.csc_matrix):
        X_new, y_new = make(cls).fit_resample(kind(X), y)
        assert X_new.format == kind(X).format
        np.testing.assert_array_equal(y_new, y_expected)
        np.testing.assert_allclose(X_new.toarray(), expected, atol=1e-9)


@pytest.mark.parametrize("cls", CLASSES)
def test_lists_come_out_as_lists_and_nothing_given_is_changed(cls):
    X, y = make_rows()
    X = np.round(X)
    before, y_before = X.copy(), y.copy()
    sampler = make(cls)
    first = clone(sampler).fit_resample(X, y)
    second = sampler.fit_resample(X, y)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(y, y_before)
    assert isinstance(sampler.fit_resample(X, y.tolist())[1], list)
    assert (sampler.n_features_in_, get_tags(sampler).estimator_type) == (4, "sampler")
    assert set(sampler.sampling_strategy_) <= {0, 1, 2}
    assert clone(sampler).fit(X, y).sampling_strategy_ == sampler.sampling_strategy_


@pytest.mark.parametrize("cls", CLASSES)
def test_selected_rows_are_rows_of_the_table(cls):
    X, y = make_rows()
    sampler = make(cls)
    X_new, y_new = sampler.fit_resample(X, y)
    if get_tags(sampler).sampler_tags.sample_indices:
        np.testing.assert_array_equal(X_new, X[sampler.sample_indices_])
        np.testing.assert_array_equal(y_new, y[sampler.sample_indices_])
    else:
        assert not hasattr(sampler, "sample_indices_")


STRATEGIES = [
    (RandomOverSampler, "auto", [60, 60, 60]),
    (RandomOverSampler, "minority", [60, 25, 60]),
    (RandomOverSampler, "not minority", [60, 60, 15]),
    (RandomOverSampler, "all", [60, 60, 60]),
    (RandomOverSampler, {1: 30, 2: 20}, [60, 30, 20]),
    (RandomOverSampler, lambda y: {2: 2 * (y == 2).sum()}, [60, 25, 30]),
    (RandomUnderSampler, "auto", [15, 15, 15]),
    (RandomUnderSampler, "majority", [15, 25, 15]),
    (RandomUnderSampler, "not majority", [60, 15, 15]),
    (RandomUnderSampler, {0: 5}, [5, 25, 15]),
]


@pytest.mark.parametrize(("cls", "strategy", "counts"), STRATEGIES)
def test_strategies_give_the_counts_that_they_say(cls, strategy, counts):
    _, y = make(cls, sampling_strategy=strategy).fit_resample(*make_rows())
    assert np.bincount(y).tolist() == counts


def test_a_ratio_is_that_of_the_two_classes_afterwards():
    X, y = make_rows((60, 15))
    assert np.bincount(RandomOverSampler(sampling_strategy=0.5).fit_resample(X, y)[1]).tolist() == [60, 30]
    assert np.bincount(RandomUnderSampler(sampling_strategy=0.5).fit_resample(X, y)[1]).tolist() == [30, 15]


WRONG = [
    (SMOTE, {"sampling_strategy": "majority"}, "sampling_strategy='majority' is not valid"),
    (SMOTE, {"sampling_strategy": 0.5}, "only when the type of target is binary"),
    (SMOTE, {"sampling_strategy": {0: 10}}, "greater or equal to the original.*class 0"),
    (SMOTE, {"sampling_strategy": {9: 10}}, r"names \[9\].*the classes are \[0, 1, 2\]"),
    (SMOTE, {"k_neighbors": 0}, "k_neighbors=0 is not valid"),
    (SMOTE, {"k_neighbors": "many"}, "k_neighbors='many' is not valid"),
    (SMOTE, {"gap": "row"}, "gap='row' is not valid"),
    (SMOTE, {"amount": -5}, "amount=-5 is not valid"),
    (RandomUnderSampler, {"sampling_strategy": {0: 100}}, "less or equal to the original"),
    (RandomUnderSampler, {"sampling_strategy": {0: -1}}, "cannot be negative"),
    (TomekLinks, {"sampling_strategy": 0.5}, "sampling_strategy=0.5 is not valid"),
    (TomekLinks, {"sampling_strategy": ["x"]}, "names \\['x'\\]"),
    (NearMiss, {"version": 4}, "version=4 is not valid"),
    (NearMiss, {"n_neighbors": 20}, "class 2, the rarest, has 15 rows, fewer than n_neighbors=20"),
    (RandomOverSampler, {"shrinkage": {0: 1.0}}, "missing classes"),
    (CondensedNearestNeighbour, {"n_seeds_S": 0}, "n_seeds_S=0 is not valid"),
    (SMOTENC, {"categorical_features": [7]}, "all features must be in"),
    (SMOTENC, {"categorical_features": ["a"]}, "only supported for dataframes"),
    (SMOTENC, {"categorical_features": "auto"}, "should be a pandas.DataFrame"),
    (SMOTENC, {"categorical_features": [0, 1, 2, 3]}, "use SMOTEN"),
]


@pytest.mark.parametrize(("cls", "params", "message"), WRONG)
def test_wrong_parameters_are_named(cls, params, message):
    sampler = cls(**params)
    with pytest.raises(ValueError, match=message):
        sampler.fit_resample(*make_rows())
    assert not [name for name in vars(sampler) if name.endswith("_")]


@pytest.mark.parametrize("cls", CLASSES)
def test_wrong_data_are_refused(cls):
    X, y = make_rows()
    X = np.round(X)
    for bad_X, bad_y, message in [
        (X, np.zeros(len(X)), "more than 1 class"),
        (X, y[:-1], "inconsistent numbers of samples"),
        (X[:, 0], y, "1D array|1-dimensional|Expected 2D"),
        (X[:0], y[:0], "0 sample|empty"),
        (X, np.linspace(0, 1, len(X)), "Unknown label type"),
    ]:
        with pytest.raises(ValueError, match=message):
            make(cls).fit_resample(bad_X, bad_y)


PEERS = [
    ("over_sampling", "SMOTE", {}),
    ("over_sampling", "BorderlineSMOTE", {}),
    ("over_sampling", "BorderlineSMOTE", {"kind": "borderline-2"}),
    ("over_sampling", "SVMSMOTE", {}),
    ("over_sampling", "ADASYN", {}),
    ("over_sampling", "RandomOverSampler", {}),
    ("over_sampling", "RandomOverSampler", {"shrinkage": 0.5}),
    ("over_sampling", "SMOTENC", {"categorical_features": [0, 1]}),
    ("over_sampling", "SMOTEN", {}),
    ("under_sampling", "RandomUnderSampler", {}),
    ("under_sampling", "RandomUnderSampler", {"replacement": True}),
    ("under_sampling", "TomekLinks", {}),
    ("under_sampling", "EditedNearestNeighbours", {}),
    ("under_sampling", "EditedNearestNeighbours", {"kind_sel": "mode"}),
    ("under_sampling", "NearMiss", {}),
    ("under_sampling", "NearMiss", {"version": 2}),
    ("under_sampling", "NearMiss", {"version": 3, "n_neighbors_ver3": 12}),
    ("combine", "SMOTEENN", {}),
    ("combine", "SMOTETomek", {}),
]


@pytest.mark.parametrize(("package", "name", "params"), PEERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_seed_gives_the_rows_of_imbalanced_learn(package, name, params, dtype):
    peer = getattr(pytest.importorskip(f"imblearn.{package}"), name)
    own = {cls.__name__: cls for cls in CLASSES}[name]
    X, y = make_rows(dtype=dtype)
    if "categorical_features" in params:
        X[:, :2] = np.round(X[:, :2] / 3)
    if name == "SMOTEN":
        X = np.round(X / 3)
    params = {**params, "random_state": 5} if "random_state" in own.__init__.__kwdefaults__ else params
    expected, y_expected = peer(**params).fit_resample(X, y)
    X_new, y_new = own(**params).fit_resample(X, y)
    assert X_new.dtype == dtype
    np.testing.assert_array_equal(y_new, y_expected)
    np.testing.assert_allclose(X_new, expected.astype(dtype), rtol=4 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)


CHECKS = (
    "one_label", "fit", "fit_resample", "sampling_strategy_fit_resample", "sparse", "pandas", "pandas_sparse", "list",
    "multiclass_ova", "2d_target", "preserve_dtype", "sample_indices", "string", "nan",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("cls", NUMERIC)
def test_imbalanced_learn_takes_them_for_samplers(cls, check):
    checks = pytest.importorskip("imblearn.utils.estimator_checks")
    sampler = make(cls)
    assert pytest.importorskip("imblearn.base").is_sampler(sampler)
    tags = get_tags(sampler)
    if (check == "string" and not tags.input_tags.string) or (check == "nan" and not tags.input_tags.allow_nan):
        pytest.skip("not what it takes")
    if check == "sample_indices" and not tags.sampler_tags.sample_indices:
        pytest.skip("it makes rows")
    getattr(checks, f"check_samplers_{check}")(cls.__name__, sampler)

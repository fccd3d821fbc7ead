"""What is saved and loaded is the same model."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    TargetEncoder,
)

import mercer
from mercer.cluster import KMeans
from mercer.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
    StackingRegressor,
    SuperLearner,
    VotingClassifier,
)
from mercer.linear_model import (
    GeneralizedLinearRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    SGDClassifier,
)
from mercer.losses import Huber
from mercer.preprocessing import StandardScaler
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.common.cases import ESTIMATORS, ids, make, make_data
from tests.common.state import assert_same_bits, bits, outputs

pd = pytest.importorskip("pandas")


@functools.cache
def fitted(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make(estimator).fit(*make_data(estimator).args)


def round_trip(model, folder, **options):
    mercer.save(model, folder / "model.mercer")
    return mercer.load(folder / "model.mercer", **options)


@pytest.mark.parametrize("mmap", [False, True], ids=["read", "mapped"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=ids(ESTIMATORS))
def test_a_loaded_model_predicts_the_same_bits(estimator, mmap, tmp_path):
    model, X = fitted(estimator), make_data(estimator).X
    loaded = round_trip(model, tmp_path, mmap=mmap)
    assert type(loaded) is estimator
    assert bits(outputs(loaded, X)) == bits(outputs(model, X))
    assert_same_bits(loaded, model)
    assert vars(loaded).keys() == vars(model).keys()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=ids(ESTIMATORS))
def test_a_loaded_model_can_be_cloned_and_fitted_again(estimator, tmp_path):
    model, data = fitted(estimator), make_data(estimator)
    loaded = round_trip(model, tmp_path)
    assert loaded.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert repr(loaded) == repr(model)
    for again in (clone(loaded), loaded):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            again.fit(*data.args)
        assert bits(outputs(again, data.X)) == bits(outputs(model, data.X))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=ids(ESTIMATORS))
def test_a_model_that_is_not_fitted_stays_so(estimator, tmp_path):
    model = make(estimator)
    loaded = round_trip(model, tmp_path)
    assert vars(loaded).keys() == vars(model).keys()
    assert repr(loaded) == repr(model)


@pytest.mark.parametrize("estimator", [Ridge, LogisticRegression, KMeans, RandomForestRegressor], ids=lambda cls: cls.__name__)
def test_the_same_model_gives_the_same_file(estimator, tmp_path):
    for name in ("one", "two"):
        mercer.save(fitted(estimator), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("estimator", [Lasso, LogisticRegression, StandardScaler], ids=lambda cls: cls.__name__)
def test_float32_stays_float32(estimator, tmp_path):
    data = make_data(estimator, dtype=np.float32)
    model = make(estimator).fit(*data.args)
    assert bits(outputs(round_trip(model, tmp_path), data.X)) == bits(outputs(model, data.X))


# ---- pipelines


def table(n_rows=120):
    random = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "age": random.randn(n_rows),
            "income": np.exp(random.randn(n_rows)),
            "town": random.choice(["Ulm", "Bonn", "Köln 東"], n_rows),
            "size": random.choice(["small", "large"], n_rows),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "town"] = None
    return frame, (frame["income"] + frame["town"].eq("Ulm") + 0.1 * random.randn(n_rows)).to_numpy()


def preparation():
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), ["age"]),
            ("logs", FunctionTransformer(np.log1p, inverse_func=np.expm1, feature_names_out="one-to-one"), slice(1, 2)),
            ("categories", OneHotEncoder(handle_unknown="ignore", min_frequency=2), make_column_selector("town")),
            ("sizes", OrdinalEncoder(categories=[["small", "large"]]), ["size"]),
        ],
        remainder="drop",
    )


PIPELINES = {
    "mixed table": make_pipeline(preparation(), Ridge()),
    "forest": make_pipeline(preparation(), RandomForestRegressor(5, random_state=0)),
    "stacking": make_pipeline(
        preparation(), StackingRegressor([("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=2))], cv=KFold(3))
    ),
    "target": TransformedTargetRegressor(make_pipeline(preparation(), LinearRegression()), func=np.cbrt, inverse_func=np.exp2),
    "bagged pipelines": make_pipeline(preparation(), BaggingRegressor(make_pipeline(StandardScaler(), Ridge()), 3)),
    "super learner": make_pipeline(preparation(), SuperLearner([("a", Ridge()), ("b", Lasso(alpha=0.1))], loss=Huber(), cv=2)),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_over_mixed_tables_predict_the_same_bits(name, tmp_path):
    X, y = table()
    model = clone(PIPELINES[name]).set_params(**({"check_inverse": False} if name == "target" else {})).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert bits(loaded.predict(X)) == bits(model.predict(X))
    assert bits(loaded.fit(X, y).predict(X)) == bits(model.fit(X, y).predict(X)) or "bagged" in name  # which is random


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_names_of_features_and_outputs_as_tables_are_kept(tmp_path):
    X, y = table()
    model = preparation().set_params(categories__sparse_output=False).set_output(transform="pandas").fit(X, y)
    loaded = round_trip(model, tmp_path)
    pd.testing.assert_frame_equal(loaded.transform(X), model.transform(X))
    assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()


TRANSFORMERS = {
    "union": FeatureUnion([("one", StandardScaler()), ("two", PolynomialFeatures(2))], transformer_weights={"one": 2.0}),
    "neighbours": KNNImputer(n_neighbors=2),
    "bins": KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
    "quantiles": QuantileTransformer(n_quantiles=10),
    "powers": PowerTransformer(),
    "targets": TargetEncoder(random_state=0),
    "passthrough": Pipeline([("nothing", "passthrough"), ("scale", StandardScaler())]),
    "clusters": make_pipeline(StandardScaler(), KMeans(3, random_state=0)),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_transform_to_the_same_bits(name, tmp_path):
    data = make_data(Ridge)
    model = clone(TRANSFORMERS[name]).fit(data.X, data.y)
    assert bits(round_trip(model, tmp_path).transform(data.X)) == bits(model.transform(data.X))


# ---- models with unusual parts


def classes_as(labels):
    data = make_data(LogisticRegression)
    return data.X, np.asarray(labels, dtype=object if isinstance(labels[0], str) else None)[
        np.unique(data.y, return_inverse=True)[1]
    ]


@pytest.mark.parametrize(
    "labels",
    [
        [3, 5, 7, 9],
        np.array([3, 5, 7, 9], dtype=np.uint8),
        [0.0, 1.0, 2.0, 3.0],
        ["a", "bcd", "é", "日本"],
    ],
    ids=["int", "uint8", "float", "text"],
)
@pytest.mark.parametrize("estimator", [LogisticRegression, DecisionTreeClassifier, SGDClassifier], ids=lambda cls: cls.__name__)
def test_labels_of_any_type_are_kept(estimator, labels, tmp_path):
    X, y = classes_as(labels)
    model = make(estimator).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_categories_of_trees_are_kept(tmp_path):
    X, y = table()
    X = X.astype({"town": "category", "size": "category"})
    model = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2, categorical_features="from_dtype")
    model.fit(X, y > 1)
    assert bits(round_trip(model, tmp_path).predict_proba(X)) == bits(model.predict_proba(X))


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegressionCV(Cs=[0.1, 1.0], cv=StratifiedKFold(2)),
        LogisticRegression(C=np.inf, class_weight={"a": 1.0, "b": 2.0, "c": 1.0, "d": np.float32(0.5)}),
        AdaBoostClassifier(LogisticRegression(), n_estimators=3),
        VotingClassifier(
            [("a", LogisticRegression()), ("b", "drop"), ("c", DecisionTreeClassifier(max_depth=2))], voting="soft"
        ),
        SGDClassifier(random_state=np.random.RandomState(3), average=True),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_parameters_of_many_kinds_are_kept(model, tmp_path):
    data = make_data(LogisticRegression)
    model = clone(model).fit(*data.args)
    loaded = round_trip(model, tmp_path)
    assert bits(outputs(loaded, data.X)) == bits(outputs(model, data.X))
    if isinstance(getattr(model, "random_state", None), np.random.RandomState):
        assert bits(loaded.random_state.standard_normal(5)) == bits(model.random_state.standard_normal(5))
    else:
        assert repr(loaded) == repr(model)


def test_summaries_work_after_loading(tmp_path):
    data = make_data(LinearRegression)
    for model in (LinearRegression(), GeneralizedLinearRegressor(alpha=0.0)):
        model.fit(data.X, data.y[:, 0] if data.y.ndim > 1 else data.y)
        assert str(round_trip(model, tmp_path).summary()) == str(model.summary())


def test_a_warm_start_goes_on_after_loading(tmp_path):
    data = make_data(GradientBoostingRegressor)
    half = GradientBoostingRegressor(n_estimators=4, subsample=0.5, loss="huber", random_state=0, warm_start=True).fit(
        *data.args
    )
    loaded = round_trip(half, tmp_path).set_params(n_estimators=8).fit(*data.args)
    assert bits(loaded.predict(data.X)) == bits(half.set_params(n_estimators=8).fit(*data.args).predict(data.X))


def test_quantiles_of_a_forest_work_after_loading(tmp_path):
    data = make_data(RandomForestRegressor)
    model = RandomForestRegressor(5, random_state=0).fit(*data.args)
    quantiles = model.predict_quantiles(data.X, [0.1, 0.9])
    loaded = round_trip(model, tmp_path)  # the kernel's table of targets has been made, and is not stored
    assert bits(loaded.predict_quantiles(data.X, [0.1, 0.9])) == bits(quantiles)


def test_sparse_matrices_in_a_model_are_kept(tmp_path):
    X = sp.random(30, 4, density=0.5, format="csr", random_state=0)
    for kind in (sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array):
        model = Ridge()
        model.kept_ = kind(X)
        kept = round_trip(model, tmp_path).kept_
        assert type(kept) is kind
        assert bits(kept) == bits(model.kept_)


def test_what_is_shared_stays_shared_and_is_stored_once(tmp_path):
    random = np.random.RandomState(0)
    X, y = random.randn(200, 5), random.randint(2, size=200)
    model = VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier())]).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert loaded.named_estimators_["a"] is loaded.estimators_[0]
    big = np.zeros(100_000)
    model.one_, model.other_ = big, [big, big]
    loaded = round_trip(model, tmp_path)
    assert loaded.one_ is loaded.other_[0] is loaded.other_[1]
    assert (tmp_path / "model.mercer").stat().st_size < 1.5 * big.nbytes


def test_metadata_requests_are_kept(tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight="weights")
        loaded = round_trip(model, tmp_path)
        assert str(loaded.get_metadata_routing()) == str(model.get_metadata_routing())


def test_callbacks_are_not_kept(tmp_path):
    class Silent:
        def on_fit_begin(self, *args, **kwargs): ...
        def on_fit_task_begin(self, *args, **kwargs): ...
        def on_fit_task_end(self, *args, **kwargs): ...
        def on_fit_end(self, *args, **kwargs): ...

    model = Ridge()
    if not hasattr(model, "set_callbacks"):
        pytest.skip("this scikit-learn has no callbacks")
    model._skl_callbacks = [Silent()]
    assert not hasattr(round_trip(model, tmp_path), "_skl_callbacks")

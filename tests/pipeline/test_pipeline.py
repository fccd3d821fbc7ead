from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.pipeline
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

import mercer
from mercer._compat import SCIKIT_LEARN
from mercer.cluster import KMeans
from mercer.linear_model import LogisticRegression
from mercer.over_sampling import SMOTE, RandomOverSampler
from mercer.pipeline import Pipeline, make_pipeline
from mercer.preprocessing import StandardScaler
from mercer.under_sampling import RandomUnderSampler


@pytest.fixture
def rows():
    random = np.random.RandomState(0)
    X = np.concatenate([random.randn(120, 3), random.randn(20, 3) + 1])
    y = np.repeat([0, 1], [120, 20])
    order = random.permutation(140)
    return X[order], y[order]


class Spy(BaseEstimator):
    """Repeats every row, and remembers which rows it was ever given."""

    seen: list[tuple[int, ...]] = []  # noqa: RUF012

    __metadata_request__fit = {"weight": True}  # noqa: RUF012
    __metadata_request__fit_resample = {"weight": True}  # noqa: RUF012  # asked for once imbalanced-learn was imported

    def fit_resample(self, X, y, weight=None):
        Spy.seen.append(tuple(X[:, 0].astype(int)))
        self.weight_ = weight
        return np.concatenate([X, X]), np.concatenate([y, y])

    def fit(self, X, y, weight=None):
        return self


class Learner(BaseEstimator):
    """Remembers what it was fitted to, and which rows it was asked about."""

    asked: list[int] = []  # noqa: RUF012

    def fit(self, X, y):
        self.n_rows_, self.classes_ = len(X), np.unique(y)
        return self

    def predict(self, X):
        Learner.asked.append(len(X))
        return np.zeros(len(X))

    def score(self, X, y):
        self.predict(X)
        return 0.0


@pytest.mark.parametrize("search", [False, True])
def test_rows_of_a_test_fold_are_never_resampled(search):
    X, y = np.arange(60.0).reshape(-1, 1), np.arange(60) % 3
    Spy.seen, Learner.asked = [], []
    folds = KFold(5)
    model = Pipeline([("spy", Spy()), ("learn", Learner())])
    if search:
        GridSearchCV(model, {"spy": [Spy(), "passthrough"]}, cv=folds, refit=False).fit(X, y)
    else:
        cross_validate(model, X, y, cv=folds)
    expected = [tuple(train) for train, _ in folds.split(X)]
    assert Spy.seen == expected
    assert set(Learner.asked) == {12}  # the test folds, as they are


def test_it_is_fitted_to_what_the_resampler_gives(rows):
    X, y = rows
    model = make_pipeline(StandardScaler(), SMOTE(random_state=0), LogisticRegression()).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    expected = LogisticRegression().fit(*SMOTE(random_state=0).fit_resample(scaled, y))
    np.testing.assert_array_equal(model[-1].coef_, expected.coef_)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(scaled))
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(scaled))
    assert model.score(X, y) == expected.score(scaled, y)
    assert (model.n_features_in_, list(model.classes_)) == (3, [0, 1])


def test_imbalanced_learns_pipeline_gives_the_same_and_takes_mercers_resamplers(rows):
    peer = pytest.importorskip("imblearn.pipeline")
    steps = [("scale", StandardScaler()), ("smote", SMOTE(random_state=0)), ("learn", LogisticRegression())]
    own, other = Pipeline(steps).fit(*rows), peer.Pipeline([(name, clone(step)) for name, step in steps]).fit(*rows)
    np.testing.assert_array_equal(own.predict_proba(rows[0]), other.predict_proba(rows[0]))


def test_without_resamplers_it_is_scikit_learns(rows):
    X, y = rows
    steps = [("scale", StandardScaler()), ("none", "passthrough"), ("learn", LogisticRegression())]
    own, plain = Pipeline(steps).fit(X, y), sklearn.pipeline.Pipeline([(name, clone(step, safe=False)) for name, step in steps])
    np.testing.assert_array_equal(own.predict_proba(X), plain.fit(X, y).predict_proba(X))
    assert isinstance(own, sklearn.pipeline.Pipeline)
    assert list(own[:2].get_feature_names_out()) == ["x0", "x1", "x2"]
    with pytest.raises(TypeError, match="All intermediate steps should be"):
        Pipeline([("learn", LogisticRegression()), ("other", LogisticRegression())]).fit(X, y)
    with pytest.raises(ValueError, match="empty"):
        Pipeline([]).fit(X, y)


def test_it_may_stand_in_scikit_learns_place(rows, monkeypatch):
    monkeypatch.setattr(sklearn.pipeline, "Pipeline", Pipeline)
    monkeypatch.setattr(sklearn.pipeline, "make_pipeline", make_pipeline)
    model = sklearn.pipeline.make_pipeline(StandardScaler(), LogisticRegression())
    assert type(model) is Pipeline
    assert model.fit(*rows).score(*rows) > 0.5


def test_steps_may_be_idle_sliced_and_set(rows):
    X, y = rows
    model = Pipeline([("smote", SMOTE(random_state=0)), ("scale", None), ("learn", LogisticRegression())]).fit(X, y)
    model.set_params(smote="passthrough").fit(X, y)
    np.testing.assert_array_equal(model[-1].coef_, LogisticRegression().fit(X, y).coef_)
    model.set_params(smote=RandomUnderSampler(random_state=0), smote__replacement=True).fit(X, y)
    assert isinstance(model[:2], Pipeline)
    assert len(model[0].sample_indices_) == 40


def test_other_fits_return_what_belongs_to_the_resampled_rows(rows):
    X, y = rows
    scaled, labels = Pipeline([("over", RandomOverSampler(random_state=0)), ("none", None)]).fit_resample(X, y)
    assert len(scaled) == len(labels) == 240
    model = make_pipeline(RandomOverSampler(random_state=0), StandardScaler())
    np.testing.assert_allclose(model.fit_transform(X, y), StandardScaler().fit_transform(scaled))
    np.testing.assert_allclose(model.transform(X), StandardScaler().fit(scaled).transform(X))
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X)
    clusters = make_pipeline(RandomOverSampler(random_state=0), KMeans(2, random_state=0)).fit_predict(X, y)
    assert len(clusters) == 240
    last = make_pipeline(StandardScaler(), RandomOverSampler(random_state=0))
    assert len(last.fit_resample(X, y)[0]) == 240
    assert not hasattr(last, "transform")
    assert not hasattr(make_pipeline(SMOTE(), LogisticRegression()), "fit_resample")


def test_frames_go_through(rows):
    X, y = pd.DataFrame(rows[0], columns=list("abc")), pd.Series(rows[1])
    model = (
        make_pipeline(StandardScaler(), SMOTE(random_state=0), LogisticRegression()).set_output(transform="pandas").fit(X, y)
    )
    assert list(model[1].feature_names_in_) == list(model[2].feature_names_in_) == ["a", "b", "c"]


def test_fitted_steps_are_cached(rows, tmp_path):
    X, y = rows
    step = SMOTE(random_state=0)
    model = Pipeline([("smote", step), ("learn", LogisticRegression())], memory=str(tmp_path)).fit(X, y)
    again = clone(model).fit(X, y)
    assert not hasattr(step, "sampling_strategy_")
    assert hasattr(model[0], "sampling_strategy_")
    np.testing.assert_array_equal(model[-1].coef_, again[-1].coef_)


def test_metadata_of_steps(rows):
    X, y = rows
    model = Pipeline([("spy", Spy()), ("learn", LogisticRegression())])
    assert model.fit(X, y, spy__weight=3)[0].weight_ == 3
    with pytest.raises(ValueError, match="does not accept the weight parameter"):
        model.fit(X, y, weight=3)
    with config_context(enable_metadata_routing=True):
        assert Pipeline([("spy", Spy()), ("learn", LogisticRegression())]).fit(X, y, weight=3)[0].weight_ == 3
        with pytest.raises(TypeError, match="unexpected argument"):
            Pipeline([("smote", SMOTE()), ("learn", LogisticRegression())]).fit(X, y, weight=3)


def test_wrong_steps_are_named_and_nothing_is_left_half_fitted(rows):
    class Both(SMOTE):
        def transform(self, X): ...

    nested = Pipeline([("smote", SMOTE()), ("scale", StandardScaler())])
    for step, message in [(Both(), "implements both"), (nested, "Give its steps in its place"), (object(), "doesn't")]:
        with pytest.raises(TypeError, match=message):
            Pipeline([("smote", SMOTE()), ("wrong", step), ("learn", LogisticRegression())]).fit(*rows)
    with pytest.raises(TypeError, match="Last step of Pipeline should implement fit"):
        Pipeline([("smote", SMOTE()), ("wrong", object())]).fit(*rows)
    with pytest.raises(ValueError, match="transform_input"):
        Pipeline([("smote", SMOTE()), ("learn", LogisticRegression())], transform_input=["X_val"]).fit(*rows)


def test_verbose_tells_of_every_step(rows, capsys):
    Pipeline([("over", SMOTE()), ("learn", LogisticRegression())], verbose=True).fit(*rows)
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition("(")[2].partition(",")[0] for line in lines] == [
        "step 1 of 2) Processing over",
        "step 2 of 2) Processing learn",
    ]
    assert all(line.startswith("[Pipeline] ....") and len(line) == 70 for line in lines)


def test_saved_and_pickled_ones_predict_the_same(rows, tmp_path):
    X, y = rows
    model = make_pipeline(StandardScaler(), SMOTE(random_state=0), LogisticRegression()).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    for other in (mercer.load(tmp_path / "model.mercer"), pickle.loads(pickle.dumps(model))):
        assert type(other) is Pipeline
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        assert other[1].sampling_strategy_ == model[1].sampling_strategy_


@pytest.mark.skipif(SCIKIT_LEARN < (1, 9), reason="no callbacks")
def test_callbacks_see_every_step(rows):
    class Watch:
        def __init__(self):
            self.tasks = []

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context, **kwargs):
            self.tasks.append(context.task_name)

        def on_fit_task_end(self, estimator, context, **kwargs):
            return False

    watch = Watch()
    model = make_pipeline(StandardScaler(), SMOTE(random_state=0), LogisticRegression()).set_callbacks(watch)
    model.fit(*rows)
    assert watch.tasks == [
        "fit", "fit-transform-standardscaler", "fit-resample-smote", "fit-final-estimator",
    ]  # fmt: skip


def test_tuning_resamples_in_every_fold(rows):
    from mercer.model_selection import tune

    model = make_pipeline(StandardScaler(), SMOTE(random_state=0), LogisticRegression())
    grid = {"logisticregression__C": [0.1, 1.0]}
    found = tune(model, *rows, grid, cv=3, random_state=0)
    peer = GridSearchCV(model, grid, cv=3).fit(*rows)
    assert found.best_score == pytest.approx(peer.best_score_)
    assert isinstance(found.best_estimator, Pipeline)

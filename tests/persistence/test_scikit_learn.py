"""Estimators of scikit-learn's whose state is data are stored; the others are refused in words, and nothing else happens."""

from __future__ import annotations

import contextlib
import inspect
import io
import random
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold, mutual_info_classif
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

import mercer
from mercer.linear_model import LogisticRegression, Ridge
from mercer.metrics import f1_score
from tests.common.children import run_in_child
from tests.common.state import bits
from tests.persistence.forging import change_structure, change_tensors, forge, read

METHODS = ("predict", "predict_proba", "decision_function", "transform", "score_samples", "inverse_transform")
_random = np.random.RandomState(0)
X = np.abs(_random.randn(40, 4))
Y = (X[:, 0] > X[:, 1]).astype(int)
TEXTS = ["one two three", "two three four four", "four one"] * 10
RECORDS = [{"a": 1.0, "b": "x"}, {"b": "y"}, {"a": 2.0}] * 5


def stored(model):
    file = io.BytesIO()
    mercer.save(model, file)
    return mercer.load(file.getvalue())


def answers(model, given):
    found = {}
    for name in METHODS:
        with warnings.catch_warnings(), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            found[name] = getattr(model, name)(given)
    return found


def assert_alike(one, other):
    if sp.issparse(one):
        one, other = one.toarray(), other.toarray()
    if isinstance(one, list):
        assert [bits(item) for item in one] == [bits(item) for item in other]
    elif np.asarray(one).dtype.kind == "f":  # BLAS rounds by where arrays lie
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(other, one)


def assert_stored(model, given):
    loaded = stored(model)
    assert type(loaded) is type(model)
    assert vars(loaded).keys() == vars(model).keys()
    expected = answers(model, given)
    for name, answer in answers(loaded, given).items():
        assert_alike(answer, expected.pop(name))
    assert not expected
    return loaded


# ---- those that users ask for

LOGISTIC, RIDGE = LogisticRegression(), Ridge()
WANTED = {
    "grid": (GridSearchCV(RIDGE, {"alpha": [0.1, 1.0]}, cv=KFold(2)), X, Y),
    "grid of a pipeline": (
        GridSearchCV(make_pipeline(PCA(), LOGISTIC), [{"pca__n_components": [1, 2]}, {"pca": [PCA(1), "passthrough"]}],
                     cv=2),
        X, Y,
    ),
    "grid with several measures": (
        GridSearchCV(LOGISTIC, {"C": [0.1, 1.0]}, scoring=["accuracy", "roc_auc"], refit="roc_auc", cv=2), X, Y,
    ),
    "grid with a measure of the user's choice": (
        GridSearchCV(LOGISTIC, {"C": [1.0]}, scoring=make_scorer(fbeta_score, beta=2.0),
                     cv=RepeatedStratifiedKFold(n_repeats=2)),
        X, Y,
    ),
    "grid with splits as a list": (
        GridSearchCV(LOGISTIC, {"C": [1.0]}, scoring=make_scorer(f1_score), cv=list(KFold(2).split(X, Y))), X, Y,
    ),
    "random search": (
        RandomizedSearchCV(RIDGE, {"alpha": scipy.stats.loguniform(1e-3, 1.0)}, n_iter=3, random_state=0,
                           cv=RepeatedKFold(n_splits=2, n_repeats=1)),
        X, Y,
    ),
    "halving search": (HalvingGridSearchCV(RIDGE, {"alpha": [0.1, 1.0, 10.0]}, random_state=0, cv=2), X, Y),
    "counts": (CountVectorizer(ngram_range=(1, 2), stop_words=["one"]), TEXTS, None),
    "tf-idf": (TfidfVectorizer(dtype=np.float32), TEXTS, None),
    "hashes": (HashingVectorizer(n_features=32), TEXTS, None),
    "dicts": (DictVectorizer(), RECORDS, None),
    "principal components": (PCA(2), X, None),
    "truncated": (TruncatedSVD(2, random_state=0), sp.csr_matrix(X), None),
    "factors": (NMF(2, random_state=0, max_iter=20), X, None),
    "best": (SelectKBest(k=2), X, Y),
    "best by information": (SelectKBest(mutual_info_classif, k=2), X, Y),
    "by model": (SelectFromModel(RIDGE), X, Y),
    "eliminated": (RFE(RIDGE, n_features_to_select=2), X, Y),
    "varying": (VarianceThreshold(), X, None),
    "several targets": (MultiOutputRegressor(RIDGE), X, np.c_[Y, 1 - Y]),
    "several labels": (MultiOutputClassifier(LOGISTIC), X, np.c_[Y, 1 - Y]),
    "chain": (ClassifierChain(LOGISTIC, cv=2), X, np.c_[Y, 1 - Y]),
    "one against rest": (OneVsRestClassifier(LOGISTIC), X, Y + (X[:, 2] > 1)),
    "one against rest, a label for all": (OneVsRestClassifier(LOGISTIC), X, np.c_[Y, np.ones_like(Y)]),
    "one against one": (OneVsOneClassifier(LOGISTIC), X, Y + (X[:, 2] > 1)),
    "codes": (OutputCodeClassifier(LOGISTIC, random_state=0), X, Y + (X[:, 2] > 1)),
    "frozen": (FrozenEstimator(LogisticRegression().fit(X, Y)), X, Y),
    "fixed threshold": (FixedThresholdClassifier(LOGISTIC, threshold=0.3), X, Y),
    "tuned threshold": (TunedThresholdClassifierCV(LOGISTIC, cv=2, store_cv_results=True), X, Y),
    "calibrated": (CalibratedClassifierCV(GaussianNB(), cv=2), X, Y),
    "isotonic": (IsotonicRegression(out_of_bounds="clip"), X[:, 0], X[:, 1]),
    "splines": (SplineTransformer(), X, None),
    "Gaussian process": (GaussianProcessRegressor(ConstantKernel() * RBF() + WhiteKernel(), optimizer=None), X, X[:, 0]),
    "Gaussian process of classes": (GaussianProcessClassifier(Matern(nu=2.5)), X, Y),
    "network": (MLPClassifier((3,), max_iter=5, random_state=0), X, Y),
    "support vectors": (SVC(probability=False), X, Y + (X[:, 2] > 1)),
    "support vectors, sparse": (SVR(), sp.csr_matrix(X), X[:, 0]),
    "support vectors of a kernel matrix": (SVC(kernel="precomputed"), X @ X.T, Y),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WANTED)
def test_what_users_build_around_models_is_stored(name):
    model, given, target = WANTED[name]
    model = clone(model) if name != "frozen" else model
    assert answers(model.fit(given, target), given)
    loaded = assert_stored(model, given)
    assert repr(loaded) == repr(model) or name == "random search"  # which shows where its distribution lies
    if name != "frozen":
        again = clone(loaded).fit(given, target)
        assert answers(again, given).keys() == answers(model, given).keys()


@pytest.mark.filterwarnings("ignore")
def test_the_results_of_a_search_are_kept():
    model = clone(WANTED["grid of a pipeline"][0]).fit(X, Y)
    loaded = stored(model)
    assert loaded.best_index_ == model.best_index_
    for name, values in model.cv_results_.items():
        kept = loaded.cv_results_[name]
        assert type(kept) is type(values)
        if isinstance(values, np.ma.MaskedArray):
            assert kept.dtype == values.dtype
            assert kept.mask.tolist() == values.mask.tolist()
            assert list(map(repr, kept)) == list(map(repr, values))
        elif name != "params":
            np.testing.assert_array_equal(kept, values)
    assert loaded.scorer_(loaded, X, Y) == model.scorer_(model, X, Y)


def test_a_distribution_draws_what_it_drew():
    for distribution in (scipy.stats.uniform(1.0, 2.0), scipy.stats.randint(3, 9), scipy.stats.gamma(a=2.0, scale=3.0)):
        kept = stored(RandomizedSearchCV(RIDGE, {"alpha": distribution})).param_distributions["alpha"]
        np.testing.assert_array_equal(kept.rvs(20, random_state=0), distribution.rvs(20, random_state=0))


# ---- what is refused says what to do


def test_trees_of_scikit_learn_are_refused_with_what_else_can_be_done():
    model = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2).fit(X, Y)
    with pytest.raises(
        TypeError, match=r"model\.best_estimator_\.tree_: .*; mercer\.tree\.DecisionTreeClassifier can\. joblib\.dump"
    ):
        mercer.save(model, io.BytesIO())


def test_a_search_that_cannot_be_stored_names_its_best_model():
    def measure(model, X, y):
        return model.score(X, y)

    model = GridSearchCV(RIDGE, {"alpha": [1.0]}, scoring=measure, cv=2).fit(X, Y)
    with pytest.raises(TypeError, match=r"model\.scoring: .*model\.best_estimator_ can be stored by itself"):
        mercer.save(model, io.BytesIO())
    mercer.save(model.best_estimator_, io.BytesIO())


# ---- every estimator that scikit-learn has

PARAMETERS = {
    "estimator": LogisticRegression(max_iter=50), "estimators": [("a", LogisticRegression()), ("b", GaussianNB())],
    "steps": [("a", PCA(2)), ("b", LogisticRegression())], "transformer_list": [("a", PCA(1))],
    "transformers": [("a", PCA(1), [0, 1])], "param_grid": {"C": [0.1, 1.0]}, "param_distributions": {"C": [0.1, 1.0]},
    "dictionary": np.eye(4),
}  # fmt: skip
REGRESSORS = {"MultiOutputRegressor", "RegressorChain", "StackingRegressor", "TransformedTargetRegressor", "VotingRegressor"}
DATA = [
    (X, Y), (X,), (X[:, 0], Y), (Y,), (X, np.c_[Y, 1 - Y]), (RECORDS,), ([[1, 2], [2]],), (X[:, :3], X[:, :2]), (X, Y + 1.0),
    (X @ X.T,), (TEXTS,), (X, np.where(X[:, 3] > 0.5, Y, -1)),
]  # fmt: skip


def fitted(kind):
    """An estimator of a class, fitted to the first data that it takes, and these."""
    required = [name for name, value in inspect.signature(kind).parameters.items() if value.default is value.empty]
    given = {name: PARAMETERS[name] for name in required if name in PARAMETERS}
    if kind.__name__ in REGRESSORS:
        given = {"estimators": [("a", Ridge())]} if "estimators" in given else {"estimator": Ridge()} if given else given
    model = kind(**given)
    quick = {
        "n_estimators": 3,
        "max_iter": {"TSNE": 250, "OrthogonalMatchingPursuitCV": 2}.get(kind.__name__, 20),
        "random_state": 0,
        "cv": 2,
    }
    model.set_params(**{name: value for name, value in quick.items() if name in model.get_params(deep=False)})
    if kind.__name__ == "FrozenEstimator":
        return model.__class__(LogisticRegression().fit(X, Y)), X
    if kind.__name__ == "SelfTrainingClassifier":
        model.set_params(estimator=LogisticRegression())
    if "RandomProjection" in kind.__name__:
        model.set_params(n_components=2)
    for data in DATA if "Vectorizer" not in kind.__name__ or "Dict" in kind.__name__ else [(TEXTS,)]:
        with contextlib.suppress(Exception):
            return model.fit(*data), data[0]
    raise AssertionError(f"{kind.__name__} takes none of the data")


# They keep objects of compiled code (trees, neighbour searches, losses), private functions, or objects that hold one another.
NOT_DATA = {
    "AdaBoostClassifier", "AdaBoostRegressor", "BaggingClassifier", "BaggingRegressor", "Birch", "BisectingKMeans",
    "DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor", "ExtraTreesClassifier",
    "ExtraTreesRegressor", "GammaRegressor", "GradientBoostingClassifier", "GradientBoostingRegressor", "HDBSCAN",
    "HistGradientBoostingClassifier", "HistGradientBoostingRegressor", "IsolationForest", "Isomap", "KNeighborsClassifier",
    "KNeighborsRegressor", "KNeighborsTransformer", "KernelDensity", "LocallyLinearEmbedding",
    "NearestNeighbors", "PassiveAggressiveClassifier", "Perceptron", "PoissonRegressor", "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor", "RadiusNeighborsTransformer", "RandomForestClassifier", "RandomForestRegressor",
    "RandomTreesEmbedding", "SGDClassifier", "SGDOneClassSVM", "TweedieRegressor",
}  # fmt: skip

KINDS = [kind for _, kind in all_estimators()]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_estimator_is_stored_or_refused(kind):
    model, given = fitted(kind)
    if kind.__name__ in NOT_DATA:
        with pytest.raises(TypeError, match=r"cannot be stored.*joblib\.dump"):
            mercer.save(model, io.BytesIO())
    else:
        assert_stored(model, given)


ATTACKED = [SVC, SVR, NuSVC, OneClassSVM, PCA, CountVectorizer, IsotonicRegression, SplineTransformer, MLPClassifier,
            GaussianProcessClassifier, GridSearchCV, TunedThresholdClassifierCV]  # fmt: skip


def attack(kinds, folder, seed, n_files):
    """Runs in a child: changed files of each model are loaded and, but for wrappers, used. Returns how many still loaded."""
    warnings.simplefilter("ignore")
    chance, n_loaded = random.Random(seed), 0
    for kind in kinds:
        with contextlib.suppress(TypeError):
            model, given = fitted(kind)
            mercer.save(model, folder / "good")
            structure, tensors = read(folder / "good")
            for _ in range(n_files):
                if tensors and chance.random() < 0.5:
                    forge(folder / "bad", structure, change_tensors(tensors, chance))
                else:
                    forge(folder / "bad", change_structure(structure, chance), tensors)
                with contextlib.suppress(mercer.FileFormatError, OSError):
                    loaded = mercer.load(folder / "bad")
                    n_loaded += 1
                    if not hasattr(loaded, "estimators_"):  # scikit-learn makes sparse matrices of what members say, unchecked
                        answers(loaded, given)
    return n_loaded


def test_changed_files_of_estimators_of_scikit_learn_give_errors_and_nothing_worse(tmp_path):
    assert run_in_child(attack, ATTACKED, tmp_path, 0, 20, timeout=250) > 20


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_many_changed_files_of_estimators_of_scikit_learn_give_errors_and_nothing_worse(kind, tmp_path):
    run_in_child(attack, [kind], tmp_path, 1, 100, timeout=1200)


# ---- attributes of the user's own


class Ours(BaseEstimator):
    pass


@pytest.mark.parametrize(
    "make", [Ridge, lambda: make_pipeline(PCA(2), Ridge()), lambda: GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=2)]
)
def test_attributes_of_the_users_own_are_stored(make):
    model = make().fit(X, Y)
    model.threshold, model.note, model.names = 0.3, {"by": "me"}, ["a", "b"]
    loaded = stored(model)
    assert (loaded.threshold, loaded.note, loaded.names) == (0.3, {"by": "me"}, ["a", "b"])
    assert bits(loaded.predict(X)) == bits(model.predict(X))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("predict", 1, "cannot have an attribute 'predict' of its own: it would hide"),
        ("score", np.zeros(2), "'score'.*would hide"),
        ("__len__", 1, "'__len__'.*not a name that data can have"),
        ("a b", 1, "'a b'.*not a name that data can have"),
        ("model", Ours(), r"model\.model: the class .*Ours is not one that Mercer's files hold"),
        ("callback", print, r"model\.callback: a Python function"),
    ],
)
@pytest.mark.parametrize("make", [Ridge, lambda: make_pipeline(Ridge())])
def test_attributes_that_a_reader_would_refuse_are_refused_by_save(make, name, value, message):
    model = make()
    vars(model)[name] = value
    with pytest.raises(TypeError, match=message):
        mercer.save(model, io.BytesIO())

"""Sequential selection: the walks of the textbook, the same scores by products as by fits, and sets that forward misses."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.feature_selection as peer
from hypothesis import given, settings, strategies as st
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit, StratifiedKFold, cross_val_score

import mercer.feature_selection._sequential as sequential
from mercer.discriminant_analysis import LinearDiscriminantAnalysis
from mercer.feature_selection import SequentialFeatureSelector
from mercer.feature_selection._walks import Walk
from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from mercer.neighbors import KNeighborsClassifier
from tests.reference import selection as textbook


def _table(seed, n=120, d=7):
    """Correlated columns, some of which matter."""
    random = np.random.RandomState(seed)
    X = random.randn(n, d) @ random.randn(d, d) + random.randn(d) * 5
    return X, X @ (random.randn(d) * (random.rand(d) < 0.6)) + 2 * random.randn(n)


def _plain(monkeypatch, selector, X, y):
    """The same selection with every set fitted."""
    with monkeypatch.context() as patch:
        patch.setattr(sequential, "FAST", ())
        return selector.__class__(**selector.get_params(deep=False)).fit(X, y)


def _scores(selector):
    return np.array([step["fold_scores"] for step in selector.history_])


def _features(selector):
    return [step["feature"] for step in selector.history_]


WALKS = [
    {},
    {"direction": "backward"},
    {"floating": True, "n_features_to_select": 3},
    {"floating": True, "direction": "backward", "n_features_to_select": 2},
    {"direction": "bidirectional", "n_features_to_select": 3},
    {"tol": 1e-3},
    {"tol": 1e-3, "floating": True},
    {"tol": 1e-3, "direction": "bidirectional"},
    {"tol": -0.01, "direction": "backward"},
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("options", WALKS, ids=str)
@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        LinearRegression(fit_intercept=False),
        Ridge(3.0),
        LogisticRegression(tol=1e-10),
        LogisticRegression(tol=1e-10, C=0.1, fit_intercept=False),
        LinearDiscriminantAnalysis(),
    ],
    ids=repr,
)
def test_scores_without_fits_are_those_of_fits(model, options, monkeypatch):
    X, y = _table(0)
    if hasattr(model, "predict_proba"):
        y = np.digitize(y, np.quantile(y, [0.5] if isinstance(model, LogisticRegression) else [0.3, 0.6]))
    selector = SequentialFeatureSelector(model, **options).fit(X, y)
    plain = _plain(monkeypatch, selector, X, y)
    assert _features(selector) == _features(plain)
    np.testing.assert_allclose(_scores(selector), _scores(plain), atol=1e-9)
    np.testing.assert_array_equal(selector.support_, plain.support_)


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error"])
@pytest.mark.parametrize(
    "cv", [LeaveOneOut(), ShuffleSplit(4, random_state=0), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)], ids=repr
)
def test_any_folds_and_errors_give_the_scores_of_fits(cv, scoring, monkeypatch):
    X, y = _table(1, n=40, d=5)
    selector = SequentialFeatureSelector(LinearRegression(), cv=cv, scoring=scoring).fit(X, y)
    plain = _plain(monkeypatch, selector, X, y)
    np.testing.assert_allclose(_scores(selector), _scores(plain), atol=1e-9)
    assert _features(selector) == _features(plain)


def test_training_rows_need_not_be_all_that_are_not_held_out(monkeypatch):
    """As many rows as the others, and yet not these: draws with repetition, some of the held-out rows."""
    X, y = _table(1, n=40, d=5)
    random = np.random.RandomState(0)
    for rows in (lambda train: random.choice(train, len(train)), lambda train: random.permutation(40)[: len(train)]):
        folds = [(rows(train), test) for train, test in KFold(4).split(X)]
        selector = SequentialFeatureSelector(LinearRegression(), cv=folds).fit(X, y)
        np.testing.assert_allclose(_scores(selector), _scores(_plain(monkeypatch, selector, X, y)), atol=1e-9)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc", "f1_macro"])
@pytest.mark.parametrize("model", [LogisticRegression(tol=1e-10), LinearDiscriminantAnalysis(normalizer="n-K")], ids=repr)
def test_any_measure_of_classes_gives_the_scores_of_fits(model, scoring, monkeypatch):
    X, y = _table(2)
    labels = np.where(y > np.median(y), "high", "low")
    selector = SequentialFeatureSelector(model, scoring=scoring, direction="backward").fit(X, labels)
    plain = _plain(monkeypatch, selector, X, labels)
    assert _features(selector) == _features(plain)
    np.testing.assert_allclose(_scores(selector), _scores(plain), atol=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 5), st.booleans())
def test_forward_and_backward_are_the_textbooks(seed, n_wanted, is_forward):
    X, y = _table(seed % 2**31, n=50, d=6)
    cv = KFold(3)
    options = {"n_features_to_select": n_wanted, "direction": "forward" if is_forward else "backward", "cv": cv}
    selector = SequentialFeatureSelector(LinearRegression(), **options).fit(X, y)
    steps = (textbook.forward if is_forward else textbook.backward)(LinearRegression(), X, y, n_wanted, cv)
    assert _features(selector) == [feature for feature, _ in steps]
    np.testing.assert_allclose(_scores(selector), [scores for _, scores in steps], atol=1e-9)


def test_columns_that_depend_on_others_are_fitted_plainly(monkeypatch):
    X, y = _table(3, d=4)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X)), X[:, 2], X[:, 3] * 1e-9])
    for direction in ("forward", "backward"):
        for model, target in ((LinearRegression(), y), (LinearDiscriminantAnalysis(), y > 0)):
            selector = SequentialFeatureSelector(model, n_features_to_select=5, direction=direction).fit(X, target)
            plain = _plain(monkeypatch, selector, X, target)
            np.testing.assert_allclose(_scores(selector), _scores(plain), atol=1e-8)


def test_fewer_rows_than_columns_are_fitted_plainly(monkeypatch):
    X, y = _table(4, n=12, d=15)
    selector = SequentialFeatureSelector(LinearRegression(), n_features_to_select=5, direction="backward", cv=3).fit(X, y)
    np.testing.assert_allclose(_scores(selector), _scores(_plain(monkeypatch, selector, X, y)), atol=1e-7)


def test_a_long_walk_keeps_its_digits(monkeypatch):
    X, y = _table(5, n=300, d=60)
    selector = SequentialFeatureSelector(Ridge(1.0), n_features_to_select=2, direction="backward", cv=3).fit(X, y)
    for step in selector.history_[::9]:
        expected = cross_val_score(Ridge(1.0), X[:, step["support"]], y, cv=3)
        np.testing.assert_allclose(step["fold_scores"], expected, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"direction": "backward"}, {"tol": 0.01}, {"n_features_to_select": 0.4}])
def test_what_the_peer_has_is_the_peers(options):
    X, y = _table(6, d=6)
    labels = (y > 0).astype(int)
    for model, target in ((Ridge(), y), (KNeighborsClassifier(3), labels), (LogisticRegression(), labels)):
        classes = SequentialFeatureSelector, peer.SequentialFeatureSelector
        mine, theirs = (cls(model, cv=3, **options).fit(X, target) for cls in classes)
        np.testing.assert_array_equal(mine.support_, theirs.support_)
        assert mine.n_features_to_select_ == theirs.n_features_to_select_


def test_floating_reaches_the_set_that_forward_misses():
    """The best single column is made of the two that are best together: forward keeps it, floating drops it again."""
    random = np.random.RandomState(0)
    a, b = random.randn(2, 400)
    X = np.column_stack([a + b + 0.5 * random.randn(400), a, b, random.randn(400)])
    y = a + b + 0.1 * random.randn(400)
    forward = SequentialFeatureSelector(LinearRegression(), n_features_to_select=2).fit(X, y)
    floating = SequentialFeatureSelector(LinearRegression(), n_features_to_select=2, floating=True).fit(X, y)
    assert forward.get_support()[0]
    assert floating.get_support(indices=True).tolist() == [1, 2]
    assert tuple(floating.get_support(indices=True)) == textbook.best_set(LinearRegression(), X, y, 2, KFold(5))
    assert [step["is_addition"] for step in floating.history_[:4]] == [True, True, True, False]
    free = SequentialFeatureSelector(LinearRegression(), tol=1e-3, floating=True).fit(X, y)
    assert free.get_support(indices=True).tolist() == [1, 2]


class Given:
    """An evaluator with a known score for every set, and a count of what was asked."""

    def __init__(self, score):
        self.score, self.asked = score, 0

    def changed(self, base, features):
        self.asked += len(features)
        scores = []
        for feature in features:
            support = base.copy()
            support[feature] = ~base[feature]
            assert support.any(), "the empty set has no score"
            scores.append([self.score(frozenset(np.flatnonzero(support).tolist()))] * 2)
        return np.array(scores, dtype=float)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 6), st.data())
def test_walks_over_any_scores_end_where_they_promise(seed, d, data):
    """No structure at all: a floating walk ends, and is no worse than the straight one that it contains."""
    scores, random = {}, np.random.RandomState(seed % 2**31)

    def score(features):
        return scores.setdefault(features, float(random.randint(8)))

    n_wanted = data.draw(st.integers(1, d - 1))
    for start in (np.zeros(d, dtype=bool), np.ones(d, dtype=bool)):
        n_steps = abs(int(start.sum()) - n_wanted)
        straight = Walk(Given(score)).straight(start, n_steps=n_steps, least_gain=None)
        floating = Walk(Given(score)).floating(start, n_wanted=n_wanted, least_gain=None)
        assert straight.sum() == floating.sum() == n_wanted
        free = Walk(Given(score))
        best = free.floating(start, n_wanted=n_wanted, least_gain=0.5)
        assert score(frozenset(np.flatnonzero(best).tolist())) == max(change.score for change in free.steps)
    both = Walk(Given(score))
    assert both.from_both_ends(d, n_wanted=n_wanted, least_gain=None).sum() == n_wanted
    taken = [change.feature for change in both.steps if change.is_addition]
    dropped = [change.feature for change in both.steps if not change.is_addition]
    assert not set(taken) & set(dropped)
    assert Walk(Given(score)).from_both_ends(d, n_wanted=n_wanted, least_gain=1.0).any()


def test_a_score_that_is_not_defined_is_never_chosen():
    found = Walk(Given(lambda features: np.nan if 0 in features else len(features))).straight(
        np.zeros(3, dtype=bool), n_steps=2, least_gain=None
    )
    assert found.tolist() == [False, True, True]


def test_folds_are_the_same_for_all_sets(monkeypatch):
    X, y = _table(7)
    cv = KFold(3, shuffle=True, random_state=np.random.RandomState(0))
    selector = SequentialFeatureSelector(KNeighborsClassifier(), cv=cv, n_features_to_select=2).fit(X, y > 0)
    splits = list(KFold(3, shuffle=True, random_state=np.random.RandomState(0)).split(X))
    for step in selector.history_:
        expected = cross_val_score(KNeighborsClassifier(), X[:, step["support"]], y > 0, cv=splits)
        np.testing.assert_allclose(step["fold_scores"], expected)


def test_jobs_change_nothing():
    X, y = _table(8)
    labels = y > np.median(y)
    for model, target in ((KNeighborsClassifier(), labels), (LogisticRegression(), labels), (Ridge(), y)):
        one, two = (SequentialFeatureSelector(model, n_jobs=n_jobs, cv=3).fit(X, target) for n_jobs in (None, 2))
        np.testing.assert_array_equal(_scores(one), _scores(two))


def test_fits_by_sums_really_fit_nothing(monkeypatch):
    """What is quick is not quick by accident: no model is fitted."""
    X, y = _table(9)

    def refuse(self, *args, **kwargs):
        raise AssertionError("a model was fitted")

    labels = y > np.median(y)
    models = (LinearRegression(), Ridge(), LogisticRegression(), LinearDiscriminantAnalysis())
    for model, target in zip(models, (y, y, labels, labels), strict=True):
        monkeypatch.setattr(type(model), "fit", refuse)
        SequentialFeatureSelector(model, cv=StratifiedKFold(3) if target.dtype == bool else 3).fit(X, target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features_to_select": 7}, r"n_features_to_select must be < n_features, here 7"),
        ({"floating": True, "direction": "bidirectional"}, "floating=True is not valid with direction='bidirectional'"),
        ({"tol": -1.0}, "tol must be strictly positive when doing forward selection"),
        ({"direction": "sideways"}, "direction='sideways' is not valid"),
    ],
)
def test_what_has_no_meaning_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SequentialFeatureSelector(Ridge(), **options).fit(*_table(0))
    X, y = _table(0)
    y[3] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN"):
        SequentialFeatureSelector(Ridge()).fit(X, y)

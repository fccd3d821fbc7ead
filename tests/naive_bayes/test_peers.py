"""The five classes of scikit-learn: its answers, tables computed by hand, and counts of zero."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as peer

from mercer.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from tests.reference import generative as reference

COUNTING = (MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB)
OF_FEATURES = COUNTING[:3]


def _counts(n=80, d=6, n_classes=3):
    random = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    return random.poisson(1 + random.random((n_classes, d))[y]).astype(float), y


OPTIONS = [{}, {"alpha": 0.2}, {"fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("estimator", COUNTING)
def test_counts_give_the_answers_of_the_peer(estimator, options):
    X, y = _counts()
    mine, yours = (cls(**options).fit(X, y) for cls in (estimator, getattr(peer, estimator.__name__)))
    np.testing.assert_allclose(mine.predict_joint_log_proba(X), yours.predict_joint_log_proba(X), rtol=1e-10)
    np.testing.assert_allclose(mine.predict_log_proba(X), yours.predict_log_proba(X), rtol=1e-8, atol=1e-10)
    for name in ("class_count_", "class_log_prior_"):
        np.testing.assert_allclose(getattr(mine, name), getattr(yours, name))
    for one, other in zip(mine.feature_log_prob_, yours.feature_log_prob_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


@pytest.mark.parametrize("options", [{"alpha": np.arange(1.0, 7.0)}, {}], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("estimator", OF_FEATURES)
def test_sparse_counts_are_dense_counts(estimator, dtype, options):
    X, y = _counts()
    dense = estimator(**options).fit(X, y)
    sparse = estimator(**options).fit(sp.csr_matrix(X.astype(dtype)), y)
    np.testing.assert_allclose(sparse.feature_log_prob_, dense.feature_log_prob_, rtol=1e-12)
    np.testing.assert_allclose(sparse.predict_joint_log_proba(sp.csr_matrix(X)), dense.predict_joint_log_proba(X), rtol=1e-10)


@pytest.mark.parametrize("estimator", [*COUNTING, GaussianNB])
def test_parts_add_up_to_the_whole(estimator):
    X, y = _counts()
    whole, parts = estimator().fit(X, y), estimator()
    order = np.argsort(y, kind="stable")  # the first part has one class
    for rows in np.array_split(order, 4):
        parts.partial_fit(X[rows], y[rows], [0, 1, 2])
    np.testing.assert_allclose(parts.predict_joint_log_proba(X), whole.predict_joint_log_proba(X), rtol=1e-9)
    with pytest.raises(ValueError, match="first call"):
        estimator().partial_fit(X, y)
    with pytest.raises(ValueError, match="names a label twice"):
        estimator().partial_fit(X, y, [0, 0, 1, 2])


def test_gaussian_naive_bayes_is_the_closed_form_and_the_peers():
    X, y = _counts()
    X = X + np.random.default_rng(1).normal(size=X.shape)
    model, other = GaussianNB().fit(X, y), peer.GaussianNB().fit(X, y)
    expected = reference.gaussian_joint(X, y, X, 1e-9 * X.var(axis=0).max())
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-9)
    for name in ("theta_", "var_", "epsilon_", "class_prior_", "class_count_"):
        np.testing.assert_allclose(getattr(model, name), getattr(other, name), rtol=1e-9)


def test_gaussian_naive_bayes_far_from_the_origin_keeps_its_digits():
    X, y = _counts()
    shifted = GaussianNB(var_smoothing=0).fit(X + 2.0**24, y)  # whole numbers: the shift loses nothing
    np.testing.assert_allclose(
        shifted.predict_proba(X + 2.0**24), GaussianNB(var_smoothing=0).fit(X, y).predict_proba(X), atol=1e-6
    )


def test_equal_rows_are_sure_and_all_others_have_some_answer():
    model = GaussianNB().fit([[1.0], [1.0], [1.0]], ["a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[1 / 3, 2 / 3]])
    separate = GaussianNB(var_smoothing=0).fit([[1.0], [1.0], [2.0]], ["a", "a", "b"])
    assert separate.predict([[1.0], [2.0]]).tolist() == ["a", "b"]
    assert np.isfinite(separate.predict_proba([[1.0], [2.0], [1.5]])).all()


def test_priors_of_gaussian_naive_bayes_must_sum_to_one():
    X, y = _counts()
    for priors, message in (([0.5, 0.5, 0.5], "should be 1"), ([0.5, 0.5], "must match"), ([-0.5, 1, 0.5], "non-negative")):
        with pytest.raises(ValueError, match=message):
            GaussianNB(priors=priors).fit(X, y)


# Four documents of the words (goal, vote); two of sport, two of politics.
WORDS, TOPICS = np.array([[2, 0], [1, 1], [0, 3], [1, 2]]), np.array(["sport", "sport", "vote", "vote"])


def test_multinomial_naive_bayes_is_the_table_computed_by_hand():
    model = MultinomialNB().fit(WORDS, TOPICS)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[4 / 6, 2 / 6], [2 / 8, 6 / 8]])
    joint = 0.5 * np.array([(4 / 6) * (2 / 6) ** 2, (2 / 8) * (6 / 8) ** 2])
    np.testing.assert_allclose(model.predict_proba([[1, 2]]), [joint / joint.sum()])


def test_bernoulli_naive_bayes_is_the_table_computed_by_hand():
    model = BernoulliNB().fit(WORDS, TOPICS)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[3 / 4, 2 / 4], [2 / 4, 3 / 4]])
    joint = 0.5 * np.array([(3 / 4) * (2 / 4), (2 / 4) * (1 / 4)])  # the first word there, the second not
    np.testing.assert_allclose(model.predict_proba([[5, 0]]), [joint / joint.sum()])


def test_complement_naive_bayes_is_the_table_computed_by_hand():
    model = ComplementNB().fit(WORDS, TOPICS)
    np.testing.assert_allclose(np.exp(-model.feature_log_prob_), [[2 / 8, 6 / 8], [4 / 6, 2 / 6]])


def test_categorical_naive_bayes_is_the_table_computed_by_hand():
    model = CategoricalNB().fit([[0], [0], [1], [1], [1]], ["a", "a", "a", "b", "b"])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[3 / 5, 2 / 5], [1 / 4, 3 / 4]])
    joint = np.array([3 / 5 * 2 / 5, 2 / 5 * 3 / 4])
    np.testing.assert_allclose(model.predict_proba([[1]]), [joint / joint.sum()])


def test_a_category_that_was_never_seen_says_nothing():
    model = CategoricalNB().fit([[0, 0], [0, 1], [1, 1]], ["a", "a", "b"])
    unseen, other = model.predict_joint_log_proba([[9, 1], [1, 9]])
    np.testing.assert_allclose(unseen, model.class_log_prior_ + model.feature_log_prob_[1][:, 1])
    np.testing.assert_allclose(other, model.class_log_prior_ + model.feature_log_prob_[0][:, 1])
    with pytest.raises(ValueError, match="OrdinalEncoder"):
        CategoricalNB().fit([[1e9]], ["a"])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("estimator", [MultinomialNB, BernoulliNB])
def test_without_smoothing_what_never_came_is_impossible(estimator, kind):
    model = estimator(alpha=0).fit(kind(np.array([[1.0, 0, 1], [0, 1, 1], [0, 1, 1]])), ["a", "b", "b"])
    found = model.predict_proba(kind(np.array([[1.0, 0, 1], [0, 1, 1], [1, 1, 0]])))
    np.testing.assert_allclose(found, [[1, 0], [0, 1], [1 / 3, 2 / 3]])  # the last is impossible under both: their priors


def test_without_smoothing_categories_that_never_came_are_impossible():
    model = CategoricalNB(alpha=0).fit([[0, 0], [1, 1], [1, 1]], ["a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[0, 0], [1, 1], [0, 1]]), [[1, 0], [0, 1], [1 / 3, 2 / 3]])


def test_complement_weights_without_smoothing_are_finite():
    model = ComplementNB(alpha=0).fit([[1, 0], [0, 1]], ["a", "b"])
    assert np.isfinite(model.feature_log_prob_).all()
    assert model.predict([[1, 0], [0, 1]]).tolist() == ["a", "b"]


def test_too_small_an_alpha_is_raised_where_it_is_not_forced():
    X, y = _counts()
    with pytest.warns(UserWarning, match="alpha too small"):
        model = MultinomialNB(alpha=0, force_alpha=False).fit(X, y)
    assert np.isfinite(model.feature_log_prob_).all()
    for alpha in ([1.0, 2.0], [-1.0] * 6):
        with pytest.raises(ValueError, match="alpha"):
            MultinomialNB(alpha=alpha).fit(X, y)


@pytest.mark.parametrize("estimator", [MultinomialNB, ComplementNB, CategoricalNB])
def test_counts_below_zero_are_refused(estimator):
    with pytest.raises(ValueError, match="Negative values"):
        estimator().fit([[1, -1]], ["a"])


@pytest.mark.parametrize("estimator", [*COUNTING, GaussianNB])
def test_a_single_class_is_predicted_for_every_row(estimator):
    X, _ = _counts()
    model = estimator().fit(X, ["a"] * len(X))
    assert (model.predict(X) == "a").all()
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))

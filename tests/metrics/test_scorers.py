"""Scorers: scikit-learn's names give its values, Mercer's own work the same way."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
import sklearn.metrics
from sklearn.model_selection import cross_validate

import mercer.metrics
from mercer._exports import own_names
from mercer.linear_model import LinearRegression, LogisticRegression
from mercer.metrics import (
    accuracy_score,
    check_scoring,
    g_mean_score,
    get_measure,
    get_scorer,
    get_scorer_names,
    make_scorer,
)
from tests.metrics.cases import assert_same, outcome
from tests.versions import against_scikit_learn_1_9

random = np.random.RandomState(0)
X = random.normal(size=(120, 3))
Y = {
    "two": (X @ [1, 1, 0] + random.normal(size=120) > 0).astype(int),
    "three": np.digitize(X @ [1, 1, 0] + random.normal(size=120), [-1, 1]),
    "number": np.exp(X @ [0.3, 0.2, 0] + 0.1 * random.normal(size=120)),
}
MODELS = {name: (LinearRegression() if name == "number" else LogisticRegression()).fit(X, y) for name, y in Y.items()}
OWN = sorted(set(get_scorer_names()) - set(sklearn.metrics.get_scorer_names()))


@against_scikit_learn_1_9
@pytest.mark.parametrize("name", sklearn.metrics.get_scorer_names())
def test_every_name_of_scikit_learn_gives_its_value(name):
    weight = random.uniform(0.5, 1, size=120)
    for task, model in MODELS.items():
        for options in ({}, {"sample_weight": weight}):
            mine = outcome(get_scorer(name), model, X, Y[task], **options)
            theirs = outcome(sklearn.metrics.get_scorer(name), model, X, Y[task], **options)
            assert_same(mine, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", OWN)
def test_own_names_give_a_number_and_survive_pickling(name):
    scorer = pickle.loads(pickle.dumps(get_scorer(name)))
    values = [outcome(scorer, MODELS[task], X, Y[task]) for task in Y]
    assert any(isinstance(value, float) and np.isfinite(value) for value in values) or name.endswith("_samples")
    if name.startswith("neg_"):
        assert all(value <= 0 for value in values if isinstance(value, float))


def test_own_measures_are_among_the_names():
    assert {"g_mean", "specificity", "specificity_macro", "npv", "h_measure", "class_weighted_accuracy"} <= set(OWN)
    assert {"neg_error_rate", "neg_false_positive_rate", "neg_false_negative_rate"} <= set(OWN)
    model = MODELS["two"]
    expected = g_mean_score(Y["two"], model.predict(X))
    assert get_scorer("g_mean")(model, X, Y["two"]) == expected
    names = np.array(["no", "yes"])[Y["two"]]
    h = get_scorer("h_measure")
    assert h(LogisticRegression().fit(X, names), X, names) == pytest.approx(h(model, X, Y["two"]))


@pytest.mark.parametrize("name", get_scorer_names())
def test_a_measure_of_what_is_predicted_is_the_score_of_the_estimator(name):
    measure = get_measure(name)
    if measure is None or measure.response_method != "predict":
        assert name not in OWN or measure is not None
        return
    weight = random.uniform(0.5, 1, size=120)
    for task, model in MODELS.items():
        for options in ({}, {"sample_weight": weight}):
            assert_same(
                outcome(measure.score, Y[task], model.predict(X), **options),
                outcome(get_scorer(name), model, X, Y[task], **options),
                rtol=0,
                atol=0,
            )


def test_names_that_are_not_known_have_no_measure():
    assert get_measure("charm") is None
    assert get_measure("rand_score") is None  # of clusterings: scikit-learn's


def test_scorers_work_in_cross_validation():
    scoring = check_scoring(LogisticRegression(), ["roc_auc", "g_mean", "specificity"])
    result = cross_validate(LogisticRegression(), X, Y["two"], scoring=scoring, cv=3)
    assert all(len(result[f"test_{name}"]) == 3 for name in ("roc_auc", "g_mean", "specificity"))
    single = cross_validate(LogisticRegression(), X, Y["two"], scoring=get_scorer("h_measure"), cv=3)
    assert np.isfinite(single["test_score"]).all()


def test_check_scoring_takes_what_scikit_learn_takes():
    model = MODELS["two"]
    assert check_scoring(model)(model, X, Y["two"]) == model.score(X, Y["two"])
    own = make_scorer(accuracy_score)
    assert check_scoring(model, own) is own
    both = check_scoring(model, {"a": "accuracy", "b": own})
    assert both(model, X, Y["two"]) == {"a": model.score(X, Y["two"]), "b": model.score(X, Y["two"])}
    assert check_scoring(None, "g_mean") is not None


@pytest.mark.parametrize("scoring", [[], ["accuracy", "accuracy"], [accuracy_score], ["nonsense"], "nonsense", accuracy_score])
def test_what_is_no_scorer_is_refused(scoring):
    with pytest.raises(ValueError, match=r"not a valid scoring value|is not valid; a list|looks like it is a metric"):
        check_scoring(MODELS["two"], scoring)


@against_scikit_learn_1_9
def test_every_function_has_the_peers_parameters_first():
    for name in own_names(mercer.metrics):
        mine, peer = getattr(mercer.metrics, name), getattr(sklearn.metrics, name, None)
        if peer is None or inspect.isclass(mine):
            continue
        theirs = {
            key: (value.kind, value.default)
            for key, value in inspect.signature(peer).parameters.items()
            if not (isinstance(value.default, str) and value.default == "deprecated")
        }
        own = {key: (value.kind, value.default) for key, value in inspect.signature(mine).parameters.items()}
        assert list(own)[: len(theirs)] == list(theirs), name
        for key, (kind, default) in theirs.items():
            is_same = own[key][1] is default or own[key][1] == default or (default is np.nan and np.isnan(own[key][1]))
            assert own[key][0] == kind, f"{name}: {key}"
            assert is_same, f"{name}: {key}"

"""Every wrong parameter is named, with its value and what would do."""

from __future__ import annotations

import numpy as np
import pytest

import mercer.model_selection
from mercer.model_selection import Reals, evaluate, tune
from tests.model_selection.data import numbers
from tests.model_selection.fakes import Shrunken

WRONG = {
    "estimator": (Shrunken, "an estimator"),
    "space": ([1, 2], "a mapping from parameter to"),
    "scoring": ("nonsense", "the name of a scorer.*Names are: accuracy, "),
    "cv": ("bag", "'oob' or None, an integer >= 2"),
    "search": ("hyperband", "'auto' or 'grid' or 'random' or 'bayesian'"),
    "n_trials": (0, "None or an integer >= 1"),
    "time_limit": (-1, "None or a finite number > 0"),
    "storage": (3, "None or a non-empty string or an instance of Path"),
    "name": ("", "None or a non-empty string"),
    "refit": ("yes", "True or False"),
    "random_state": ("seed", "None, an integer from 0"),
    "n_jobs": (0, "None or an integer other than 0"),
    "error_score": ("ignore", "nan or 'raise' or a finite number"),
    "on_trial": (3, "None or a callable"),
    "verbose": (-1, "True or False or an integer >= 0"),
}


@pytest.mark.parametrize("parameter", WRONG)
def test_wrong_parameters_of_tune_are_named(parameter):
    value, would_do = WRONG[parameter]
    X, y = numbers()
    given = {"estimator": Shrunken(), "space": {"alpha": [1.0]}, parameter: value}
    text = rf"tune: {parameter}=.* is not valid; it must be .*{would_do}"
    with pytest.raises(ValueError, match=text):
        tune(given.pop("estimator"), X, y, given.pop("space"), **given)


WRONG_OF_EVALUATE = {
    "estimator": (Shrunken, "an estimator"),
    "test_size": (1.5, "a finite number > 0 and < 1 or an integer >= 1"),
    "stratify": ("always", "'auto' or True or False or None or an array"),
    "level": (95, "a finite number > 0 and < 1"),
    "n_bootstrap": (0, "an integer >= 1"),
    "random_state": (-1, "None, an integer from 0"),
}


@pytest.mark.parametrize("parameter", WRONG_OF_EVALUATE)
def test_wrong_parameters_of_evaluate_are_named(parameter):
    value, would_do = WRONG_OF_EVALUATE[parameter]
    given = {"estimator": Shrunken(), parameter: value}
    with pytest.raises(ValueError, match=rf"evaluate: {parameter}=.* is not valid; it must be .*{would_do}"):
        evaluate(given.pop("estimator"), *numbers(), space={}, **given)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"space": {"beta": [1]}}, r"space\['beta'\] names no parameter of Shrunken; it must be one of: alpha, power"),
        ({"name": "mine"}, "name='mine' names a study in a file, but storage=None"),
        ({"search": "grid", "n_trials": 3}, "n_trials=3 is not valid with search='grid'"),
        ({"search": "grid", "space": {"alpha": Reals(1, 2)}}, "search='grid' is not valid with a range .* for 'alpha'"),
        ({"sample_weight": [1.0, 2.0]}, r"sample_weight.shape == \(2,\), expected \(90,\)"),
        ({"groups": [1, 2]}, "inconsistent numbers of samples"),
        ({"scoring": lambda model, X, y: "high"}, "gave 'high' of type str; it must give a number"),
    ],
)
def test_options_that_do_not_go_together_say_so(options, match):
    X, y = numbers()
    with pytest.raises(ValueError, match=match):
        tune(Shrunken(), X, y, **{"space": {"alpha": [1.0]}, **options})


def test_a_distribution_without_quantiles_is_for_random_search():
    class Law:
        def rvs(self, random_state=None):
            return float(random_state.uniform(1, 2))

    X, y = numbers()
    assert len(tune(Shrunken(), X, y, {"alpha": Law()}, search="random", n_trials=3).trials) == 3
    with pytest.raises(ValueError, match="has no `ppf`, which search='bayesian' needs"):
        tune(Shrunken(), X, y, {"alpha": Law()}, search="bayesian", n_trials=3)


def test_evaluate_wants_a_classifier_or_a_regressor_and_one_target():
    from mercer.cluster import KMeans

    X, y = numbers()
    with pytest.raises(ValueError, match="must be a classifier, a regressor or a pipeline that ends in one"):
        evaluate(KMeans(), X, y)
    with pytest.raises(ValueError, match=r"y of shape \(90, 2\) is not valid"):
        evaluate(Shrunken(), X, np.c_[y, y], space={})
    with pytest.raises(ValueError, match=r"stratify=.* is not valid with groups"):
        evaluate(Shrunken(), X, y, space={}, stratify=True, groups=np.arange(len(y)))


def test_what_scikit_learn_has_is_passed_on():
    import sklearn.model_selection

    experimental = {"HalvingGridSearchCV", "HalvingRandomSearchCV"}
    for name in set(sklearn.model_selection.__all__) - experimental:
        assert getattr(mercer.model_selection, name) is getattr(sklearn.model_selection, name)
        assert name in mercer.model_selection.__all__

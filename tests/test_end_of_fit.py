"""How every fit ends, the best of several starts, and certificates of methods without an objective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer._base import FitTask, MercerEstimator, best_of_restarts
from mercer._trace import Certificate, Outcome, Status
from mercer.ensemble import AdaBoostClassifier, AdaBoostRegressor, GradientBoostingRegressor

CERTIFICATE = Certificate("method", Status.CONVERGED, None, "condition", 0.5, 1.0)


def _task(estimator):
    return FitTask.start(estimator, np.zeros((2, 1)))


def test_attributes_and_outcome_are_stored_and_those_of_an_earlier_fit_forgotten():
    model = MercerEstimator()
    model.of_some_fits_ = model.of_all_fits_ = 1
    outcome = Outcome(CERTIFICATE, [{"objective": 2.0}, {"objective": 1.0}])
    assert model._finish(_task(model), {"found_": 3}, outcome, unset=("of_some_fits_", "of_none_")) is model
    assert vars(model) == {
        "of_all_fits_": 1, "found_": 3, "certificate_": CERTIFICATE, "n_iter_": 2, "history_": outcome.history,
    }  # fmt: skip
    model._finish(_task(model), {"n_iter_": [2, 4]}, outcome)
    assert model.n_iter_ == [2, 4]  # who counts in another way says so


def test_the_one_warning_names_the_estimator():
    model = MercerEstimator()
    with pytest.warns(ConvergenceWarning, match="^MercerEstimator: raise max_iter$"):
        model._finish(_task(model), {}, Outcome(CERTIFICATE, warning="raise max_iter"))


@dataclass
class _Run:
    name: str
    objective: float

    def attributes(self):
        return {}


@pytest.mark.parametrize(("objectives", "best"), [([3.0, 1.0, 2.0], "1"), ([1.0, 1.0, 2.0], "0"), ([5.0], "0")])
def test_the_first_of_the_best_runs_is_taken(objectives, best):
    def run(start, task):
        return _Run(*start)

    starts = [(str(number), objective) for number, objective in enumerate(objectives)]
    assert best_of_restarts(iter(starts), run, _task(MercerEstimator()), n_subtasks=1).name == best


def test_a_certificate_without_an_objective_says_nothing_of_one():
    assert repr(CERTIFICATE) == "Certificate: converged (method)\n  condition 0.5 <= 1"
    assert "objective 2" in repr(Certificate("method", Status.CONVERGED, 2.0, "condition", 0.5, 1.0))


@pytest.fixture
def numbers():
    X = np.random.RandomState(0).randn(80, 3)
    return X, X[:, 0] + np.random.RandomState(1).randn(80)


def test_boosting_for_numbers_has_no_objective_and_boosting_of_classes_a_bound(numbers):
    X, y = numbers
    by_numbers = AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, y).certificate_
    assert by_numbers.primal is None
    assert by_numbers.status is Status.MAX_ITER
    assert by_numbers.residual == pytest.approx(
        0.5 - AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, y).estimator_errors_[-1]
    )
    model = AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, y > 0)
    assert model.certificate_.primal == model.training_error_product_
    assert model.certificate_.residual == pytest.approx(0.5 - model.estimator_errors_[-1])
    assert AdaBoostClassifier(n_estimators=3).fit(X, X[:, 0] > 0).certificate_.converged  # by a member without fault


def test_gradient_boosting_says_where_early_stopping_ended_or_how_fast_the_loss_fell(numbers):
    X, y = numbers
    plain = GradientBoostingRegressor(n_estimators=4).fit(X, y)
    assert plain.certificate_.status is Status.MAX_ITER
    assert plain.certificate_.primal == plain.train_score_[-1]
    assert plain.certificate_.residual == plain.train_score_[-2] - plain.train_score_[-1]
    early = GradientBoostingRegressor(n_estimators=500, n_iter_no_change=3, random_state=0).fit(X, y)
    assert early.n_iter_ < 500
    assert early.certificate_.converged
    assert early.certificate_.residual <= early.tol
    swept = dict(zip((2, 4), GradientBoostingRegressor().sweep(X, y, "n_estimators", [2, 4]), strict=True))
    assert swept[4].certificate_ == plain.certificate_
    assert swept[2].certificate_.primal == plain.train_score_[1]

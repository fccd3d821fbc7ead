"""scikit-learn's own checks, over every public estimator, without exceptions."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.common.cases import ESTIMATORS, case_of, fewer_fits, make_checked, make_plain

OF_SINGLE_ROWS = ("check_methods_sample_order_invariance", "check_methods_subset_invariance")
# scikit-learn's checks give every model a y.
CHECKED = [estimator for estimator in ESTIMATORS if not case_of(estimator).of_sequences]
REPEATED = [estimator for estimator in CHECKED if fewer_fits(estimator)]


@parametrize_with_checks([make_checked(estimator) for estimator in CHECKED])
def test_estimator_passes_the_check(estimator, check):
    _pass(estimator, check)


@pytest.mark.slow
@parametrize_with_checks([make_plain(estimator) for estimator in REPEATED])
def test_a_fit_of_as_many_fits_as_by_default_passes_the_check(estimator, check):
    _pass(estimator, check)


def _pass(estimator, check):
    if check.func.__name__.startswith("check_sample_weight_equivalence"):  # compares fits on rows in different orders
        if case_of(type(estimator)).is_online:
            pytest.skip("one step of weight two is not two steps of weight one; scikit-learn's own class fails this check too")
        if case_of(type(estimator)).draws_rows:
            pytest.skip("a weight is a chance to be drawn; scikit-learn's own class fails this check too")
        if case_of(type(estimator)).draws_for_rows:
            pytest.skip("a row of weight two is learnt from with one draw, two equal rows with two")
        estimator = clone(estimator).set_params(**case_of(type(estimator)).unique_params)
    if check.func.__name__ == "check_class_weight_classifiers" and case_of(type(estimator)).is_of_shares:
        pytest.skip("no class may weigh next to nothing beside another; scikit-learn's own class ignores such weights")
    if check.func.__name__ in OF_SINGLE_ROWS and case_of(type(estimator)).draws_to_score:
        pytest.skip("scores are estimates with draws of their own; scikit-learn's own class fails these checks too")
    if check.func.__name__ == "check_classifiers_train":  # wants the class of largest probability to be predicted
        estimator = clone(estimator).set_params(**case_of(type(estimator)).neutral_params)
    check(estimator)

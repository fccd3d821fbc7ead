"""What the hooks of callbacks are given in every iterative fit: the data, the weights, and the estimator as it is by then."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.validation import has_fit_parameter

from tests.common.cases import ESTIMATORS, is_iterative, make, make_data, make_iterative
from tests.common.state import bits, outputs

pytest.importorskip("sklearn.callback", reason="this scikit-learn has no sklearn.callback (1.9 has)")

BOOSTING = [cls for cls in ESTIMATORS if "Boost" in cls.__name__]
iterative_estimators = pytest.mark.parametrize(
    "estimator", [cls for cls in ESTIMATORS if is_iterative(cls) or cls in BOOSTING], ids=lambda cls: cls.__name__
)


class HookRecorder:
    """Keeps what each hook is given of each task."""

    def __init__(self):
        self.begun, self.ended = [], []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.begun.append((context, X, y, metadata, fitted_estimator))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.ended.append((context, X, y, metadata, fitted_estimator))


@iterative_estimators
def test_an_iteration_begins_with_the_estimator_that_the_one_before_it_left(estimator):
    data, recorder = make_data(estimator), HookRecorder()
    make_iterative(estimator).set_callbacks(recorder).fit(*data.args)
    left = {id(context): fitted for context, *_, fitted in recorder.ended}
    seen = 0
    for context, *_, fitted in recorder.begun:
        if context.task_name != "iteration":
            continue
        siblings = [task for task in list(context.parent)[1:] if task.task_name == "iteration"]  # the first is the parent
        place = next(place for place, sibling in enumerate(siblings) if sibling is context)
        if place:
            assert bits(outputs(fitted, data.X)) == bits(outputs(left[id(siblings[place - 1])], data.X))
        elif fitted is None:
            assert estimator.__name__ in {"AdaBoostClassifier", "AdaBoostRegressor"}  # without members there is no prediction
        else:
            assert outputs(fitted, data.X).keys() == outputs(left[id(context)], data.X).keys()
        seen += 1
    assert seen


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_hooks_are_given_what_scores_the_fit_so_far(estimator):
    data, recorder = make_data(estimator), HookRecorder()
    weights = np.linspace(1, 2, len(data.X))
    takes_weights = has_fit_parameter(make(estimator), "sample_weight")
    make_iterative(estimator).set_callbacks(recorder).fit(*data.args, **({"sample_weight": weights} if takes_weights else {}))
    for _, X, given, metadata, fitted in recorder.begun + recorder.ended:
        if takes_weights:
            np.testing.assert_array_equal(metadata["sample_weight"], weights)
        else:
            assert metadata is None
        if fitted is not None and hasattr(fitted, "score") and data.y is not None:
            assert fitted.score(X, given, **metadata or {}) <= 1
    assert [fitted for context, *_, fitted in recorder.begun if context.task_name == "fit"] == [None]
    assert recorder.ended[-1][-1] is not None

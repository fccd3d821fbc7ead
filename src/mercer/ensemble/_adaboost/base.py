"""AdaBoost: members that look hardest at the rows which those before them got wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, MercerEstimator, run_solver
from mercer._params import Integer, Null, RandomState, Real, Rule, Verbosity
from mercer._trace import Outcome, Record, Status
from mercer._tuning import Integers, Reals, Space
from mercer.ensemble._adaboost.rounds import Rounds
from mercer.ensemble._boosting.learners import Learner, input_tags
from mercer.ensemble._boosting.members import check_rows
from mercer.ensemble._boosting.stages import StagedSweep, Stages

RULES: dict[str, Rule] = {
    "estimator": Null() | Learner(),
    "n_estimators": Integer(1),
    "learning_rate": Real(above=0),
    "random_state": RandomState(),
    "verbose": Verbosity(),
}


class AdaBoost(StagedSweep, MetaEstimatorMixin, MercerEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What both kinds share."""

    _search_space: ClassVar[Mapping[str, Space]] = {
        "n_estimators": Integers(20, 500, log=True),
        "learning_rate": Reals(0.01, 2.0, log=True),
    }

    estimators_: list[Any]
    estimator_weights_: FloatArray

    def _learner(self) -> Any:
        raise NotImplementedError

    def _boost(self, rounds: Rounds, params: Any, X: Any, y: Any, stages: Stages) -> Self:
        """Run the rounds and store what they leave."""
        task = FitTask.start(self, X, y, n_subtasks=params.n_estimators)

        def attributes() -> dict[str, Any]:
            return {**rounds.attributes(), "estimator_": clone(self._learner()), **self._labels(rounds)}

        def stage(history: list[Record]) -> dict[str, Any]:
            status = Status.CONVERGED if rounds.is_done else Status.MAX_ITER
            return {**attributes(), **Outcome(rounds.certificate(status), history).attributes()}

        def fitted() -> dict[str, Any] | None:
            return attributes() if rounds.member_weights else None  # without members there is no prediction

        watched = stages.over(rounds, stage)
        status, history = run_solver(watched, task, max_iter=params.n_estimators, verbose=params.verbose, fitted=fitted)
        return self._finish(task, attributes(), Outcome(rounds.certificate(status), history))

    def _labels(self, rounds: Rounds) -> dict[str, Any]:
        classes = rounds.members.classes
        return {} if classes is None else {"classes_": classes, "n_classes_": len(classes)}

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_rows(self, X)

    @property
    def feature_importances_(self) -> FloatArray:
        """The members' importances, averaged by their weights."""
        check_is_fitted(self)
        if not hasattr(self.estimators_[0], "feature_importances_"):
            raise AttributeError(
                f"{type(self).__name__} has no feature_importances_, since {type(self.estimators_[0]).__name__} has none."
            )
        importances = np.stack([member.feature_importances_ for member in self.estimators_])
        return np.asarray(np.average(importances, axis=0, weights=self.estimator_weights_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = input_tags(self._learner())
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = inputs is not None and inputs.allow_nan
        return tags

"""What both gradient boosting estimators share: fits, raw outputs, stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, MercerEstimator
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, Null, OneOf, RandomState, Real, Rule, Verbosity, check_params
from mercer._trace import Outcome, Record, Status
from mercer._trees.categories import CATEGORICAL_RULE, UNSEEN_RULE
from mercer._trees.growth import GROWTH_RULES
from mercer._trees.rows import Rows
from mercer._trees.store import IntArray, TreeStore
from mercer._trees.training import Training, check_query, check_training
from mercer._tuning import Integers, Reals, Space
from mercer.ensemble._boosting.learners import Learner
from mercer.ensemble._boosting.stages import NO_STAGES, StagedSweep, Stages
from mercer.ensemble._gradient_boosting.objectives import Objective
from mercer.ensemble._gradient_boosting.rounds import GradientRounds
from mercer.ensemble._gradient_boosting.session import Session
from mercer.ensemble._gradient_boosting.start import Start

RULES: dict[str, Rule] = {
    **GROWTH_RULES,
    "learning_rate": Real(least=0),
    "n_estimators": Integer(1),
    "subsample": Real(above=0, most=1),
    "criterion": OneOf("deprecated", "friedman_mse", "squared_error"),
    "init": Null() | OneOf("zero") | Learner(),
    "random_state": RandomState(),
    "verbose": Verbosity(),
    "warm_start": Bool(),
    "validation_fraction": Real(above=0, below=1),
    "n_iter_no_change": Null() | Integer(1),
    "tol": Real(least=0),
    "line_search": OneOf("leaf", "learner"),
    "categorical_features": CATEGORICAL_RULE,
    "unseen": UNSEEN_RULE,
}
Monitor = Callable[[int, Any, dict[str, Any]], Any]


class GradientBoosting(StagedSweep, MercerEstimator):
    """Base of `GradientBoostingClassifier` and `GradientBoostingRegressor`."""

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse", "allow_nan", "categorical")
    _search_space: ClassVar[Mapping[str, Space]] = {
        "learning_rate": Reals(0.01, 0.5, log=True),
        "n_estimators": Integers(50, 500, log=True),
        "max_depth": Integers(2, 8),
        "min_samples_leaf": Integers(1, 50, log=True),
        "subsample": Reals(0.5, 1.0),
        "max_features": Reals(0.2, 1.0),
    }

    estimators_: npt.NDArray[Any]
    n_features_in_: int
    _trees: TreeStore
    _objective: Objective
    _start: Start
    _learning_rate: float

    def _make_objective(self, params: SimpleNamespace, data: Training) -> Objective:
        """The loss, as the rounds use it; refused where it does not suit the targets."""
        raise NotImplementedError

    def _fit_stages(self, X: Any, y: Any, sample_weight: Any, stages: Stages) -> Self:
        return self._fit(X, y, sample_weight, None, is_classifier=is_classifier(self), stages=stages)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        monitor: Monitor | None,
        *,
        is_classifier: bool,
        stages: Stages = NO_STAGES,
    ) -> Self:
        params = check_params(self)
        y = y if y is None else column_or_1d(y, warn=True)
        before = dict(vars(self)) if params.warm_start and hasattr(self, "estimators_") else None
        categories = params.categorical_features
        data = check_training(self, X, y, sample_weight, is_classifier=is_classifier, categorical_features=categories)
        session = Session(self, params, data, self._make_objective(params, data), before)
        n_rounds = params.n_estimators - session.n_before
        task = FitTask.start(self, X, y, n_subtasks=n_rounds)
        earlier = [] if before is None else before["history_"]

        def outcome(status: Status, history: list[Record]) -> Outcome:
            return Outcome(session.rounds.certificate(status), earlier + history)

        def stage(history: list[Record]) -> dict[str, Any]:
            status = Status.CONVERGED if session.rounds.is_done else Status.MAX_ITER
            return {**session.attributes(), **outcome(status, history).attributes()}

        rounds = stages.over(session.rounds if monitor is None else _Monitored(session, monitor, self), stage)
        self._unset("oob_scores_", "oob_improvement_", "oob_score_")  # an earlier fit's
        options = {"max_iter": n_rounds, "verbose": params.verbose, "fitted": session.attributes, "outcome": outcome}
        return self._fit_by(rounds, task, **options)

    def _rows(self, X: Any) -> Rows:
        check_is_fitted(self)
        return check_query(self, X)

    def _raw(self, X: Any) -> FloatArray:
        """The raw outputs, of shape (n_rows, n_outputs)."""
        rows, objective = self._rows(X), self._objective
        sums = self._trees.sum_leaves(rows, n_groups=objective.n_outputs, n_threads=effective_threads(None))
        return self._start.raw(rows, objective) + self._learning_rate * sums

    def _staged_raw(self, X: Any) -> Iterator[FloatArray]:
        """The raw outputs after every round."""
        rows, n_outputs = self._rows(X), self._objective.n_outputs
        options = {"n_groups": n_outputs, "n_threads": effective_threads(None)}
        start, rows = self._start.raw(rows, self._objective), self._trees.rows(rows)
        sums = np.zeros_like(start)
        for first in range(0, len(self._trees), n_outputs):
            sums += self._trees.sum_leaves(rows, first=first, last=first + n_outputs, **options)
            yield start + self._learning_rate * sums

    def _leaves(self, X: Any) -> IntArray:
        """The leaf of each row in each tree, of shape (n_rows, n_rounds, n_outputs)."""
        rows = self._rows(X)
        return self._trees.apply(rows, n_threads=effective_threads(None)).reshape(rows.shape[0], *self.estimators_.shape)

    @property
    def feature_importances_(self) -> FloatArray:
        """The squared error that the splits on each feature remove, averaged over the trees; of sum one."""
        check_is_fitted(self)
        trees = [self._trees[t] for t in range(len(self._trees))]
        removed = [tree.compute_feature_importances(normalize=False) for tree in trees if tree.node_count > 1]
        mean = np.mean(removed, axis=0) if removed else np.zeros(self.n_features_in_)
        return np.asarray(mean / mean.sum()) if mean.sum() > 0 else mean


class _Monitored:
    """Rounds after each of which the user's monitor sees the model so far, and may stop it."""

    def __init__(self, session: Session, monitor: Monitor, owner: Any) -> None:
        self._session, self._monitor, self._owner, self._round = session, monitor, owner, session.n_before
        self.is_done = False

    def step(self) -> Record:
        rounds: GradientRounds = self._session.rounds
        record = rounds.step()
        self._owner._store(self._session.attributes())
        self.is_done = bool(self._monitor(self._round, self._owner, dict(record))) or rounds.is_done
        self._round += 1
        return record

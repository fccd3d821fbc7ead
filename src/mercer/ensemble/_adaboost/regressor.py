"""AdaBoost for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._params import Bool, OneOf, Rule, check_params
from mercer._random import as_random_state
from mercer.ensemble._adaboost.base import RULES, AdaBoost
from mercer.ensemble._adaboost.rounds import NumberRounds
from mercer.ensemble._boosting.learners import require_weights
from mercer.ensemble._boosting.members import each_answer, make_members
from mercer.ensemble._boosting.stages import NO_STAGES, Stages
from mercer.metrics import r2_score
from mercer.tree import DecisionTreeRegressor

_CELLS_AT_ONCE = 2_000_000  # of a table of rows by members


class AdaBoostRegressor(RegressorMixin, AdaBoost):  # type: ignore[misc]
    r"""AdaBoost for numbers (AdaBoost.R2): the prediction is the members' weighted median.

    Round t fits a member on rows drawn by their weights. With the losses :math:`L_i \in [0, 1]` of the rows (their misses
    over the worst of them) and the weighted mean loss :math:`\bar L < \frac12`, the member's weight is :math:`\alpha_t =
    \eta \ln(1 / \beta)` with :math:`\beta = \bar L / (1 - \bar L)`, and a row's weight is multiplied by :math:`\beta^{\eta
    (1 - L_i)}`.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The members; None means `DecisionTreeRegressor(max_depth=3)`.
    n_estimators : int, default=50
        The largest number of members.
    learning_rate : float, default=1.0
        A factor of the members' weights.
    loss : {"linear", "square", "exponential"}, default="linear"
        What a miss of share m of the worst one costs: m, m^2 or 1 - exp(-m).
    random_state : int, RandomState or None, default=None
        For the draws of rows, and seeds of the members that have a `random_state`.
    resample : bool, default=True
        Whether a member is fitted on rows drawn by weight, as Drucker has it; False hands it the weights themselves, which
        takes a member whose `fit` takes `sample_weight` and leaves nothing to chance.
    verbose : int or bool, default=0
        Log every round.

    Attributes
    ----------
    estimators_ : list of estimators
        The members. Trees of Mercer are views of one store.
    estimator_ : estimator
        What the members are copies of.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_members,)
        Their weights and their mean losses, as long as `estimators_`.
    feature_importances_ : ndarray of shape (n_features,)
        The members' importances, averaged by weight, if they have some.
    history_ : list of dict
        Error and weight of every round; a last member that was refused has the weight 0.
    n_iter_ : int
        The number of rounds.
    certificate_ : Certificate
        The edge of the last member over chance: none where it ended the fit. There is no objective.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The fit ends early at a member without error, and before one with a mean loss of 1/2 or more, unless that is the first.
    Draws are scikit-learn's. Weights are repetitions only with `resample=False`. A prediction takes O(T log T) a row for T
    members.

    References
    ----------
    H. Drucker, "Improving regressors using boosting techniques", 1997.

    Examples
    --------
    >>> from mercer.ensemble import AdaBoostRegressor
    >>> model = AdaBoostRegressor(n_estimators=5, resample=False).fit([[0], [1], [2], [3]], [0.0, 1.0, 4.0, 9.0])
    >>> model.predict([[1], [3]])
    array([1., 9.])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **RULES,
        "loss": OneOf("linear", "square", "exponential"),
        "resample": Bool(),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: int | np.random.RandomState | None = None,
        resample: bool = True,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.resample = resample
        self.verbose = verbose

    def _learner(self) -> Any:
        return DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            What the rows weigh in the first round.

        Returns
        -------
        self
        """
        return self._fit_stages(X, y, sample_weight, NO_STAGES)

    def _fit_stages(self, X: Any, y: Any, sample_weight: Any, stages: Stages) -> Self:
        params = check_params(self)
        learner, random = self._learner(), as_random_state(params.random_state)
        if not params.resample:
            require_weights("AdaBoostRegressor", learner, "resample=False hands it the weights of the rows")
        members = make_members(self, learner, X, y, sample_weight, random, is_classifier=False, is_drawn=params.resample)
        return self._boost(NumberRounds(members, params.learning_rate, params.loss), params, X, y, stages)

    def predict(self, X: Any) -> FloatArray:
        """The weighted median of the members' predictions, of shape (n_samples,)."""
        rows = self._rows(X)
        return self._median(self._predictions(rows), len(self.estimators_))

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """`predict` of the first member, of the first two, and so on."""
        predictions = self._predictions(self._rows(X))
        for n_members in range(1, len(self.estimators_) + 1):
            yield self._median(predictions, n_members)

    def _predictions(self, rows: Any) -> FloatArray:
        return np.stack(list(each_answer(self, rows, None)), axis=1)

    def _median(self, predictions: FloatArray, n_members: int) -> FloatArray:
        """The least prediction at which half of the weight is reached, a block of rows at a time."""
        out = np.empty(len(predictions))
        step = max(1, _CELLS_AT_ONCE // n_members)
        for start in range(0, len(predictions), step):
            block = predictions[start : start + step, :n_members]
            order = block.argsort(axis=1)
            reached = np.cumsum(self.estimator_weights_[order], axis=1)
            at = (reached >= 0.5 * reached[:, -1:]).argmax(axis=1)[:, None]
            out[start : start + step] = np.take_along_axis(block, np.take_along_axis(order, at, axis=1), axis=1)[:, 0]
        return out

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R^2 of the first member, of the first two, and so on."""
        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))

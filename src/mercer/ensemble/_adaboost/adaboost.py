"""AdaBoost: members that look hardest at the rows which those before them got wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, MercerEstimator, fit_method, run_solver
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, Null, OneOf, RandomState, Real, Rule, Verbosity, check_params
from mercer._random import as_random_state
from mercer._trace import Record
from mercer._tuning import Integers, Reals, Space
from mercer.ensemble._adaboost.rounds import ClassRounds, NumberRounds, Rounds
from mercer.ensemble._boosting.learners import Learner, input_tags, require_weights
from mercer.ensemble._boosting.members import check_rows, each_answer, leaf_answers, make_members
from mercer.ensemble._boosting.stages import NO_STAGES, StagedSweep, Stages
from mercer.metrics import accuracy_score, r2_score
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor

RULES: dict[str, Rule] = {
    "estimator": Null() | Learner(),
    "n_estimators": Integer(1),
    "learning_rate": Real(above=0),
    "random_state": RandomState(),
    "verbose": Verbosity(),
}
_CELLS_AT_ONCE = 2_000_000  # of a table of rows by members


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

        def fitted() -> dict[str, Any]:
            return {**rounds.attributes(), "estimator_": clone(self._learner()), **self._labels(rounds)}

        def stage(history: list[Record]) -> dict[str, Any]:
            return {**fitted(), "history_": history, "n_iter_": len(history)}

        watched = stages.over(rounds, stage)
        _, history = run_solver(watched, task, max_iter=params.n_estimators, verbose=params.verbose, fitted=fitted)
        attributes = stage(history)
        task.end(lambda: attributes)
        self._store(attributes)
        return self

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


class AdaBoostClassifier(ClassifierMixin, AdaBoost):  # type: ignore[misc]
    r"""AdaBoost for classes: discrete AdaBoost for two, SAMME for more.

    Round t fits a member on rows of weights :math:`D_t`. Its error :math:`\varepsilon_t` is the weight of the rows it gets
    wrong; its own weight is :math:`\alpha_t = \eta\,(\ln\frac{1 - \varepsilon_t}{\varepsilon_t} + \ln(K - 1))`, and the
    rows it gets wrong gain the factor :math:`e^{\alpha_t}`. The members vote with their weights.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The members, whose `fit` takes `sample_weight`; None means `DecisionTreeClassifier(max_depth=1)`, a stump.
    n_estimators : int, default=50
        The largest number of members.
    learning_rate : float, default=1.0
        A factor of the members' weights.
    random_state : int, RandomState or None, default=None
        Seeds the members that have a `random_state`.
    verbose : int or bool, default=0
        Log every round.

    Attributes
    ----------
    estimators_ : list of estimators
        The members. Trees of Mercer are views of one store.
    estimator_ : estimator
        What the members are copies of.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_members,)
        Their weights and their weighted training errors, as long as `estimators_`.
    training_error_bound_ : float
        The training error is at most this: :math:`\exp(-2 \sum_t (\frac12 - \varepsilon_t)^2)` for two classes without
        shrinkage; else the product of :math:`(1 - \varepsilon_t + \varepsilon_t e^{\alpha_t}) e^{-\alpha_t / 2}`, from
        which that follows, or one.
    training_error_bounds_ : ndarray of shape (n_members,)
        The bound after each round.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Their number.
    feature_importances_ : ndarray of shape (n_features,)
        The members' importances, averaged by weight, if they have some.
    history_ : list of dict
        Error, weight and bound of every round; a last member that was refused has the weight 0.
    n_iter_ : int
        The number of rounds.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The fit ends early at a member without error, and before one that is no better than chance (an error of 1/2, or 1 - 1/K); if
    that is the first, there is an error. For Mercer's trees the columns are ranked once: a round takes O(n d) for a stump.
    A binary `decision_function` lies in [-2, 2], as scikit-learn's. scikit-learn pads weights and errors to `n_estimators`;
    here they end with the members.

    References
    ----------
    Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and an application to boosting", 1997;
    J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", 2009.

    Examples
    --------
    >>> from mercer.ensemble import AdaBoostClassifier
    >>> model = AdaBoostClassifier(n_estimators=3).fit([[0], [1], [2], [3], [4], [5]], [0, 0, 1, 1, 0, 0])
    >>> model.predict([[0], [2.5], [5]])
    array([0, 1, 0])
    >>> model.estimator_errors_.round(3)
    array([0.333, 0.25 , 0.167])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = RULES

    classes_: npt.NDArray[Any]
    n_classes_: int

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.verbose = verbose

    def _learner(self) -> Any:
        return DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        return self._fit_stages(X, y, sample_weight, NO_STAGES)

    def _fit_stages(self, X: Any, y: Any, sample_weight: Any, stages: Stages) -> Self:
        params = check_params(self)
        learner = self._learner()
        require_weights("AdaBoostClassifier", learner, "every round weighs the rows anew")
        random = as_random_state(params.random_state)
        members = make_members(self, learner, X, y, sample_weight, random, is_classifier=True)
        return self._boost(ClassRounds(members, params.learning_rate), params, X, y, stages)

    def decision_function(self, X: Any) -> FloatArray:
        """The weighted votes: of shape (n_samples,) for two classes, positive for the second; else (n_samples, n_classes)."""
        rows = self._rows(X)
        if self._trees is None or self.n_classes_ == 1:
            *_, votes = self._staged_votes(rows)
        else:
            of_node = self._votes(leaf_answers(self._trees, self.classes_))
            votes = np.zeros((rows.shape[0], self.n_classes_))
            store, weights = self._trees, self.estimator_weights_
            kernels.add_node_values(store.trees, 0, len(store), rows, of_node, weights, votes, effective_threads(None))
        return self._values(votes / self.estimator_weights_.sum())

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """`decision_function` of the first member, of the first two, and so on."""
        rows = self._rows(X)
        total = np.cumsum(self.estimator_weights_)
        for norm, votes in zip(total, self._staged_votes(rows), strict=True):
            yield self._values(votes / norm)

    def _votes(self, places: npt.NDArray[Any]) -> FloatArray:
        """1 for the class voted for, -1 / (n_classes - 1) for the others."""
        others = -1 / max(self.n_classes_ - 1, 1)
        return np.where(places[:, None] == np.arange(self.n_classes_), 1.0, others)

    def _staged_votes(self, rows: Any) -> Iterator[FloatArray]:
        votes: Any = 0.0
        for weight, places in zip(self.estimator_weights_, each_answer(self, rows, self.classes_), strict=True):
            votes = votes + weight * self._votes(places)
            yield votes

    def _values(self, votes: FloatArray) -> FloatArray:
        if self.n_classes_ == 1:
            return np.zeros((len(votes), 1))
        return votes[:, 1] - votes[:, 0] if self.n_classes_ == 2 else votes

    def _chosen(self, values: FloatArray) -> npt.NDArray[Any]:
        places = (values > 0).astype(np.intp) if self.n_classes_ == 2 else values.argmax(axis=1)
        return np.asarray(self.classes_.take(places))

    def _probabilities(self, values: FloatArray) -> FloatArray:
        if self.n_classes_ == 1:
            return np.ones((len(values), 1))
        if self.n_classes_ == 2:
            values = np.stack([-values, values], axis=1) / 2
        else:
            values = values / (self.n_classes_ - 1)
        return np.asarray(softmax(values, axis=1))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with most votes, of shape (n_samples,)."""
        return self._chosen(self.decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """`predict` of the first member, of the first two, and so on."""
        for values in self.staged_decision_function(X):
            yield self._chosen(values)

    def predict_proba(self, X: Any) -> FloatArray:
        """The softmax of the votes, as SAMME has it, of shape (n_samples, n_classes)."""
        return self._probabilities(self.decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """`predict_proba` of the first member, of the first two, and so on."""
        for values in self.staged_decision_function(X):
            yield self._probabilities(values)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The accuracy of the first member, of the first two, and so on."""
        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))


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

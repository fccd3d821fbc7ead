"""AnyBoost: descent in the space of functions, by any learner, on any loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, MercerEstimator, fit_method, run_solver
from mercer._labels import choose_labels
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Instance, Integer, Null, OneOf, RandomState, Real, Rule, Verbosity, check_params
from mercer._random import as_random_state
from mercer._trace import Outcome, Record, Status
from mercer._tuning import Integers, Reals, Space
from mercer.ensemble._anyboost.directions import each_direction, make_directions, node_values
from mercer.ensemble._anyboost.function_descent import FunctionDescent, best_constant, certificate
from mercer.ensemble._anyboost.losses import NAMES, check_loss, signed
from mercer.ensemble._boosting.learners import Learner, input_tags
from mercer.ensemble._boosting.members import check_rows
from mercer.ensemble._boosting.stages import NO_STAGES, StagedSweep, Stages
from mercer.losses import Loss, get_loss
from mercer.metrics import accuracy_score, r2_score
from mercer.tree import DecisionTreeRegressor


def _has_classes(estimator: AnyBoost) -> bool:
    """Whether the loss is one of classes; not where it is no loss at all, which a fit will say."""
    try:
        return get_loss(estimator.loss).kind == "margin"
    except (TypeError, ValueError):
        return False


def _has_probabilities(estimator: AnyBoost) -> bool:
    return _has_classes(estimator) and type(get_loss(estimator.loss)).inverse_link is not Loss.inverse_link


class AnyBoost(StagedSweep, MetaEstimatorMixin, MercerEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Boosting of any learner on any loss: gradient descent in the space of functions, with exact steps.

    From a constant :math:`F_0`, round t fits a learner h to the negative gradient :math:`-\ell'(y_i, F_{t-1}(x_i))` and sets
    :math:`F_t = F_{t-1} + \eta\,\alpha_t h` with :math:`\alpha_t = \arg\min_\alpha \sum_i w_i \ell(y_i, F_{t-1}(x_i) +
    \alpha h(x_i))`.

    The loss decides what the model is. With a loss of margins ("logistic", "exponential", "hinge", ...) it is a classifier
    of two classes: `predict` gives labels, `decision_function` gives F. With a loss of numbers ("squared", "huber",
    "poisson", ...) it is a regressor: `predict` gives F, or its mean exp(F). scikit-learn's tags, `is_classifier` and
    `score` follow the loss.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The learners: regressors, or classifiers, which are fitted to the signs of the negative gradient with its sizes as
        weights. None means `DecisionTreeRegressor(max_depth=3)`.
    loss : str or Loss, default="squared_error"
        A loss of `mercer.losses` or the name of one, but "zero_one", which has no slope, and "softmax", which has many outputs.
    n_estimators : int, default=100
        The largest number of learners.
    learning_rate : float, default=1.0
        A factor of every step.
    init : {"constant", "zero"}, default="constant"
        Where to start: from the best constant, or from zero.
    tol : float, default=1e-6
        The fit ends at a learner whose correlation with the negative gradient is no larger.
    random_state : int, RandomState or None, default=None
        Seeds the learners that have a `random_state`.
    verbose : int or bool, default=0
        Log every round.

    Attributes
    ----------
    estimators_ : list of estimators
        The learners. Trees of Mercer are views of one store.
    estimator_ : estimator
        What the learners are copies of.
    estimator_weights_ : ndarray of shape (n_learners,)
        The step of each.
    init_raw_ : float
        The constant that F starts from.
    loss_ : Loss
        The loss.
    classes_ : ndarray of shape (2,)
        The class labels, with a loss of margins.
    certificate_ : Certificate
        The mean loss, and the last learner's correlation with the negative gradient: what could still be gained.
    history_ : list of dict
        Mean loss, correlation and step of every round; a last learner that was refused has the step 0.
    n_iter_ : int
        The number of rounds.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Steps are exact for squared, absolute and pinball loss, and found to 1e-12 by a safeguarded Newton iteration for others;
    O(n) an iteration. Where the loss falls for ever along a learner, the step ends where its slope has all but vanished.
    With a classifier as learner and the exponential loss from zero this is discrete AdaBoost. Kinks: the gradient is the
    subgradient that the loss names, and it may be no descent direction; the fit then ends.

    References
    ----------
    L. Mason, J. Baxter, P. Bartlett and M. Frean, "Boosting algorithms as gradient descent", 2000.

    Examples
    --------
    >>> from mercer.ensemble import AnyBoost
    >>> from mercer.linear_model import LinearRegression
    >>> model = AnyBoost(LinearRegression(), loss="squared_error").fit([[0], [1], [2]], [1.0, 3.0, 5.0])
    >>> model.predict([[3]]).round(6), len(model.estimators_)
    (array([7.]), 1)
    >>> AnyBoost(loss="logistic", n_estimators=5).fit([[0], [1], [2], [3]], ["a", "a", "b", "b"]).predict([[0.5]])
    array(['a'], dtype='<U1')
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "n_estimators": Integers(20, 500, log=True),
        "learning_rate": Reals(0.01, 1.0, log=True),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "estimator": Null() | Learner(),
        "loss": OneOf(*NAMES) | Instance(Loss),
        "n_estimators": Integer(1),
        "learning_rate": Real(above=0),
        "init": OneOf("constant", "zero"),
        "tol": Real(least=0),
        "random_state": RandomState(),
        "verbose": Verbosity(),
    }

    loss_: Loss
    classes_: npt.NDArray[Any]
    estimators_: list[Any]
    estimator_weights_: FloatArray
    init_raw_: float

    def __init__(
        self,
        estimator: Any = None,
        *,
        loss: str | Loss = "squared_error",
        n_estimators: int = 100,
        learning_rate: float = 1.0,
        init: str = "constant",
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.init = init
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _learner(self) -> Any:
        return DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learners.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two labels with a loss of margins, else numbers.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        return self._fit_stages(X, y, sample_weight, NO_STAGES)

    def _fit_stages(self, X: Any, y: Any, sample_weight: Any, stages: Stages) -> Self:
        params = check_params(self)
        loss = check_loss(params.loss)
        has_classes = loss.kind == "margin"
        random = as_random_state(params.random_state)
        learners = make_directions(self, self._learner(), X, y, sample_weight, random, has_classes=has_classes)
        targets = signed(learners) if has_classes else loss.check_y(learners.y.astype(np.float64))
        start = 0.0 if params.init == "zero" else best_constant(loss, targets, learners.weights)
        descent = FunctionDescent(loss, learners, targets, start, params.learning_rate, params.tol)
        labels = {"classes_": learners.classes} if has_classes else {}
        facts = {"estimator_": clone(self._learner()), "loss_": loss, "init_raw_": start, **labels}
        task = FitTask.start(self, X, y, n_subtasks=params.n_estimators)
        return self._descend(descent, params, task, facts, stages)

    def _descend(self, descent: FunctionDescent, params: Any, task: FitTask, facts: dict[str, Any], stages: Stages) -> Self:
        def fitted() -> dict[str, Any]:
            return {**facts, **descent.attributes()}

        def stage(history: list[Record]) -> dict[str, Any]:
            status = Status.CONVERGED if descent.is_done else Status.MAX_ITER
            found = {"history_": history, "n_iter_": len(history), "certificate_": certificate(descent, status, params.tol)}
            return {**fitted(), **found}

        watched = stages.over(descent, stage)
        status, history = run_solver(watched, task, max_iter=params.n_estimators, verbose=params.verbose, fitted=fitted)
        return self._finish(task, fitted(), Outcome(certificate(descent, status, params.tol), history), unset=("classes_",))

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_rows(self, X)

    def _raw(self, X: Any) -> FloatArray:
        rows = self._rows(X)
        raw = np.full((rows.shape[0], 1), self.init_raw_)
        if self._trees is not None:
            values, store = np.ascontiguousarray(node_values(self._trees)[:, None]), self._trees
            n_threads, rows = effective_threads(None), store.rows(rows)
            kernels.add_node_values(store.trees, 0, len(store), rows, values, self.estimator_weights_, raw, n_threads)
            return raw[:, 0]
        out: FloatArray = raw[:, 0]
        for step, h in zip(self.estimator_weights_, each_direction(self, rows), strict=True):
            out = out + step * h
        return out

    def _staged_raw(self, X: Any) -> Iterator[FloatArray]:
        rows = self._rows(X)
        raw = np.full(rows.shape[0], self.init_raw_)
        for step, h in zip(self.estimator_weights_, each_direction(self, rows), strict=True):
            raw = raw + step * h
            yield raw

    def _answers(self, raw: FloatArray) -> npt.NDArray[Any]:
        if self.loss_.kind == "margin":
            return choose_labels(raw, self.classes_, zero_is_second=True)
        return np.asarray(self.loss_.inverse_link(raw))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The labels, or the predicted numbers, of shape (n_samples,)."""
        return self._answers(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """`predict` after every round."""
        for raw in self._staged_raw(X):
            yield self._answers(raw)

    @available_if(_has_classes)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """F, of shape (n_samples,): positive for the second class. With a loss of margins."""
        return self._raw(X)

    @available_if(_has_classes)  # type: ignore[untyped-decorator]
    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """`decision_function` after every round. With a loss of margins."""
        yield from self._staged_raw(X)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities of the classes, of shape (n_samples, 2), with a loss of margins that tells them."""
        raw = self._raw(X)
        second = self.loss_.inverse_link(raw)
        return np.stack([1 - second, second], axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy with a loss of margins, else R^2."""
        measure = accuracy_score if _has_classes(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if _has_classes(self):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags(multi_class=False)
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        inputs = input_tags(self._learner())
        tags.target_tags.required = True
        tags.input_tags.sparse = inputs is not None and inputs.sparse
        tags.input_tags.allow_nan = inputs is not None and inputs.allow_nan
        return tags

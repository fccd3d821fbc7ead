"""AdaBoost for classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.base import ClassifierMixin

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._labels import choose_labels
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Rule, check_params
from mercer._random import as_random_state
from mercer.ensemble._adaboost.base import RULES, AdaBoost
from mercer.ensemble._adaboost.rounds import ClassRounds
from mercer.ensemble._boosting.learners import require_weights
from mercer.ensemble._boosting.members import each_answer, leaf_answers, make_members
from mercer.ensemble._boosting.stages import NO_STAGES, Stages
from mercer.metrics import accuracy_score
from mercer.tree import DecisionTreeClassifier


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
    training_error_product_ : float
        The training error is at most this: :math:`\prod_t 2 \sqrt{\varepsilon_t (1 - \varepsilon_t)}` for two classes without
        shrinkage; else the product of :math:`(1 - \varepsilon_t + \varepsilon_t e^{\alpha_t}) e^{-\alpha_t / 2}`, or one.
    training_error_bound_ : float
        The looser :math:`\exp(-2 \sum_t (\frac12 - \varepsilon_t)^2)` for two classes without shrinkage; else the product.
    training_error_edge_bound_ : float
        The loosest, :math:`\exp(-2 \gamma^2 T)` with the least :math:`\gamma = \frac12 - \varepsilon_t` of T rounds, for two
        classes without shrinkage; else one.
    training_error_products_, training_error_bounds_ : ndarray of shape (n_rounds,)
        The first two after each round that gave a member.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Their number.
    feature_importances_ : ndarray of shape (n_features,)
        The members' importances, averaged by weight, if they have some.
    history_ : list of dict
        Error, weight, bound and product of every round; a last member that was refused has the weight 0.
    n_iter_ : int
        The number of rounds.
    certificate_ : Certificate
        The product that bounds the training error, and the edge of the last member over chance: none where it ended the fit.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The fit ends early at a member without error, which is then the only one that is kept, since its weight would have no bound;
    and before one that is no better than chance (an error of 1/2, or 1 - 1/K); if that is the first, there is an error. For
    Mercer's trees the columns are ranked once: a round takes O(n d) for a stump. A binary `decision_function` lies in [-2, 2],
    as scikit-learn's. scikit-learn pads weights and errors to `n_estimators`; here they end with the members.

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
            store, weights, rows = self._trees, self.estimator_weights_, self._trees.rows(rows)
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
        return choose_labels(values, self.classes_)

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

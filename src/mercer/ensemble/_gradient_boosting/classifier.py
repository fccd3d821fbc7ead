"""Gradient boosting for classes."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._labels import choose_labels
from mercer._params import Instance, OneOf, Rule
from mercer._trees.store import IntArray
from mercer._trees.training import Training
from mercer.ensemble._gradient_boosting.model import RULES, GradientBoosting, Monitor
from mercer.ensemble._gradient_boosting.objectives import Objective, classification_objective
from mercer.losses import Loss


class GradientBoostingClassifier(ClassifierMixin, GradientBoosting):  # type: ignore[misc]  # scikit-learn has no types
    r"""Gradient boosting for classes (Friedman): each tree is fitted to the negative gradient of the loss so far.

    From the log odds :math:`F_0` of the classes, round t fits a tree to :math:`-\partial \ell(y_i, F_{t-1}(x_i)) / \partial F`,
    replaces the value of each leaf R by a step of Newton's on :math:`\sum_{x_i \in R} w_i \ell(y_i, F_{t-1}(x_i) + c)`, and
    adds it, times `learning_rate`. Of K > 2 classes each has a tree a round.

    Parameters
    ----------
    loss : {"log_loss", "exponential"} or Loss, default="log_loss"
        What is lowered: the negative log-likelihood of two or more classes, or AdaBoost's loss of two. A smooth loss of
        `mercer.losses` of kind "margin" (such as `ModifiedHuber()`) for two classes, and `SoftmaxCrossEntropy()`, will do.
    learning_rate : float, default=0.1
        The factor of every tree.
    n_estimators : int, default=100
        The number of rounds.
    subsample, criterion, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_depth, min_impurity_decrease
        As for `GradientBoostingRegressor`.
    init : estimator, "zero" or None, default=None
        Where to start: from the probabilities of an estimator that is fitted first, from zero, or from the shares of the
        classes.
    random_state, max_features, verbose, max_leaf_nodes, warm_start, validation_fraction, n_iter_no_change, tol, ccp_alpha
        As for `GradientBoostingRegressor`. The rows that early stopping holds out are stratified by class.
    line_search, categorical_features, unseen
        As for `GradientBoostingRegressor`.

    Attributes
    ----------
    estimators_ : ndarray of DecisionTreeRegressor of shape (n_estimators_, n_trees_per_iteration_)
        The trees; views of one store.
    n_estimators_ : int
        The number of rounds that were kept.
    n_trees_per_iteration_ : int
        One for two classes, else the number of classes.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Their number.
    train_score_ : ndarray of shape (n_estimators_,)
        The loss after each round, of the rows it learnt from; twice the loss for "log_loss" with two classes, as in
        scikit-learn.
    oob_scores_, oob_improvement_, oob_score_, init_, max_features_, feature_importances_, history_, n_iter_
        As for `GradientBoostingRegressor`.
    certificate_ : Certificate
        As for `GradientBoostingRegressor`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Columns are ranked once, O(n d log n); a round takes O(n d) a level and a tree. Leaves take one step of Newton's for
    "log_loss" and "exponential", as scikit-learn's do; other losses are minimised by a safeguarded Newton iteration of a
    few steps. X counts as it is, where scikit-learn rounds it to single precision. NaN is a missing value. A warm start
    must keep `learning_rate`.

    References
    ----------
    J. Friedman, "Greedy function approximation: a gradient boosting machine", 2001.

    Examples
    --------
    >>> from mercer.ensemble import GradientBoostingClassifier
    >>> model = GradientBoostingClassifier(random_state=0).fit([[0], [1], [2], [3]], ["low", "low", "high", "high"])
    >>> model.predict([[0.5], [2.5]]).tolist()
    ['low', 'high']
    >>> model.n_estimators_
    100
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {**RULES, "loss": OneOf("log_loss", "exponential") | Instance(Loss)}

    classes_: npt.NDArray[Any]

    def __init__(
        self,
        *,
        loss: str | Loss = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "deprecated",
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: int | np.random.RandomState | None = None,
        max_features: float | str | None = None,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        line_search: str = "leaf",
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.line_search = line_search
        self.categorical_features = categorical_features
        self.unseen = unseen

    def _make_objective(self, params: SimpleNamespace, data: Training) -> Objective:
        codes, classes = data.targets.values[:, 0], data.classes[0]
        n_present = np.count_nonzero(np.bincount(codes, weights=data.weights, minlength=len(classes)))
        if n_present < 2:
            raise ValueError(
                f"GradientBoostingClassifier: y contains {n_present} class after sample_weight trimmed classes with zero "
                "weights, while a minimum of 2 classes are required."
            )
        return classification_objective(params.loss, len(classes))

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, monitor: Monitor | None = None) -> Self:
        """Fit the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            NaN is a missing value. Sparse rows stay sparse, unless most of their values are not zero.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        monitor : callable, default=None
            Called after each round with its number, the estimator as it is then, and the round's record; True ends the fit.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, monitor, is_classifier=True)

    def decision_function(self, X: Any) -> FloatArray:
        """The raw outputs: of shape (n_samples,) for a tree a round, else (n_samples, n_classes)."""
        raw = self._raw(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """The raw outputs after every round, of shape (n_samples, n_trees_per_iteration_)."""
        yield from self._staged_raw(X)

    def _chosen(self, raw: FloatArray) -> npt.NDArray[Any]:
        return choose_labels(raw, self.classes_, zero_is_second=True)

    def _probabilities(self, raw: FloatArray) -> FloatArray:
        loss = self._objective.loss
        if raw.shape[1] > 1:
            return np.asarray(loss.inverse_link(raw))
        second = loss.inverse_link(raw[:, 0])
        return np.stack([1 - second, second], axis=1)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class, of shape (n_samples,)."""
        return self._chosen(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """`predict` after every round."""
        for raw in self._staged_raw(X):
            yield self._chosen(raw)

    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities of the classes, of shape (n_samples, n_classes)."""
        return self._probabilities(self._raw(X))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """`predict_proba` after every round."""
        for raw in self._staged_raw(X):
            yield self._probabilities(raw)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_margin = isinstance(self.loss, Loss) and self.loss.kind == "margin"
        tags.classifier_tags.multi_class = not (is_margin or self.loss == "exponential")
        return tags

    def apply(self, X: Any) -> IntArray:
        """The number of each row's leaf in each tree, of shape (n_samples, n_estimators_, n_trees_per_iteration_)."""
        return self._leaves(X)

"""Histogram boosting of classes."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin

from mercer._arrays import FloatArray, check_class_weight
from mercer._base import fit_method
from mercer._labels import choose_labels, code_labels
from mercer._params import InvalidParameterError, Mapped, Null, OneOf, Rule
from mercer.ensemble._hist_gradient_boosting.base import BOOSTING_RULES, HistGradientBoosting, loss_rule
from mercer.ensemble._hist_gradient_boosting.objectives import (
    CallableObjective,
    LossFunction,
    LossObjective,
    Objective,
    SoftmaxObjective,
)
from mercer.ensemble._hist_gradient_boosting.stopping import Data
from mercer.losses import Logistic, Loss, SoftmaxCrossEntropy


class HistGradientBoostingClassifier(ClassifierMixin, HistGradientBoosting):  # type: ignore[misc]
    r"""Gradient boosting of classification trees on histograms, to second order.

    Adds trees one by one, each grown to lower the cross-entropy :math:`-\sum_i w_i \log p_{y_i}(x_i)` of the probabilities
    so far: logistic of one sum of trees for two classes, softmax of one sum a class for more. With :math:`G` and :math:`H` the
    sums of first and second derivatives over the rows of a leaf, its value is :math:`-G / (H + \lambda)`, and the gain of a
    split is

    .. math:: \frac12\Big[\frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda} - \frac{G^2}{H + \lambda}\Big] - \beta.

    Parameters
    ----------
    loss : "log_loss", Loss or callable, default="log_loss"
        The cross-entropy (also `mercer.losses.Logistic` or `SoftmaxCrossEntropy`), or a function of (y_true, raw_prediction)
        that returns the gradient and the Hessian of each row's loss in the raw prediction. It is given the places of the
        labels among `classes_`, and raw predictions of shape (n,) for two classes and (n, n_classes) for more, which both
        results must have. It may have a method `value(y_true, raw_prediction)` with each row's loss, which early stopping by
        the loss needs. Probabilities are the logistic or softmax of raw predictions whatever the loss.
    learning_rate : float, default=0.1
        What the values of all leaves are multiplied with.
    max_iter : int, default=100
        The most rounds.
    max_leaf_nodes : int or None, default=31
        The most leaves of a tree; None: no limit.
    max_depth : int or None, default=None
        The most splits from the root to a leaf; None: no limit.
    min_samples_leaf : int, default=20
        The fewest rows of a leaf; a row counts once, whatever its weight, and not at all with weight zero.
    l2_regularization : float, default=0.0
        :math:`\lambda` above.
    max_features : float, default=1.0
        The share of the features, drawn anew for each node, that its split is chosen from.
    max_bins : int, default=255
        The most bins of a feature, from 2 to 255; missing values have one more.
    categorical_features : "from_dtype", array of bool, int or str, or None, default="from_dtype"
        Which columns hold categories: those of a categorical dtype, a mask, or a list of places or names. A split sends a set
        of categories left: they are sorted by gradient over Hessian and cut in two.
    monotonic_cst : array of int or dict, default=None
        For each feature 1 if the prediction may not fall with it, -1 if it may not rise, 0 otherwise; or such numbers by name.
    interaction_cst : {"pairwise", "no_interactions"} or sequence of groups, default=None
        Features (places or names) may be used on one path only with others of one of their groups. Those that no group
        holds form one more.
    warm_start : bool, default=False
        Keep the trees of the earlier fit and go on until there are `max_iter` rounds.
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when the score no longer improves; "auto" does so above 10 000 rows.
    scoring : str, callable or None, default="loss"
        What early stopping goes by: minus the loss, a scorer, or the estimator's own `score`.
    validation_fraction : int, float or None, default=0.1
        How many rows, or what share of them, early stopping holds out; None: it goes by the training rows.
    n_iter_no_change : int, default=10
        Stop when none of this many scores exceeds the one before them by more than `tol`.
    tol : float, default=1e-7
        See `n_iter_no_change`.
    verbose : int, default=0
        Log each round to the logger `mercer`.
    random_state : int, RandomState or None, default=None
        Draws the rows held out, the rows that decide on bins (beyond 200 000), and features.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows; "balanced" gives all classes the same total.
    min_gain_to_split : float, default=0.0
        :math:`\beta` above, the cost of one more leaf.
    grow_policy : {"leaf_wise", "depth_wise"}, default="leaf_wise"
        Which leaf to split next: the one with the largest gain anywhere, or level by level.
    refit_best : bool, default=False
        After early stopping, fit again on all rows, those held out among them, for as many rounds as scored best.
    unseen : {"missing", "error", "other"}, default="missing"
        What to do with a category that training never saw: treat it as missing, refuse it, or send it where more rows went.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_iter_ : int
        The number of rounds.
    best_n_iter_ : int
        The number of rounds with the best score; `n_iter_` without early stopping.
    do_early_stopping_ : bool
    n_trees_per_iteration_ : int
    train_score_, validation_score_ : array of shape (n_iter_ + 1,)
        The scores before the first round and after each; empty without early stopping. With a scorer, those of training are
        on at most 10 000 rows. With `refit_best` they are those of the search.
    is_categorical_ : array of bool or None
    categories_ : list
        The categories of each column, None for a column of numbers.
    feature_importances_ : array of shape (n_features,)
        The gain of all splits on each feature; they sum to one.
    history_ : list of dict
        For each round: `n_leaves`, the `gain` of all its splits, the mean training `loss`, and the scores of early stopping.
    certificate_ : Certificate
        The training loss, and what early stopping measured (or how much the loss fell in the last round).
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A round costs O(n d) for each level of its trees at most. Memory beyond X: a byte for each of its values, some 50 bytes a
    row and class, and at most `max_leaf_nodes` histograms of 4 kB a feature.

    Gradients and Hessians are rounded to whole numbers of a unit that keeps 63 - 2 log2(n) bits of the largest: sums are then
    exact in any order, and so is the difference of two histograms. Results have the same bits for any number of threads.

    Differences from scikit-learn: bins get equal shares of the rows with heavy values apart; under bounds of a monotone
    constraint the gain is that of the bounded values; gains count one half, as in XGBoost, which changes no split unless
    `min_gain_to_split` is set.

    References
    ----------
    T. Chen and C. Guestrin, "XGBoost: A scalable tree boosting system", KDD 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ensemble import HistGradientBoostingClassifier
    >>> X = np.linspace(0, 1, 400).reshape(-1, 1)
    >>> model = HistGradientBoostingClassifier().fit(X, np.where(abs(X[:, 0] - 0.5) < 0.2, "in", "out"))
    >>> model.predict([[0.1], [0.5], [0.9]]).tolist()
    ['out', 'in', 'out']
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "loss": loss_rule("log_loss"),
        **BOOSTING_RULES,
        "class_weight": OneOf("balanced") | Mapped() | Null(),
    }

    def __init__(
        self,
        loss: str | Loss | LossFunction = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: str | bool = "auto",
        scoring: Any = "loss",
        validation_fraction: float | int | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        class_weight: Any = None,
        min_gain_to_split: float = 0.0,
        grow_policy: str = "leaf_wise",
        refit_best: bool = False,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight
        self.min_gain_to_split = min_gain_to_split
        self.grow_policy = grow_policy
        self.refit_best = refit_best
        self.unseen = unseen
        self.n_jobs = n_jobs

    classes_: npt.NDArray[Any]

    @fit_method
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None, sample_weight_val: Any = None
    ) -> HistGradientBoostingClassifier:
        """Boost trees for the labels y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN means missing; infinite values are the largest and the smallest there are.
        y : array-like of shape (n_samples,)
            Labels, of any type that can be sorted. A single class is predicted everywhere.
        sample_weight : array-like of shape (n_samples,), default=None
        X_val, y_val, sample_weight_val : array-like, default=None
            Rows for early stopping to go by, in place of a part of X.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, (X_val, y_val, sample_weight_val), is_classifier=True)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        raw = self._raw_predict(X)
        return self._label(raw)

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """The most probable classes after each round."""
        return (self._label(raw) for raw in self._staged_raw_predict(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class for each row."""
        return self._probabilities(self._raw_predict(X))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """The probabilities after each round."""
        return (self._probabilities(raw) for raw in self._staged_raw_predict(X))

    def decision_function(self, X: Any) -> FloatArray:
        """The raw predictions: the log odds of the second class, or one number a class."""
        return _decisions(self._raw_predict(X))

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """The raw predictions after each round."""
        return (_decisions(raw) for raw in self._staged_raw_predict(X))

    def _label(self, raw: FloatArray) -> npt.NDArray[Any]:
        return choose_labels(raw, self.classes_)

    def _probabilities(self, raw: FloatArray) -> FloatArray:
        if len(self.classes_) == 1:
            return np.ones_like(raw)
        if raw.shape[1] > 1:
            return np.asarray(softmax(raw, axis=1))
        second = expit(raw[:, 0])
        return np.stack([1 - second, second], axis=1)

    def _check_target(self, y: npt.NDArray[Any]) -> tuple[FloatArray, dict[str, Any]]:
        classes, codes = code_labels(y)
        return codes.astype(np.float64), {"classes_": classes}

    def _weigh(self, params: SimpleNamespace, y: FloatArray, weights: FloatArray | None, fixed: dict[str, Any]) -> Any:
        return check_class_weight(params.class_weight, fixed["classes_"], y.astype(np.intp), weights, np.float64)

    def _encode(self, y: npt.NDArray[Any], fixed: dict[str, Any]) -> FloatArray:
        classes = fixed["classes_"]
        codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        if (unknown := classes[codes] != y).any():
            raise ValueError(f"y_val holds the label {y[unknown].tolist()[0]!r}, which y does not have.")
        return codes.astype(np.float64)

    def _decode(self, y: FloatArray, fixed: dict[str, Any]) -> npt.NDArray[Any]:
        labels: npt.NDArray[Any] = fixed["classes_"][y.astype(np.intp)]
        return labels

    def _make_objective(self, params: SimpleNamespace, data: Data, fixed: dict[str, Any]) -> Objective:
        n_classes, loss = len(fixed["classes_"]), params.loss
        if not isinstance(loss, (str, Loss)):
            return CallableObjective(loss, 1 if n_classes <= 2 else n_classes, data.y, data.weights)
        fitting = SoftmaxCrossEntropy() if n_classes > 2 else Logistic()
        if isinstance(loss, Loss) and loss != fitting:
            raise InvalidParameterError(
                f"HistGradientBoostingClassifier: loss={loss!r} is not valid for {n_classes} classes; it must be 'log_loss', "
                f"{fitting!r} or a callable."
            )
        if n_classes > 2:
            return SoftmaxObjective(n_classes, data.y, data.weights)
        return LossObjective(Logistic(), data.y, data.weights)


def _decisions(raw: FloatArray) -> FloatArray:
    return raw[:, 0] if raw.shape[1] == 1 else raw

"""Gradient boosting for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._params import Instance, OneOf, Real, Rule
from mercer._trees.store import IntArray
from mercer._trees.training import Training
from mercer.ensemble._gradient_boosting.model import RULES, GradientBoosting, Monitor
from mercer.ensemble._gradient_boosting.objectives import Objective, regression_objective
from mercer.losses import Loss


class GradientBoostingRegressor(RegressorMixin, GradientBoosting):  # type: ignore[misc]  # scikit-learn has no types
    r"""Gradient boosting of regression trees (Friedman): each tree is fitted to the negative gradient of the loss so far.

    From a constant :math:`F_0`, round t fits a tree to :math:`-\partial \ell(y_i, F_{t-1}(x_i)) / \partial F`, replaces the
    value of each leaf R by :math:`\arg\min_c \sum_{x_i \in R} w_i \ell(y_i, F_{t-1}(x_i) + c)`, and adds it, times
    `learning_rate`.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile"} or Loss, default="squared_error"
        What is lowered. "huber" takes its delta anew in each round, the `alpha`-quantile of the sizes of the residuals. A
        loss of `mercer.losses` of kind "residual" (such as `LogCosh()`) or "positive" (such as `Poisson()`, with
        predictions exp(F)) will do if it is smooth, and `Absolute()` and `Pinball()`.
    learning_rate : float, default=0.1
        The factor of every tree.
    n_estimators : int, default=100
        The number of rounds.
    subsample : float, default=1.0
        The share of the rows, drawn without replacement, that a round learns from.
    criterion : {"friedman_mse", "squared_error"}, default="deprecated"
        Accepted, as scikit-learn still does: both names stand for the same splits, those of least squared error.
    min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        As for `DecisionTreeRegressor`.
    max_depth : int or None, default=3
        The largest number of splits on the way to a leaf.
    min_impurity_decrease : float, default=0.0
        A split must lower the weighted squared error by this much.
    init : estimator, "zero" or None, default=None
        Where to start: from the predictions of an estimator that is fitted first, from zero, or from the best constant.
    random_state : int, RandomState or None, default=None
        For draws of rows and of features, and for the split of early stopping.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        How many features a split looks at; None looks at all of them.
    alpha : float, default=0.9
        The quantile of "quantile" and of "huber".
    verbose : int or bool, default=0
        Log every round.
    max_leaf_nodes : int or None, default=None
        The largest number of leaves of a tree.
    warm_start : bool, default=False
        Whether `fit` adds trees to those there are, up to `n_estimators`.
    validation_fraction : float, default=0.1
        The share of the rows that early stopping holds out.
    n_iter_no_change : int or None, default=None
        Stop when the held-out loss was not lowered by `tol` in so many rounds; None holds nothing out.
    tol : float, default=1e-4
        See `n_iter_no_change`.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning of every tree.
    line_search : {"leaf", "learner"}, default="leaf"
        What is searched for the least loss: the value of each leaf, or one step for the whole tree, whose leaves keep the mean
        residuals (AnyBoost). With "learner" the fit ends at a tree without a positive correlation with the residuals, which
        is not kept.
    categorical_features, unseen
        As for `DecisionTreeRegressor`.

    Attributes
    ----------
    estimators_ : ndarray of DecisionTreeRegressor of shape (n_estimators_, 1)
        The trees; views of one store.
    n_estimators_ : int
        The number of rounds that were kept.
    n_trees_per_iteration_ : int
        One.
    train_score_ : ndarray of shape (n_estimators_,)
        The loss after each round, of the rows it learnt from; twice the loss for "squared_error", as in scikit-learn.
    oob_scores_, oob_improvement_ : ndarray of shape (n_estimators_,)
        The loss of the rows left out, and by how much the round lowered it; with `subsample` below 1.
    oob_score_ : float
        The last of `oob_scores_`.
    init_ : estimator or "zero"
        Where the fit began.
    max_features_ : int
        The number of features that each split looks at.
    feature_importances_ : ndarray of shape (n_features,)
        The squared error that the splits on each feature remove; they sum to one.
    history_ : list of dict
        `train_loss` of every round; `oob_improvement` and `validation_loss` where there are such.
    certificate_ : Certificate
        The training loss, and by how much it fell in the last round, or the held-out loss in the rounds that early stopping
        waits for.
    n_iter_ : int
        The number of rounds.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Columns are ranked once, O(n d log n); a round takes O(n d) a level. Leaves: the mean, median and quantile are exact for
    their losses; "huber" takes Friedman's step; other losses are minimised by a safeguarded Newton iteration. X counts as
    it is, where scikit-learn rounds it to single precision. NaN is a missing value. The quantile at which the fit begins is
    the least value that reaches its share of the weight, weighted or not, where scikit-learn interpolates if there are no
    weights. A warm start must keep `learning_rate`.

    References
    ----------
    J. Friedman, "Greedy function approximation: a gradient boosting machine", 2001.

    Examples
    --------
    >>> from mercer.ensemble import GradientBoostingRegressor
    >>> from mercer.losses import Poisson
    >>> X, y = [[0], [1], [2], [3], [4]], [0, 1, 1, 4, 9]
    >>> GradientBoostingRegressor(random_state=0).fit(X, y).predict([[1], [4]]).round(2)
    array([1., 9.])
    >>> GradientBoostingRegressor(loss=Poisson(), random_state=0).fit(X, y).predict([[1], [4]]).round(2)
    array([1., 9.])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **RULES,
        "loss": OneOf("squared_error", "absolute_error", "huber", "quantile") | Instance(Loss),
        "alpha": Real(above=0, below=1),
    }

    def __init__(
        self,
        *,
        loss: str | Loss = "squared_error",
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
        alpha: float = 0.9,
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
        self.alpha = alpha
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
        return regression_objective(params.loss, params.alpha)

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
        return self._fit(X, y, sample_weight, monitor, is_classifier=False)

    def predict(self, X: Any) -> FloatArray:
        """The predictions, of shape (n_samples,)."""
        return np.asarray(self._predicted(self._raw(X)))

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """`predict` after every round."""
        for raw in self._staged_raw(X):
            yield self._predicted(raw)

    def _predicted(self, raw: FloatArray) -> FloatArray:
        return np.asarray(self._objective.loss.inverse_link(raw[:, 0]))

    def apply(self, X: Any) -> IntArray:
        """The number of each row's leaf in each tree, of shape (n_samples, n_estimators_)."""
        return self._leaves(X)[:, :, 0]

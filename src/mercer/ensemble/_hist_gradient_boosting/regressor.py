"""Histogram boosting of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._params import InvalidParameterError, Null, Real, Rule
from mercer.ensemble._hist_gradient_boosting.base import BOOSTING_RULES, HistGradientBoosting, loss_rule
from mercer.ensemble._hist_gradient_boosting.objectives import (
    CallableObjective,
    LossFunction,
    LossObjective,
    Objective,
    is_supported,
    supported_losses,
)
from mercer.ensemble._hist_gradient_boosting.stopping import Data
from mercer.losses import Gamma, Loss, Poisson, Tweedie, get_loss


class HistGradientBoostingRegressor(RegressorMixin, HistGradientBoosting):  # type: ignore[misc]
    r"""Gradient boosting of regression trees on histograms, to second order.

    Adds trees one by one, each grown to lower the loss :math:`\sum_i w_i L(y_i, F(x_i))` of the sum :math:`F` so far. With
    :math:`G` and :math:`H` the sums of first and second derivatives over the rows of a leaf, its value is
    :math:`-G / (H + \lambda)`, and the gain of a split is

    .. math:: \frac12\Big[\frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda} - \frac{G^2}{H + \lambda}\Big] - \beta.

    Parameters
    ----------
    loss : str, Loss or callable, default="squared_error"
        "squared_error", "absolute_error", "gamma", "poisson", "quantile"; a loss of `mercer.losses` (`Squared`, `Absolute`,
        `Pinball`, `Poisson`, `Gamma`, `Tweedie`, `Huber`, `LogCosh`, `SquaredEpsilonInsensitive`); or a function of
        (y_true, raw_prediction) that returns the gradient and the Hessian of each row's loss in the raw prediction. The
        function may have a method `value(y_true, raw_prediction)` with each row's loss, which early stopping by the loss
        needs, and a method `inverse_link(raw_prediction)` for what `predict` reports.
    quantile : float or None, default=None
        The quantile of loss="quantile", from 0 to 1.
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
    A round costs O(n d) for each level of its tree at most. Memory beyond X: a byte for each of its values, some 50 bytes a
    row, and at most `max_leaf_nodes` histograms of 2 or 4 kB a feature.

    Gradients and Hessians are rounded to whole numbers of a unit that keeps 63 - 2 log2(n) bits of the largest: sums are then
    exact in any order, and so is the difference of two histograms. Results have the same bits for any number of threads.

    Differences from scikit-learn: bins get equal shares of the rows with heavy values apart; under bounds of a monotone
    constraint the gain is that of the bounded values; gains count one half, as in XGBoost, which changes no split unless
    `min_gain_to_split` is set. The leaves of absolute and quantile losses get the median and quantile of their rows. For Huber,
    log-cosh and insensitive losses the curvature of a parabola above the loss stands for :math:`H`: no step is too long.

    References
    ----------
    T. Chen and C. Guestrin, "XGBoost: A scalable tree boosting system", KDD 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ensemble import HistGradientBoostingRegressor
    >>> X = np.linspace(0, 1, 400).reshape(-1, 1)
    >>> model = HistGradientBoostingRegressor().fit(X, np.sin(6 * X[:, 0]))
    >>> model.predict([[0.25], [0.75]]).round(1)
    array([ 1., -1.])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "loss": loss_rule("squared_error", "absolute_error", "gamma", "poisson", "quantile"),
        "quantile": Real(least=0, most=1) | Null(),
        **BOOSTING_RULES,
    }

    def __init__(
        self,
        loss: str | Loss | LossFunction = "squared_error",
        *,
        quantile: float | None = None,
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
        min_gain_to_split: float = 0.0,
        grow_policy: str = "leaf_wise",
        refit_best: bool = False,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
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
        self.min_gain_to_split = min_gain_to_split
        self.grow_policy = grow_policy
        self.refit_best = refit_best
        self.unseen = unseen
        self.n_jobs = n_jobs

    @fit_method
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None, sample_weight_val: Any = None
    ) -> HistGradientBoostingRegressor:
        """Boost trees for the target y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN means missing; infinite values are the largest and the smallest there are.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        X_val, y_val, sample_weight_val : array-like, default=None
            Rows for early stopping to go by, in place of a part of X.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, (X_val, y_val, sample_weight_val), is_classifier=False)

    def predict(self, X: Any) -> FloatArray:
        """The prediction for each row."""
        return self._report(self._raw_predict(X))

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """The predictions after each round."""
        return (self._report(raw) for raw in self._staged_raw_predict(X))

    def _report(self, raw: FloatArray) -> FloatArray:
        link = getattr(self._loss, "inverse_link", None)
        return raw[:, 0] if link is None else np.asarray(link(raw[:, 0]))

    _loss: Any

    @staticmethod
    def _loss_of(params: Any) -> Any:
        """The loss as an object of `mercer.losses`, or the user's function."""
        if not isinstance(params.loss, str):
            return params.loss
        if params.loss != "quantile":
            return get_loss(params.loss)
        if params.quantile is None:
            raise InvalidParameterError(
                "HistGradientBoostingRegressor: quantile=None is not valid with loss='quantile'; it must be from 0 to 1."
            )
        return get_loss("quantile", quantile=params.quantile)

    def _check_target(self, y: npt.NDArray[Any]) -> tuple[FloatArray, dict[str, Any]]:
        return np.ascontiguousarray(y, dtype=np.float64), {}

    def _make_objective(self, params: SimpleNamespace, data: Data, fixed: dict[str, Any]) -> Objective:
        loss = fixed["_loss"] = self._loss_of(params)
        if not isinstance(loss, Loss):
            return CallableObjective(loss, 1, data.y, data.weights)
        if not is_supported(loss):
            raise InvalidParameterError(
                f"HistGradientBoostingRegressor: loss={loss!r} is not valid; of mercer.losses it may be {supported_losses()}."
            )
        loss.check_y(data.y)
        if isinstance(loss, (Poisson, Gamma, Tweedie)) and not np.average(data.y, weights=data.weights) > 0:
            raise ValueError(f"loss={params.loss!r} needs a target with a positive mean; y is zero wherever the weight is not.")
        return LossObjective(loss, data.y, data.weights)

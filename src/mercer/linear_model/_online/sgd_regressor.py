"""Linear regression by stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._params import OneOf, Rule
from mercer._tuning import Choices, Reals, Space
from mercer.linear_model._online.regressor import OnlineRegressor
from mercer.linear_model._online.sgd import SGD_RULES, sgd_settings
from mercer.linear_model._online.stochastic import LOG_LINK_LOSSES, RESIDUAL_LOSSES, Settings


class SGDRegressor(OnlineRegressor):
    r"""Linear regression by stochastic gradient descent, for many losses and penalties, online.

    Goes down :math:`\frac1n \sum_i s_i L(y_i, x_i^\top w + b) + \alpha R(w)` by a step on one row after the other, for the loss
    :math:`L` and the penalty :math:`R`.

    Parameters
    ----------
    loss : str, default="squared_error"
        "squared_error" or "squared", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "absolute", "log_cosh",
        "pinball" or "quantile"; or, for the logarithm of the mean, "poisson" (y >= 0) and "gamma" (y > 0).
    penalty : {"l2", "l1", "elasticnet", "lp", "box"} or None, default="l2"
        As in `SGDClassifier`.
    alpha : float, default=0.0001
        The strength of the penalty; also sets the "optimal" learning rate.
    l1_ratio : float or None, default=0.15
        The share of l1 in "elasticnet".
    fit_intercept : bool, default=True
        Whether there is an intercept; without, :math:`b = 0`.
    max_iter : int, default=1000
        The most passes over the data (`partial_fit` makes one).
    tol : float or None, default=1e-3
        Passes end when the objective, added up during a pass, has not come `tol` below the best so far in
        `n_iter_no_change` passes. None: never.
    shuffle : bool, default=True
        Whether each pass takes the rows in a new order.
    verbose : int, default=0
        Log each pass to the logger `mercer`.
    epsilon : float, default=0.1
        The width of the insensitive losses, and the size of residual from which "huber" is linear.
    random_state : int, RandomState or None, default=None
        Seed of the orders and of the rows set aside by `early_stopping`.
    learning_rate : {"invscaling", "constant", "optimal", "adaptive", "pa1", "pa2"}, default="invscaling"
        As in `SGDClassifier`; passive-aggressive steps are for the epsilon-insensitive loss only.
    eta0 : float, default=0.01
        See `learning_rate`.
    power_t : float, default=0.25
        See `learning_rate`.
    early_stopping : bool, default=False
        Whether to set rows aside and to stop by R^2 on them.
    validation_fraction : float, default=0.1
        The share of rows set aside.
    n_iter_no_change : int, default=5
        See `tol`.
    warm_start : bool, default=False
        Whether `fit` starts from the last fit.
    average : bool or int, default=False
        Whether `coef_` is the average of the coefficients over all steps; an integer says from which step on.
    quantile : float, default=0.5
        For the pinball loss.
    bounds : pair of float or None, default=None
        For penalty="box".
    p : float, default=0.5
        For penalty="lp", 0 < p <= 1.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : array of shape (1,)
    n_iter_ : int
        The number of passes.
    t_ : float
        One more than the number of steps taken.
    history_ : list of dict
        For each pass: the mean objective and loss as added up during the pass, the steps that changed something, and the score
        of early stopping.
    certificate_ : Certificate
        The objective at the end, by one more pass over all rows; and from the same pass, with a convex penalty, a lower bound
        on any model's objective (`dual`) and so a true `gap`. It says "converged" where that is at most `tol`; descent ends by
        the rule of `tol`, which seldom waits so long, and the certificate then says that it stopped where passes improved no
        further. `partial_fit` leaves none.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    As in `SGDClassifier`, differences from scikit-learn included. With the losses "poisson" and "gamma", `predict` gives the
    exponential of the linear values.

    References
    ----------
    L. Bottou, "Stochastic Gradient Descent Tricks", Neural Networks: Tricks of the Trade, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import SGDRegressor
    >>> X = np.random.RandomState(0).randn(1000, 3)
    >>> model = SGDRegressor(random_state=0).fit(X, X @ [1, 2, 3] + 4)
    >>> model.coef_.round(2), model.intercept_.round(2)
    (array([1., 2., 3.]), array([4.]))
    >>> model.certificate_.gap < 1e-3
    True
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "alpha": Reals(1e-7, 1e-1, log=True),
        "penalty": Choices("l2", "l1", "elasticnet"),
        "loss": Choices("squared_error", "huber", "epsilon_insensitive"),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {**SGD_RULES, "loss": OneOf(*RESIDUAL_LOSSES, *LOG_LINK_LOSSES)}

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: Any = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: bool | int = False,
        quantile: float = 0.5,
        bounds: tuple[float, float] | None = None,
        p: float = 0.5,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
        self.quantile = quantile
        self.bounds = bounds
        self.p = p

    def _settings(self, params: SimpleNamespace) -> Settings:
        return sgd_settings(self, params, None)

    @fit_method
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> SGDRegressor:
        """Fit to all rows, pass after pass.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        coef_init : array of shape (n_features,), default=None
            Where to start; None: at zero, or at the last fit with `warm_start`.
        intercept_init : array of shape (1,), default=None
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the steps.

        Returns
        -------
        self
        """
        return self._fit(X, y, coef_init, intercept_init, sample_weight)  # type: ignore[no-any-return]

    @fit_method
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> SGDRegressor:
        """Make one pass over these rows, from where the last one ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight)  # type: ignore[no-any-return]

    def predict(self, X: Any) -> FloatArray:
        """The values of the model, of shape (n_samples,); their exponentials for the losses "poisson" and "gamma"."""
        values = self._linear_values(X)
        if self.loss not in LOG_LINK_LOSSES:
            return values
        means: FloatArray = np.exp(values)
        return means

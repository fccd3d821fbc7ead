"""Linear classification by stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if

from mercer._arrays import FloatArray
from mercer._params import Mapped, Null, NumberOfJobs, OneOf, Rule
from mercer._tuning import Choices, Reals, Space
from mercer.linear_model._online.classifier import WeightedClassifier
from mercer.linear_model._online.sgd import SGD_RULES, sgd_settings
from mercer.linear_model._online.stochastic import MARGIN_LOSSES, RESIDUAL_LOSSES, Settings

# The names of losses that scikit-learn's class lists under the same attribute.
PEER_LOSSES = (
    "hinge", "squared_hinge", "perceptron", "log_loss", "modified_huber", "squared_error", "huber", "epsilon_insensitive",
    "squared_epsilon_insensitive",
)  # fmt: skip


class SGDClassifier(WeightedClassifier):
    r"""Linear classification by stochastic gradient descent: support vector machines, logistic regression and others, online.

    Goes down :math:`\frac1n \sum_i s_i L(y_i, x_i^\top w + b) + \alpha R(w)` by a step on one row after the other, for the loss
    :math:`L` and the penalty :math:`R`; with more than two classes, one such model for each class against the rest.

    Parameters
    ----------
    loss : str, default="hinge"
        "hinge" (linear SVM), "log_loss" or "logistic" (logistic regression), "modified_huber", "squared_hinge", "perceptron",
        "exponential"; or a loss of the residual for labels -1 and 1: "squared_error" or "squared", "huber",
        "epsilon_insensitive", "squared_epsilon_insensitive", "absolute", "log_cosh", "pinball" or "quantile".
    penalty : {"l2", "l1", "elasticnet", "lp", "box"} or None, default="l2"
        :math:`\|w\|^2/2`, :math:`\|w\|_1`, their mixture, :math:`\sum_j |w_j|^p` (not convex: the result depends on the start)
        or `bounds` on every coefficient, to which it is clipped after each step.
    alpha : float, default=0.0001
        The strength of the penalty; also sets the "optimal" learning rate.
    l1_ratio : float or None, default=0.15
        The share of l1 in "elasticnet".
    fit_intercept : bool, default=True
        Whether there is an intercept; without, :math:`b = 0`.
    max_iter : int, default=1000
        The most passes over the data (`partial_fit` makes one).
    tol : float or None, default=1e-3
        A class is done when its objective, added up during a pass, has not come `tol` below the best so far in
        `n_iter_no_change` passes. None: never.
    shuffle : bool, default=True
        Whether each pass takes the rows in a new order.
    verbose : int, default=0
        Log each pass to the logger `mercer`.
    epsilon : float, default=0.1
        The width of the insensitive losses, and the size of residual from which "huber" is linear.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the orders and of the rows set aside by `early_stopping`.
    learning_rate : {"optimal", "constant", "invscaling", "adaptive", "pa1", "pa2"}, default="optimal"
        The step of number t: :math:`1/(\alpha (t_0 + t))`, with :math:`t_0` such that steps begin at :math:`\alpha^{-1/4}`;
        `eta0`; `eta0` / t ** `power_t`; `eta0` divided by 5 each time that the stopping rule holds, until 1e-6; or passive-
        aggressive steps (hinge loss only) with `eta0` as the constant C.
    eta0 : float, default=0.01
        See `learning_rate`.
    power_t : float, default=0.5
        See `learning_rate`.
    early_stopping : bool, default=False
        Whether to set rows aside and to stop by the accuracy on them: when it has not risen by `tol` in `n_iter_no_change`
        passes.
    validation_fraction : float, default=0.1
        The share of rows set aside.
    n_iter_no_change : int, default=5
        See `tol`.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of rows, by class; "balanced" makes the classes weigh the same.
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
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    n_iter_ : int
        The number of passes; with several classes, the most of any.
    t_ : float
        One more than the number of steps taken for a class.
    history_ : list of dict
        For each pass: objective and loss as added up during the pass (a mean over rows, added over classes), the steps that
        changed something, the rows misclassified when their turn came, and the score of early stopping.
    certificate_ : Certificate
        The objective at the end, added over classes, by one more pass over all rows; and from the same pass, with a convex
        penalty, a lower bound on any model's objective (`dual`) and so a true `gap`. It says "converged" where that is at most
        `tol`; descent ends by the rule of `tol`, which seldom waits so long, and the certificate then says that it stopped
        where passes improved no further. `partial_fit` leaves none.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A pass takes O(n d) for each class (the number of stored entries for sparse X); classes run in parallel. Weights are kept as
    a common factor times a vector, and l1 is Tsuruoka's cumulative penalty. For the same `random_state` orders, steps and
    stopping are those of scikit-learn, and so are the coefficients up to rounding.

    The intercept takes 0.01 of each step where X is sparse: every row moves it, but only now and then a coefficient.

    Differences from scikit-learn: a row of weight zero is absent (there it still counts as a step). With sparse X, l1 also
    taxes features that are not in a row (there it forgets them).
    The score of `early_stopping` is that of the model (there of weights without their common factor). With l1, `average` is the
    average of the coefficients (there what l1 took away is not averaged). X that is not in C order is copied once.
    A step of weight two is not two steps: unlike for other estimators of Mercer, weights are not repetitions.

    References
    ----------
    L. Bottou, "Stochastic Gradient Descent Tricks", Neural Networks: Tricks of the Trade, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import SGDClassifier
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> model = SGDClassifier(random_state=0).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[-0.8, -1]])
    array(['a'], dtype='<U1')
    >>> model.certificate_.gap >= 0
    True
    """

    loss_functions: ClassVar[tuple[str, ...]] = PEER_LOSSES
    _search_space: ClassVar[Mapping[str, Space]] = {
        "alpha": Reals(1e-7, 1e-1, log=True),
        "penalty": Choices("l2", "l1", "elasticnet"),
        "loss": Choices("hinge", "log_loss", "modified_huber"),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **SGD_RULES,
        "loss": OneOf(*MARGIN_LOSSES, *RESIDUAL_LOSSES),
        "n_jobs": NumberOfJobs(),
        "class_weight": Mapped() | OneOf("balanced") | Null(),
    }

    def __init__(
        self,
        loss: str = "hinge",
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
        n_jobs: int | None = None,
        random_state: Any = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.quantile = quantile
        self.bounds = bounds
        self.p = p

    def _settings(self, params: SimpleNamespace) -> Settings:
        return sgd_settings(self, params, params.n_jobs)

    def _has_probabilities(self) -> bool:
        if self.loss not in ("log_loss", "logistic", "modified_huber"):
            raise AttributeError(f"probability estimates are not available for loss={self.loss!r}")
        return True

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities, of shape (n_samples, n_classes); for the logistic and the modified Huber loss only.

        Of several classes, each against the rest is taken for itself, and the results are normalised.
        """
        scores = self._linear_values(X)
        shares = (np.clip(scores, -1, 1) + 1) / 2 if self.loss == "modified_huber" else expit(scores)
        if len(self.classes_) == 2:
            return np.hstack([1 - shares, shares])
        shares[shares.sum(axis=1) == 0] = 1  # no class wants the row: all are as likely
        probabilities: FloatArray = shares / shares.sum(axis=1, keepdims=True)
        return probabilities

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of `predict_proba`; minus infinity where a probability is zero."""
        with np.errstate(divide="ignore"):
            logarithms: FloatArray = np.log(self.predict_proba(X))
        return logarithms

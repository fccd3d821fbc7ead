"""Passive-aggressive learning."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

from mercer._base import fit_method
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, Mapped, Null, NumberOfJobs, OneOf, Real, Rule
from mercer._tuning import Reals, Space
from mercer.linear_model._online.classifier import OnlineClassifier
from mercer.linear_model._online.fit import SHARED_RULES
from mercer.linear_model._online.regressor import OnlineRegressor
from mercer.linear_model._online.stochastic import Settings

PASSIVE_AGGRESSIVE_RULES: dict[str, Rule] = {**SHARED_RULES, "C": Real(above=0), "average": Bool() | Integer(1)}


def _passive_aggressive_settings(params: SimpleNamespace, loss: str, *, epsilon: float, n_jobs: int | None) -> Settings:
    """PA-I for the loss itself, PA-II for its square: both take their steps by the loss itself."""
    names = (
        "fit_intercept", "shuffle", "max_iter", "tol", "verbose", "n_iter_no_change", "early_stopping", "validation_fraction",
        "random_state",
    )  # fmt: skip
    return Settings(
        loss=loss,
        parameter=epsilon,
        penalty=None,
        alpha=1.0,
        l1_ratio=0.0,
        learning_rate="pa1" if params.loss == loss else "pa2",
        eta0=params.C,
        power_t=0.5,
        average=int(params.average),
        n_threads=effective_threads(n_jobs),
        **{name: getattr(params, name) for name in names},
    )


class PassiveAggressiveClassifier(OnlineClassifier):
    r"""Classification by passive-aggressive steps: as far as a row asks for, and no further.

    On each row with hinge loss :math:`\ell = \max(0, 1 - y_i (x_i^\top w + b)) > 0`, goes to
    :math:`w + \tau s_i y_i x_i` and :math:`b + \tau s_i y_i`, where :math:`\tau = \min(C, \ell / \|x_i\|^2)` (PA-I) or
    :math:`\tau = \ell / (\|x_i\|^2 + 1/(2C))` (PA-II), and :math:`s_i` is the weight of its class; with more than two classes,
    one such model for each class against the rest.

    Parameters
    ----------
    C : float, default=1.0
        How aggressive: the largest step of PA-I; for PA-II, the smaller, the smaller the steps.
    fit_intercept : bool, default=True
        Whether there is an intercept; without, :math:`b = 0`.
    max_iter : int, default=1000
        The most passes over the data (`partial_fit` makes one).
    tol : float or None, default=1e-3
        A class is done when its mean loss, added up during a pass, has not come `tol` below the best so far in
        `n_iter_no_change` passes. None: never.
    early_stopping : bool, default=False
        Whether to set rows aside and to stop by the accuracy on them.
    validation_fraction : float, default=0.1
        The share of rows set aside.
    n_iter_no_change : int, default=5
        See `tol`.
    shuffle : bool, default=True
        Whether each pass takes the rows in a new order.
    verbose : int, default=0
        Log each pass to the logger `mercer`.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        PA-I or PA-II.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the orders and of the rows set aside by `early_stopping`.
    warm_start : bool, default=False
        Whether `fit` starts from the last fit.
    class_weight : dict, "balanced" or None, default=None
        Factors of the steps, by class; "balanced" makes the classes weigh the same.
    average : bool or int, default=False
        Whether `coef_` is the average of the coefficients over all steps; an integer says from which step on.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    n_iter_ : int
        The number of passes; with several classes, the most of any.
    t_ : float
        One more than the number of rows seen for a class.
    history_ : list of dict
        For each pass: the mean loss as added up during the pass, the steps that changed something, the rows misclassified when
        their turn came.
    certificate_ : Certificate
        The mean hinge loss at the end, added over classes, and by how much the last pass improved it. There is no objective
        that these steps minimise, hence no bound.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A pass takes O(n d) for each class. ``SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=C)`` is the same
    with PA-I, "pa2" with PA-II. The differences from scikit-learn, which will drop this class, are those of `SGDClassifier`.

    References
    ----------
    K. Crammer et al., "Online Passive-Aggressive Algorithms", JMLR 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import PassiveAggressiveClassifier
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> model = PassiveAggressiveClassifier(random_state=0).fit(X, [1, 1, 2, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {"C": Reals(1e-4, 1e2, log=True)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **PASSIVE_AGGRESSIVE_RULES,
        "loss": OneOf("hinge", "squared_hinge"),
        "n_jobs": NumberOfJobs(),
        "class_weight": Mapped() | OneOf("balanced") | Null(),
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "hinge",
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        average: bool | int = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average

    def _settings(self, params: SimpleNamespace) -> Settings:
        return _passive_aggressive_settings(params, "hinge", epsilon=0.0, n_jobs=params.n_jobs)

    @fit_method
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None) -> PassiveAggressiveClassifier:
        """Fit to all rows, pass after pass.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type.
        coef_init : array of the shape of `coef_`, default=None
            Where to start; None: at zero, or at the last fit with `warm_start`.
        intercept_init : array of the shape of `intercept_`, default=None

        Returns
        -------
        self
        """
        return self._fit(X, y, coef_init, intercept_init, None)  # type: ignore[no-any-return]

    @fit_method
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> PassiveAggressiveClassifier:
        """Make one pass over these rows, from where the last one ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, default=None
            All classes that will ever come; needed on the first call.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, None)  # type: ignore[no-any-return]


class PassiveAggressiveRegressor(OnlineRegressor):
    r"""Regression by passive-aggressive steps: as far as a row asks for, and no further.

    On each row with loss :math:`\ell = \max(0, |y_i - x_i^\top w - b| - \epsilon) > 0`, goes to :math:`w \pm \tau x_i` and
    :math:`b \pm \tau`, towards :math:`y_i`, where :math:`\tau = \min(C, \ell / \|x_i\|^2)` (PA-I) or
    :math:`\tau = \ell / (\|x_i\|^2 + 1/(2C))` (PA-II).

    Parameters
    ----------
    C : float, default=1.0
        How aggressive: the largest step of PA-I; for PA-II, the smaller, the smaller the steps.
    fit_intercept : bool, default=True
        Whether there is an intercept; without, :math:`b = 0`.
    max_iter : int, default=1000
        The most passes over the data (`partial_fit` makes one).
    tol : float or None, default=1e-3
        Passes end when the mean loss, added up during a pass, has not come `tol` below the best so far in `n_iter_no_change`
        passes. None: never.
    early_stopping : bool, default=False
        Whether to set rows aside and to stop by R^2 on them.
    validation_fraction : float, default=0.1
        The share of rows set aside.
    n_iter_no_change : int, default=5
        See `tol`.
    shuffle : bool, default=True
        Whether each pass takes the rows in a new order.
    verbose : int, default=0
        Log each pass to the logger `mercer`.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        PA-I or PA-II.
    epsilon : float, default=0.1
        The residual up to which a row is passed over.
    random_state : int, RandomState or None, default=None
        Seed of the orders and of the rows set aside by `early_stopping`.
    warm_start : bool, default=False
        Whether `fit` starts from the last fit.
    average : bool or int, default=False
        Whether `coef_` is the average of the coefficients over all steps; an integer says from which step on.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : array of shape (1,)
    n_iter_ : int
        The number of passes.
    t_ : float
        One more than the number of rows seen.
    history_ : list of dict
        For each pass: the mean loss as added up during the pass, and the steps that changed something.
    certificate_ : Certificate
        The mean epsilon-insensitive loss at the end, and by how much the last pass improved it. There is no objective that
        these steps minimise, hence no bound.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A pass takes O(n d). ``SGDRegressor(loss="epsilon_insensitive", penalty=None, learning_rate="pa1", eta0=C)`` is the same
    with PA-I, "pa2" with PA-II. The differences from scikit-learn, which will drop this class, are those of `SGDRegressor`.

    References
    ----------
    K. Crammer et al., "Online Passive-Aggressive Algorithms", JMLR 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import PassiveAggressiveRegressor
    >>> X = np.random.RandomState(0).randn(200, 2)
    >>> model = PassiveAggressiveRegressor(C=0.1, epsilon=0.0, random_state=0).fit(X, X @ [1, 2] + 3)
    >>> model.score(X, X @ [1, 2] + 3) > 0.95
    True
    """

    _search_space: ClassVar[Mapping[str, Space]] = {"C": Reals(1e-4, 1e2, log=True)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **PASSIVE_AGGRESSIVE_RULES,
        "loss": OneOf("epsilon_insensitive", "squared_epsilon_insensitive"),
        "epsilon": Real(least=0),
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        random_state: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average

    def _settings(self, params: SimpleNamespace) -> Settings:
        return _passive_aggressive_settings(params, "epsilon_insensitive", epsilon=params.epsilon, n_jobs=None)

    @fit_method
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None) -> PassiveAggressiveRegressor:
        """Fit to all rows, pass after pass.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        coef_init : array of shape (n_features,), default=None
            Where to start; None: at zero, or at the last fit with `warm_start`.
        intercept_init : array of shape (1,), default=None

        Returns
        -------
        self
        """
        return self._fit(X, y, coef_init, intercept_init, None)  # type: ignore[no-any-return]

    @fit_method
    def partial_fit(self, X: Any, y: Any) -> PassiveAggressiveRegressor:
        """Make one pass over these rows, from where the last one ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, None)  # type: ignore[no-any-return]

"""The generalised linear models that scikit-learn has a class for: parameters and documents."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

from mercer._base import fit_method
from mercer._params import OneOf, Real, Rule
from mercer._tuning import Reals, Space
from mercer.linear_model._glm.families import Family, Gamma, Poisson
from mercer.linear_model._glm.glm import COMMON_RULES, GeneralizedLinearModel
from mercer.linear_model._glm.links import LINKS, Link, Log
from mercer.linear_model._glm.regressor import tweedie_family

SOLVERS = OneOf("lbfgs", "newton-cholesky")


class _LogLinearModel(GeneralizedLinearModel):
    """The parameters of scikit-learn's models of one family, and their fit."""

    _search_space: ClassVar[Mapping[str, Space]] = {"alpha": Reals(1e-5, 1e2, log=True)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {**COMMON_RULES, "solver": SOLVERS}

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> _LogLinearModel:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Targets of the family: >= 0 for Poisson, > 0 for gamma, for Tweedie by its power.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)  # type: ignore[no-any-return]


class PoissonRegressor(_LogLinearModel):
    r"""A log-linear model for counts and rates, with inference.

    Minimises :math:`\frac{1}{\sum_i s_i} \sum_i s_i (\mu_i - y_i \log \mu_i) + \tfrac{\alpha}{2} \|w\|^2` for the means
    :math:`\mu_i = \exp(x_i^\top w + b)` and the sample weights :math:`s_i`.

    Parameters
    ----------
    alpha : float, default=1
        The strength of the penalty.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is not penalised.
    solver : {"lbfgs", "newton-cholesky"}, default="lbfgs"
        "newton-cholesky" is Newton's method. "lbfgs" is L-BFGS for sparse X and for more than 1000 columns, and
        Newton's method where that is faster. The minimum is the same.
    max_iter : int, default=100
        The most iterations.
    tol : float, default=1e-4
        The fit stops when the largest entry of the gradient of the objective is within `tol` and the duality gap is within
        `tol` of the objective.
    warm_start : bool, default=False
        Whether to start at the coefficients of the earlier fit.
    verbose : int, default=0
        Above zero, every iteration is logged.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    n_iter_ : int
    history_ : list of dict
        Objective, gradient, step and gap of each iteration, for the total weight of the rows.
    certificate_ : Certificate
        The objective above, the largest entry of its gradient and, where alpha > 0, the duality gap.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration reads X once, where it lies, and costs O(n d^2); there are two to ten. Long data start from the solution for
    every k-th row, at least 5000 of them, which is not counted. `summary` needs alpha=0.
    With L-BFGS, an iteration costs O(n d), and there is no gap.

    Differences from scikit-learn: the fit goes on until the gap, too, is small; `history_`, `certificate_`, `summary`.

    References
    ----------
    P. McCullagh and J. A. Nelder, "Generalized Linear Models", 2nd edition, Chapman and Hall 1989, chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import PoissonRegressor
    >>> X, y = np.array([[1.0, 2], [2, 3], [3, 4], [4, 3]]), np.array([12, 17, 22, 21])
    >>> model = PoissonRegressor().fit(X, y)
    >>> model.coef_.round(3), round(float(model.score(X, y)), 3)
    (array([0.121, 0.158]), 0.99)
    """

    def _family_and_link(self, params: SimpleNamespace) -> tuple[Family, Link]:
        return Poisson(), Log()


class GammaRegressor(_LogLinearModel):
    r"""A log-linear model for positive targets of constant relative spread, with inference.

    Minimises :math:`\frac{1}{\sum_i s_i} \sum_i s_i (\log \mu_i + y_i / \mu_i) + \tfrac{\alpha}{2} \|w\|^2` for the means
    :math:`\mu_i = \exp(x_i^\top w + b)` and the sample weights :math:`s_i`.

    Parameters
    ----------
    alpha : float, default=1
        The strength of the penalty.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is not penalised.
    solver : {"lbfgs", "newton-cholesky"}, default="lbfgs"
        "newton-cholesky" is Newton's method. "lbfgs" is L-BFGS for sparse X and for more than 1000 columns, and
        Newton's method where that is faster. The minimum is the same.
    max_iter : int, default=100
        The most iterations.
    tol : float, default=1e-4
        The fit stops when the largest entry of the gradient of the objective is within `tol` and the duality gap is within
        `tol` of the objective.
    warm_start : bool, default=False
        Whether to start at the coefficients of the earlier fit.
    verbose : int, default=0
        Above zero, every iteration is logged.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    n_iter_ : int
    history_ : list of dict
        Objective, gradient, step and gap of each iteration, for the total weight of the rows.
    certificate_ : Certificate
        The objective above, the largest entry of its gradient and, where alpha > 0, the duality gap.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration reads X once, where it lies, and costs O(n d^2); there are two to ten. Long data start from the solution for
    every k-th row, at least 5000 of them, which is not counted. `summary` needs alpha=0.
    With L-BFGS, an iteration costs O(n d), and there is no gap.

    Differences from scikit-learn: the fit goes on until the gap, too, is small; `history_`, `certificate_`, `summary`.

    References
    ----------
    P. McCullagh and J. A. Nelder, "Generalized Linear Models", 2nd edition, Chapman and Hall 1989, chapter 8.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import GammaRegressor
    >>> X, y = np.array([[1.0, 2], [2, 3], [3, 4], [4, 3]]), np.array([19.0, 26, 33, 30])
    >>> model = GammaRegressor().fit(X, y)
    >>> model.coef_.round(3), round(float(model.score(X, y)), 3)
    (array([0.073, 0.067]), 0.773)
    """

    def _family_and_link(self, params: SimpleNamespace) -> tuple[Family, Link]:
        return Gamma(), Log()


class TweedieRegressor(_LogLinearModel):
    r"""A linear model for targets whose variance is a power of their mean, with inference.

    Minimises :math:`\frac{1}{2 \sum_i s_i} \sum_i s_i d_p(y_i, \mu_i) + \tfrac{\alpha}{2} \|w\|^2` for the Tweedie deviance
    :math:`d_p` of power :math:`p`, means :math:`\mu_i = g^{-1}(x_i^\top w + b)` of the link :math:`g`, and the sample weights
    :math:`s_i`.

    Parameters
    ----------
    power : float, default=0
        The variance is proportional to the mean to this power: 0 normal, 1 Poisson, 2 gamma, 3 inverse Gaussian, between 1 and
        2 sums of a Poisson number of gamma amounts, such as claims. There is no law between 0 and 1.
    alpha : float, default=1
        The strength of the penalty.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is not penalised.
    link : {"auto", "identity", "log"}, default="auto"
        "auto" is the identity for power <= 0 and the logarithm otherwise.
    solver : {"lbfgs", "newton-cholesky"}, default="lbfgs"
        "newton-cholesky" is Newton's method. "lbfgs" is L-BFGS for sparse X and for more than 1000 columns, and
        Newton's method where that is faster. The minimum is the same.
    max_iter : int, default=100
        The most iterations.
    tol : float, default=1e-4
        The fit stops when the largest entry of the gradient of the objective is within `tol` and the duality gap is within
        `tol` of the objective.
    warm_start : bool, default=False
        Whether to start at the coefficients of the earlier fit.
    verbose : int, default=0
        Above zero, every iteration is logged.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    n_iter_ : int
    history_ : list of dict
        Objective, gradient, step and gap of each iteration, for the total weight of the rows.
    certificate_ : Certificate
        The objective above, the largest entry of its gradient and, where alpha > 0 and it is convex, the duality gap.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration reads X once, where it lies, and costs O(n d^2); there are two to ten. Long data start from the solution for
    every k-th row, at least 5000 of them, which is not counted. Under the log link with a power from 1 to 2 the objective is
    convex; otherwise (but for power=0 and the identity) the fit ends at a stationary point, and the certificate has no gap. The
    identity with power >= 1 takes Fisher scoring among coefficients that give all rows of X positive means; where the best of
    them lie on the border (targets of zero draw them there), a warning says so. `summary` needs alpha=0, and has a log
    likelihood for the powers 0, 2, 3 and from 1 to 2.

    Differences from scikit-learn: the fit goes on until the gap, where there is one, is small; powers between 0 and 1 are
    refused; `history_`, `certificate_`, `summary`.

    References
    ----------
    P. K. Dunn and G. K. Smyth, "Series evaluation of Tweedie exponential dispersion model densities", Statistics and Computing
    15, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import TweedieRegressor
    >>> X, y = np.array([[1.0, 2], [2, 3], [3, 4], [4, 3]]), np.array([2.0, 0, 5, 5.5])
    >>> model = TweedieRegressor(power=1.5, alpha=0.01).fit(X, y)
    >>> model.coef_.round(3), round(float(model.score(X, y)), 3)
    (array([0.481, 0.068]), 0.259)
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **COMMON_RULES,
        "power": Real(),
        "link": OneOf("auto", "identity", "log"),
        "solver": SOLVERS,
    }

    def __init__(
        self,
        *,
        power: float = 0.0,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        link: str = "auto",
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            fit_intercept=fit_intercept,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            verbose=verbose,
            n_jobs=n_jobs,
        )
        self.power = power
        self.link = link

    def _family_and_link(self, params: SimpleNamespace) -> tuple[Family, Link]:
        family = tweedie_family(type(self).__name__, params.power)
        return family, LINKS[family.default_link if params.link == "auto" else params.link]

"""The generalised linear model of any family and link: parameters and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._params import Instance, InvalidParameterError, OneOf, Real, Rule, check_params
from mercer._tuning import Reals, Space
from mercer.linear_model._glm.families import FAMILIES, Family, make_tweedie
from mercer.linear_model._glm.glm import COMMON_RULES, GeneralizedLinearModel, check_offset, means_of
from mercer.linear_model._glm.links import LINKS, Link
from mercer.linear_model._glm.multinoulli import explained_by_classes, fit_classes
from mercer.linear_model._inference.wald import WaldSummary


def tweedie_family(owner: str, power: float) -> Family:
    """The family of a power, or an error: there is none between zero and one."""
    if 0 < power < 1:
        raise InvalidParameterError(
            f"{owner}: power={power!r} is not valid; there is no Tweedie law between 0 and 1: it must be <= 0 or >= 1."
        )
    return make_tweedie(power)


class GeneralizedLinearRegressor(GeneralizedLinearModel):
    r"""A linear model for the mean of a target of any exponential family, under any link, with inference.

    Minimises :math:`\frac{1}{2 \sum_i s_i} \sum_i s_i d(y_i, \mu_i) + \tfrac{\alpha}{2} \|w\|^2` over the coefficients
    :math:`w` and the intercept :math:`b`, for the unit deviance :math:`d` of the family, the link :math:`g`, means
    :math:`\mu_i = g^{-1}(x_i^\top w + b)` and the sample weights :math:`s_i`. Without a penalty that is maximum likelihood.

    Parameters
    ----------
    family : str or Family, default="normal"
        "normal" (y any number), "bernoulli" (y in [0, 1]), "poisson" (y >= 0), "gamma" or "inverse_gaussian" (y > 0), "tweedie"
        with the variance :math:`\mu^p` for `power` p, "multinoulli" (y a label of two or more classes, under softmax), or a
        `Family` of your own.
    link : str or Link, default="auto"
        "identity", "log", "logit", "probit", "cloglog", "inverse", "sqrt", or a `Link` of your own. "auto" is the identity for
        normal targets (and powers <= 0), the logit for Bernoulli ones and the logarithm for all others.
    alpha : float, default=0.0
        The strength of the penalty.
    power : float, default=1.5
        Of family="tweedie" alone: <= 0 or >= 1.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is not penalised.
    solver : {"auto", "lbfgs", "newton-cholesky"}, default="auto"
        "newton-cholesky" is Newton's method or Fisher scoring; "auto" and "lbfgs" as well, but L-BFGS for more
        than 1000 columns, and for sparse X where the loss is a native one.
    max_iter : int, default=100
        The most iterations.
    tol : float, default=1e-6
        The fit stops when the largest entry of the gradient of the objective is within `tol` and, where the penalty gives one,
        the duality gap is within `tol` of the objective.
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
    classes_ : array of shape (n_classes,)
        Of multinoulli targets only.
    n_iter_ : int
    history_ : list of dict
        Objective, gradient, step (and gap) of each iteration, for the total weight of the rows.
    certificate_ : Certificate
        The objective without terms of y alone, the largest entry of its gradient, and the duality gap where alpha > 0 and the
        loss is convex in the linear value.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration reads X once, where it lies, and costs O(n d^2). Pairs with a native loss (normal with identity or log,
    Bernoulli with logit, Poisson, gamma, inverse Gaussian and Tweedie with log) take Newton's steps; all others, and fits with
    an offset, take steps of Fisher scoring, which other pairs correct by what the gradients tell of the Hessian. Steps are
    halved until the objective falls and every mean lies inside the domain of the family; where the usual starts lie outside, a
    linear programme finds one inside. Long dense data with a native loss start from the solution for every k-th row, at least
    5000 of them, which is not counted. Where the loss is not convex (such as the inverse Gaussian under the log link), the fit
    ends at a stationary point, and the certificate claims no more.

    Multinoulli targets are fitted as `LogisticRegression` fits them, relative to the first class where nothing is penalised:
    `coef_` and `intercept_` then have one line for each class, `classes_` holds the labels, `predict` gives a probability for
    each class, and neither offsets nor warm starts are taken.

    References
    ----------
    P. McCullagh and J. A. Nelder, "Generalized Linear Models", 2nd edition, Chapman and Hall 1989, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import GeneralizedLinearRegressor
    >>> dose = np.array([[1.0], [2], [3], [4], [5], [6]])
    >>> model = GeneralizedLinearRegressor("bernoulli", "probit").fit(dose, [0, 0, 1, 0, 1, 1])
    >>> model.predict([[2.0], [5.0]]).round(3)
    array([0.127, 0.873])
    >>> model.summary().std_err.round(3)
    array([1.872, 0.5  ])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {"alpha": Reals(1e-5, 1e2, log=True)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "family": OneOf(*FAMILIES, "tweedie", "multinoulli") | Instance(Family),
        "link": OneOf("auto", *LINKS) | Instance(Link),
        "power": Real(),
        "solver": OneOf("auto", "lbfgs", "newton-cholesky"),
        **COMMON_RULES,
    }

    def __init__(
        self,
        family: str | Family = "normal",
        link: str | Link = "auto",
        *,
        alpha: float = 0.0,
        power: float = 1.5,
        fit_intercept: bool = True,
        solver: str = "auto",
        max_iter: int = 100,
        tol: float = 1e-6,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.family = family
        self.link = link
        self.alpha = alpha
        self.power = power
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _family_and_link(self, params: SimpleNamespace) -> tuple[Family, Link]:
        owner, family, link = type(self).__name__, params.family, params.link
        if family == "tweedie":
            family = tweedie_family(owner, params.power)
        elif isinstance(family, str):
            family = FAMILIES[family]
        if isinstance(link, str):
            link = LINKS[family.default_link if link == "auto" else link]
        return family, link

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> GeneralizedLinearRegressor:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows for the coefficients, and as one row with half the dispersion for
            `summary`.
        offset : array-like of shape (n_samples,), default=None
            A known part of the linear value of each row, such as the logarithm of an exposure under the log link.

        Returns
        -------
        self
        """
        self._unset("_classes")
        if self.family == "multinoulli":
            return self._fit_classes(X, y, sample_weight, offset)
        return self._fit(X, y, sample_weight, offset)  # type: ignore[no-any-return]

    def _fit_classes(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> GeneralizedLinearRegressor:
        """Take over what the fit of the classes found; it answers all later questions."""
        self._classes = fit_classes(self, X, y, sample_weight, offset, check_params(self))
        private = ("_classes", "_statistics")
        self._store({name: value for name, value in vars(self._classes).items() if name.endswith("_") and name not in private})
        return self

    def predict(self, X: Any, offset: Any = None) -> FloatArray:
        """The expected target of each row, of shape (n_samples,); with the known part `offset` of its linear value.

        Of multinoulli targets: the probability of each class, of shape (n_samples, n_classes).
        """
        if (classes := vars(self).get("_classes")) is not None:
            probabilities: FloatArray = classes.predict_proba(X)
            return probabilities
        if offset is None:
            return super().predict(X)
        raw = self._linear_values(X)
        raw = raw + check_offset(self, offset, len(raw)).astype(raw.dtype)
        return means_of(self._link, raw)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the deviance explained, as for every generalised linear model; one at best."""
        if (classes := vars(self).get("_classes")) is not None:
            return explained_by_classes(classes, X, y, sample_weight)
        return super().score(X, y, sample_weight)

    def summary(self, alpha: float = 0.05, *, uses_t: bool = False, feature_names: Sequence[str] | None = None) -> WaldSummary:
        """Standard errors, Wald tests, intervals and measures of fit; of unpenalised fits only. See the named regressors."""
        if (classes := vars(self).get("_classes")) is None:
            return super().summary(alpha, uses_t=uses_t, feature_names=feature_names)
        if uses_t:
            raise InvalidParameterError(f"{type(self).__name__}: uses_t=True is not valid for family='multinoulli'.")
        found: WaldSummary = classes.summary(alpha, feature_names=feature_names)
        return found

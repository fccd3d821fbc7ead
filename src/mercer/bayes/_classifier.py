"""The Bayes classifier: the best there is where densities and priors are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._params import Integer, OneOf, RandomState, Real, check_value
from mercer._posteriors import fall_back, log_of, log_posteriors, normalized_priors, posteriors
from mercer._random import as_random_state
from mercer._saved import saved
from mercer.bayes._quadrature import integrate

MASS_OFF = 1e-3  # from one, that the integral of a density may be


class BayesRisk(NamedTuple):
    """A risk, how far off it may be (a bound of the quadrature, or the standard error of the draws), and how it was found."""

    value: float
    error: float
    method: str


@saved("mercer.bayes.BayesClassifier", is_model=True)
class BayesClassifier:
    r"""The rule of least risk, from the densities of the classes and their priors: nothing is fitted.

    With densities :math:`f_k`, priors :math:`\pi_k` and the cost :math:`c_{kj}` of the answer j where k is true,

    .. math:: h(x) = \arg\min_j \sum_k c_{kj}\, \pi_k f_k(x), \qquad
        R = \int \min_j \sum_k c_{kj}\, \pi_k f_k(x)\, dx .

    With costs of one for every error, :math:`R` is the Bayes error.

    Parameters
    ----------
    densities : sequence of callables or frozen laws of scipy.stats
        One a class. A callable takes a vector of values where there is one feature, else a matrix (n, n_features), and gives n
        densities.
    priors : array-like of shape (n_classes,), default=None
        None: all equal. Priors that do not sum to one are divided by their sum, with a warning.
    classes : sequence of labels, default=None
        None: 0, 1, …
    costs : array-like of shape (n_classes, n_classes), default=None
        Lines are true classes, columns answers. None: one for every error.
    bounds : pair of numbers, or a pair for each feature, default=None
        Where the densities live; None: everywhere. Quadrature looks nowhere else.
    n_features : int, default=None
        None: what the laws say, or one.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    priors_ : array of shape (n_classes,)
    n_features_in_ : int

    Notes
    -----
    Where all densities are zero the classes have their priors. The risk is found by adaptive quadrature in one and two
    dimensions, whose error bound comes with it, and by draws from the laws beyond, of the same number for each class.
    `mercer.save` takes it where densities are laws of scipy.stats (of one feature, or `multivariate_normal`); functions are
    refused, as no file can hold them. As nothing is fitted, it is no estimator: there is no `fit` and no `clone` of it.

    References
    ----------
    L. Devroye, L. Györfi, G. Lugosi: A Probabilistic Theory of Pattern Recognition, chapter 2. Springer, 1996.

    Examples
    --------
    >>> from mercer.bayes import BayesClassifier
    >>> import numpy as np
    >>> rising = lambda x: np.where((x >= 0) & (x <= 1), 1.5 * x**2 + x, 0.0)
    >>> flat = lambda x: np.where((x >= 0.75) & (x <= 1.75), 1.0, 0.0)
    >>> model = BayesClassifier([rising, flat], bounds=(0, 1.75))
    >>> round(model.risk().value, 6)
    0.125
    >>> model.predict([[0.5], [0.9], [1.5]])
    array([0, 0, 1])
    """

    def __init__(
        self,
        densities: Sequence[Any],
        priors: Any = None,
        *,
        classes: Any = None,
        costs: Any = None,
        bounds: Any = None,
        n_features: int | None = None,
    ) -> None:
        self._densities = tuple(densities)
        self._laws = [_Density(density, place) for place, density in enumerate(self._densities)]
        k = len(self._laws)
        if k == 0:
            raise ValueError("BayesClassifier: densities is empty; it must hold one density for each class.")
        self.priors_ = np.full(k, 1 / k) if priors is None else normalized_priors("BayesClassifier", priors, k)
        self.classes_: npt.NDArray[Any] = np.arange(k) if classes is None else np.asarray(classes)
        if self.classes_.shape != (k,) or len(np.unique(self.classes_)) < k:
            raise ValueError(f"BayesClassifier: classes={classes!r} is not valid; it must hold {k} different labels.")
        self._costs = _checked_costs(costs, k)
        self.n_features_in_ = self._count_features(n_features)
        self._bounds = _checked_bounds(bounds, self.n_features_in_)
        # What a file says of it, beside densities, costs and bounds.
        self._priors, self._classes, self._n_features = self.priors_, self.classes_, self.n_features_in_

    def _count_features(self, given: int | None) -> int:
        said = {law.n_features for law in self._laws if law.n_features is not None}
        if given is not None:
            said.add(check_value("BayesClassifier", "n_features", given, Integer(1)))
        if len(said) > 1:
            raise ValueError(f"BayesClassifier: densities of {sorted(said)} features; all must have the same number.")
        return int(said.pop()) if said else 1

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The answer of least expected cost for each row of X, of shape (n_samples, n_features)."""
        shares = self.predict_proba(X)
        labels: npt.NDArray[Any] = self.classes_.take((shares @ self._costs).argmin(axis=1))
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """The posterior probability of each class."""
        return posteriors(self._joint(self._rows(X)))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Its logarithm."""
        return log_posteriors(self._joint(self._rows(X)))

    def score(self, X: Any, y: Any) -> float:
        """The share of rows whose label is predicted."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def risk(self, *, method: str = "auto", tol: float = 1e-8, n_samples: int = 100_000, random_state: Any = None) -> BayesRisk:
        """The least expected cost that any classifier has: with the costs of errors alone, the Bayes error.

        Parameters
        ----------
        method : {"auto", "quadrature", "monte_carlo"}, default="auto"
            "auto" is quadrature for one and two features, and draws beyond.
        tol : float, default=1e-8
            What the error bound of the quadrature should come to.
        n_samples : int, default=100000
            How many draws there are of each class.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        risk : BayesRisk
            With `value`, `error` and `method`.
        """
        owner = "BayesClassifier.risk"
        method = check_value(owner, "method", method, OneOf("auto", "quadrature", "monte_carlo"))
        if method == "monte_carlo" or (method == "auto" and self.n_features_in_ > 2):
            random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
            return self._by_draws(check_value(owner, "n_samples", n_samples, Integer(2)), random)
        if self.n_features_in_ > 2:
            raise ValueError(
                f"{owner}: method='quadrature' is not valid for {self.n_features_in_} features; it must be 'monte_carlo'."
            )
        return self._by_quadrature(check_value(owner, "tol", tol, Real(above=0)))

    def _by_quadrature(self, tol: float) -> BayesRisk:
        def integrand(points: FloatArray) -> FloatArray:
            X, stretch = self._to_space(points)
            densities = np.exp(self._log_densities(X))
            least = ((densities * self.priors_) @ self._costs).min(axis=1)
            return np.column_stack([least, densities]) * stretch[:, None]

        (value, *masses), (error, *_) = integrate(integrand, self.n_features_in_, tol=tol)
        for label, mass in zip(self.classes_, masses, strict=True):
            if not abs(mass - 1) <= MASS_OFF:
                raise ValueError(
                    f"BayesClassifier: the density of class {label} integrates to {mass:.6g} over "
                    f"bounds={self._bounds.tolist()}; it "
                    "must be 1. Give a density, and bounds that hold all of it."
                )
        return BayesRisk(float(value), float(error), "quadrature")

    def _to_space(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Points of the unit cube as points within the bounds, and how much each is stretched on the way."""
        X, stretch = np.empty_like(points), np.ones(len(points))
        for j, (low, high) in enumerate(self._bounds):
            t = points[:, j]
            if np.isfinite(low) and np.isfinite(high):
                X[:, j], by = low + (high - low) * t, np.full(len(t), high - low)
            elif np.isfinite(low):
                X[:, j], by = low + t / (1 - t), (1 - t) ** -2
            elif np.isfinite(high):
                X[:, j], by = high - (1 - t) / t, t**-2
            else:
                u = 2 * t - 1
                X[:, j], by = u / (1 - u**2), 2 * (1 + u**2) / (1 - u**2) ** 2
            stretch *= by
        return X, stretch

    def _by_draws(self, n: int, random: Any) -> BayesRisk:
        """The mean of the conditional risk over as many draws of each class, which varies less than that of the costs
        themselves."""
        value = variance = 0.0
        for prior, law in zip(self.priors_, self._laws, strict=True):
            if prior == 0:
                continue
            shares = posteriors(self._joint(law.draw(n, self.n_features_in_, random)))
            least = (shares @ self._costs).min(axis=1)
            value += prior * least.mean()
            variance += prior**2 * least.var(ddof=1) / n
        return BayesRisk(float(value), float(np.sqrt(variance)), "monte_carlo")

    def _rows(self, given: Any) -> FloatArray:
        X: FloatArray = np.array(given, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            raise ValueError(f"BayesClassifier: X has the shape {X.shape}; it must be (n_samples, {self.n_features_in_}).")
        if np.isnan(X).any():
            raise ValueError(f"BayesClassifier: X contains NaN, in column {int(np.isnan(X).any(axis=0).argmax())}.")
        return X

    def _joint(self, X: FloatArray) -> FloatArray:
        log_priors = log_of(self.priors_)
        return fall_back(np.ascontiguousarray(self._log_densities(X) + log_priors), log_priors)

    def _log_densities(self, X: FloatArray) -> FloatArray:
        return np.column_stack([law.log_density(X) for law in self._laws])


class _Density:
    """A density of the user's, or a frozen law, behind one face."""

    def __init__(self, given: Any, place: int) -> None:
        self._given, self._owner = given, f"BayesClassifier: densities[{place}]"
        self._has_log = hasattr(given, "logpdf")
        if not (self._has_log or callable(given)):
            raise TypeError(
                f"{self._owner}={given!r} is not valid; it must be a callable or a frozen law of scipy.stats with a density."
            )
        dimension = getattr(given, "dim", 1 if hasattr(given, "dist") else None)
        self.n_features = None if dimension is None else int(dimension)

    def log_density(self, X: FloatArray) -> FloatArray:
        """Of each row."""
        points = X[:, 0] if X.shape[1] == 1 else X
        with np.errstate(divide="ignore"):
            values = np.asarray(self._given.logpdf(points) if self._has_log else self._given(points), dtype=np.float64)
        if values.shape not in ((len(X),), ()):
            raise ValueError(
                f"{self._owner} gave values of the shape {values.shape} for {len(X)} points; it must be ({len(X)},)."
            )
        if not self._has_log:
            if not (values >= 0).all():
                raise ValueError(f"{self._owner} gave {np.min(values):g}; densities must be numbers >= 0.")
            values = log_of(values)
        return np.broadcast_to(values, (len(X),))

    def draw(self, n: int, n_features: int, random: Any) -> FloatArray:
        """Rows from it."""
        if not hasattr(self._given, "rvs"):
            raise TypeError(
                f"{self._owner} cannot be drawn from; for method='monte_carlo' it must be a law with rvs, as of scipy.stats."
            )
        return np.asarray(self._given.rvs(size=n, random_state=random), dtype=np.float64).reshape(n, n_features)


def _checked_costs(costs: Any, n_classes: int) -> FloatArray:
    if costs is None:
        return 1 - np.eye(n_classes)
    checked = np.array(costs, dtype=np.float64)
    if checked.shape != (n_classes, n_classes) or not np.isfinite(checked).all():
        raise ValueError(
            f"BayesClassifier: costs={costs!r} is not valid; it must be a matrix of {n_classes} x {n_classes} finite numbers."
        )
    return checked


def _checked_bounds(bounds: Any, n_features: int) -> FloatArray:
    if bounds is None:
        return np.tile([-np.inf, np.inf], (n_features, 1))
    checked = np.array(bounds, dtype=np.float64)
    if checked.shape == (2,):
        checked = np.tile(checked, (n_features, 1))
    if checked.shape != (n_features, 2) or not (checked[:, 0] < checked[:, 1]).all():
        raise ValueError(
            f"BayesClassifier: bounds={bounds!r} is not valid; it must hold (low, high) with low < high for each feature."
        )
    return checked

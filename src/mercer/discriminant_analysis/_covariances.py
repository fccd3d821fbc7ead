"""Covariance matrices of classes: empirical, shrunk by a given share or by Ledoit and Wolf's, or by an estimator of the
user's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._params import ArrayLike, Having, Null, OneOf, Real
from mercer._parts.merging import Sums
from mercer._parts.passes import is_parted, rowwise, total
from mercer._statistics import ROUNDING, Groups, GroupScatters, pooled_scatter
from mercer._trace import Certificate, Outcome, Status

WHITENED = "largest entry of a whitened covariance minus the identity"
HALF_OF_THE_DIGITS = float(np.sqrt(np.finfo(np.float64).eps))

COVARIANCE_RULES = {
    "shrinkage": OneOf("auto") | Real(least=0, most=1) | Null(),
    "priors": ArrayLike() | Null(),
    "covariance_estimator": Having("fit") | Null(),
}


class Classes(NamedTuple):
    """The rows of a fit, their classes and weights, and what classes and weights come to."""

    X: FloatArray
    codes: Groups
    n_classes: int
    weights: FloatArray | None
    n_threads: int

    def scatters(self) -> GroupScatters:
        return GroupScatters.of(self.X, self.codes, self.n_classes, self.weights, n_threads=self.n_threads)

    def together(self) -> Classes:
        """The same rows as of one class."""
        return self._replace(codes=rowwise(np.zeros_like, self.codes), n_classes=1)

    def rows_of(self, code: int) -> tuple[FloatArray, FloatArray | None]:
        """The rows of a class that have weight, in double precision, and their weights."""
        if is_parted(self.X):
            raise TypeError("shrinkage='auto' and covariance_estimator want the rows of a class together, and X lies in parts.")
        picked = self.codes == code
        if self.weights is None:
            return self.X[picked].astype(np.float64), None
        picked &= self.weights > 0
        return self.X[picked].astype(np.float64), self.weights[picked].astype(np.float64)

    def pooled(self, means: FloatArray, factors: FloatArray) -> FloatArray:
        """The scatter of all rows about the means of their classes, in which a row of class k counts factors[k] times its
        weight."""
        if is_parted(self.X):
            pooled: FloatArray = total(_pooled, self.X, self.codes, self.weights, means, factors).values[0]
            return pooled
        of_row = factors[self.codes]
        return pooled_scatter(
            self.X, self.codes, means, of_row if self.weights is None else of_row * self.weights, n_threads=self.n_threads
        )


def _pooled(X: FloatArray, codes: Groups, weights: FloatArray | None, means: FloatArray, factors: FloatArray) -> Sums:
    return Sums((Classes(X, codes, len(means), weights, effective_threads(None)).pooled(means, factors),))


@dataclass(frozen=True)
class Estimate:
    """How a covariance matrix is estimated: one of the two is None."""

    shrinkage: float | str | None
    estimator: Any

    @classmethod
    def checked(cls, owner: str, params: Any) -> Estimate:
        """Refuse what does not go together."""
        if params.covariance_estimator is not None and params.shrinkage not in (None, 0):
            raise ValueError(
                f"{owner}: covariance_estimator and shrinkage={params.shrinkage!r} parameters are not "
                f"None. Only one of the two can "
                "be set."
            )
        if params.solver == "svd" and params.shrinkage is not None:
            raise NotImplementedError(
                f"{owner}: shrinkage={params.shrinkage!r}: shrinkage not supported with 'svd' solver. Take solver='eigen'."
            )
        if params.solver == "svd" and params.covariance_estimator is not None:
            raise ValueError(
                f"{owner}: covariance estimator is not supported with svd solver: covariance_estimator is not supported with "
                "solver='svd'. Try another solver: Try solver='eigen' instead."
            )
        return cls(params.shrinkage, params.covariance_estimator)

    @property
    def is_linear(self) -> bool:
        """Whether the estimate of a mixture of scatter matrices is the mixture of their estimates."""
        return self.estimator is None and self.shrinkage != "auto"

    def of_empirical(self, covariance: FloatArray) -> FloatArray:
        """From the empirical covariance, where that is enough."""
        share = self.shrinkage
        return covariance if share is None or isinstance(share, str) else shrunk(covariance, share)

    def of_classes(self, classes: Classes, scatters: GroupScatters) -> FloatArray:
        """The covariance matrix of each class, of shape (n_classes, n_features, n_features)."""
        return np.stack([self.of_class(classes, scatters, code) for code in range(classes.n_classes)])

    def of_class(self, classes: Classes, scatters: GroupScatters, code: int) -> FloatArray:
        covariance = scatters.scatter[code] / scatters.weight[code]
        if self.is_linear:
            return self.of_empirical(covariance)
        rows, weights = classes.rows_of(code)
        if self.estimator is not None:
            return _by_estimator(self.estimator, rows, weights)
        return ledoit_wolf(rows - scatters.mean[code], covariance, weights)


def shrunk(covariance: FloatArray, share: float) -> FloatArray:
    """(1 - share) C + share tr(C)/d I."""
    d = len(covariance)
    mixed: FloatArray = (1 - share) * covariance + share * (np.trace(covariance) / d) * np.eye(d)
    return mixed


def ledoit_wolf(centred: FloatArray, covariance: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Shrunk towards a multiple of the identity, after the columns were scaled to variance one (Ledoit and Wolf, 2004).

    With S the covariance of scaled rows z and m = tr(S)/d, the share is min(b, D)/D for D = |S - m I|^2/d and
    b = (E|z|^4 - |S|^2)/(n d).
    """
    d = len(covariance)
    scale = np.sqrt(covariance.diagonal())
    scale[scale == 0] = 1
    z, S = centred / scale, covariance / np.outer(scale, scale)
    if d == 1:
        return covariance
    fourth = np.einsum("ij,ij->i", z, z) ** 2
    n = len(z) if weights is None else weights.sum()
    distance = ((S - np.trace(S) / d * np.eye(d)) ** 2).sum() / d
    noise = (np.average(fourth, weights=weights) - (S**2).sum()) / (n * d)
    share = min(max(noise, 0.0), distance) / distance if distance > 0 else 0.0
    rescaled: FloatArray = shrunk(S, share) * np.outer(scale, scale)
    return rescaled


def _by_estimator(estimator: Any, rows: FloatArray, weights: FloatArray | None) -> FloatArray:
    options = {}
    if weights is not None:
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"covariance_estimator={estimator!r} takes no sample_weight; fit without weights, or use shrinkage instead."
            )
        options["sample_weight"] = weights
    fitted = clone(estimator, safe=False)
    fitted.fit(rows, **options)
    if not hasattr(fitted, "covariance_"):
        raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute")
    covariance: FloatArray = np.atleast_2d(np.asarray(fitted.covariance_, dtype=np.float64))
    return covariance


def reached(method: str, condition: str, residual: float) -> Outcome:
    """What a fit in closed form leaves of its equation, which is to hold to half of the digits."""
    status = Status.CONVERGED.given(is_reached=residual <= HALF_OF_THE_DIGITS)
    return Outcome(Certificate(method, status, None, condition, residual, HALF_OF_THE_DIGITS))


def off_identity(covariance: FloatArray) -> float:
    """The largest entry of a covariance minus the identity, which whitened rows should have."""
    return float(np.abs(covariance - np.eye(len(covariance))).max(initial=0))


def usable_deviations(variances: FloatArray, means: FloatArray) -> tuple[FloatArray, Any]:
    """Standard deviations of columns, and which vary by rounding alone; those have 1."""
    deviations = np.sqrt(np.maximum(variances, 0))
    is_constant = deviations <= ROUNDING * np.abs(means).max(axis=0)
    return np.where(is_constant, 1, deviations), is_constant


def standardized(covariance: FloatArray, means: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The correlation matrix, with zeros for columns that are constant, and the standard deviations."""
    deviations, is_constant = usable_deviations(covariance.diagonal(), means)
    correlation = covariance / np.outer(deviations, deviations)
    correlation[is_constant] = correlation[:, is_constant] = 0
    return correlation, deviations

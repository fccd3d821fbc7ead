"""Classifiers by joint log-probabilities log P(y) + log p(x | y): labels, posteriors and log-posteriors from them, once for
all."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, require_finite
from mercer._base import MercerEstimator
from mercer._labels import Labels, largest_codes
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._parts.merging import Sums
from mercer._parts.passes import is_parted, rowwise, total
from mercer._trace import warn

PRIORS_OFF = 1e-5  # from one, that a sum of priors may be


def posteriors(joint: FloatArray) -> FloatArray:
    """The shares of the classes in each row's total, of joint log-probabilities that need no common constant."""
    shares = np.empty(joint.shape, dtype=joint.dtype)
    kernels.softmax_rows(joint, np.empty(len(joint), dtype=joint.dtype), shares, effective_threads(None))
    return shares


def log_posteriors(joint: FloatArray) -> FloatArray:
    """Their logarithms, which do not end where shares become zero."""
    sums = np.empty(len(joint), dtype=joint.dtype)
    kernels.softmax_rows(joint, sums, None, effective_threads(None))
    return joint - sums[:, None]


def fall_back(joint: FloatArray, log_priors: FloatArray) -> FloatArray:
    """Joint log-probabilities in which a row that is impossible under every class says nothing: its classes have their
    priors."""
    least = -_too_large(joint)
    if joint.size and not joint.min() > least:
        joint[joint.max(axis=1) <= least] = log_priors
    return joint


def require_finite_rows(estimator: Any, X: Any, values: FloatArray) -> FloatArray:
    """Values of rows that were not looked at: NaN and infinity in X show in them, and are then searched for and refused."""
    if values.size and not (values.min() > -_too_large(values) and values.max() < np.inf):
        require_finite(estimator, X)
    return values


def _too_large(values: FloatArray) -> float:
    """What kernels put in the place of infinite values is beyond."""
    return float(np.finfo(values.dtype).max) / 4


def log_of(shares: FloatArray) -> FloatArray:
    """Logarithms of probabilities, of which some may be zero."""
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(shares)
    return logs


class GenerativeClassifier(ClassifierMixin, MercerEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that knows the joint log-probability of each row and class, up to a constant a row."""

    classes_: Labels

    def _joint_log(self, X: Any) -> FloatArray:
        """Of shape (n_samples, n_classes), for X as the user gave it."""
        raise NotImplementedError

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        check_is_fitted(self)
        labels: npt.NDArray[Any] = self.classes_.take(largest_codes(self._joint_log(X)))
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, a column a class, for each row."""
        check_is_fitted(self)
        return posteriors(self._joint_log(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Its logarithm, finite also where the probability itself is too small for a number."""
        check_is_fitted(self)
        return log_posteriors(self._joint_log(X))


def check_priors(owner: str, priors: Any, n_classes: int, *, name: str = "priors") -> FloatArray:
    """Given priors, one a class and none negative; what their sum may be is for the caller to say."""
    try:
        checked = np.array(priors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{owner}: {name}={priors!r} is not valid; it must be an array of numbers >= 0.") from error
    if checked.shape != (n_classes,):
        raise ValueError(
            f"{owner}: {name} has shape {checked.shape} for {n_classes} classes. Number of priors must match number of classes."
        )
    if not np.isfinite(checked).all() or (checked < 0).any():
        raise ValueError(
            f"{owner}: {name} must be non-negative and finite, and it is {checked.tolist()}. Priors must be non-negative."
        )
    if not checked.any():
        raise ValueError(f"{owner}: {name} is zero for every class; at least one must be positive.")
    return checked


def normalized_priors(owner: str, priors: Any, n_classes: int) -> FloatArray:
    """Priors that sum to one: those that do not are divided by their sum, with a warning."""
    checked = check_priors(owner, priors, n_classes)
    if abs(checked.sum() - 1) > PRIORS_OFF:
        warn(f"{owner}: The priors do not sum to 1 but to {checked.sum():.6g}. Renormalizing")
    shares: FloatArray = checked / checked.sum()
    return shares


def present_classes(labels: Labels, codes: Any, weights: FloatArray | None) -> tuple[Labels, Any, int]:
    """Labels and codes without classes of no weight, and the number of rows that have some."""
    if weights is None:
        return labels, codes, len(codes)
    if is_parted(codes):
        n_rows = rows_of_classes(codes, weights, len(labels))
        is_there = n_rows > 0
        return labels[is_there], rowwise(_taken, codes, np.maximum(np.cumsum(is_there) - 1, 0)), int(n_rows.sum())
    is_there = np.bincount(codes[weights > 0], minlength=len(labels)) > 0
    codes = np.maximum(np.cumsum(is_there) - 1, 0)[codes]  # rows of an absent class weigh nothing, wherever they are counted
    return labels[is_there], codes, int(np.count_nonzero(weights))


def rows_of_classes(codes: Any, weights: Any, n_classes: int) -> npt.NDArray[np.int64]:
    """How many rows of positive weight each class has."""
    if is_parted(codes):
        return np.asarray(total(_row_counts, codes, weights, n_classes).values[0])
    return np.asarray(_row_counts(codes, weights, n_classes).values[0])


def _row_counts(codes: Any, weights: FloatArray | None, n_classes: int) -> Sums:
    return Sums((np.bincount(codes if weights is None else codes[weights > 0], minlength=n_classes),))


def _taken(codes: Any, places: Any) -> Any:
    return places[codes]

"""The error of an ensemble as that of its members less their ambiguity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from mercer._params import InvalidParameterError

Values = npt.NDArray[np.float64]

# Ensembles whose value is no average of their members' values.
_NO_AVERAGES = ("AdaBoost", "GradientBoosting", "AnyBoost", "Stacking", "SuperLearner")


@dataclass(frozen=True, repr=False)
class EnsembleDecomposition:
    """The squared error of an average: error = member_error - ambiguity, exactly.

    Attributes
    ----------
    error : float
        Of the (weighted) average of the members.
    member_error : float
        The (weighted) mean of the members' errors.
    ambiguity : float
        How far the members are from their average, in the mean square.
    correlation : float
        The mean correlation of the errors of two members; NaN where a member makes the same error everywhere.
    member_errors : array of shape (n_members,)
    correlations : array of shape (n_members, n_members)
    weights : array of shape (n_members,)
        They sum to one.

    Examples
    --------
    See :func:`ensemble_decomposition`.
    """

    error: float
    member_error: float
    ambiguity: float
    correlation: float
    member_errors: Values
    correlations: Values
    weights: Values

    def __repr__(self) -> str:
        return (
            f"EnsembleDecomposition of {len(self.weights)} members: error {self.error:.4g} = mean error "
            f"{self.member_error:.4g} - ambiguity {self.ambiguity:.4g}; correlation of errors {self.correlation:.3g}"
        )


def ensemble_decomposition(ensemble: Any, X: Any, y: Any) -> EnsembleDecomposition:
    r"""Split the squared error of an averaging ensemble into the mean error of its members and their ambiguity.

    .. math:: (\bar f - y)^2 = \sum_k w_k (f_k - y)^2 - \sum_k w_k (f_k - \bar f)^2

    Parameters
    ----------
    ensemble : fitted ensemble, or sequence of fitted estimators
        A forest, bagging or voting; its value is the average of the members' predictions, of classifiers that of their
        probabilities (the error is then the Brier score, summed over the classes). Boosted models are sums, not averages.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)

    Returns
    -------
    EnsembleDecomposition

    Notes
    -----
    The ensemble is never worse than the mean member; it may well be worse than the best. Members whose errors are correlated
    have little ambiguity, and averaging them gains little.

    Examples
    --------
    >>> from mercer.datasets import load_diabetes
    >>> from mercer.ensemble import RandomForestRegressor
    >>> from mercer.theory import ensemble_decomposition
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(20, random_state=0).fit(X[:300], y[:300])
    >>> found = ensemble_decomposition(forest, X[300:], y[300:])
    >>> bool(abs(found.error - (found.member_error - found.ambiguity)) < 1e-8)
    True
    >>> found.ambiguity > 1000
    True

    References
    ----------
    A. Krogh and J. Vedelsby, Neural network ensembles, cross validation, and active learning, NIPS 1994.
    """
    members, weights, columns = _members(ensemble)
    y = column_or_1d(y, warn=True)
    if is_classifier(members[0]):
        classes = np.asarray(getattr(ensemble, "classes_", members[0].classes_))
        target = (y[:, None] == classes).astype(np.float64)
        is_coded = not isinstance(ensemble, Sequence)
        pairs = zip(members, columns, strict=True)
        values = np.stack([_probabilities(each, _taken(X, used), classes, is_coded) for each, used in pairs])
    else:
        target = np.asarray(y, dtype=np.float64)[:, None]
        pairs = zip(members, columns, strict=True)
        values = np.stack([np.asarray(each.predict(_taken(X, used)))[:, None] for each, used in pairs])
    return _decomposed(values, target, weights)


def _decomposed(values: Values, target: Values, weights: Values) -> EnsembleDecomposition:
    """`values` are those of all members, of shape (members, rows, outputs)."""
    errors = values - target
    member_errors = (errors**2).sum(axis=2).mean(axis=1)
    average = np.tensordot(weights, values, axes=1)
    distances = ((values - average) ** 2).sum(axis=2).mean(axis=1)
    flat = errors.reshape(len(errors), -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlations = np.atleast_2d(np.corrcoef(flat))
    pairs = correlations[np.triu_indices(len(errors), 1)]
    return EnsembleDecomposition(
        error=float(((average - target) ** 2).sum(axis=1).mean()),
        member_error=float(weights @ member_errors),
        ambiguity=float(weights @ distances),
        correlation=float(pairs.mean()) if len(pairs) else float("nan"),
        member_errors=member_errors,
        correlations=correlations,
        weights=weights,
    )


def _members(ensemble: Any) -> tuple[list[Any], Values, list[Any]]:
    """The members, their weights, and the columns that each reads (None: all)."""
    owner = "ensemble_decomposition"
    if isinstance(ensemble, Sequence):
        members = list(ensemble)
    elif any(word in type(ensemble).__name__ for word in _NO_AVERAGES):
        raise InvalidParameterError(f"{owner}: {type(ensemble).__name__} is no average of its members; there is no ambiguity.")
    else:
        members = list(getattr(ensemble, "estimators_", []))
    if not members or not all(hasattr(member, "predict") for member in members):
        raise InvalidParameterError(
            f"{owner}: {type(ensemble).__name__} has no fitted members; give a fitted forest, bagging or voting, or a list of "
            "models."
        )
    given = getattr(ensemble, "weights", None)
    if given is not None and getattr(ensemble, "estimators", None) is not None:  # voting: those dropped have no member
        given = [weight for weight, (_, each) in zip(given, ensemble.estimators, strict=True) if not isinstance(each, str)]
    weights = np.ones(len(members)) if given is None else np.asarray(given, dtype=np.float64)
    columns = list(getattr(ensemble, "estimators_features_", None) or [None] * len(members))
    return members, weights / weights.sum(), columns


def _taken(X: Any, columns: Any) -> Any:
    if columns is None:
        return X
    return X.iloc[:, columns] if hasattr(X, "iloc") else np.asarray(X)[:, columns]


def _probabilities(member: Any, X: Any, classes: npt.NDArray[Any], is_coded: bool) -> Values:
    """In columns of the ensemble's classes. Members of ensembles are fitted to the places of classes, not to their names."""
    places = np.asarray(member.classes_)
    if not is_coded or places.dtype.kind not in "biuf" or places.max() >= len(classes) or places.min() < 0:
        places = np.searchsorted(classes, places)
    places = places.astype(np.intp)
    if hasattr(member, "predict_proba"):
        found = np.asarray(member.predict_proba(X), dtype=np.float64)
    else:
        found = (np.asarray(member.predict(X))[:, None] == member.classes_).astype(np.float64)
    values = np.zeros((len(found), len(classes)))
    values[:, places] = found
    return values

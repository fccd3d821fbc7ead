"""The Bayes error: from densities, and bracketed from rows by nearest neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from mercer._assessment.intervals import wilson
from mercer._labels import code_labels, require_two_classes
from mercer._params import Integer, InvalidParameterError, NumberOfJobs, Real, check_value, check_values
from mercer._rows import count_rows


@dataclass(frozen=True)
class BayesError:
    """What :func:`bayes_error` found.

    Attributes
    ----------
    error : float
        The error of the best classifier.
    uncertainty : float
        What the quadrature estimates of its error, or the standard error of the draws.
    common_area : float or None
        Two classes: the integral of the smaller of their densities.
    """

    error: float
    uncertainty: float
    common_area: float | None


def bayes_error(
    densities: Sequence[Any],
    priors: Any = None,
    *,
    bounds: Any = None,
    n_features: int | None = None,
    n_samples: int = 100_000,
    random_state: Any = None,
) -> BayesError:
    r"""The error of the best classifier of classes whose densities are known.

    .. math:: R^* = 1 - \int \max_k \pi_k f_k(x) \, dx

    Parameters
    ----------
    densities : sequence of callables or frozen laws of scipy.stats
        One a class. A callable takes a vector of values where there is one column, else a matrix (n, n_features).
    priors : array-like or None, default=None
        Probabilities of the classes; None are equal ones.
    bounds : pair of numbers, or a pair for each column, default=None
        Where the densities live; None: everywhere.
    n_features : int or None, default=None
        None: what the laws say, or one.
    n_samples : int, default=100000
        Draws of each class, beyond two columns.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    BayesError

    Notes
    -----
    The risk of `mercer.bayes.BayesClassifier`: by quadrature in one and two dimensions, by draws beyond. With two equally
    likely classes it is half of the area under both curves.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.theory import bayes_error
    >>> rising = lambda x: np.where((x >= 0) & (x <= 1), 1.5 * x**2 + x, 0.0)
    >>> flat = lambda x: np.where((x >= 0.75) & (x <= 1.75), 1.0, 0.0)
    >>> found = bayes_error([rising, flat], bounds=(0, 1.75))
    >>> round(found.error, 6), round(found.common_area, 6)
    (0.125, 0.25)

    References
    ----------
    L. Devroye, L. Györfi and G. Lugosi, A Probabilistic Theory of Pattern Recognition, Springer 1996, chapter 2.
    """
    from mercer.bayes import BayesClassifier

    options = {"n_samples": n_samples, "random_state": random_state}
    risk = BayesClassifier(densities, priors, bounds=bounds, n_features=n_features).risk(**options)
    area = None
    if len(densities) == 2:
        area = 2 * BayesClassifier(densities, bounds=bounds, n_features=n_features).risk(**options).value
    return BayesError(risk.value, risk.error, area)


@dataclass(frozen=True)
class BayesBracket:
    """What nearest neighbours say of the Bayes error.

    Attributes
    ----------
    lower, upper : float
        The bracket from the error of one neighbour (Cover and Hart), of any number of classes.
    interval : tuple of float
        From the lower end of the interval of `lower` to the upper end of that of `upper`.
    errors : dict of int to float
        The leave-one-out error of a vote of k neighbours: in the limit an upper bound each.
    intervals : dict of int to tuple of float
        Their confidence intervals (Wilson).
    floors : dict of int to float
        Two classes and odd k: the error less 1 / sqrt(k e), a lower bound in the limit.
    """

    lower: float
    upper: float
    interval: tuple[float, float]
    errors: dict[int, float]
    intervals: dict[int, tuple[float, float]]
    floors: dict[int, float]


def bracket_bayes_error(
    X: Any, y: Any, *, n_neighbors: Sequence[int] = (1, 3, 5, 11, 25), level: float = 0.95, n_jobs: int | None = None
) -> BayesBracket:
    r"""Bracket the Bayes error by the leave-one-out errors of nearest neighbours.

    .. math:: \frac{K-1}{K} \left( 1 - \sqrt{1 - \tfrac{K}{K-1} R_{1NN}} \right) \le R^* \le R_{1NN}

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Scaled: distances are Euclidean.
    y : array-like of shape (n_samples,)
        Labels of K classes.
    n_neighbors : sequence of int, default=(1, 3, 5, 11, 25)
        1 is always among them; those that are as many as the rows are left out.
    level : float, default=0.95
    n_jobs : int or None, default=None

    Returns
    -------
    BayesBracket

    Notes
    -----
    The bracket is one of limits: with few rows, or many columns, the error of one neighbour is above its limit, and so are both
    ends. Intervals count the rows' randomness, not that.

    Examples
    --------
    >>> from mercer.datasets import load_iris
    >>> from mercer.theory import bracket_bayes_error
    >>> found = bracket_bayes_error(*load_iris(return_X_y=True))
    >>> round(found.lower, 3), round(found.upper, 3)
    (0.02, 0.04)

    References
    ----------
    T. Cover and P. Hart, Nearest neighbor pattern classification, IEEE Trans. Information Theory 13 (1967); L. Devroye, L.
    Györfi and G. Lugosi, A Probabilistic Theory of Pattern Recognition, Springer 1996, theorem 5.6.
    """
    from mercer.neighbors import NearestNeighbors

    owner = "bracket_bayes_error"
    numbers = sorted({1, *check_values(owner, "n_neighbors", list(n_neighbors), Integer(1))})
    level = check_value(owner, "level", level, Real(above=0, below=1))
    n_jobs = None if n_jobs is None else check_value(owner, "n_jobs", n_jobs, NumberOfJobs())
    classes, codes = code_labels(column_or_1d(y, warn=True))
    require_two_classes(owner, classes)
    n, n_classes = count_rows(X), len(classes)
    if n != len(codes) or n < 3:
        raise InvalidParameterError(f"{owner}: X has {n} rows and y {len(codes)} labels; give as many, three at least.")
    numbers = [k for k in numbers if k < n]
    search = NearestNeighbors(n_neighbors=numbers[-1], n_jobs=n_jobs).fit(X)
    neighbors = codes[search.kneighbors(return_distance=False)]
    errors, intervals = {}, {}
    for k in numbers:
        votes = np.stack([(neighbors[:, :k] == code).sum(axis=1) for code in range(n_classes)], axis=1)
        wrong = int((votes.argmax(axis=1) != codes).sum())
        errors[k], intervals[k] = wrong / n, wilson(wrong, n, level)
    floors = {k: max(0.0, errors[k] - 1 / math.sqrt(k * math.e)) for k in numbers if k % 2} if n_classes == 2 else {}
    ends = _cover_hart(intervals[1][0], n_classes), intervals[1][1]
    return BayesBracket(_cover_hart(errors[1], n_classes), errors[1], ends, errors, intervals, floors)


def _cover_hart(error: float, n_classes: int) -> float:
    """The smallest Bayes error whose limit of one neighbour, R (2 - K/(K-1) R), is this; (K-1)/K where none is."""
    share = (n_classes - 1) / n_classes
    return share * (1 - math.sqrt(max(0.0, 1 - error / share)))

"""Which points a learner can label in all ways, by brute force."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import check_array

from mercer._params import Fittable, Integer, InvalidParameterError, RandomState, check_value
from mercer._random import as_random_state

_MOST_POINTS = 16


def shatters(estimator: Any, points: Any) -> bool:
    """Whether a learner of two classes can label these points in every way: it is fitted to each labelling.

    Parameters
    ----------
    estimator : classifier
        Cloned; with little or no regularisation, if the class of its models is meant and not what it prefers in it.
    points : array-like of shape (n_points, n_features)
        Sixteen at most: there are 2^n labellings. Those that are others' mirror images are not fitted again, and those of one
        class are taken for granted.

    Returns
    -------
    is_shattered : bool

    Examples
    --------
    Lines label three points in all eight ways, and no four:

    >>> from mercer.svm import SVC
    >>> from mercer.theory import shatters
    >>> line = SVC(kernel="linear", C=1e6)
    >>> shatters(line, [[0, 0], [0, 1], [1, 0]]), shatters(line, [[0, 0], [0, 1], [1, 0], [1, 1]])
    (True, False)

    References
    ----------
    V. Vapnik and A. Chervonenkis, On the uniform convergence of relative frequencies of events to their probabilities, 1971.
    """
    estimator = check_value("shatters", "estimator", estimator, Fittable())
    points = check_array(points, dtype=np.float64)
    if len(points) > _MOST_POINTS:
        raise InvalidParameterError(
            f"shatters: points has {len(points)} rows, of which there are too many labellings; give {_MOST_POINTS} at most."
        )
    return all(_is_labelled(estimator, points, np.array(labels)) for labels in _labellings(len(points)))


def _labellings(n: int) -> Any:
    """Those of both classes whose first point is of class 0."""
    return ((0, *rest) for rest in itertools.product((0, 1), repeat=n - 1) if any(rest))


def _is_labelled(estimator: Any, points: npt.NDArray[Any], labels: npt.NDArray[Any]) -> bool:
    """By the learner itself, or by the mirror image of what it makes of the mirror image."""
    for target in (labels, 1 - labels):
        if (np.asarray(clone(estimator).fit(points, target).predict(points)) == target).all():
            return True
    return False


@dataclass(frozen=True)
class VCDimension:
    """What is known of a VC dimension.

    Attributes
    ----------
    lower : int
        So many points were found that the learner labels in all ways.
    upper : float
        What theory says that it is no larger than; infinite where nothing is known, or where it is infinite.
    points : array of shape (lower, n_features)
        Such points.
    """

    lower: int
    upper: float
    points: npt.NDArray[np.float64]


def vc_dimension(
    estimator: Any, n_features: int = 2, *, most: int = 6, n_sets: int = 10, random_state: Any = None
) -> VCDimension:
    """The VC dimension of a learner: from below by points that it shatters, from above by theory where that is known.

    Parameters
    ----------
    estimator : classifier
        See :func:`shatters`.
    n_features : int, default=2
    most : int, default=6
        Stop at so many points.
    n_sets : int, default=10
        Sets of normal points to try for each number of them. That none is shattered proves nothing.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    VCDimension

    Examples
    --------
    >>> from mercer.svm import SVC
    >>> from mercer.theory import vc_dimension
    >>> found = vc_dimension(SVC(kernel="linear", C=1e6), n_features=2, random_state=0)
    >>> found.lower, found.upper
    (3, 3)

    References
    ----------
    S. Shalev-Shwartz and S. Ben-David, Understanding Machine Learning, Cambridge 2014, chapter 6.
    """
    owner = "vc_dimension"
    estimator = check_value(owner, "estimator", estimator, Fittable())
    n_features = check_value(owner, "n_features", n_features, Integer(1))
    most = check_value(owner, "most", most, Integer(1, most=_MOST_POINTS))
    n_sets = check_value(owner, "n_sets", n_sets, Integer(1))
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    upper = _known_dimension(estimator, n_features)
    witness = random.normal(size=(1, n_features))
    for n in range(2, int(min(most, upper)) + 1):
        sets = (random.normal(size=(n, n_features)) for _ in range(n_sets))
        found = next((points for points in sets if shatters(estimator, points)), None)
        if found is None:
            break
        witness = found
    return VCDimension(len(witness), upper, witness)


def _known_dimension(estimator: Any, n_features: int) -> float:
    """By fitting it to any two classes: a fitted model says whether it is linear."""
    from mercer.theory._read_classes import dimension_of
    from mercer.theory._sample import DoesNotApply

    X = np.vstack([np.zeros(n_features), np.eye(n_features), -np.eye(n_features)])
    fitted = clone(estimator).fit(X, (X.sum(axis=1) > 0).astype(int))
    try:
        return dimension_of(fitted, n_features)[0]
    except DoesNotApply:
        return math.inf

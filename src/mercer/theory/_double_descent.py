"""Double descent: the error of least squares of minimal norm, over the number of random features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer._jobs import run_jobs
from mercer._params import Integer, InvalidParameterError, Null, NumberOfJobs, RandomState, check_value, check_values
from mercer._random import as_random_state
from mercer.theory._laws import RegressionLaw

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DoubleDescent:
    """The curve of :func:`double_descent`.

    Attributes
    ----------
    n_features : int array of shape (n_points,)
    train_error, error, bias, variance : array of shape (n_points,)
        Mean squared errors on the training rows and in truth (with the noise), and what the latter is made of.
    standard_error : array of shape (n_points,)
        Of `error`, over training sets.
    norm : array of shape (n_points,)
        The mean norm of the weights.
    noise : float
    n_samples : int
        Where the curve peaks: as many features as rows.
    """

    n_features: npt.NDArray[np.intp]
    train_error: Values
    error: Values
    standard_error: Values
    bias: Values
    variance: Values
    norm: Values
    noise: float
    n_samples: int

    @property
    def peak(self) -> int:
        """The number of features with the largest error."""
        return int(self.n_features[self.error.argmax()])


def double_descent(
    law: RegressionLaw,
    n_samples: int,
    n_features: Sequence[int],
    *,
    n_rounds: int = 30,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> DoubleDescent:
    """The error of least squares on random features max(0, <v, (x, 1)>): it falls, peaks where all rows are just fitted, falls.

    Parameters
    ----------
    law : RegressionLaw
    n_samples : int
        Rows of a training set.
    n_features : sequence of int
        Numbers of features to try.
    n_rounds : int, default=30
        Training sets, each with features of its own.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    DoubleDescent

    Notes
    -----
    Where there are more features than rows, of all weights that fit the rows those of least norm are taken, which are the
    limit of ridge regression with a vanishing penalty, and of gradient descent from zero.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.theory import RegressionLaw, double_descent
    >>> law = RegressionLaw(lambda random, n: random.normal(size=(n, 5)), lambda X: X[:, 0], noise=0.5)
    >>> curve = double_descent(law, 40, [5, 20, 40, 80, 400], random_state=0)
    >>> curve.peak, bool(curve.error[-1] < curve.error[2] / 10)
    (40, True)

    References
    ----------
    M. Belkin, D. Hsu, S. Ma and S. Mandal, Reconciling modern machine-learning practice and the bias-variance trade-off, PNAS
    116 (2019).
    """
    owner = "double_descent"
    if not isinstance(law, RegressionLaw):
        raise InvalidParameterError(f"{owner}: law={law!r} is not valid; it must be a RegressionLaw.")
    n_samples = check_value(owner, "n_samples", n_samples, Integer(2))
    sizes = check_values(owner, "n_features", list(n_features), Integer(1))
    n_rounds = check_value(owner, "n_rounds", n_rounds, Integer(2))
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs() | Null())
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    X_test = law.draw_X(random, 500)
    best = np.asarray(law.mean(X_test), dtype=np.float64)
    noise = float((law.noise_at(X_test) ** 2).mean())
    drawn = [law.draw(n_samples, random) for _ in range(n_rounds)]
    weights = [random.normal(size=(X_test.shape[1] + 1, max(sizes))) for _ in range(n_rounds)]
    jobs = [partial(_round, *sample, v, X_test, sizes) for sample, v in zip(drawn, weights, strict=True)]
    with run_jobs(jobs, n_jobs) as results:
        found = list(results)
    train, norms, predictions = (np.array([each[k] for each in found]) for k in range(3))
    errors = ((predictions - best) ** 2).mean(axis=2)  # rounds x sizes
    variance = predictions.var(axis=0, ddof=1).mean(axis=1)
    return DoubleDescent(
        n_features=np.array(sizes),
        train_error=train.mean(axis=0),
        error=errors.mean(axis=0) + noise,
        standard_error=errors.std(axis=0, ddof=1) / np.sqrt(n_rounds),
        bias=errors.mean(axis=0) - variance,
        variance=variance,
        norm=norms.mean(axis=0),
        noise=noise,
        n_samples=n_samples,
    )


def _round(X: Values, y: Values, v: Values, X_test: Values, sizes: list[int]) -> tuple[list[float], list[float], list[Values]]:
    train, norms, predictions = [], [], []
    for size in sizes:
        features, test = (_features(rows, v[:, :size]) for rows in (X, X_test))
        w = scipy.linalg.lstsq(features, y)[0]
        train.append(float(((features @ w - y) ** 2).mean()))
        norms.append(float(np.linalg.norm(w)))
        predictions.append(test @ w)
    return train, norms, predictions


def _features(X: Values, v: Values) -> Values:
    return np.asarray(np.maximum(0.0, np.column_stack([X, np.ones(len(X))]) @ v) / np.sqrt(v.shape[1]))

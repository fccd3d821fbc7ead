"""Bias, variance and noise of a learner, from a law that is known or by the bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils import column_or_1d

from mercer._jobs import run_jobs
from mercer._params import Integer, InvalidParameterError, Null, NumberOfJobs, OneOf, RandomState, check_value
from mercer._random import as_random_state
from mercer._rows import count_rows, take_rows
from mercer.theory._laws import ClassificationLaw, RegressionLaw

Values = npt.NDArray[np.float64]
Name = Literal["squared", "zero_one"]

_PARTS = ("error", "bias", "variance", "noise")
_N_GROUPS = 20  # of rounds, for the jackknife


@dataclass(frozen=True, repr=False)
class BiasVariance:
    """What the expected error of a learner is made of: error = bias + variance + noise.

    Attributes
    ----------
    error : float
        The expected loss over training sets and test rows.
    bias : float
        Squared loss: the mean squared distance of the mean prediction from the best. 0-1 loss: how often the main prediction is
        not the best.
    variance : float
        Squared loss: the mean variance of predictions. 0-1 loss: the net variance, `unbiased_variance` less what of
        `biased_variance` makes predictions right.
    noise : float
        What noise adds to the error. By the bootstrap it is in the bias, and 0 here.
    standard_errors : dict of str to float
        Of these four, over training sets (the test rows are given).
    unbiased_variance, biased_variance : float or None
        0-1 loss: how often predictions differ from the main one, where that is the best prediction and where it is not.
    bayes_error : float or None
        0-1 loss: the error of the best predictions; noise counts less where predictions are wrong.
    main : array of shape (n_test,)
        The mean prediction, or the commonest.
    loss : {"squared", "zero_one"}

    Examples
    --------
    See :func:`bias_variance`.
    """

    error: float
    bias: float
    variance: float
    noise: float
    standard_errors: dict[str, float]
    unbiased_variance: float | None
    biased_variance: float | None
    bayes_error: float | None
    main: npt.NDArray[Any]
    loss: Name

    def __repr__(self) -> str:
        parts = [f"{name} {getattr(self, name):.4g} +- {self.standard_errors[name]:.2g}" for name in _PARTS]
        return f"BiasVariance ({self.loss}): {parts[0]} = " + " + ".join(parts[1:])


def bias_variance(
    estimator: Any,
    law: RegressionLaw | ClassificationLaw,
    n_samples: int,
    *,
    X_test: Any = None,
    n_rounds: int = 200,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BiasVariance:
    r"""Bias, variance and noise of a learner under a known law, by fits to many training sets.

    .. math:: \mathbb E (y - h_S(x))^2 = \big(\mathbb E h_S(x) - f(x)\big)^2 + \mathbb V h_S(x) + \mathbb V(y | x)

    Parameters
    ----------
    estimator : estimator
    law : RegressionLaw or ClassificationLaw
        With the squared loss, or with the 0-1 loss by Domingos's definitions.
    n_samples : int
        Rows of a training set.
    X_test : array-like or None, default=None
        Where to look; None draws 1,000 rows.
    n_rounds : int, default=200
        How many training sets; two at least.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    BiasVariance

    Notes
    -----
    Exact up to Monte Carlo: best predictions and noise are the law's. The squared bias of a mean of R predictions holds 1/R of
    their variance, which is taken off, so that a small bias may come out a little below zero.

    Standard errors are by a jackknife over twenty groups of training sets.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neighbors import KNeighborsRegressor
    >>> from mercer.theory import RegressionLaw, bias_variance
    >>> law = RegressionLaw(lambda random, n: random.uniform(size=(n, 1)), lambda X: np.sin(6 * X[:, 0]), noise=0.5)
    >>> found = {k: bias_variance(KNeighborsRegressor(k), law, 50, n_rounds=40, random_state=0) for k in (1, 20)}
    >>> found[1].variance > found[20].variance, found[1].bias < found[20].bias, found[1].noise
    (True, True, 0.25)

    References
    ----------
    S. Geman, E. Bienenstock and R. Doursat, Neural networks and the bias/variance dilemma, Neural Computation 4 (1992);
    P. Domingos, A unified bias-variance decomposition, ICML 2000.
    """
    owner = "bias_variance"
    n_samples = check_value(owner, "n_samples", n_samples, Integer(1))
    n_rounds = check_value(owner, "n_rounds", n_rounds, Integer(2))
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs() | Null())
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    X_test = law.draw_X(random, 1000) if X_test is None else np.asarray(X_test)
    samples = [law.draw(n_samples, random) for _ in range(n_rounds)]
    jobs = [partial(_predicted, estimator, X, y, X_test) for X, y in samples]
    with run_jobs(jobs, n_jobs) as results:
        predictions = np.array(list(results))
    if isinstance(law, ClassificationLaw):
        return _zero_one(predictions, np.asarray(law.classes), law.shares(X_test))
    return _squared(predictions, np.asarray(law.mean(X_test), dtype=np.float64), law.noise_at(X_test) ** 2)


def bootstrap_bias_variance(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    loss: Name | None = None,
    n_rounds: int = 200,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BiasVariance:
    """Bias and variance of a learner from a table: training sets are bootstrap samples of its rows.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
        The rows to draw training sets from.
    X_test, y_test : array-like
        Rows to judge by. Their noise cannot be told from bias and is part of it.
    loss : {"squared", "zero_one"} or None, default=None
        None is the 0-1 loss for classifiers.
    n_rounds : int, default=200
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    BiasVariance

    Notes
    -----
    Mercer's trees are grown on all bootstrap samples in one call, as `BaggingRegressor` grows them. A bootstrap sample holds
    63 % of the rows, so that the bias is somewhat that of a smaller table. With two classes and the 0-1 loss, error = bias +
    net variance; mlxtend's ``bias_variance_decomp`` reports the variance without its sign, which does not add up.

    Examples
    --------
    >>> from mercer.datasets import load_diabetes
    >>> from mercer.theory import bootstrap_bias_variance
    >>> from mercer.tree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> rows = X[:300], y[:300], X[300:], y[300:]
    >>> deep = bootstrap_bias_variance(DecisionTreeRegressor(random_state=0), *rows, random_state=0)
    >>> stump = bootstrap_bias_variance(DecisionTreeRegressor(max_depth=1, random_state=0), *rows, random_state=0)
    >>> deep.variance > 3 * stump.variance, deep.bias < stump.bias
    (True, True)

    References
    ----------
    P. Domingos, A unified bias-variance decomposition, ICML 2000.
    """
    owner = "bootstrap_bias_variance"
    loss = check_value(owner, "loss", loss, OneOf("squared", "zero_one") | Null())
    n_rounds = check_value(owner, "n_rounds", n_rounds, Integer(2))
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs() | Null())
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    y, y_test = column_or_1d(y, warn=True), column_or_1d(y_test, warn=True)
    for name, rows, values in (("X", X, y), ("X_test", X_test, y_test)):
        if count_rows(rows) != len(values) or len(values) == 0:
            raise InvalidParameterError(f"{owner}: {name} has {count_rows(rows)} rows and its target {len(values)} values.")
    if loss is None:
        loss = "zero_one" if is_classifier(estimator) else "squared"
    predictions = _of_bags(estimator, X, y, X_test, n_rounds, random, n_jobs)
    if loss == "squared":
        return _squared(predictions, np.asarray(y_test, dtype=np.float64), np.zeros(len(y_test)))
    classes = np.unique(np.concatenate([y, y_test]))
    return _zero_one(predictions, classes, (y_test[:, None] == classes).astype(np.float64))


def _predicted(estimator: Any, X: Any, y: Any, X_test: Any) -> npt.NDArray[Any]:
    return np.asarray(clone(estimator).fit(X, y).predict(X_test))


def _of_bags(
    estimator: Any, X: Any, y: Any, X_test: Any, n_rounds: int, random: np.random.RandomState, n_jobs: int | None
) -> npt.NDArray[Any]:
    """Predictions of fits to bootstrap samples, of shape (n_rounds, n_test)."""
    from mercer.ensemble import BaggingClassifier, BaggingRegressor
    from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if type(estimator) in (DecisionTreeClassifier, DecisionTreeRegressor) and not hasattr(X, "iloc"):
        seed = random.randint(2**31 - 1)
        kind = BaggingClassifier if is_classifier(estimator) else BaggingRegressor
        bag = kind(estimator, n_estimators=n_rounds, random_state=seed, n_jobs=n_jobs).fit(X, y)
        found = np.array([member.predict(X_test) for member in bag.estimators_])
        return bag.classes_[found.astype(np.intp)] if is_classifier(estimator) else found
    n = len(y)
    draws = [random.randint(n, size=n) for _ in range(n_rounds)]
    jobs = [partial(_predicted, estimator, take_rows(X, rows), y[rows], X_test) for rows in draws]
    with run_jobs(jobs, n_jobs) as results:
        return np.array(list(results))


# ---- the two decompositions, from sums over rounds: those of a group can be taken off


def _squared(predictions: Values, best: Values, noise: Values) -> BiasVariance:
    distances = np.asarray(predictions, dtype=np.float64) - best
    of_noise = float(noise.mean())

    def parts(n: int, sums: Values) -> tuple[float, ...]:
        mean = sums[0] / n
        variance = (sums[1] - n * mean**2) / (n - 1)
        means = float((mean**2 - variance / n).mean()), float(variance.mean()), of_noise
        return sum(means), *means

    sums = _by_groups(distances, lambda group: np.stack([group.sum(axis=0), (group**2).sum(axis=0)]))
    error, bias, variance, _ = parts(len(distances), sums.sum(axis=0))
    errors = _jackknife(len(distances), sums, parts)
    main = best + distances.mean(axis=0)
    return BiasVariance(error, bias, variance, of_noise, errors, None, None, None, main, "squared")


def _zero_one(predictions: npt.NDArray[Any], classes: npt.NDArray[Any], shares: Values) -> BiasVariance:
    """`shares` are the probabilities of the classes at each test row."""
    codes = np.minimum(np.searchsorted(classes, predictions), len(classes) - 1)
    if (classes[codes] != predictions).any():
        raise InvalidParameterError("bias_variance: a prediction is none of the classes; the 0-1 loss is for classifiers.")
    rows, best = np.arange(len(shares)), shares.argmax(axis=1)

    def parts(n: int, votes: Values) -> tuple[float, ...]:
        found = votes / n
        error = float((1 - (found * shares).sum(axis=1)).mean())
        bias = float((found.argmax(axis=1) != best).mean())
        wrong = float((1 - found[rows, best]).mean())  # how often predictions are not the best: bias and net variance
        return error, bias, wrong - bias, error - wrong

    votes = _by_groups(
        codes, lambda group: np.stack([(group == code).sum(axis=0, dtype=float) for code in range(len(classes))], axis=1)
    )
    error, bias, variance, noise = parts(len(codes), votes.sum(axis=0))
    found = votes.sum(axis=0) / len(codes)
    main = found.argmax(axis=1)
    spread, is_biased = 1 - found[rows, main], main != best
    return BiasVariance(
        error=error,
        bias=bias,
        variance=variance,
        noise=noise,
        standard_errors=_jackknife(len(codes), votes, parts),
        unbiased_variance=float((spread * ~is_biased).mean()),
        biased_variance=float((spread * is_biased).mean()),
        bayes_error=float((1 - shares.max(axis=1)).mean()),
        main=classes[main],
        loss="zero_one",
    )


def _by_groups(predictions: npt.NDArray[Any], sums: Callable[[Any], Values]) -> Values:
    """The sums of each group of rounds: every twentieth round, or each by itself."""
    n_groups = min(_N_GROUPS, len(predictions))
    return np.stack([sums(predictions[g::n_groups]) for g in range(n_groups)])


def _jackknife(n_rounds: int, sums: Values, parts: Callable[[int, Values], tuple[float, ...]]) -> dict[str, float]:
    """Standard errors over rounds, by leaving out groups of them."""
    n_groups, total = len(sums), sums.sum(axis=0)
    if n_rounds < 3:
        return dict.fromkeys(_PARTS, float("nan"))
    sizes = [len(range(g, n_rounds, n_groups)) for g in range(n_groups)]
    without = np.array([parts(n_rounds - size, total - sums[g]) for g, size in enumerate(sizes)])
    errors = np.sqrt((n_groups - 1) * without.var(axis=0))
    return dict(zip(_PARTS, errors.tolist(), strict=True))

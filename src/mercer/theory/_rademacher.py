"""Rademacher complexities: how well a class of models follows random signs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils import check_array

from mercer._jobs import run_jobs
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Integer, InvalidParameterError, Null, NumberOfJobs, RandomState, Real, check_value
from mercer._random import as_random_state
from mercer._rows import count_rows
from mercer.kernels import Kernel

Values = npt.NDArray[np.float64]
Kind = Literal["l2", "l1", "finite", "kernel"]

# What the kernel takes of the signed sum.
_SUPREMA: dict[str, int] = {"l2": 0, "l1": 1, "finite": 2, "kernel": 3}
_MOST_EXACT = 14  # rows up to which all signs are gone through


@dataclass(frozen=True)
class RademacherComplexity:
    """An empirical Rademacher complexity.

    Attributes
    ----------
    value : float
        The mean, over signs, of the largest correlation that a model of the class has with them.
    standard_error : float
        Of the Monte Carlo mean; 0 where all signs were gone through.
    upper : float
        What it is no larger than, in closed form; 1 for a classifier.
    n_draws : int
    is_exact : bool
        Whether all signs were gone through.

    Examples
    --------
    See :func:`rademacher_complexity`.
    """

    value: float
    standard_error: float
    upper: float
    n_draws: int
    is_exact: bool


def rademacher_complexity(
    model: Any,
    X: Any = None,
    *,
    radius: float = 1.0,
    n_draws: int = 1000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> RademacherComplexity:
    r"""The empirical Rademacher complexity of a class of models on rows.

    .. math:: \hat{\mathfrak R}_S(H) = \mathbb E_\sigma \sup_{h \in H} \frac 1m \sum_i \sigma_i h(x_i)

    Parameters
    ----------
    model : {"l2", "l1"}, Kernel, classifier or array-like of shape (n_models, n_samples)
        The class:

        - "l2": linear functions with Euclidean norm of weights up to `radius`;
        - "l1": those with sum of absolute weights up to `radius`;
        - a kernel (`mercer.kernels`): functions of norm up to `radius` in its space;
        - an array: a finite class, by the values of each model on the rows; `X` is not given then;
        - a classifier: the class that it searches. It is fitted to random signs, which gives the supremum as far as it finds
          the least training error; else what comes out is too small.
    X : array-like of shape (n_samples, n_features), default=None
    radius : float, default=1.0
        For balls.
    n_draws : int, default=1000
        How many signs are drawn. All of them are gone through where there are no more: up to 14 rows, and not for classifiers.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Fits side by side, or threads.

    Returns
    -------
    RademacherComplexity

    Notes
    -----
    In closed form: :math:`\Lambda \sqrt{\sum |x_i|^2} / m` for the Euclidean ball (and the trace of a kernel matrix for a
    kernel), of which the true value is at least :math:`1 / \sqrt 2`; :math:`\Lambda \max_j |x^j|_2 \sqrt{2 \ln 2d} / m` for
    the l1 ball; :math:`\max_h |h(x)|_2 \sqrt{2 \ln |H|} / m` for a finite class (Massart). A draw costs O(m d), O(m^2) for a
    kernel, whose matrix is held.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.theory import rademacher_complexity
    >>> X = np.eye(4)
    >>> found = rademacher_complexity("l2", X)  # whatever the signs, their sum has norm 2
    >>> found.value, found.upper, found.is_exact
    (0.5, 0.5, True)
    >>> round(rademacher_complexity([[1.0, 1.0], [-1.0, -1.0]]).value, 4)
    0.5

    References
    ----------
    P. Bartlett and S. Mendelson, Rademacher and Gaussian complexities, JMLR 3 (2002); S. Kakade, K. Sridharan and A. Tewari,
    On the complexity of linear prediction, NIPS 2008.
    """
    owner = "rademacher_complexity"
    radius = check_value(owner, "radius", radius, Real(above=0))
    n_draws = check_value(owner, "n_draws", n_draws, Integer(2))
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs() | Null())
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    if hasattr(model, "fit") and not isinstance(model, type):
        return _by_fits(model, X, n_draws, random, n_jobs)
    kind, lines, m = _lines(model, X)
    if kind == "finite":
        radius = 1.0
    is_exact = m <= _MOST_EXACT and 2**m <= max(n_draws, 2**_MOST_EXACT)
    suprema = np.empty(2**m if is_exact else n_draws)
    seed = int(random.randint(2**31 - 1))
    kernels.sign_suprema(lines, _SUPREMA[kind], seed, is_exact, suprema, effective_threads(n_jobs))
    suprema *= radius / m
    error = 0.0 if is_exact else float(suprema.std(ddof=1) / math.sqrt(n_draws))
    return RademacherComplexity(float(suprema.mean()), error, radius * _closed_form(kind, lines, m), len(suprema), is_exact)


def _lines(model: Any, X: Any) -> tuple[Kind, Values, int]:
    """The kind of class, what is summed with signs (a line for each row), and the number of rows."""
    owner = "rademacher_complexity"
    if isinstance(model, str):
        if model not in ("l2", "l1"):
            raise InvalidParameterError(
                f"{owner}: model={model!r} is not valid; it must be 'l2', 'l1', a kernel, a classifier or the values of models."
            )
        rows = _rows(X)
        return ("l2" if model == "l2" else "l1"), rows, len(rows)
    if isinstance(model, Kernel):
        gram = np.ascontiguousarray(model(X), dtype=np.float64)
        if not model.is_mercer and float(np.linalg.eigvalsh(gram)[0]) < -1e-8 * max(float(np.abs(gram).max()), 1e-300):
            raise InvalidParameterError(f"{owner}: model={model!r} is not positive semi-definite on X; it has no balls.")
        return "kernel", gram, len(gram)
    if X is not None:
        raise InvalidParameterError(f"{owner}: the values of models are given; leave X out.")
    values = check_array(model, dtype=np.float64)
    return "finite", np.ascontiguousarray(values.T), values.shape[1]


def _rows(X: Any) -> Values:
    if X is None:
        raise InvalidParameterError("rademacher_complexity: X=None is not valid; a class of functions needs rows.")
    return np.ascontiguousarray(check_array(X, dtype=np.float64))


def _closed_form(kind: Kind, lines: Values, m: int) -> float:
    """An upper bound for radius 1."""
    if kind == "l2":
        return float(np.linalg.norm(lines)) / m
    if kind == "kernel":
        return math.sqrt(max(float(np.trace(lines)), 0.0)) / m
    n = 2 * lines.shape[1] if kind == "l1" else lines.shape[1]
    return float(np.linalg.norm(lines, axis=0).max()) * math.sqrt(2 * math.log(n)) / m


def _by_fits(model: Any, X: Any, n_draws: int, random: np.random.RandomState, n_jobs: int | None) -> RademacherComplexity:
    if not is_classifier(model):
        raise InvalidParameterError(
            f"rademacher_complexity: model={model!r} is not valid; of estimators, classifiers search a class with a supremum."
        )
    if X is None:
        _rows(X)
    signs = 2 * random.randint(2, size=(n_draws, count_rows(X))) - 1
    with run_jobs([partial(_correlation, model, X, line) for line in signs], n_jobs) as results:
        found = np.array(list(results))
    error = float(found.std(ddof=1) / math.sqrt(n_draws))
    return RademacherComplexity(float(found.mean()), error, 1.0, n_draws, False)


def _correlation(model: Any, X: Any, signs: npt.NDArray[np.intp]) -> float:
    """With signs, of what is fitted to them; a single sign is what a constant follows."""
    if abs(int(signs.sum())) == len(signs):
        return 1.0
    return float((np.asarray(clone(model).fit(X, signs).predict(X)) * signs).mean())

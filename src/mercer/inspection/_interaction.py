"""Friedman's H: how much of what features do is interaction."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.random import sample_without_replacement

from mercer._arrays import FloatArray, check_weights
from mercer._params import Integer, InvalidParameterError, Null, OneOf, RandomState, check_value
from mercer._random import as_random_state
from mercer._tables import Table, as_table
from mercer.inspection._grid import places_of
from mercer.inspection._partial_dependence import as_checked_table, check_model
from mercer.inspection._responses import Responses, Values, response_names

_OWNER = "h_statistic"


def h_statistic(
    estimator: Any,
    X: Any,
    features: Any = None,
    *,
    sample_weight: Any = None,
    response_method: str = "auto",
    max_samples: int | None = 200,
    random_state: Any = None,
) -> Any:
    r"""How much of what two features do together neither does alone, and how much each interacts with all others.

    With partial dependences :math:`f_S`, each less its mean, at the rows of a sample,

    .. math:: H_{jk}^2 = \frac{\sum_i [f_{jk}(x_{ij}, x_{ik}) - f_j(x_{ij}) - f_k(x_{ik})]^2}{\sum_i f_{jk}^2(x_{ij}, x_{ik})},
              \qquad
              H_j^2 = \frac{\sum_i [f(x_i) - f_j(x_{ij}) - f_{-j}(x_{i,-j})]^2}{\sum_i f^2(x_i)} .

    0 says that the effects add up, 1 that there is nothing but interaction.

    Parameters
    ----------
    estimator : object
        A fitted classifier or regressor.
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        Rows like those that the model is for.
    features : sequence of int or str, default=None
        The features to look at, and their pairs; None means all.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in all means.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        What classifiers are asked for.
    max_samples : int or None, default=200
        How many rows are drawn; None takes all. The answers asked for grow with its square.
    random_state : int, RandomState or None, default=None
        Draws the rows.

    Returns
    -------
    result : Bunch
        pairwise : ndarray of shape (n_outputs, n_features, n_features)
            :math:`H_{jk}`, with zeros on the diagonal; an output for regression and for two classes, else one for each.
        total : ndarray of shape (n_outputs, n_features)
            :math:`H_j`.
        pairwise_size, total_size
            The roots of the mean squares above the fraction lines, in units of the answers: a large H of a pair that does
            next to nothing is of no weight.
        features : list of int
            The columns that were looked at.
        n_samples : int
            The number of rows that were used.

    Notes
    -----
    O(m^2 d^2) answers for m rows and d features. Estimates from few rows are a little above 0 where there is no interaction and
    the model is not additive in what it has learned of noise.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import h_statistic
    >>> from mercer.ensemble import GradientBoostingRegressor
    >>> X = np.random.RandomState(0).uniform(-1, 1, size=(500, 3))
    >>> model = GradientBoostingRegressor(random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    >>> print(h_statistic(model, X, random_state=0).pairwise[0].round(2))
    [[0.   0.88 0.09]
     [0.88 0.   0.09]
     [0.09 0.09 0.  ]]

    References
    ----------
    J. H. Friedman and B. E. Popescu, "Predictive learning via rule ensembles", Annals of Applied Statistics 2, 2008.
    """
    check_value(_OWNER, "max_samples", max_samples, Null() | Integer(2))
    check_value(_OWNER, "random_state", random_state, RandomState())
    check_value(_OWNER, "response_method", response_method, OneOf("auto", "predict_proba", "decision_function"))
    check_model(estimator, response_method)
    table = as_checked_table(X)
    places = list(range(len(table.names))) if features is None else places_of(features, table)
    if len(set(places)) < len(places) or not places:
        raise InvalidParameterError(
            f"{_OWNER}: features={features!r} is not valid; it must name different columns, at least one."
        )
    weights = check_weights(sample_weight, table.n_rows, np.float64)
    rows = np.ones(table.n_rows) if weights is None else weights
    if max_samples is not None and max_samples < table.n_rows:
        part = np.sort(sample_without_replacement(table.n_rows, max_samples, random_state=as_random_state(random_state)))
        table, rows = as_table(table.take(part), "X"), rows[part]
    if not rows.sum() > 0:
        raise ValueError(f"{_OWNER}: all rows that were drawn have the weight 0; draw others (random_state) or more.")
    return _statistics(Responses(estimator, response_names(estimator, response_method)), table, places, rows / rows.sum())


def _statistics(responses: Responses, table: Table, places: Sequence[int], shares: FloatArray) -> Any:
    """`shares` are the rows' weights, of sum one."""

    def centred(values: FloatArray) -> FloatArray:
        return np.asarray(values - shares @ values)

    whole = centred(responses(table.data))
    singles, totals, total_sizes = [], [], []
    for place in places:
        at_points, at_rows = _averages(responses, table, [place], shares)
        singles.append(centred(at_points))
        h, size = _compare(whole - singles[-1] - centred(at_rows), whole, shares)
        totals.append(h)
        total_sizes.append(size)
    n, n_outputs = len(places), whole.shape[1]
    pairwise, sizes = np.zeros((2, n_outputs, n, n))
    for i, k in combinations(range(n), 2):
        together = centred(_averages(responses, table, [places[i], places[k]], shares)[0])
        h, size = _compare(together - singles[i] - singles[k], together, shares)
        pairwise[:, i, k] = pairwise[:, k, i] = h
        sizes[:, i, k] = sizes[:, k, i] = size
    return Bunch(
        pairwise=pairwise,
        total=np.stack(totals, axis=1),
        pairwise_size=sizes,
        total_size=np.stack(total_sizes, axis=1),
        features=list(places),
        n_samples=table.n_rows,
    )


def _averages(responses: Responses, table: Table, places: Sequence[int], shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Partial dependences at the rows, of shape (n_rows, n_outputs): on the features here, and on all others."""
    points: list[Values] = [table.column(place) for place in places]
    sums = np.zeros((2, table.n_rows, 1))
    for at, rows, answers in responses.at(table, places, points):
        if sums.shape[2] != answers.shape[2]:
            sums = np.zeros((2, table.n_rows, answers.shape[2]))
        sums[0, at] += np.einsum("i,pit->pt", shares[rows], answers)
        sums[1, rows] += np.einsum("p,pit->it", shares[at], answers)
    return sums[0], sums[1]


def _compare(rest: FloatArray, whole: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The roots of the mean square of what is left over that of the whole, and of the mean square of what is left."""
    left, all_ = shares @ np.square(rest), shares @ np.square(whole)
    scale = np.square(np.finfo(np.float64).eps) * 1e4
    share = np.divide(left, all_, out=np.zeros_like(left), where=all_ > scale)
    return np.sqrt(share), np.sqrt(left)

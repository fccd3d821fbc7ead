"""Background rows, which stand for features that are not known: given, sampled, or summarised by weighted means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._params import Integer, RandomState, check_value
from mercer._random import as_random_state
from mercer._rows import count_rows, take_rows

N_SAMPLED = 100  # as many as shap takes where nothing is said


@dataclass(frozen=True, eq=False)
class Background:
    """Rows and how much each counts; what the explainers take as `data`.

    Parameters
    ----------
    rows : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
        The rows, in the columns that the model takes.
    weights : array-like of shape (n_rows,), default=None
        How much each counts; all count the same where nothing is said.

    Examples
    --------
    >>> from mercer.inspection import Background, LinearExplainer
    >>> background = Background([[0.0], [4.0]], weights=[3.0, 1.0])
    >>> LinearExplainer(([2.0], 1.0), background).expected_value
    3.0
    """

    rows: Any
    weights: Any = None

    def __post_init__(self) -> None:
        rows = self.rows if hasattr(self.rows, "shape") else np.asarray(self.rows)
        n = count_rows(rows)
        weights = np.ones(n) if self.weights is None else np.array(self.weights, dtype=np.float64)
        if n == 0:
            raise ValueError("Background: there are no rows; there must be one at least.")
        if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0).any() or weights.sum() <= 0:
            raise ValueError(
                f"Background: weights has the shape {weights.shape}; there must be a finite number >= 0 for each of {n} rows, "
                "and not all may be 0."
            )
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "weights", weights / weights.sum())

    @classmethod
    def of(cls, data: Any) -> Background:
        """Rows of any kind, or a background as it is."""
        return data if isinstance(data, Background) else cls(data)


def sample(X: Any, nsamples: int = N_SAMPLED, random_state: Any = 0) -> Any:
    """Some rows of a table, drawn without replacement; all of it where it has no more.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
        The table.
    nsamples : int, default=100
        How many rows.
    random_state : int, RandomState instance or None, default=0
        What draws them.

    Returns
    -------
    rows : of the kind of X
        In the order of X.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import sample
    >>> sample(np.arange(20).reshape(10, 2), 3).shape
    (3, 2)
    """
    n_wanted = check_value("sample", "nsamples", nsamples, Integer(1))
    random = as_random_state(check_value("sample", "random_state", random_state, RandomState()))
    rows = X if hasattr(X, "shape") else np.asarray(X)
    n = count_rows(rows)
    return rows if n <= n_wanted else take_rows(rows, np.sort(random.permutation(n)[:n_wanted]))


def kmeans(X: Any, k: int, round_values: bool = True) -> Background:
    """A table in few rows: the means of k clusters, each weighted by its number of rows.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
        The table, of numbers; missing ones count as the mean of their column.
    k : int
        How many means.
    round_values : bool, default=True
        Whether each value of a mean becomes the nearest one that the column has, so that it is valid where values are whole
        numbers or codes.

    Returns
    -------
    background : Background
        The means, in a frame where X is one.

    Examples
    --------
    >>> from mercer.inspection import kmeans
    >>> kmeans([[0.0], [1.0], [10.0]], 2).weights
    array([0.66666667, 0.33333333])
    """
    from mercer.cluster import KMeans

    names = list(X.columns) if hasattr(X, "columns") else None
    table: FloatArray = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"kmeans: X has {table.ndim} axes; it must be a table of rows and columns.")
    n_means = check_value("kmeans", "k", k, Integer(1, most=len(table)))
    with np.errstate(invalid="ignore"):
        table = np.where(np.isnan(table), np.nanmean(table, axis=0), table)
    fitted = KMeans(n_clusters=n_means, random_state=0, n_init=10).fit(table)
    means = np.array(fitted.cluster_centers_)
    if round_values:
        for j, column in enumerate(table.T):
            means[:, j] = column[np.abs(column[:, None] - means[:, j]).argmin(axis=0)]
    weights = np.bincount(fitted.labels_, minlength=n_means).astype(np.float64)
    return Background(means if names is None else type(X)(dict(zip(names, means.T, strict=True))), weights)

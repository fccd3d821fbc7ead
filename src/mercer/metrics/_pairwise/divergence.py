"""The divergence of Kullback and Leibler between discrete distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from mercer._arrays import FLOATS, FloatArray
from mercer._params import Null, NumberOfJobs, check_value
from mercer.metrics._pairwise.tiles import Pairs


def kl_divergence(P: Any, Q: Any = None, *, n_jobs: int | None = None) -> Any:
    r"""The divergence :math:`\sum_i p_i \log(p_i / q_i)` of discrete distributions, in nats.

    Parameters
    ----------
    P : array-like of shape (n_outcomes,) or (n_P, n_outcomes)
        One distribution, or one a row: numbers >= 0 (probabilities or counts), which are divided by their sum.
    Q : array-like of shape (n_outcomes,) or (n_Q, n_outcomes), default=None
        The distributions that those of P are compared with; P itself if None.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use.

    Returns
    -------
    divergence : float, or ndarray of shape (n_P, n_Q)
        A number for two vectors; else that of every row of P and every row of Q. It is not negative, zero for equal
        distributions, and not symmetric.

    Notes
    -----
    An outcome that p does not have (:math:`p_i = 0`) adds nothing. One that p has and q has not makes the divergence infinite:
    no sample of q could look like p. For counts, add something to every cell of Q first if that is not meant.

    Summed as :math:`p \log(p / q) - p + q`, of which no term is negative.

    Examples
    --------
    >>> from mercer.metrics.pairwise import kl_divergence
    >>> round(kl_divergence([0.5, 0.5], [0.75, 0.25]), 4)
    0.1438
    >>> kl_divergence([[1, 0], [1, 1]], [[1, 1]]).round(4)
    array([[0.6931],
           [0.    ]])
    """
    n_jobs = check_value("kl_divergence", "n_jobs", n_jobs, NumberOfJobs() | Null())
    is_vector = np.ndim(P) == 1 and (Q is None or np.ndim(Q) == 1)
    left = _distributions("P", P)
    right = left if Q is None else _distributions("Q", Q)
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"P has {left.shape[1]} outcomes and Q {right.shape[1]}; they must be the same.")
    values = Pairs.of(left, right, n_jobs=n_jobs).by_features("divergence")
    return float(values[0, 0]) if is_vector else values


def _distributions(name: str, values: Any) -> FloatArray:
    """Rows of numbers >= 0 over their sums."""
    rows = check_array(np.atleast_2d(np.asarray(values)), dtype=FLOATS, input_name=name)
    if (rows < 0).any():
        raise ValueError(f"{name} holds negative values: the least is {rows.min():g}; a distribution has none.")
    rows = rows / rows.max(axis=1, keepdims=True).clip(np.finfo(rows.dtype).tiny)  # sums of the largest numbers overflow
    sums = rows.sum(axis=1, keepdims=True)
    if not sums.all():
        raise ValueError(f"{name}: row {int((sums == 0).argmax())} holds zeros alone, which is no distribution.")
    return np.asarray(rows / sums)

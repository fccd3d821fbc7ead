"""k-means++ as a function of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from mercer._arrays import FLOATS, FloatArray, check_weights, require_countable, tidy
from mercer._parallel import effective_threads
from mercer._params import Integer, Null, RandomState, check_value
from mercer._random import as_random_state
from mercer._rows import with_own_structure
from mercer.cluster._lloyd import Problem, check_enough_rows, seed_plusplus


def kmeans_plusplus(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    x_squared_norms: Any = None,
    random_state: int | np.random.RandomState | None = None,
    n_local_trials: int | None = None,
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Choose starting centres by greedy k-means++.

    The first centre is a row drawn at random; each further one is the best of `n_local_trials` rows drawn with probability
    proportional to the weighted squared distance to the nearest centre so far.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    n_clusters : int
        How many centres to choose.
    sample_weight : array-like of shape (n_samples,), default=None
    x_squared_norms : array-like of shape (n_samples,), default=None
        Squared norms of the rows, as scikit-learn takes them. Distances come from differences here, so their values do not
        matter; their number is checked.
    random_state : int, RandomState or None, default=None
    n_local_trials : int or None, default=None
        None means 2 + log(n_clusters).

    Returns
    -------
    centers : array of shape (n_clusters, n_features)
    indices : int array of shape (n_clusters,)
        The rows of X that the centres are.

    Notes
    -----
    O(n k d log k) at most; rows that the triangle inequality shows to be out of a candidate's reach are passed over. From the
    same `random_state` the rows are those that scikit-learn chooses, up to ties in rounding.

    References
    ----------
    D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import kmeans_plusplus
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> centers, indices = kmeans_plusplus(X, n_clusters=2, random_state=0)
    >>> bool((X[indices] == centers).all())
    True
    """
    owner = "kmeans_plusplus"
    k = check_value(owner, "n_clusters", n_clusters, Integer(1))
    n_trials = check_value(owner, "n_local_trials", n_local_trials, Integer(1) | Null())
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    require_countable(kmeans_plusplus, X)
    X = with_own_structure(X)
    X = tidy(check_array(X, accept_sparse="csr", dtype=FLOATS))
    check_enough_rows(X.shape[0], k)
    weights = check_weights(sample_weight, X.shape[0], X.dtype)
    if x_squared_norms is not None and np.shape(x_squared_norms) != (X.shape[0],):
        raise ValueError(
            f"The length of x_squared_norms {np.shape(x_squared_norms)} should be equal to the length of n_samples "
            f"{X.shape[0]}."
        )
    n_threads = effective_threads(None)
    problem = Problem.of(kmeans_plusplus, X, weights, n_threads)
    indices = seed_plusplus(problem, k, random, n_threads, n_trials)
    return problem.pick(indices), indices

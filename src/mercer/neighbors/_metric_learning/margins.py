"""Large margin nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Integer, Real, Rule
from mercer.neighbors._metric_learning.base import LinearMap
from mercer.neighbors._metric_learning.descent import Kernel, SortedRows
from mercer.neighbors._search import Search


class LMNN(LinearMap):
    r"""A linear map that draws each row to its nearest rows of the same class and keeps other classes a margin away.

    It minimises :math:`(1 - \mu) \sum_{i, j} d_{ij} + \mu \sum_{i, j, l} \max(0, m + d_{ij} - d_{il})` with
    :math:`d_{ij} = \|L x_i - L x_j\|^2`, over rows i, their target neighbours j (the nearest rows of the same class in X) and
    rows l of other classes: the pull, and the push on impostors.

    Parameters
    ----------
    n_neighbors : int, default=3
        The number of target neighbours of each row; all others of its class where there are fewer.
    n_components : int or None, default=None
        The dimension of the images; None: that of X.
    init : {"auto", "pca", "lda", "identity", "random"} or ndarray of shape (n_components, n_features), default="auto"
        Where the search starts, as in `NeighborhoodComponentsAnalysis`.
    regularization : float, default=0.5
        The weight :math:`\mu` of the push, from 0 to 1.
    margin : float, default=1.0
        The margin m, in units of squared distance. It sets the scale of the images.
    warm_start : bool, default=False
        Whether to start from the map of the last fit.
    max_iter : int, default=100
    tol : float, default=1e-5
        The fit ends where the largest entry of the gradient over the number of rows is at most `tol`, or a step improves the
        objective by no more than `tol` of it.
    callback : callable or None, default=None
        Called as callback(map, n_iter) with the flattened map after each step.
    verbose : int, default=0
        Logs every step.
    random_state : int, RandomState instance or None, default=None
        For init="random" and the solver of init="pca".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map L; L'L is the metric.
    certificate_, history_, n_iter_
        What the fit reached, one record a step, and their number.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The map itself is learnt, by L-BFGS, so that images may have few dimensions; in L the objective is not convex. Impostors are
    found anew at every step, all of them: O(n^2 k) and O(d) for each pair of a row and an impostor, in memory for 32 rows of n
    distances a thread. Scale the columns of X first: target neighbours are those of X. scikit-learn has no such model.

    References
    ----------
    K. Q. Weinberger and L. K. Saul, "Distance Metric Learning for Large Margin Nearest Neighbor Classification", JMLR 10, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.neighbors import LMNN
    >>> X, y = load_iris(return_X_y=True)
    >>> LMNN(n_components=2).fit(X, y).transform(X).shape
    (150, 2)
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **LinearMap._parameter_rules,
        "n_neighbors": Integer(1),
        "regularization": Real(least=0, most=1),
        "margin": Real(above=0),
    }
    _method: ClassVar[str] = "L-BFGS (large margins)"

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        n_components: int | None = None,
        init: str | FloatArray = "auto",
        regularization: float = 0.5,
        margin: float = 1.0,
        warm_start: bool = False,
        max_iter: int = 100,
        tol: float = 1e-5,
        callback: Callable[[FloatArray, int], Any] | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.init = init
        self.regularization = regularization
        self.margin = margin
        self.warm_start = warm_start
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def _kernel(self, rows: SortedRows, params: SimpleNamespace) -> tuple[Kernel, float]:
        targets = _target_neighbours(rows, params.n_neighbors)

        def value(images: FloatArray, linear_map: FloatArray, gradient: FloatArray) -> float:
            found: float = kernels.large_margins(
                *(rows.X, images, linear_map, rows.starts, targets, params.regularization, params.margin),
                *(gradient, effective_threads(None)),
            )
            return found

        return value, float(len(rows.X))


def _target_neighbours(rows: SortedRows, n_neighbors: int) -> npt.NDArray[np.int64]:
    """The nearest rows of the same class, of each row; -1 where there are no more."""
    targets = np.full((len(rows.X), n_neighbors), -1, dtype=np.int64)
    for first, last in pairwise(rows.starts.tolist()):
        k = min(n_neighbors, last - first - 1)
        if k > 0:
            search = Search.of(rows.X[first:last], k=k)
            _, near = search.nearest(None, k, leave_out_self=True, n_threads=effective_threads(None))
            targets[first:last, :k] = near + first
    return targets

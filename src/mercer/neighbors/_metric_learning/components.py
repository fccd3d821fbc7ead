"""Neighbourhood components analysis."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer.neighbors._metric_learning.base import LinearMap
from mercer.neighbors._metric_learning.descent import Kernel, SortedRows


class NeighborhoodComponentsAnalysis(LinearMap):
    r"""A linear map in which a row's neighbours tend to be of its class.

    It maximises :math:`\sum_i \sum_{j: y_j = y_i} p_{ij}`, the expected number of rows that a neighbour drawn by
    :math:`p_{ij} \propto \exp(-\|L x_i - L x_j\|^2)`, :math:`j \ne i`, puts into the right class.

    Parameters
    ----------
    n_components : int or None, default=None
        The dimension of the images; None: that of X.
    init : {"auto", "pca", "lda", "identity", "random"} or ndarray of shape (n_components, n_features), default="auto"
        Where the search starts. "auto" is "lda" for at most n_classes - 1 components, else "pca" if that is fewer than features
        and rows, else "identity".
    warm_start : bool, default=False
        Whether to start from the map of the last fit.
    max_iter : int, default=50
    tol : float, default=1e-5
        The fit ends where the largest entry of the gradient is at most `tol`, or a step improves the objective by no more than
        `tol` of it.
    callback : callable or None, default=None
        Called as callback(map, n_iter) with the flattened map after each step.
    verbose : int, default=0
        Logs every step.
    random_state : int, RandomState instance or None, default=None
        For init="random" and the solver of init="pca".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map L.
    certificate_, history_, n_iter_
        What the fit reached (the objective is minus the expected number above), one record a step, and their number.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The objective is not convex: the solution depends on `init`. A step costs O(n^2 (k + d)) and memory for 32 rows of n
    probabilities a thread; scikit-learn's holds several n x n matrices. Scale the columns of X first.

    References
    ----------
    J. Goldberger, G. Hinton, S. Roweis and R. Salakhutdinov, "Neighbourhood Components Analysis", NIPS 17, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.neighbors import NeighborhoodComponentsAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NeighborhoodComponentsAnalysis(n_components=2, max_iter=200, random_state=0).fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    """

    _method: ClassVar[str] = "L-BFGS (neighbourhood components)"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: str | FloatArray = "auto",
        warm_start: bool = False,
        max_iter: int = 50,
        tol: float = 1e-5,
        callback: Callable[[FloatArray, int], Any] | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.warm_start = warm_start
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def _kernel(self, rows: SortedRows, params: SimpleNamespace) -> tuple[Kernel, float]:
        def value(images: FloatArray, linear_map: FloatArray, gradient: FloatArray) -> float:
            found: float = kernels.neighbourhood_components(
                rows.X, images, linear_map, rows.starts, gradient, effective_threads(None)
            )
            return found

        return value, 1.0

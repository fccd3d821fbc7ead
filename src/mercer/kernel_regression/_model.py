"""Kernel regression: the weighted mean, or a weighted linear fit, of the rows around each query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X, check_X_y
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._candidates import Candidates
from mercer._parallel import effective_threads
from mercer._params import ArrayLike, Integer, InvalidParameterError, Null, NumberOfJobs, OneOf, Real, Rule, check_params
from mercer._tuning import Choices, Reals, Space
from mercer.kernel_regression._windows import KERNELS, Sample, default_bandwidths

CHOSEN = "leave-one-out"
OF_THE_CHOICE = ("bandwidths_", "left_out_errors_")


class KernelRegression(MultiOutputMixin, RegressorMixin, MercerEstimator):  # type: ignore[misc]
    r"""Regression by the rows around a query, weighted by a kernel of their distance (Nadaraya and Watson).

    The prediction at :math:`x` is :math:`\sum_i s_i K(\|x_i - x\| / h) y_i / \sum_i s_i K(\|x_i - x\| / h)`, or with degree 1
    the value at :math:`x` of the linear fit with these weights.

    Parameters
    ----------
    bandwidth : float or "leave-one-out", default="leave-one-out"
        The width h of the window. "leave-one-out" takes the one of `bandwidths` with the least mean squared error of each row
        predicted without it.
    kernel : {"gaussian", "box", "epanechnikov", "tricube"}, default="gaussian"
        K(u): :math:`\exp(-u^2 / 2)`; 1 for :math:`u \le 1`; :math:`1 - u^2`; :math:`(1 - u^3)^3`. All but the first are zero
        beyond :math:`u = 1`.
    degree : {0, 1}, default=0
        Whether the fit around a query is a constant or linear.
    bandwidths : array-like of shape (n_bandwidths,) or None, default=None
        What "leave-one-out" chooses from. None: four in every factor of two, from half the usual distance of neighbours to the
        spread of the data (twice that for kernels that end), 32 at most.
    empty : {"nearest", "nan"}, default="nearest"
        The answer where no row is in the window of a query: the value of the nearest row, or NaN. A Gaussian window is never
        empty.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth that predictions use.
    bandwidths_, left_out_errors_ : ndarray of shape (n_bandwidths,)
        What was chosen from and the mean squared error of each, weighted by `sample_weight`; with bandwidth="leave-one-out".
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The leave-one-out errors of all bandwidths come from one look at each pair of rows: all pairs for a Gaussian, those within
    the widest bandwidth for the others. In the choice a row without neighbours counts with the value of the nearest other row,
    whatever `empty` says: no bandwidth looks good for leaving rows unanswered. Repetitions of a row (the same x and y) are left
    out together: a row of weight two is the row twice, and a narrow window does not look good for finding a copy.

    A prediction costs O(n d) with a Gaussian kernel, whose weights below 2^-52 of the largest are left out, and O(log n + rows
    in the window) with the others. Where the rows around a query leave several linear fits, it is the one of least slope.
    `LocallyWeightedRegression` is the Gaussian one with :math:`\tau = \sqrt 2 h`. Scale the columns of X first: one bandwidth
    serves them all. scikit-learn has no such model.

    References
    ----------
    E. A. Nadaraya, "On Estimating Regression", Theory of Probability and its Applications 9, 1964.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernel_regression import KernelRegression
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = KernelRegression(0.5, kernel="epanechnikov", degree=1).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[0.0], [1.5], [3.0]]).round(2)
    array([0.  , 0.97, 0.14])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "bandwidth": Reals(0.05, 10.0, log=True),
        "kernel": Choices("gaussian", "tricube"),
        "degree": Choices(0, 1),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "bandwidth": Real(above=0) | OneOf(CHOSEN),
        "kernel": OneOf(*KERNELS),
        "degree": Integer(0, most=1),
        "bandwidths": ArrayLike() | Null(),
        "empty": OneOf("nearest", "nan"),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        bandwidth: float | str = CHOSEN,
        *,
        kernel: str = "gaussian",
        degree: int = 0,
        bandwidths: Any = None,
        empty: str = "nearest",
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.degree = degree
        self.bandwidths = bandwidths
        self.empty = empty
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRegression:
        """Learn the rows by heart, and choose the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        params = check_params(self)
        X, y = check_X_y(self, X, y, multi_output=True)
        weights = check_weights(sample_weight, X.shape[0], np.float64)
        return self._learn(FitTask.start(self, X, y), Sample.of(X, y, weights), params, has_one_target=y.ndim == 1)

    def _learn(self, task: FitTask, sample: Sample, params: SimpleNamespace, *, has_one_target: bool) -> Self:
        chosen = _choose(sample, params) if params.bandwidth == CHOSEN else {"bandwidth_": params.bandwidth}
        attributes = {**chosen, "_sample": sample, "_has_one_target": has_one_target}
        return self._finish(task, attributes, unset=OF_THE_CHOICE)

    def predict(self, X: Any) -> FloatArray:
        """The value at each query, of shape (n_queries,) or (n_queries, n_targets)."""
        check_is_fitted(self)
        params = check_params(self)
        X = check_X(self, X, reset=False)
        out = self._sample.predict(
            X.astype(np.float64, copy=False),
            params.kernel,
            self.bandwidth_,
            degree=params.degree,
            empty=params.empty,
            n_threads=effective_threads(params.n_jobs),
        ).astype(X.dtype, copy=False)
        values: FloatArray = out[:, 0] if self._has_one_target else out
        return values

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes."""
        return ["bandwidth"]

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each bandwidth in the order given, which share the rows and the tree.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : {"bandwidth"}
        values : sequence of float

        Returns
        -------
        iterator of estimators
        """
        candidates = Candidates(self, name, values, self.sweep_parameters())
        first = candidates.estimators[0]
        X, y = check_X_y(first, X, y, multi_output=True)
        weights = check_weights(sample_weight, X.shape[0], np.float64)
        candidates.share_input(first)
        sample = Sample.of(X, y, weights)

        def learn(self: Any, params: SimpleNamespace) -> Any:
            return self._learn(FitTask.start(self, X, y), sample, params, has_one_target=y.ndim == 1)

        return (candidates.fit(place, learn, params) for place, params in enumerate(candidates.params))


def _choose(sample: Sample, params: SimpleNamespace) -> dict[str, Any]:
    """The bandwidth of the least leave-one-out error, the widest of equals, and the errors of all."""
    sample = sample.distinct()
    if len(sample.y) < 2:
        raise ValueError(
            "bandwidth='leave-one-out' needs two different rows at least, but n_samples=1 (repetitions are one row)."
        )
    n_threads = effective_threads(params.n_jobs)
    widths = default_bandwidths(sample, params.kernel, n_threads) if params.bandwidths is None else _checked(params.bandwidths)
    left_out = sample.left_out(params.kernel, widths, degree=params.degree, n_threads=n_threads)
    squares = ((left_out - sample.y[:, :, None]) ** 2).mean(axis=1)
    errors = np.average(squares, axis=0, weights=sample.weights)
    order = np.argsort(-widths, kind="stable")
    return {
        "bandwidth_": float(widths[order][errors[order].argmin()]),
        "bandwidths_": widths,
        "left_out_errors_": errors,
    }


def _checked(bandwidths: Any) -> FloatArray:
    widths = np.array(bandwidths, dtype=np.float64).ravel()
    if not widths.size or not (np.isfinite(widths).all() and (widths > 0).all()):
        raise InvalidParameterError(
            f"KernelRegression: bandwidths={bandwidths!r} is not valid; it must hold finite numbers > 0, at least one."
        )
    return widths

"""Isolation forest: rows that few random splits set apart are outliers."""

from __future__ import annotations

from math import ceil, log2
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import (
    Bool,
    Integer,
    InvalidParameterError,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Verbosity,
    check_params,
)
from mercer._random import as_random_state
from mercer._saved import saved
from mercer._trace import log, warn
from mercer._trees.categories import CategoryCoder
from mercer._trees.growth import make_seeds
from mercer._trees.rows import kernel_rows
from mercer._trees.store import IntArray, TreeStore
from mercer.tree import ExtraTreeRegressor


class IsolationForest(OutlierMixin, MercerEstimator):  # type: ignore[misc]
    r"""Outliers by random trees: a row that few random splits set apart from the others is one.

    Every tree splits a small sample of the rows, each time at a random place of a random feature, until rows are alone or the
    tree is :math:`\lceil \log_2 m \rceil` deep. With :math:`h_t(x)` the depth of the leaf that x reaches plus :math:`c(n)` for
    the n rows in it, the score is

    .. math:: -2^{-\frac1T \sum_t h_t(x) / c(m)}, \qquad c(n) = 2 (\ln(n - 1) + \gamma) - \frac{2 (n - 1)}{n},

    where c(n) is the mean length of the path to a row among n. It is near -1 for outliers, and below -1/2 where a row is easier
    to set apart than the average one.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    max_samples : "auto", int or float, default="auto"
        The number m of rows that each tree is grown on: 256 at most by "auto"; a share of the rows if it is a float.
    contamination : "auto" or float, default="auto"
        The share of outliers among the training rows, which sets the threshold `offset_`; "auto" sets it to -0.5.
    max_features : int or float, default=1.0
        The number of features that each tree may split, or their share.
    bootstrap : bool, default=False
        Whether the rows of a tree are drawn with replacement. One that is drawn twice counts once.
    n_jobs : int or None, default=None
        The number of threads; None is as many as there are processors.
    random_state : int, RandomState instance or None, default=None
        Determines samples and splits, and nothing else does: the result is the same for any number of threads.
    verbose : int, default=0
        Log the growth of the trees to the logger `mercer`.
    warm_start : bool, default=False
        Whether `fit` keeps the trees of the last fit and adds to them until there are `n_estimators`.

    Attributes
    ----------
    estimators_ : list of ExtraTreeRegressor
        The trees. They take all features of X, whatever `max_features` is, and predict path lengths :math:`h_t`.
    estimators_features_ : list of arrays
        The features that each tree may split.
    estimators_samples_ : list of arrays
        The rows that each tree was grown on, drawn again when asked for.
    max_samples_ : int
        The number m of rows a tree.
    offset_ : float
        `decision_function` is `score_samples` less this.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has names that are all strings.

    Notes
    -----
    Fitting takes :math:`O(T m \log m)` after one check of X, scoring :math:`O(T \log m)` a row. X is read in place, in its own
    type: scikit-learn rounds it to float32. Missing values go to a random side of a split, as there. `sample_weight` gives rows
    a chance to be drawn in proportion to their weight, as in scikit-learn; a row of weight 0 is absent.

    References
    ----------
    F. T. Liu, K. M. Ting, Z.-H. Zhou: Isolation forest. ICDM 2008.

    Examples
    --------
    >>> from mercer.ensemble import IsolationForest
    >>> forest = IsolationForest(random_state=0).fit([[-1.1], [0.3], [0.5], [100.0]])
    >>> forest.predict([[0.1], [0.0], [90.0]])
    array([ 1,  1, -1])
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("allow_nan", "sparse")
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "n_estimators": Integer(1),
        "max_samples": OneOf("auto") | Integer(1) | Real(above=0, most=1),
        "contamination": OneOf("auto") | Real(above=0, most=0.5),
        "max_features": Integer(1) | Real(above=0, most=1),
        "bootstrap": Bool(),
        "n_jobs": NumberOfJobs(),
        "random_state": RandomState(),
        "verbose": Verbosity(),
        "warm_start": Bool(),
    }

    _trees: TreeStore
    _draws: list[_Draw]
    _seeds: npt.NDArray[np.uint64]

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: str | float = "auto",
        contamination: str | float = "auto",
        max_features: float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.contamination = contamination
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> IsolationForest:
        """Grow the trees.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Missing values (NaN) are allowed.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            The chances of rows to be drawn are in proportion to their weights.

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, sparse="csr", finite="allow-nan")
        weights = check_weights(sample_weight, X.shape[0], np.float64)
        kept: TreeStore | None = getattr(self, "_trees", None) if params.warm_start else None
        n_kept = 0 if kept is None else len(kept)
        if params.n_estimators < n_kept:
            raise InvalidParameterError(
                f"n_estimators={params.n_estimators} is not valid with warm_start=True; there are {n_kept} trees already."
            )
        draw = _Draw.of(params, X.shape, weights)
        task = FitTask.start(self, X)
        seeds = make_seeds(as_random_state(params.random_state), params.n_estimators)
        trees = draw.grow(X, seeds[n_kept:], effective_threads(params.n_jobs))
        log(params.verbose, "%s: %d trees on %d rows each", type(self).__name__, params.n_estimators - n_kept, draw.n_drawn)
        self._trees = trees if kept is None else TreeStore.join([kept, trees])
        self._draws = [draw] * params.n_estimators if kept is None else [*self._draws, *[draw] * (params.n_estimators - n_kept)]
        self._seeds = seeds if kept is None else np.concatenate([self._seeds, seeds[n_kept:]])
        self.max_samples_ = draw.n_drawn
        self.offset_ = -0.5 if params.contamination == "auto" else self._threshold(X, weights, params.contamination)
        return self._finish(task, {"offset_": self.offset_, "_trees": self._trees, "max_samples_": self.max_samples_})

    def _threshold(self, X: Any, weights: FloatArray | None, contamination: float) -> float:
        """The quantile of the training rows' scores, of those that have a weight."""
        scores = self._scores(X)
        return float(np.percentile(scores if weights is None else scores[weights > 0], 100.0 * contamination))

    def score_samples(self, X: Any) -> FloatArray:
        """The score of each row, between -1 and 0: the lower, the more of an outlier."""
        check_is_fitted(self)
        return self._scores(check_X(self, X, sparse="csr", finite="allow-nan", reset=False))

    def decision_function(self, X: Any) -> FloatArray:
        """`score_samples` less `offset_`: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """-1 for outliers, +1 for other rows."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _scores(self, X: Any) -> FloatArray:
        average = len(self._trees) * kernels.average_path_length(self.max_samples_)
        if average == 0:  # trees of one row say nothing
            return np.full(X.shape[0], -0.5)
        scores: FloatArray = -np.exp2(-self._path_lengths(X) / average)
        return scores

    def _path_lengths(self, X: Any) -> FloatArray:
        """The sum over the trees of the length of each row's path."""
        n_threads = effective_threads(self.n_jobs)
        return self._trees.sum_leaves(X, n_threads=n_threads)[:, 0]

    @property
    def estimators_(self) -> list[ExtraTreeRegressor]:
        return [self._member(index) for index in range(len(self._trees))]

    @property
    def estimators_features_(self) -> list[IntArray]:
        return [features for _, features in self._samples()]

    @property
    def estimators_samples_(self) -> list[IntArray]:
        return [rows for rows, _ in self._samples()]

    def _samples(self) -> list[tuple[IntArray, IntArray]]:
        return [(rows[0], features[0]) for rows, features in map(_Draw.samples, self._draws, self._seeds[:, None])]

    def _member(self, index: int) -> ExtraTreeRegressor:
        """A tree as an estimator of its own: it shares the nodes."""
        max_depth = self._draws[index].max_depth
        member = ExtraTreeRegressor(max_features=1, max_depth=max_depth)
        member.tree_, member.n_features_in_ = self._trees[index], self.n_features_in_
        member.n_outputs_, member.max_features_, member._has_one_output = 1, 1, True
        member._coder = CategoryCoder((None,) * self.n_features_in_)
        return member


@saved("IsolationDraw")
class _Draw:
    """How the rows and features of a tree are drawn."""

    def __init__(
        self, shape: tuple[int, int], n_drawn: int, n_features: int, weights: FloatArray | None, is_repeated: bool
    ) -> None:
        self.shape, self.n_drawn, self.n_features = shape, n_drawn, n_features
        self.weights, self.is_repeated = weights, is_repeated

    @property
    def max_depth(self) -> int:
        """The depth at which a row of the average is alone."""
        return ceil(log2(max(self.n_drawn, 2)))

    @classmethod
    def of(cls, params: Any, shape: tuple[int, int], weights: FloatArray | None) -> _Draw:
        n_rows = shape[0] if weights is None else int(np.count_nonzero(weights))
        n_features = (
            params.max_features if isinstance(params.max_features, int) else max(1, int(params.max_features * shape[1]))
        )
        if n_features > shape[1]:
            raise InvalidParameterError(
                f"max_features={params.max_features!r} is not valid; X has {shape[1]} features, so it must be <= {shape[1]}."
            )
        return cls(shape, _count_rows(params.max_samples, n_rows), n_features, weights, params.bootstrap)

    def samples(self, seeds: npt.NDArray[np.uint64], n_threads: int = 1) -> tuple[IntArray, IntArray]:
        """The rows and the features of each tree, both in rising order."""
        rows = np.empty((len(seeds), self.n_drawn), dtype=np.int64)
        features = np.empty((len(seeds), self.n_features), dtype=np.int64)
        kernels.draw_samples(seeds, *self.shape, self.weights, self.is_repeated, rows, features, n_threads)
        return rows, features

    def grow(self, X: Any, seeds: npt.NDArray[np.uint64], n_threads: int) -> TreeStore:
        """A tree for each seed."""
        rows, features = self.samples(seeds, n_threads)
        trees, _, n_rows, weight, _ = kernels.grow_isolation(kernel_rows(X), rows, features, seeds, self.max_depth, n_threads)
        return TreeStore(trees, np.zeros(len(n_rows)), n_rows, weight)


def _count_rows(max_samples: Any, n_rows: int) -> int:
    """How many rows a tree is grown on."""
    if isinstance(max_samples, str):  # "auto"
        return min(256, n_rows)
    if isinstance(max_samples, float):
        return max(1, int(max_samples * n_rows))
    if max_samples > n_rows:
        warn(
            f"max_samples ({max_samples}) is greater than the total number of samples ({n_rows}). max_samples will be set to "
            "n_samples for estimation."
        )
    return int(min(max_samples, n_rows))

"""`SMOTEN`: SMOTE for tables of categories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.stats import mode
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from mercer._labels import Codes
from mercer._params import Having, Null, OneOf, RandomState, Rule
from mercer._resampling.base import Sample
from mercer._resampling.neighbors import NEIGHBORS
from mercer._resampling.strategy import RULES
from mercer._trace import warn
from mercer.over_sampling._smote import SMOTE


class SMOTEN(SMOTE):
    """SMOTE for tables of categories alone: a new row has in each column what most of a row's neighbours have.

    The distance of two rows is the value difference metric: sum_f (sum_c |p(c | x_f) - p(c | x'_f)|)^2, over the columns f and
    the classes c, with p the shares of the classes among the rows that have a category.

    Parameters
    ----------
    categorical_encoder : estimator, default=None
        The ordinal encoder; None is `OrdinalEncoder(dtype=np.int32)`.
    sampling_strategy : str, float, dict or callable, default="auto"
        As in `SMOTE`.
    random_state : int, RandomState or None, default=None
    k_neighbors : int, "auto" or estimator, default=5
        As in `SMOTE`; an estimator is set to precomputed distances. The row itself votes too.

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of new rows by class.
    nn_k_ : estimator
        The search for neighbours, not fitted: no rows are kept.
    categorical_encoder_ : estimator
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    All distances within a class are held at a time, O(n_class^2) numbers. Of categories with equal votes the first wins. The
    same `random_state` gives the rows that imbalanced-learn gives. Sparse X is made dense on the way, with a warning.

    References
    ----------
    N. V. Chawla, K. W. Bowyer, L. O. Hall, W. P. Kegelmeyer: SMOTE: Synthetic Minority Over-sampling Technique. Journal of
    Artificial Intelligence Research 16 (2002), section 6.2.

    Examples
    --------
    >>> from mercer.over_sampling import SMOTEN
    >>> X = [["red", "round"], ["red", "long"], ["blue", "round"], ["green", "long"], ["green", "flat"], ["blue", "flat"]]
    >>> X_new, y_new = SMOTEN(k_neighbors=1, random_state=0).fit_resample(X, [1, 1, 0, 0, 0, 0])
    >>> X_new[6:], y_new[6:]
    ([['red', 'long'], ['red', 'long']], [1, 1])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "categorical_encoder": Null() | Having("fit_transform", "inverse_transform"),
        "sampling_strategy": RULES["over-sampling"],
        "random_state": RandomState(),
        "k_neighbors": NEIGHBORS | OneOf("auto"),
    }
    _input_tags = ("sparse", "string", "categorical")
    _is_numeric = False

    def __init__(
        self,
        categorical_encoder: Any = None,
        *,
        sampling_strategy: Any = "auto",
        random_state: Any = None,
        k_neighbors: Any = 5,
    ) -> None:
        self.categorical_encoder = categorical_encoder
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.k_neighbors = k_neighbors

    def _plan(self, params: SimpleNamespace, sample: Sample) -> None:
        params.amount = None  # the strategy says how many
        super()._plan(params, sample)
        self.nn_k_.set_params(metric="precomputed")

    def _resample(self, sample: Sample, X: Any, y: Any, params: SimpleNamespace) -> tuple[Any, Any]:
        from mercer.preprocessing import OrdinalEncoder

        table = sample.X
        if sp.issparse(table):
            warn(
                "SMOTEN: Passing a sparse matrix to SMOTEN is not really efficient since it is converted to a dense array "
                "internally.",
                DataConversionWarning,
            )
            table = table.toarray()
        plain = OrdinalEncoder(dtype=np.int32)
        self.categorical_encoder_ = plain if params.categorical_encoder is None else clone(params.categorical_encoder)
        params.codes = np.asarray(self.categorical_encoder_.fit_transform(table)).astype(np.intp)
        sizes = [len(levels) for levels in self.categorical_encoder_.categories_]
        params.differences = [
            value_differences(params.codes[:, column], size, sample.codes) for column, size in enumerate(sizes)
        ]
        return super()._resample(sample, X, y, params)

    def _grow(self, sample: Sample, label: Any, n_new: int, params: SimpleNamespace) -> Iterator[Any]:
        codes = params.codes[sample.rows_of(label)]
        distances = np.zeros((len(codes), len(codes)))
        for column, table in zip(codes.T, params.differences, strict=True):
            distances += table[np.ix_(column, column)]
        neighbors = self._class_search(label, distances, params).kneighbors(distances, return_distance=False)
        drawn = self._generator(params).choice(np.arange(len(codes)), size=n_new, replace=True)
        chosen = mode(codes[neighbors], axis=1, keepdims=False).mode[drawn]
        levels = self.categorical_encoder_.categories_
        yield [np.asarray(names)[column] for names, column in zip(levels, chosen.T, strict=True)]


def value_differences(column: Codes, n_levels: int, classes: Codes) -> npt.NDArray[np.float64]:
    """Between any two categories of a column (sum_c |p(c | a) - p(c | b)|)^2, the value difference metric. O(n + levels^2)."""
    counts = np.zeros((n_levels, int(classes.max()) + 1))
    np.add.at(counts, (column, classes), 1.0)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    differences: npt.NDArray[np.float64] = np.abs(shares[:, None] - shares[None]).sum(axis=-1) ** 2
    return differences

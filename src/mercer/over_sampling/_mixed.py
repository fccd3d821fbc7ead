"""`SMOTENC`: SMOTE for tables of numbers and categories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_array

from mercer._params import ArrayLike, Having, Null, OneOf, Rule
from mercer._resampling.base import Rows, Sample
from mercer._resampling.neighbors import Places
from mercer._resampling.tables import columns_of, names_categories
from mercer.over_sampling._interpolation import interpolate
from mercer.over_sampling._smote import SMOTE

Columns = list[npt.NDArray[Any]]


class SMOTENC(SMOTE):
    """SMOTE for tables with numbers and categories: numbers lie between neighbours, categories are the neighbours' commonest.

    In the distances a category that differs counts as much as the median of the standard deviations of the numbers in the
    class. A new row has numbers as in `SMOTE`, and in every column of categories the one that most of the k neighbours of its
    row have; ties are drawn.

    Parameters
    ----------
    categorical_features : "auto" or array-like
        The columns of categories: their places, their names, or a mask. "auto" are those that a frame says are categories
        (pandas' category; polars' Categorical, Enum and String).
    categorical_encoder : estimator, default=None
        The one-hot encoder, with one column a category; None is `OneHotEncoder(handle_unknown="ignore")`.
    sampling_strategy : str, float, dict or callable, default="auto"
        As in `SMOTE`.
    random_state : int, RandomState or None, default=None
    k_neighbors : int, "auto" or estimator, default=5
        As in `SMOTE`.
    amount : float, default=None
        As in `SMOTE`.
    gap : {"sample", "attribute"}, default="sample"
        As in `SMOTE`.

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of new rows by class.
    nn_k_ : estimator
        The search for neighbours, not fitted: no rows are kept.
    categorical_encoder_ : estimator
    categorical_features_, continuous_features_ : ndarrays of int
        The places of the columns.
    median_std_ : dict
        By class, the median of the standard deviations of the numbers.
    n_features_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Columns keep their types and categories. Numbers must not be missing; a missing category is a category. The same
    `random_state` gives the rows that imbalanced-learn gives, if `amount` and `gap` are left alone.

    References
    ----------
    N. V. Chawla, K. W. Bowyer, L. O. Hall, W. P. Kegelmeyer: SMOTE: Synthetic Minority Over-sampling Technique. Journal of
    Artificial Intelligence Research 16 (2002), section 6.1.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.over_sampling import SMOTENC
    >>> X = np.array([[0.0, "red"], [1.0, "red"], [2.0, "blue"], [5.0, "blue"], [6.0, "red"], [7.0, "blue"]], object)
    >>> y = [1, 1, 0, 0, 0, 0]
    >>> X_new, y_new = SMOTENC([1], k_neighbors=1, random_state=0).fit_resample(X, y)
    >>> [[round(size, 2), colour] for size, colour in X_new[6:]]
    [[0.72, 'red'], [0.4, 'red']]
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **SMOTE._parameter_rules,
        "categorical_features": OneOf("auto") | ArrayLike(),
        "categorical_encoder": Null() | Having("fit_transform", "inverse_transform"),
    }
    _input_tags = ("sparse", "string", "categorical")
    _is_numeric = False
    _finite = "check"

    def __init__(
        self,
        categorical_features: Any,
        *,
        categorical_encoder: Any = None,
        sampling_strategy: Any = "auto",
        random_state: Any = None,
        k_neighbors: Any = 5,
        amount: float | None = None,
        gap: str = "sample",
    ) -> None:
        super().__init__(
            sampling_strategy=sampling_strategy, random_state=random_state, k_neighbors=k_neighbors, amount=amount, gap=gap
        )
        self.categorical_features = categorical_features
        self.categorical_encoder = categorical_encoder

    def _plan(self, params: SimpleNamespace, sample: Sample) -> None:
        super()._plan(params, sample)
        self.n_features_ = self.n_features_in_
        self.categorical_features_ = self._categorical_places(params.categorical_features, sample.X)
        self.continuous_features_ = np.setdiff1d(np.arange(self.n_features_), self.categorical_features_)
        for missing, kind in ((self.continuous_features_, "categorical"), (self.categorical_features_, "numerical")):
            if not len(missing):
                other = "SMOTEN" if kind == "categorical" else "SMOTE"
                raise ValueError(
                    f"SMOTENC: SMOTE-NC is not designed to work only with {kind} features. It requires some "
                    f"{'numerical' if kind == 'categorical' else 'categorical'} features: use {other} for this table."
                )

    def _categorical_places(self, given: Any, X: Any) -> Rows:
        if isinstance(given, str):
            if (found := names_categories(X)) is None:
                raise ValueError(
                    "SMOTENC: When `categorical_features='auto'`, the input data should be a pandas.DataFrame or a frame of "
                    f"polars. Got {type(X)} instead: name the columns."
                )
            return np.flatnonzero(found)
        chosen = np.asarray(given)
        if chosen.dtype.kind == "b":
            if len(chosen) != self.n_features_:
                raise ValueError(
                    f"SMOTENC: categorical_features is a mask of {len(chosen)} columns, and X has {self.n_features_}."
                )
            return np.flatnonzero(chosen)
        if chosen.dtype.kind in "iu":
            if len(chosen) and not -self.n_features_ <= chosen.min() <= chosen.max() < self.n_features_:
                raise ValueError(
                    f"SMOTENC: categorical_features={given!r}: all features must be in [0, {self.n_features_ - 1}] or "
                    f"[-{self.n_features_}, -1]."
                )
            return np.asarray(np.arange(self.n_features_)[chosen])
        names = getattr(X, "columns", None)
        if names is None:
            raise ValueError(
                f"SMOTENC: categorical_features={given!r}: Specifying the columns using strings is only supported for "
                "dataframes."
            )
        places = {name: place for place, name in enumerate(names)}
        if unknown := [name for name in chosen.tolist() if name not in places]:
            raise ValueError(f"SMOTENC: categorical_features names {unknown!r}; the columns are {list(names)!r}.")
        return np.array([places[name] for name in chosen.tolist()], dtype=np.intp)

    def _resample(self, sample: Sample, X: Any, y: Any, params: SimpleNamespace) -> tuple[Any, Any]:
        numbers = check_array(columns_of(sample.X, self.continuous_features_), accept_sparse="csr")
        numbers = numbers.toarray() if sp.issparse(numbers) else numbers
        params.numbers = numbers if numbers.dtype.kind == "f" else numbers.astype(np.float64)
        params.encoded = self._encode(columns_of(sample.X, self.categorical_features_), params)
        self.median_std_: dict[Any, float] = {}
        return super()._resample(sample, X, y, params)

    def _encode(self, table: Any, params: SimpleNamespace) -> Any:
        """The categories as a sparse matrix of indicators."""
        from mercer.preprocessing import OneHotEncoder

        plain = OneHotEncoder(handle_unknown="ignore", dtype=params.numbers.dtype)
        self.categorical_encoder_ = plain if params.categorical_encoder is None else clone(params.categorical_encoder)
        encoded = self.categorical_encoder_.fit_transform(table.toarray() if sp.issparse(table) else table)
        n_categories = sum(map(len, self.categorical_encoder_.categories_))
        if encoded.shape[1] != n_categories:
            raise ValueError(
                "SMOTENC: SMOTENC requires a one-hot encoding with one column per category. The provided `categorical_encoder` "
                f"produced {encoded.shape[1]} columns for {n_categories} categories, as it does when it drops columns or "
                "merges infrequent categories. Pass an encoder that keeps all of them, such as "
                "OneHotEncoder(handle_unknown='ignore')."
            )
        return sp.csr_array(encoded, dtype=params.numbers.dtype)

    def _grow(self, sample: Sample, label: Any, n_new: int, params: SimpleNamespace) -> Iterator[Any]:
        members = sample.rows_of(label)
        numbers, indicators = params.numbers[members], params.encoded[members]
        self.median_std_[label] = float(np.median(np.std(numbers, axis=0)))
        # Two indicators differ where a category does: each has half of the squared distance.
        weighed = indicators * (self.median_std_[label] / np.sqrt(2))
        rows = sp.csr_matrix(sp.hstack([sp.csr_array(numbers), weighed], format="csr", dtype=numbers.dtype))
        neighbors = self._class_neighbors(label, rows, rows, params)
        places, ends, gaps = self._draw(neighbors, n_new, numbers.shape[1], params)
        yield self._columns(interpolate(numbers[places], numbers[ends], gaps), indicators, neighbors, places, params)

    def _columns(
        self, numbers: npt.NDArray[Any], indicators: Any, neighbors: Places, places: Rows, params: SimpleNamespace
    ) -> Columns:
        """New rows by their columns: the numbers, and what most neighbours of the rows at `places` have of each category."""
        columns: Columns = [np.empty(0)] * self.n_features_
        for column, place in enumerate(self.continuous_features_):
            columns[place] = numbers[:, column]
        generator, end = self._generator(params), 0
        for place, levels in zip(self.categorical_features_, self.categorical_encoder_.categories_, strict=True):
            start, end = end, end + len(levels)
            votes = indicators[:, start:end].toarray()[neighbors].sum(axis=1)
            columns[place] = levels[most_frequent(votes[places], generator)]
        return columns


def most_frequent(votes: npt.NDArray[Any], generator: np.random.RandomState) -> Rows:
    """The column of the most votes of each row; ties are drawn, for all rows by one permutation as in imbalanced-learn."""
    tied = generator.permutation(np.argwhere(votes == votes.max(axis=1, keepdims=True)))
    _, first = np.unique(tied[:, 0], return_index=True)
    chosen: Rows = tied[first, 1]
    return chosen

"""`Resampler`: the way of one call. Parameters, data and strategy are checked here, and tables come out as they came in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils import InputTags, Tags, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from mercer._arrays import Finite, check_labels, validate
from mercer._base import MercerEstimator, fit_method
from mercer._compat import validate_data
from mercer._labels import Codes, Labels
from mercer._params import check_params
from mercer._resampling.strategy import Kind, plan
from mercer._resampling.tables import append_labels, append_parts, pick_rows
from mercer._rows import count_rows

Rows = npt.NDArray[np.intp]


@dataclass(slots=True)
class SamplerTags:
    """What imbalanced-learn asks of samplers."""

    sample_indices: bool = False


@dataclass(slots=True)
class SamplerInputTags(InputTags):  # type: ignore[misc]  # scikit-learn has no types
    dataframe: bool = True


@dataclass(slots=True)
class ResamplerTags(Tags):  # type: ignore[misc]
    """scikit-learn's tags, with imbalanced-learn's of samplers."""

    sampler_tags: SamplerTags | None = None


@dataclass(frozen=True)
class Sample:
    """Rows and their classes, checked."""

    X: Any
    classes: Labels
    codes: Codes

    def place(self, label: Any) -> int:
        """Of a class that the strategy names."""
        return int(self.classes.tolist().index(label))

    def rows_of(self, label: Any) -> Rows:
        return np.flatnonzero(self.codes == self.place(label))

    @property
    def counts(self) -> Rows:
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def rarest(self) -> int:
        """The place of the class with the fewest rows, the first of equals."""
        return int(self.counts.argmin())


class Resampler(OneToOneFeatureMixin, MercerEstimator):  # type: ignore[misc]
    """Base of what changes the rows of a training set. Subclasses say what becomes of them in `_resample`."""

    _estimator_type = "sampler"
    _kind: ClassVar[Kind]
    _is_numeric: ClassVar[bool] = True  # X is a matrix of numbers; else it may hold anything
    _finite: ClassVar[Finite] = "check"
    _has_indices: ClassVar[bool] = False

    sampling_strategy: Any

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Check the data and work out the strategy; `fit_resample` does this too, and is what you want.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes, or a matrix of indicators with a column for each class.

        Returns
        -------
        self : estimator
        """
        params = check_params(self)
        self._plan(params, self._check(X, y)[0])
        return self

    @fit_method
    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The rows and the classes that a model is to be fitted to.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes, or a matrix of indicators with a column for each class.

        Returns
        -------
        X_resampled : like X
            Of the same library, with the same columns and types.
        y_resampled : like y
        """
        params = check_params(self)
        sample, X, y = self._check(X, y)
        self._plan(params, sample)
        return self._resample(sample, X, y, params)

    @abstractmethod
    def _resample(self, sample: Sample, X: Any, y: Any, params: SimpleNamespace) -> tuple[Any, Any]:
        """The resampled table and target, from what was checked and the table and target as they were given."""

    def _plan(self, params: SimpleNamespace, sample: Sample) -> None:
        owner = type(self).__name__
        self.sampling_strategy_ = plan(owner, params.sampling_strategy, sample.classes, sample.codes, self._kind)

    def _check(self, X: Any, y: Any) -> tuple[Sample, Any, Any]:
        """What was given as rows with classes, and as tables whose rows can be taken and added to."""
        check_classification_targets(y)
        y, labels = _as_target(y)
        matrix, X = self._check_rows(X, labels)
        classes, codes = check_labels(labels)
        return Sample(matrix, classes, codes), X, y

    def _check_rows(self, X: Any, labels: Labels) -> tuple[Any, Any]:
        """The rows as numbers where the method counts with them, and as a table."""
        if self._is_numeric:
            finite = "check" if sp.issparse(X) else self._finite
            matrix = validate(self, X, labels, sparse=("csr", "csc"), finite=finite)[0]
            return matrix, _as_table(X, matrix)
        table = X
        if not hasattr(X, "columns"):
            X = check_array(X, accept_sparse=("csr", "csc"), dtype=None, ensure_all_finite=False)
        if count_rows(X) < 1:
            raise ValueError(f"{type(self).__name__}: X has 0 sample(s) while a minimum of 1 is required.")
        validate_data(self, X, labels, reset=True, skip_check_array=True)
        if count_rows(X) != len(labels):
            raise ValueError(
                f"{type(self).__name__}: Found input variables with inconsistent numbers of samples: "
                f"X has {count_rows(X)} rows and y has {len(labels)}."
            )
        return X, table if isinstance(table, list) else X

    def __sklearn_tags__(self) -> ResamplerTags:
        tags = super().__sklearn_tags__()
        values = {field.name: getattr(tags, field.name) for field in fields(tags)}
        inputs = {field.name: getattr(tags.input_tags, field.name) for field in fields(tags.input_tags)}
        values |= {"estimator_type": "sampler", "input_tags": SamplerInputTags(**inputs)}
        values["target_tags"].required = True
        return ResamplerTags(**values, sampler_tags=SamplerTags(sample_indices=self._has_indices))


class Selector(Resampler):
    """A resampler that takes rows and makes none: `sample_indices_` are their numbers, in the order in which they come out."""

    _has_indices = True

    def _resample(self, sample: Sample, X: Any, y: Any, params: SimpleNamespace) -> tuple[Any, Any]:
        self.sample_indices_ = self._select(sample, params)
        return pick_rows(X, self.sample_indices_), pick_rows(y, self.sample_indices_)

    @abstractmethod
    def _select(self, sample: Sample, params: SimpleNamespace) -> Rows:
        """The numbers of the rows."""


class ClassSelector(Selector):
    """A selector that goes through the classes one by one, and leaves those alone that the strategy does not name."""

    def _select(self, sample: Sample, params: SimpleNamespace) -> Rows:
        kept = [
            self._keep(sample, label, rows, params) if label in self.sampling_strategy_ else rows
            for label in sample.classes.tolist()
            if len(rows := sample.rows_of(label))
        ]
        return np.concatenate(kept)

    @abstractmethod
    def _keep(self, sample: Sample, label: Any, rows: Rows, params: SimpleNamespace) -> Rows:
        """Those rows of a class that are kept."""


class Grower(Resampler):
    """A resampler that adds rows below those that are there."""

    _kind = "over-sampling"

    def _resample(self, sample: Sample, X: Any, y: Any, params: SimpleNamespace) -> tuple[Any, Any]:
        parts, codes = [], []
        for label, n_new in self.sampling_strategy_.items():
            for part in self._grow(sample, label, n_new, params) if n_new else ():
                parts.append(part)
                codes.append(np.full(len(part[0]) if isinstance(part, list) else part.shape[0], sample.place(label)))
        if not parts:
            everything = np.arange(len(sample.codes))
            return pick_rows(X, everything), pick_rows(y, everything)
        return append_parts(X, parts), append_labels(y, _like_target(y, sample, np.concatenate(codes)))

    @abstractmethod
    def _grow(self, sample: Sample, label: Any, n_new: int, params: SimpleNamespace) -> Iterator[Any]:
        """New rows of a class, in parts that come one below the other: matrices, or lists of columns."""


def grown_by(sample: Sample, X: Any, y: Any, rows: Any, codes: Codes) -> tuple[Any, Any]:
    """The table and the target, and below them new rows of these classes."""
    if not len(codes):
        return X, y
    return append_parts(X, [rows]), append_labels(y, _like_target(y, sample, codes))


def _as_target(y: Any) -> tuple[Any, Labels]:
    """The target as a table whose rows can be taken, and its labels, one a row: of indicators, the places of the columns."""
    if type_of_target(y) != "multilabel-indicator":
        labels = column_or_1d(y)
        is_kept = isinstance(y, list) or (hasattr(y, "shape") and not (isinstance(y, np.ndarray) and y.ndim == 2))
        return (y if is_kept else labels), labels
    indicators = y.toarray() if sp.issparse(y) else np.asarray(y)
    if (indicators.sum(axis=1) > 1).any():
        raise ValueError(
            "y has rows with several labels. Multilabel and multioutput targets are not supported; y must hold one class a "
            "row, or indicators of which one a row is 1."
        )
    return y, indicators.argmax(axis=1)


def _like_target(y: Any, sample: Sample, codes: Codes) -> Any:
    """Labels of classes, or lines of indicators where the target has such."""
    shape = np.shape(y) if not hasattr(y, "shape") else y.shape
    if len(shape) == 1 or shape[1] == 1:
        return sample.classes[codes]
    return np.eye(shape[1])[sample.classes[codes].astype(np.intp)]


def _as_table(X: Any, matrix: Any) -> Any:
    """X where its library and types are worth keeping, else the matrix that was made of it."""
    is_kept = hasattr(X, "columns") or isinstance(X, list) or (isinstance(X, np.ndarray) and X.dtype.kind in "fiub")
    if is_kept:
        return X
    if sp.issparse(X) and X.format in ("csr", "csc"):
        return X
    return matrix

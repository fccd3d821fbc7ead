"""`RandomOverSampler`: rows of rare classes repeated, or drawn around those that are there."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.sparsefuncs import mean_variance_axis

from mercer._params import Mapped, Null, RandomState, Real, Rule
from mercer._random import as_random_state
from mercer._resampling.base import Resampler, Rows, Sample
from mercer._resampling.strategy import RULES
from mercer._resampling.tables import append_rows, pick_rows
from mercer._rows import count_rows, take_rows


class RandomOverSampler(Resampler):
    """Rows of rare classes, drawn with replacement; with `shrinkage` each is moved by noise (a smoothed bootstrap, ROSE).

    A row x of a class becomes x + s c sigma z, with s the shrinkage, sigma the standard deviations of the attributes in the
    class, z standard normal, and c = (4 / ((d + 2) n))^(1 / (d + 4)), Silverman's factor for n rows of d attributes.

    Parameters
    ----------
    sampling_strategy : str, float, dict or callable, default="auto"
        As in `SMOTE`.
    random_state : int, RandomState or None, default=None
    shrinkage : float, dict or None, default=None
        The factor s, of all classes or by class; 0 or None repeat rows as they are.

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of new rows by class.
    sample_indices_ : ndarray of shape (n_new_samples,)
        The rows that came out, or the rows that they were drawn around.
    shrinkage_ : dict or None
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Rows may hold anything, text and missing values too, unless they are moved. O(n_new n_features). The same `random_state`
    gives the rows that imbalanced-learn gives.

    References
    ----------
    G. Menardi, N. Torelli: Training and assessing classification rules with imbalanced data. Data Mining and Knowledge
    Discovery 28 (2014).

    Examples
    --------
    >>> from mercer.over_sampling import RandomOverSampler
    >>> X, y = RandomOverSampler(random_state=0).fit_resample([["a"], ["b"], ["c"]], [0, 1, 1])
    >>> X, y
    ([['a'], ['b'], ['c'], ['a']], [0, 1, 1, 0])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sampling_strategy": RULES["over-sampling"],
        "random_state": RandomState(),
        "shrinkage": Null() | Real(least=0) | Mapped(),
    }
    _input_tags = ("sparse", "allow_nan", "string", "categorical")
    _kind = "over-sampling"
    _is_numeric = False
    _has_indices = True

    def __init__(self, *, sampling_strategy: Any = "auto", random_state: Any = None, shrinkage: Any = None) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.shrinkage = shrinkage

    def _resample(self, sample: Sample, X: Any, y: Any, params: SimpleNamespace) -> tuple[Any, Any]:
        self.shrinkage_ = self._shrinkage(params.shrinkage)
        matrix = None if self.shrinkage_ is None else self._numbers(X)
        generator = as_random_state(params.random_state)
        drawn, moved = [], []
        for label, n_new in self.sampling_strategy_.items():
            rows = sample.rows_of(label)
            drawn.append(generator.choice(rows, size=n_new, replace=True))
            if matrix is not None and self.shrinkage_ is not None:
                moved.append(_moved(matrix, rows, drawn[-1], self.shrinkage_[label], generator))
        new = np.concatenate(drawn)
        self.sample_indices_ = np.concatenate([np.arange(len(sample.codes)), new])
        y_new = take_rows(y, self.sample_indices_)
        y_new = y_new.reset_index(drop=True) if hasattr(y_new, "reset_index") else y_new
        if matrix is None:
            X_new = pick_rows(X, self.sample_indices_)
            return X_new.reset_index(drop=True) if hasattr(X_new, "reset_index") else X_new, y_new
        noise = sp.csr_array(np.concatenate(moved)) if sp.issparse(X) else np.concatenate(moved)
        return append_rows(X, noise), y_new

    def _shrinkage(self, given: Any) -> dict[Any, float] | None:
        """The factor of each class that is resampled."""
        if given is None:
            return None
        if not isinstance(given, Mapping):
            return dict.fromkeys(self.sampling_strategy_, given)
        if missing := self.sampling_strategy_.keys() - given.keys():
            raise ValueError(
                "RandomOverSampler: `shrinkage` should contain a shrinkage factor for each class that will be resampled. "
                f"The missing classes are: {missing!r}"
            )
        for label, factor in given.items():
            if not factor >= 0:
                raise ValueError(f"RandomOverSampler: The shrinkage factor needs to be >= 0. Got {factor} for class {label}.")
        return dict(given)

    def _numbers(self, X: Any) -> Any:
        """X as a matrix, to be moved."""
        try:
            return check_array(X, accept_sparse=("csr", "csc"), dtype="numeric")
        except ValueError as error:
            raise ValueError(
                "RandomOverSampler: When shrinkage is not None, X needs to contain only numerical data to later generate a "
                f"smoothed bootstrap sample. {error}"
            ) from error


def _moved(X: Any, rows: Rows, drawn: Rows, shrinkage: float, generator: np.random.RandomState) -> Any:
    """Rows of a class that were drawn, each moved by noise that is as wide as the class."""
    n_rows, n_features = count_rows(X), X.shape[1]
    smoothing = (4 / ((n_features + 2) * n_rows)) ** (1 / (n_features + 4))
    members = take_rows(X, rows)
    if sp.issparse(X):
        scale = np.sqrt(mean_variance_axis(members.astype(np.float64), axis=0)[1])
    else:
        scale = np.std(members, axis=0)
    noise = generator.randn(len(drawn), n_features) * (shrinkage * smoothing * scale)
    around = take_rows(X, drawn)
    return noise + (around.toarray() if sp.issparse(around) else around)

"""What models linear in their features share: values from `coef_` and `intercept_`, and labels from values. Knows no solver."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X
from mercer._base import MercerEstimator
from mercer._labels import choose_labels
from mercer._native import kernels
from mercer._parallel import effective_threads

SPARSE = ("csr", "csc")


# Products that no BLAS shares among its threads, in multiplications: NumPy has them done before a kernel is called.
_SMALL = 8192


def linear_predictions(X: FloatArray, coef: FloatArray, intercept: Any) -> FloatArray:
    """X times coef' plus the intercept, a value a row, or a line a row where `coef` has a line for each output.

    The bits depend on no number of threads, as those of BLAS do.
    """
    values: FloatArray
    if len(X) * coef.size < _SMALL:
        values = X @ coef.T + intercept
        return values
    dtype = np.result_type(X, coef, intercept)
    lines = np.ascontiguousarray(np.atleast_2d(coef), dtype=dtype)
    starts = np.array(np.broadcast_to(intercept, len(lines)), dtype=dtype)
    values = np.empty((len(X), len(lines)), dtype=dtype)
    kernels.linear_predictions(X, lines, starts, values, effective_threads(None))
    return values if coef.ndim == 2 else values[:, 0]


class LinearModel(MercerEstimator):
    """A model whose values are X times the coefficients plus the intercept; dense or sparse X unless tags say otherwise."""

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    coef_: Any

    def _linear_values(self, X: Any) -> FloatArray:
        """Of shape (n_samples,) or (n_samples, n_outputs), as `coef_` is."""
        check_is_fitted(self)
        X = check_X(self, X, sparse=SPARSE if self.__sklearn_tags__().input_tags.sparse else None, reset=False)
        if not (sp.issparse(X) or sp.issparse(self.coef_)):
            return linear_predictions(X, self.coef_, self.intercept_)
        values = X @ self.coef_.T
        if sp.issparse(values):  # both X and, after `sparsify`, the coefficients
            values = values.toarray()
        if sp.issparse(self.coef_) and is_regressor(self):  # a sparse matrix is never a vector
            values = values[:, 0]
        shifted: FloatArray = values + self.intercept_
        return shifted


class LinearRegressor(RegressorMixin, LinearModel):  # type: ignore[misc]  # scikit-learn has no types
    """A regressor that predicts its linear values."""

    def predict(self, X: Any) -> FloatArray:
        """The values of the model, of shape (n_samples,) or (n_samples, n_targets)."""
        return self._linear_values(X)


class SparseCoefficients:
    """Mixin for models whose coefficients may be kept as a sparse matrix."""

    coef_: Any

    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse matrix: smaller and faster where an l1 penalty has left most of it zero."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Undo `sparsify`."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            dense = self.coef_.toarray()
            self.coef_ = dense[0] if is_regressor(self) else dense
        return self


class LinearClassifier(ClassifierMixin, SparseCoefficients, LinearModel):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier by the sign of one linear value or the largest of several; `coef_` has shape (n_outputs, n_features)."""

    def decision_function(self, X: Any) -> FloatArray:
        """Scores: of shape (n_samples,) for two classes, above zero for `classes_[1]`; else with one column for each class."""
        values = self._linear_values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row."""
        return choose_labels(self.decision_function(X), self.classes_)

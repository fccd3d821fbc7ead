"""What models linear in their features share: values from `coef_` and `intercept_`, and labels from values. Knows no solver."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X
from mercer._base import MercerEstimator
from mercer._labels import choose_labels

SPARSE = ("csr", "csc")


class LinearModel(MercerEstimator):
    """A model whose values are X times the coefficients plus the intercept; dense or sparse X unless tags say otherwise."""

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    coef_: Any

    def _linear_values(self, X: Any) -> FloatArray:
        """Of shape (n_samples,) or (n_samples, n_outputs), as `coef_` is."""
        check_is_fitted(self)
        X = check_X(self, X, sparse=SPARSE if self.__sklearn_tags__().input_tags.sparse else None, reset=False)
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

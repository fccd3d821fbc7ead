"""What selectors share: the columns that stay, and the tags and features of a model that is asked."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from mercer._base import MercerEstimator
from mercer._compat import require_names
from mercer._rows import with_own_structure

Mask = npt.NDArray[np.bool_]


class Selector(SelectorMixin, MercerEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of selectors. `support_` has the columns that stay, unless a class says by `_get_support_mask`."""

    support_: Mask

    def transform(self, X: Any) -> Any:
        """The columns that stay.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        {array, sparse matrix} of shape (n_samples, n_selected_features)
        """
        require_names(self, X)
        return super().transform(with_own_structure(X))

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return self.support_


class ModelSelector(MetaEstimatorMixin, Selector):  # type: ignore[misc]
    """Base of selectors with the parameter `estimator`: X may be what that takes."""

    estimator: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


class ActsAsModel(ModelSelector):
    """Base of selectors that also predict, by their model of the columns that stay: they are of its kind."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = deepcopy(inner.classifier_tags), deepcopy(inner.regressor_tags)
        for kind in (tags.classifier_tags, tags.regressor_tags):
            if kind is not None:
                kind.poor_score = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = inner.target_tags.multi_output
        return tags


def model_has(name: str) -> Callable[[Any], bool]:
    """Whether the model of a selector has a method."""

    def has(selector: Any) -> bool:
        model = getattr(selector, "estimator_", selector.estimator)
        getattr(model, name)  # whose error says why not
        return True

    return has

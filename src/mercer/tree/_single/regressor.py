"""Decision trees of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._params import OneOf, RandomState, Rule
from mercer._trees.categories import CATEGORICAL_RULE, UNSEEN_RULE
from mercer._trees.growth import (
    GROWTH_RULES,
    MONOTONE_RULE,
    REGRESSION,
)
from mercer._tuning import Integers, Space
from mercer.tree._single.decision_tree import DecisionTree


class DecisionTreeRegressor(RegressorMixin, DecisionTree):  # type: ignore[misc]
    r"""A regression tree (CART): splits of one feature at a time after which the mean (or median) of each side fits best.

    The impurity of a node is the variance of its targets ("squared_error"), their mean absolute deviation from the median
    ("absolute_error"), or half of the mean Poisson deviance, :math:`\frac{1}{w}\sum_i w_i y_i \log (y_i / \bar y)` ("poisson").
    Every split is the one that lowers the weighted impurity of its two sides most.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        The impurity. "friedman_mse" gives the same splits as "squared_error": Friedman's improvement is its fall.
    splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, random_state
        As for `DecisionTreeClassifier`.
    max_leaf_nodes, min_impurity_decrease, ccp_alpha
        As for `DecisionTreeClassifier`.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        +1 where the prediction must not fall as the feature rises, -1 where it must not rise, else 0; for one target only.
    categorical_features, unseen
        As for `DecisionTreeClassifier`; the set of categories that goes left is the best of all sets for one target.

    Attributes
    ----------
    tree_ : Tree
        The tree, with scikit-learn's arrays.
    n_outputs_, max_features_, feature_importances_, categories_
        As for `DecisionTreeClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    See `DecisionTreeClassifier`. "absolute_error" takes O(n d log n) a level.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees", 1984.

    Examples
    --------
    >>> from mercer.tree import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[0], [1], [2], [3]], [1, 1, 5, 7])
    >>> tree.predict([[0.5], [2.5]])
    array([1., 6.])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "max_depth": Integers(2, 30, log=True),
        "min_samples_leaf": Integers(1, 100, log=True),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **GROWTH_RULES,
        "criterion": OneOf(*REGRESSION),
        "splitter": OneOf("best", "random"),
        "random_state": RandomState(),
        "monotonic_cst": MONOTONE_RULE,
        "categorical_features": CATEGORICAL_RULE,
        "unseen": UNSEEN_RULE,
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.unseen = unseen

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            NaN is a missing value. Sparse rows stay sparse, unless most of their values are not zero.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
        check_input : bool, default=True
            False takes infinite values of X as they come; shapes and types are checked either way, for memory's sake.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, is_classifier=False, check_input=check_input)

    def predict(self, X: Any, check_input: bool = True) -> FloatArray:
        """The value of each row's leaf, of shape (n_samples,) or (n_samples, n_outputs).

        Without `check_input` X is not searched for infinity.
        """
        values = self._values(X, check_input)[:, :, 0]
        return values[:, 0] if self._has_one_output else values

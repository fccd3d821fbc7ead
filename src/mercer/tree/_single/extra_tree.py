"""Extremely randomised trees: a single tree whose nodes are split at random places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._tuning import Integers, Reals, Space
from mercer.tree._single.classifier import DecisionTreeClassifier
from mercer.tree._single.regressor import DecisionTreeRegressor


class ExtraTreeClassifier(DecisionTreeClassifier):
    r"""An extremely randomised classification tree (Geurts, Ernst and Wehenkel).

    Each node draws `max_features` features and for each of them one place between its least and its largest value; the split
    that lowers the weighted impurity of the two sides most is taken. Made for ensembles: alone it is a poor tree.

    Parameters
    ----------
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, random_state, max_leaf_nodes
        As for `DecisionTreeClassifier`.
    splitter : {"random", "best"}, default="random"
        "random" looks at one random place a feature, "best" at every place.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        How many features a split looks at, drawn anew for every node; None looks at all of them.
    min_impurity_decrease, class_weight, ccp_alpha, monotonic_cst, categorical_features, unseen
        As for `DecisionTreeClassifier`. A random split sends a random set of categories left.

    Attributes
    ----------
    tree_, classes_, n_classes_, n_outputs_, max_features_, feature_importances_, categories_
        As for `DecisionTreeClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Nothing is ranked: fitting takes O(n max_features) a level of the tree.

    References
    ----------
    P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> from mercer.tree import ExtraTreeClassifier
    >>> ExtraTreeClassifier(random_state=0).fit([[0], [1], [2], [3]], ["a", "a", "b", "b"]).predict([[0], [3]]).tolist()
    ['a', 'b']
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "max_features": Reals(0.1, 1.0),
        "min_samples_leaf": Integers(1, 100, log=True),
    }

    def __init__(
        self,
        *,
        criterion: str | Callable[[FloatArray], float] = "gini",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            categorical_features=categorical_features,
            unseen=unseen,
        )


class ExtraTreeRegressor(DecisionTreeRegressor):
    r"""An extremely randomised regression tree (Geurts, Ernst and Wehenkel).

    Each node draws `max_features` features and for each of them one place between its least and its largest value; the split
    that lowers the weighted impurity of the two sides most is taken. Made for ensembles: alone it is a poor tree.

    Parameters
    ----------
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, random_state, max_leaf_nodes
        As for `DecisionTreeRegressor`.
    splitter : {"random", "best"}, default="random"
        "random" looks at one random place a feature, "best" at every place.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        How many features a split looks at, drawn anew for every node; None looks at all of them.
    min_impurity_decrease, ccp_alpha, monotonic_cst, categorical_features, unseen
        As for `DecisionTreeRegressor`. A random split sends a random set of categories left.

    Attributes
    ----------
    tree_, n_outputs_, max_features_, feature_importances_, categories_
        As for `DecisionTreeRegressor`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Nothing is ranked: fitting takes O(n max_features) a level of the tree.

    References
    ----------
    P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> from mercer.tree import ExtraTreeRegressor
    >>> ExtraTreeRegressor(random_state=0).fit([[0], [1], [2], [3]], [1, 1, 5, 7]).predict([[0], [3]])
    array([1., 7.])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "max_features": Reals(0.1, 1.0),
        "min_samples_leaf": Integers(1, 100, log=True),
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1.0,
        random_state: int | np.random.RandomState | None = None,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            categorical_features=categorical_features,
            unseen=unseen,
        )

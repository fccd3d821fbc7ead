"""Extremely randomised trees: forests whose nodes are split at random places, the best of a few features."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.ensemble._forest.classifier import ForestClassifier
from mercer.ensemble._forest.regressor import ForestRegressor
from mercer.tree import ExtraTreeClassifier, ExtraTreeRegressor


class ExtraTreesClassifier(ForestClassifier):
    r"""A forest of extremely randomised classification trees (Geurts, Ernst and Wehenkel).

    Each node draws `max_features` features and for each of them one place between its least and its largest value; the best of
    these splits is taken. The forest predicts the mean of its trees' class shares. As chance is in the splits, every tree has
    all rows by default.

    Parameters
    ----------
    n_estimators, criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features
        As for `RandomForestClassifier`.
    max_leaf_nodes, min_impurity_decrease
        As for `RandomForestClassifier`.
    bootstrap : bool, default=False
        Whether each tree has a bootstrap of the rows, or all of them.
    oob_score, n_jobs, random_state, verbose, warm_start, class_weight, ccp_alpha, max_samples, monotonic_cst
        As for `RandomForestClassifier`; what looks out of the bag needs `bootstrap=True`.
    categorical_features, unseen, tree_weights, oob_importance
        As for `RandomForestClassifier`. A random split sends a random set of categories left.

    Attributes
    ----------
    estimators_ : sequence of ExtraTreeClassifier
        The trees: views of one store, made when they are looked at.
    estimator_, estimators_samples_, classes_, n_classes_, n_outputs_, categories_, feature_importances_, tree_weights_
        As for `RandomForestClassifier`.
    oob_score_, oob_decision_function_, oob_permutation_importance_
        As for `RandomForestClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Nothing is ranked: a tree takes O(n max_features) a level.

    References
    ----------
    P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(n_estimators=20, random_state=0).fit(X, y).predict(X[[0, 75, 149]])
    array([0, 1, 2])
    """

    _tree_class = ExtraTreeClassifier
    _splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        tree_weights: str | None = None,
        oob_importance: bool = False,
    ) -> None:
        super().__init__(
            n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
            categorical_features=categorical_features,
            unseen=unseen,
            tree_weights=tree_weights,
            oob_importance=oob_importance,
        )


class ExtraTreesRegressor(ForestRegressor):
    r"""A forest of extremely randomised regression trees (Geurts, Ernst and Wehenkel).

    Each node draws `max_features` features and for each of them one place between its least and its largest value; the best of
    these splits is taken. The forest predicts the mean of its trees, and quantiles as `RandomForestRegressor` does.

    Parameters
    ----------
    n_estimators, criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features
        As for `RandomForestRegressor`.
    max_leaf_nodes, min_impurity_decrease
        As for `RandomForestRegressor`.
    bootstrap : bool, default=False
        Whether each tree has a bootstrap of the rows, or all of them.
    oob_score, n_jobs, random_state, verbose, warm_start, ccp_alpha, max_samples, monotonic_cst
        As for `RandomForestRegressor`; what looks out of the bag needs `bootstrap=True`.
    categorical_features, unseen, tree_weights, oob_importance
        As for `RandomForestRegressor`. A random split sends a random set of categories left.

    Attributes
    ----------
    estimators_ : sequence of ExtraTreeRegressor
        The trees: views of one store, made when they are looked at.
    estimator_, estimators_samples_, n_outputs_, categories_, feature_importances_, tree_weights_
        As for `RandomForestRegressor`.
    oob_score_, oob_prediction_, oob_permutation_importance_
        As for `RandomForestRegressor`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Nothing is ranked: a tree takes O(n max_features) a level.

    References
    ----------
    P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ensemble import ExtraTreesRegressor
    >>> X = np.arange(100.0)[:, None]
    >>> forest = ExtraTreesRegressor(n_estimators=20, random_state=0).fit(X, X[:, 0] ** 2)
    >>> forest.predict([[50.0]])
    array([2500.])
    """

    _tree_class = ExtraTreeRegressor
    _splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        tree_weights: str | None = None,
        oob_importance: bool = False,
    ) -> None:
        super().__init__(
            n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
            categorical_features=categorical_features,
            unseen=unseen,
            tree_weights=tree_weights,
            oob_importance=oob_importance,
        )

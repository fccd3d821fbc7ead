"""Random forests: trees on bootstraps of the rows that look at a few random features in every node."""

from __future__ import annotations

from mercer.ensemble._forest.classifier import ForestClassifier
from mercer.ensemble._forest.regressor import ForestRegressor
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor


class RandomForestClassifier(ForestClassifier):
    r"""A random forest of classification trees (Breiman).

    Each tree is grown on a bootstrap of the rows, and each of its nodes is split by the best of `max_features` features, drawn
    without replacement. The forest predicts the mean of its trees' class shares,
    :math:`\hat p(x) = \sum_t w_t\, p_t(x)` with :math:`w_t = 1/T`, or weights that the trees earn out of their bags.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        The impurity; see `DecisionTreeClassifier`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        As for `DecisionTreeClassifier`.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        How many features a split looks at, drawn anew for every node.
    max_leaf_nodes, min_impurity_decrease
        As for `DecisionTreeClassifier`.
    bootstrap : bool, default=True
        Whether each tree has a bootstrap of the rows, or all of them.
    oob_score : bool or callable, default=False
        Whether to score the forest on each row by the trees that have not seen it: by accuracy, or `oob_score(y, prediction)`.
    n_jobs : int or None, default=None
        The number of threads; None uses all. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        For the draws of rows and features.
    verbose : int, default=0
        Whether to log what the fit does.
    warm_start : bool, default=False
        Whether a further fit keeps the trees and adds as many as `n_estimators` asks for.
    class_weight : dict, list of dict, {"balanced", "balanced_subsample"} or None, default=None
        Weights of the classes: they multiply those of the rows. "balanced_subsample" makes classes weigh the same in each bag.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning of every tree.
    max_samples : int, float or None, default=None
        How many rows a bootstrap draws: as many as there are, a number, or a share of them (of their weight, if they have one).
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        As for `DecisionTreeClassifier`.
    categorical_features, unseen
        As for `DecisionTreeClassifier`.
    tree_weights : {"oob"} or None, default=None
        None: all trees weigh the same. "oob": a tree with the error e on the rows out of its bag weighs
        log((1 - e) / e) + log(n_classes - 1), or nothing if it is no better than a guess: the best weights for votes that err
        independently.
    oob_importance : bool, default=False
        Whether to find `oob_permutation_importance_`.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeClassifier
        The trees: views of one store, made when they are looked at.
    estimator_ : DecisionTreeClassifier
        What they are instances of, not fitted.
    estimators_samples_ : list of ndarray
        The rows that each tree was grown on, as often as they were drawn.
    classes_, n_classes_, n_outputs_, categories_
        As for `DecisionTreeClassifier`.
    feature_importances_ : ndarray of shape (n_features,)
        The impurity that the splits on each feature remove: the mean over the trees, of sum one.
    oob_score_ : float
        The score on the rows, each predicted by the trees that have not seen it. Only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes) or (n_samples, n_classes, n_outputs)
        The class shares that it is made from; NaN for a row that every tree has seen. Only with `oob_score`.
    oob_permutation_importance_ : ndarray of shape (n_features,)
        How much the accuracy of a tree on the rows out of its bag falls when a feature is permuted among them; the mean over
        the trees (Breiman). Only with `oob_importance`.
    tree_weights_ : ndarray of shape (n_estimators,)
        The weight of each tree's vote; they sum to one.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The columns are ranked once for all trees, in O(n d log n); a tree then takes O(n d) a level. Rows with weights are drawn in
    proportion to them, as scikit-learn does. The trees differ from scikit-learn's for the same `random_state`, but are as good.
    Where the trees of scikit-learn speak of class numbers, those in `estimators_` speak of the labels.

    References
    ----------
    L. Breiman, "Random Forests", Machine Learning 45, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> round(forest.oob_score_, 2) > 0.9
    True
    >>> forest.predict(X[[0, 75, 149]])
    array([0, 1, 2])
    """

    _tree_class = DecisionTreeClassifier


class RandomForestRegressor(ForestRegressor):
    r"""A random forest of regression trees (Breiman), which tells quantiles of the target as well as its mean (Meinshausen).

    Each tree is grown on a bootstrap of the rows. The forest predicts the mean of its trees,
    :math:`\hat y(x) = \sum_t w_t\, y_t(x) = \sum_i w_i(x)\, y_i`: a weighted mean of the training targets in the leaves that a
    row reaches. The same weights make the distribution function :math:`\hat F(y \mid x) = \sum_i w_i(x) [y_i \le y]`, whose
    quantiles `predict_quantiles` gives.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        The impurity; see `DecisionTreeRegressor`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        As for `DecisionTreeClassifier`.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        How many features a split looks at, drawn anew for every node.
    max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, categorical_features, unseen
        As for `DecisionTreeRegressor`.
    bootstrap, n_jobs, random_state, verbose, warm_start, max_samples
        As for `RandomForestClassifier`.
    oob_score : bool or callable, default=False
        Whether to score the forest on each row by the trees that have not seen it; by R2, or by `oob_score(y, prediction)`.
    tree_weights : {"oob"} or None, default=None
        None: all trees weigh the same. "oob": a tree weighs the inverse of its mean squared error on the rows out of its bag,
        the best weights for trees that err independently.
    oob_importance : bool, default=False
        Whether to find `oob_permutation_importance_`.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeRegressor
        The trees: views of one store, made when they are looked at.
    oob_score_ : float
        The score on the rows, each predicted by the trees that have not seen it. Only with `oob_score`.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The predictions that it is made from; NaN for a row that every tree has seen. Only with `oob_score`.
    oob_permutation_importance_ : ndarray of shape (n_features,)
        How much the R2 of a tree on the rows out of its bag falls when a feature is permuted among them; the mean over the
        trees. Only with `oob_importance`.
    estimator_, estimators_samples_, feature_importances_, tree_weights_, n_outputs_, categories_
        As for `RandomForestClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    See `RandomForestClassifier`. For `predict_quantiles` the forest keeps the rows in its leaves, four bytes a row and tree.

    References
    ----------
    N. Meinshausen, "Quantile Regression Forests", JMLR 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ensemble import RandomForestRegressor
    >>> X = np.arange(100.0)[:, None]
    >>> forest = RandomForestRegressor(n_estimators=20, min_samples_leaf=5, random_state=0).fit(X, X[:, 0] ** 2)
    >>> bool(2000 < forest.predict([[50.0]])[0] < 3000)
    True
    >>> forest.predict_quantiles([[50.0]], [0.1, 0.9]).shape
    (1, 2)
    """

    _tree_class = DecisionTreeRegressor

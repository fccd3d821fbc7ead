"""Decision trees of classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._params import Function, Instance, Null, OneOf, RandomState, Rule
from mercer._trees.categories import CATEGORICAL_RULE, UNSEEN_RULE
from mercer._trees.growth import (
    CLASSIFICATION,
    GROWTH_RULES,
    MONOTONE_RULE,
)
from mercer._trees.labels import labels_of, shares_of
from mercer._tuning import Integers, Reals, Space
from mercer.tree._single.decision_tree import DecisionTree


class DecisionTreeClassifier(ClassifierMixin, DecisionTree):  # type: ignore[misc]
    r"""A classification tree (CART): splits of one feature at a time that make the classes of each side as pure as can be.

    A node of weight :math:`w` with class shares :math:`p_k` has the impurity :math:`1 - \sum_k p_k^2` (Gini),
    :math:`-\sum_k p_k \log_2 p_k` (entropy) or :math:`1 - \max_k p_k` (misclassification). Every split is the one that lowers
    the weighted impurity of its two sides most, over all features and all places between two values.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"} or callable, default="gini"
        The impurity; "log_loss" is another name of "entropy". A function is given the shares of the classes, an array of shape
        (n_classes,) and sum one, and says any finite number. It is called for both sides of every place to split, in Python:
        the same splits are found thousands of times more slowly.
    splitter : {"best", "random"}, default="best"
        "best" looks at every place to split, "random" at one random place a feature.
    max_depth : int or None, default=None
        The largest number of splits on the way to a leaf.
    min_samples_split : int or float, default=2
        A node with fewer rows is a leaf; a share of all rows if it is a float.
    min_samples_leaf : int or float, default=1
        Each side of a split must keep so many rows; a share of all rows if it is a float.
    min_weight_fraction_leaf : float, default=0.0
        Each side of a split must keep this share of the total weight.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        How many features a split looks at, drawn anew for every node; None looks at all of them.
    random_state : int, RandomState or None, default=None
        For draws of features and of random places. Without draws the tree does not depend on it.
    max_leaf_nodes : int or None, default=None
        The largest number of leaves; the split that lowers the impurity most then comes first.
    min_impurity_decrease : float, default=0.0
        A split must lower the weighted impurity by this much.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weights of the classes; a list has one dict an output.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning: the cost of a leaf, in units of impurity.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        +1 where the probability of the second class must not fall as the feature rises, -1 where it must not rise, else 0.
        A dict goes by column names. For two classes only.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns whose values are categories: those of a categorical dtype in a pandas or polars table; or a mask, or column
        numbers or names. A split sends a set of categories left: for two classes the best of all sets, for more the best of all
        sets up to nine categories, and beyond that of the sets that begin the order by a class's share and of the single ones.
    unseen : {"missing", "error", "other"}, default="missing"
        A category that training never saw is treated as a missing value, is an error, or goes with the larger side of each
        split.

    Attributes
    ----------
    tree_ : Tree
        The tree, with scikit-learn's arrays.
    classes_ : ndarray of shape (n_classes,) or list of them
        The class labels, of each output if there are several.
    n_classes_ : int or list of int
        Their number.
    n_outputs_ : int
        The number of columns of y.
    max_features_ : int
        The number of features that each split looks at.
    feature_importances_ : ndarray of shape (n_features,)
        The impurity that the splits on each feature remove; they sum to one.
    categories_ : list
        The categories of each column, None for a column of numbers.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Fitting takes O(n d) for ranking by a radix sort and O(n d) a level of the tree. Missing values (NaN) go to the side that is
    better in training; where training had none, to the larger side. Values of a feature that differ by 1e-7
    at most count as one, as in scikit-learn, which rounds X to single precision before; here it keeps the precision that it
    has. Of equally good splits the feature with the lowest number wins, where scikit-learn draws one. Nodes are numbered
    parents first, left before right, also with `max_leaf_nodes`.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees", 1984.

    Examples
    --------
    >>> from mercer.tree import DecisionTreeClassifier
    >>> X = [[5, 0], [5, 1], [10, 2], [10, 2], [5, 1]]
    >>> tree = DecisionTreeClassifier().fit(X, ["Premium", "Premium", "Advanced", "Advanced", "Basic"])
    >>> float(tree.tree_.impurity[0].round(2))
    0.64
    >>> tree.predict([[10, 2], [5, 0]]).tolist()
    ['Advanced', 'Premium']
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "max_depth": Integers(2, 30, log=True),
        "min_samples_leaf": Integers(1, 100, log=True),
        "ccp_alpha": Reals(1e-6, 1e-1, log=True),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **GROWTH_RULES,
        "criterion": OneOf(*CLASSIFICATION) | Function(),
        "splitter": OneOf("best", "random"),
        "random_state": RandomState(),
        "class_weight": Null() | OneOf("balanced") | Instance(dict) | Instance(list),
        "monotonic_cst": MONOTONE_RULE,
        "categorical_features": CATEGORICAL_RULE,
        "unseen": UNSEEN_RULE,
    }

    classes_: Any

    def __init__(
        self,
        *,
        criterion: str | Callable[[FloatArray], float] = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
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
        self.class_weight = class_weight
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
        return self._fit(X, y, sample_weight, is_classifier=True, check_input=check_input)

    def predict(self, X: Any, check_input: bool = True) -> npt.NDArray[Any]:
        """The most frequent class of each row's leaf, of shape (n_samples,) or (n_samples, n_outputs).

        Without `check_input` X is not searched for infinity.
        """
        return labels_of(self._values(X, check_input), self.classes_)

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """The class shares of each row's leaf, of shape (n_samples, n_classes); a list of such for several outputs.

        Without `check_input` X is not searched for infinity.
        """
        return shares_of(self._values(X, check_input), self.classes_)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(each) for each in shares] if isinstance(shares, list) else np.log(shares)

    def leaf_counts(self, node: int, *, output: int = 0) -> dict[Any, Any]:
        """How many training rows of each class a node holds: label to count, or to weight where rows were weighted."""
        check_is_fitted(self)
        tree = self.tree_
        if not 0 <= node < tree.node_count:
            raise ValueError(f"node={node} is not valid; it must be an integer from 0 to {tree.node_count - 1}.")
        classes = self.classes_ if self.n_outputs_ == 1 else self.classes_[output]
        counts = tree.value[node, output, : len(classes)] * tree.weighted_n_node_samples[node]
        is_whole = tree.weighted_n_node_samples[node] == tree.n_node_samples[node]
        numbers = np.rint(counts).astype(int).tolist() if is_whole else counts.tolist()
        return {label: number for label, number in zip(classes.tolist(), numbers, strict=True) if number > 0}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

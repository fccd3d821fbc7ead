"""ID3: trees on discrete attributes with a branch for every value."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real as AnyReal
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._compat import validate_data
from mercer._labels import code_labels
from mercer._params import Integer, Null, OneOf, Real, Rule, check_params
from mercer._trees.categories import UNSEEN, UNSEEN_RULE, CategoryCoder, check_categories
from mercer._trees.store import IntArray
from mercer._tuning import Choices, Integers, Space
from mercer.tree._multiway import MultiwayGrowth, MultiwayTree

_OTHER = -1  # the code of a value that training never saw and that goes with the heaviest branch


class ID3(ClassifierMixin, MercerEstimator):  # type: ignore[misc]
    r"""Quinlan's ID3: a classification tree on discrete attributes that has a branch for every value of an attribute.

    A node with class shares :math:`p_k` has the entropy :math:`H = -\sum_k p_k \log_2 p_k`. Splitting it by an attribute into
    branches of weights :math:`w_v` gains :math:`H - \sum_v \frac{w_v}{w} H_v` bits; the attribute that gains most is taken.

    Parameters
    ----------
    criterion : {"information_gain", "gain_ratio"}, default="information_gain"
        What the best attribute has most of: the gain; or the gain over the entropy of the branches' weights, which does not
        favour attributes of many values, among the attributes of at least average gain.
    max_depth : int or None, default=None
        The largest number of splits on the way to a leaf.
    min_samples_split : int, default=2
        A node with fewer rows is a leaf.
    min_gain : float, default=0.0
        A split must gain this many bits.
    unseen : {"missing", "error", "other"}, default="missing"
        What a prediction does with a value that its column never had in training: treats it as a missing value, raises an
        error, or goes with the heaviest branch of each split.

    Attributes
    ----------
    tree_ : MultiwayTree
        The nodes, level by level: `feature`, `parent`, `code`, `n_rows`, `counts`, `gain`.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    categories_ : list of ndarray
        The values of each attribute.
    feature_importances_ : ndarray of shape (n_features,)
        The entropy that the splits on each attribute remove, weighted by the rows that pass them; they sum to one.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Values of any hashable type will do; of numbers each distinct one is a value of its own. A missing value (NaN, None) is a
    value like any other: it has a branch where training had some. A row whose value has no branch at a node stops there and is
    given the node's own class shares. Fitting takes O(d n log n) a level, and a path splits on an attribute at most once. Of
    attributes that gain the same the first one is taken. For binary splits of numbers and of categories see
    `DecisionTreeClassifier`.

    References
    ----------
    J. R. Quinlan, "Induction of decision trees", Machine Learning 1, 1986.

    Examples
    --------
    >>> from mercer.tree import ID3
    >>> X = [["France", 5], ["Switzerland", 5], ["UAE", 10], ["UAE", 10], ["Switzerland", 5]]
    >>> tree = ID3().fit(X, ["Premium", "Premium", "Advanced", "Advanced", "Basic"])
    >>> print(tree.to_text(feature_names=["country", "wealth"]))
    |--- country = France
    |   |--- class: Premium {Premium: 1}
    |--- country = Switzerland
    |   |--- class: Basic {Basic: 1, Premium: 1}
    |--- country = UAE
    |   |--- class: Advanced {Advanced: 2}
    <BLANKLINE>
    >>> tree.leaf_counts(2)
    {'Basic': 1, 'Premium': 1}
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("allow_nan", "categorical", "string")
    _search_space: ClassVar[Mapping[str, Space]] = {
        "criterion": Choices("information_gain", "gain_ratio"),
        "max_depth": Integers(1, 20, log=True),
        "min_samples_split": Integers(2, 100, log=True),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "criterion": OneOf("information_gain", "gain_ratio"),
        "max_depth": Null() | Integer(1),
        "min_samples_split": Integer(2),
        "min_gain": Real(least=0),
        "unseen": UNSEEN_RULE,
    }

    tree_: MultiwayTree
    classes_: npt.NDArray[Any]

    def __init__(
        self,
        *,
        criterion: str = "information_gain",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_gain: float = 0.0,
        unseen: str = "missing",
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_gain = min_gain
        self.unseen = unseen

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Values of any hashable type; NaN and None are missing.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        params = check_params(self)
        given, y = validate_data(self, X, y, dtype=None, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        weights = check_weights(sample_weight, len(y), np.float64)
        classes, places = code_labels(y)
        is_kept = slice(None) if weights is None else weights > 0  # a row of weight 0 has no values either
        table = _tidy(given[is_kept])
        coder = CategoryCoder(_levels(self, table), getattr(self, "feature_names_in_", None))
        growth = MultiwayGrowth(
            params.criterion,
            np.inf if params.max_depth is None else params.max_depth,
            params.min_samples_split,
            params.min_gain,
        )
        task = FitTask.start(self, X, y)
        kept_weights = np.ones(len(table)) if weights is None else weights[is_kept]
        tree = growth.grow(_codes(coder, table, "error"), places[is_kept], len(classes), kept_weights)
        attributes = {"tree_": tree, "classes_": classes, "categories_": list(coder.categories), "_coder": coder}
        return self._finish(task, attributes)

    def apply(self, X: Any) -> IntArray:
        """The number of the node where each row ends, of shape (n_samples,)."""
        check_is_fitted(self)
        unseen = check_params(self).unseen
        table = _tidy(validate_data(self, X, dtype=None, ensure_all_finite="allow-nan", reset=False))
        return self.tree_.apply(_codes(self._coder, table, unseen), _OTHER)

    def predict_proba(self, X: Any) -> FloatArray:
        """The class shares of the node where each row ends, of shape (n_samples, n_classes)."""
        nodes = self.apply(X)
        return np.asarray(self.tree_.counts[nodes] / self.tree_.weight[nodes, None])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most frequent class of the node where each row ends, of shape (n_samples,)."""
        nodes = self.apply(X)
        return np.asarray(self.classes_[self.tree_.counts.argmax(axis=1)[nodes]])

    @property
    def feature_importances_(self) -> FloatArray:
        """The entropy that the splits on each attribute remove, weighted by the rows that pass them; they sum to one."""
        check_is_fitted(self)
        tree = self.tree_
        splits = tree.feature >= 0
        removed = np.bincount(tree.feature[splits], (tree.weight * tree.gain)[splits], self.n_features_in_)
        return np.asarray(removed / removed.sum() if removed.sum() > 0 else removed)

    def get_depth(self) -> int:
        """How many splits lead to the deepest leaf."""
        check_is_fitted(self)
        return int(self.tree_.depths.max())

    def get_n_leaves(self) -> int:
        check_is_fitted(self)
        return int((self.tree_.feature < 0).sum())

    def leaf_counts(self, node: int) -> dict[Any, Any]:
        """How many training rows of each class a node holds: label to count, or to weight where rows were weighted."""
        check_is_fitted(self)
        if not 0 <= node < self.tree_.node_count:
            raise ValueError(f"node={node} is not valid; it must be an integer from 0 to {self.tree_.node_count - 1}.")
        counts = self.tree_.counts[node]
        numbers = counts.astype(int).tolist() if (counts == np.rint(counts)).all() else counts.tolist()
        return {label: number for label, number in zip(self.classes_.tolist(), numbers, strict=True) if number > 0}

    def to_text(self, *, feature_names: Any = None) -> str:
        """The rules as text, a line a branch; a leaf says its class and its counts.

        Parameters
        ----------
        feature_names : array-like of str or None, default=None
            None takes the column names of the fit, or "feature_0", "feature_1", … where there were none.
        """
        check_is_fitted(self)
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", [f"feature_{j}" for j in range(self.n_features_in_)])
        if len(feature_names) != self.n_features_in_:
            raise ValueError(
                f"feature_names must contain {self.n_features_in_} elements, one an attribute; got {len(feature_names)}."
            )
        lines, waiting = [], [(0, 0)]
        while waiting:
            node, depth = waiting.pop()
            if node > 0:
                lines.append("|   " * (depth - 1) + f"|--- {self._branch_text(node, feature_names)}")
            if self.tree_.feature[node] < 0:
                counts = ", ".join(f"{label}: {count:g}" for label, count in self.leaf_counts(node).items())
                label = self.classes_[self.tree_.counts[node].argmax()]
                lines.append("|   " * depth + f"|--- class: {label} {{{counts}}}")
            waiting += [(child, depth + 1) for child in reversed(self.tree_.children(node))]
        return "\n".join(lines) + "\n"

    def value_of_branch(self, node: int) -> str:
        """The value of the attribute that leads from a node's parent to it, as text; "missing" where there is none."""
        check_is_fitted(self)
        if not 0 < node < self.tree_.node_count:
            raise ValueError(f"node={node} is not valid; it must be an integer from 1 to {self.tree_.node_count - 1}.")
        feature, code = int(self.tree_.feature[self.tree_.parent[node]]), int(self.tree_.code[node])
        levels = self._coder.categories[feature]
        if code == len(levels):
            return "missing"
        return f"{levels[code]:g}" if isinstance(levels[code], float) else str(levels[code])

    def _branch_text(self, node: int, names: Any) -> str:
        feature, code = int(self.tree_.feature[self.tree_.parent[node]]), int(self.tree_.code[node])
        levels = self._coder.categories[feature]
        return f"{names[feature]} = {levels[code]}" if code < len(levels) else f"{names[feature]} is missing"


def _tidy(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers of any type as float64, so that 1 and 1.0 are one value; objects as they are, but for numbers among them."""
    if X.dtype.kind in "biuf":
        return np.asarray(X, dtype=np.float64)
    if X.dtype.kind != "O":
        return X
    out = X.copy()
    for j in range(X.shape[1]):
        if all(isinstance(value, AnyReal) for value in X[:, j].tolist()):
            out[:, j] = X[:, j].astype(np.float64)
    return out.astype(np.float64) if all(type(value) is float for value in out.ravel().tolist()) else out


def _levels(estimator: Any, X: npt.NDArray[Any]) -> tuple[npt.NDArray[Any] | None, ...]:
    """The sorted values of every attribute."""
    if X.dtype.kind != "f":
        return check_categories(estimator, X, np.ones(X.shape[1], dtype=bool)).categories
    columns = [np.sort(column[~np.isnan(column)]) for column in X.T]
    return tuple(column[np.diff(column, prepend=np.nan) != 0] for column in columns)


def _codes(coder: CategoryCoder, X: npt.NDArray[Any], unseen: str) -> IntArray:
    """The place of each value among its attribute's; a missing one comes after them all, `_OTHER` where `unseen` says so."""
    numbers = _encode_numbers(coder, X, unseen) if X.dtype.kind == "f" else coder.encode(X, unseen)
    missing = np.array([len(levels) for levels in coder.categories if levels is not None])
    return np.where(np.isnan(numbers), missing, np.where(numbers == UNSEEN, _OTHER, numbers)).astype(np.int64)


def _encode_numbers(coder: CategoryCoder, X: FloatArray, unseen: str) -> FloatArray:
    """What `coder.encode` gives, by searching the sorted values."""
    out = np.empty(X.shape)
    for j, levels in enumerate(coder.categories):
        if levels is None or not len(levels):  # a column without a single value
            return coder.encode(X, unseen)
        column = np.ascontiguousarray(X[:, j])
        places = np.minimum(np.searchsorted(levels, column), len(levels) - 1)
        is_strange = (levels[places] != column) & ~np.isnan(column)
        if unseen == "error" and is_strange.any():
            return coder.encode(X, unseen)  # which says what is wrong
        out[:, j] = np.where(is_strange, np.nan if unseen == "missing" else UNSEEN, places)
        out[np.isnan(column), j] = np.nan
    return out

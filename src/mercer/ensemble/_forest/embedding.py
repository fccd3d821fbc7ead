"""Totally random trees as a transformation: the leaves that a row falls into."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from mercer._base import fit_method
from mercer._params import Bool, Rule, check_params
from mercer._random import as_random_state
from mercer._trees.store import TreeStore
from mercer._trees.training import Training
from mercer.ensemble._forest.bags import Bags
from mercer.ensemble._forest.base import Forest
from mercer.ensemble._forest.sampling import FOREST_RULES
from mercer.tree import ExtraTreeRegressor

# What the trees are not asked: one random feature and one random place a node, on all rows.
_FIXED: dict[str, Any] = {
    "criterion": "squared_error",
    "max_features": 1,
    "bootstrap": False,
    "oob_score": False,
    "max_samples": None,
    "ccp_alpha": 0.0,
    "monotonic_cst": None,
    "tree_weights": None,
    "oob_importance": False,
}


class RandomTreesEmbedding(TransformerMixin, Forest):  # type: ignore[misc]
    r"""Rows as the leaves of totally random trees: a sparse code in which near rows share entries.

    Every node of every tree is split at a random place of one random feature, whatever the target. A row becomes a vector with
    a one for the leaf that it reaches in each tree, and zeros: :math:`n_{trees}` ones among at most
    :math:`n_{trees} 2^{max\_depth}` entries. Products of these vectors estimate how near rows are.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    max_depth : int or None, default=5
        The largest number of splits on the way to a leaf.
    min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, min_impurity_decrease
        As for `ExtraTreesRegressor`; the impurity is that of a random target.
    sparse_output : bool, default=True
        Whether `transform` gives a sparse matrix or an array.
    n_jobs, random_state, verbose, warm_start
        As for `RandomForestClassifier`.
    categorical_features, unseen
        As for `ExtraTreesRegressor`.

    Attributes
    ----------
    estimators_ : sequence of ExtraTreeRegressor
        The trees: views of one store, made when they are looked at.
    one_hot_encoder_ : OneHotEncoder
        What writes the leaves as ones and zeros.
    estimator_, estimators_samples_, feature_importances_, tree_weights_, n_outputs_, categories_
        As for `ExtraTreesRegressor`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A tree takes O(n) a level.

    References
    ----------
    P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> from mercer.ensemble import RandomTreesEmbedding
    >>> X = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]]
    >>> embedding = RandomTreesEmbedding(n_estimators=5, max_depth=1, random_state=0).fit(X)
    >>> embedding.transform(X).sum(axis=1).ravel().tolist()
    [[5.0, 5.0, 5.0, 5.0, 5.0]]
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **{name: rule for name, rule in FOREST_RULES.items() if name not in _FIXED},
        "sparse_output": Bool(),
    }
    _tree_class = ExtraTreeRegressor
    _splitter = "random"

    criterion = "squared_error"
    max_features = 1
    one_hot_encoder_: OneHotEncoder

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 5,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        sparse_output: bool = True,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.unseen = unseen

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            NaN is a missing value. Sparse rows stay sparse, unless most of their values are not zero.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 0 takes no part.

        Returns
        -------
        self
        """
        params, shape = check_params(self), (X if hasattr(X, "shape") else np.asarray(X)).shape
        y = as_random_state(params.random_state).uniform(size=shape[:1])
        return self._fit(X, y, sample_weight, is_classifier=False)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit to X and give the leaves of its rows."""
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def transform(self, X: Any) -> Any:
        """The leaves of each row, as ones and zeros of shape (n_samples, n_leaves)."""
        check_is_fitted(self)
        return self.one_hot_encoder_.transform(self.apply(X))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of the entries, `randomtreesembedding_{tree}_{leaf}`; a leaf goes by its number among the tree's nodes."""
        check_is_fitted(self)
        if input_features is not None and len(input_features) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), got "
                f"{len(input_features)}"
            )
        if input_features is not None and not np.array_equal(
            input_features, getattr(self, "feature_names_in_", input_features)
        ):
            raise ValueError("input_features is not equal to feature_names_in_")
        leaves = self.one_hot_encoder_.categories_
        names = [f"randomtreesembedding_{tree}_{leaf}" for tree, own in enumerate(leaves) for leaf in own]
        return np.asarray(names, dtype=object)

    def _checked_params(self) -> Any:
        return SimpleNamespace(**vars(check_params(self)), **_FIXED)

    def _tree_params(self) -> dict[str, Any]:
        return {**super()._tree_params(), "max_features": self.max_features}

    def _facts(self, store: TreeStore, new: TreeStore, bags: Bags, data: Training, n_threads: int) -> dict[str, Any]:
        encoder = OneHotEncoder(sparse_output=self.sparse_output).fit(store.apply(data.X, n_threads=n_threads))
        return {"one_hot_encoder_": encoder, "_n_features_out": sum(map(len, encoder.categories_))}

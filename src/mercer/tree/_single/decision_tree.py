"""A decision tree: what trees of classes and of numbers have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import MultiOutputMixin, clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, MercerEstimator
from mercer._candidates import Candidates
from mercer._parallel import effective_threads
from mercer._params import check_params
from mercer._trees.growth import (
    check_directions,
    count_features,
    make_growth,
    make_seeds,
)
from mercer._trees.pruning import prune, pruning_path
from mercer._trees.store import IntArray, Tree, TreeStore
from mercer._trees.training import Training, check_query, check_training, require_counts
from mercer._trees.variants import largest, parameters_of_variants, variants


class DecisionTree(MultiOutputMixin, MercerEstimator):  # type: ignore[misc]
    """What both kinds of tree share."""

    _input_tags: ClassVar[tuple[str, ...]] = ("allow_nan", "sparse", "categorical")
    tree_: Tree
    n_outputs_: int
    max_leaf_nodes: int | None

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, is_classifier: bool, check_input: bool = True) -> Self:
        params = check_params(self)
        data = self._training(X, y, sample_weight, params, is_classifier=is_classifier, check_input=check_input)
        task = FitTask.start(self, X, y)
        attributes = self._attributes(prune(self._grow(params, data), params.ccp_alpha), params, data)
        return self._finish(task, attributes)

    def _training(
        self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace, *, is_classifier: bool, check_input: bool = True
    ) -> Training:
        data = check_training(
            self,
            X,
            y,
            sample_weight,
            is_classifier=is_classifier,
            categorical_features=params.categorical_features,
            class_weight=getattr(params, "class_weight", None),
            check_input=check_input,
        )
        require_counts(params.criterion, data)
        return data

    def _grow(self, params: SimpleNamespace, data: Training) -> TreeStore:
        """The tree before it is pruned."""
        directions = check_directions(params.monotonic_cst, data.targets, data.coder.mask, data.coder.names)
        growth = make_growth(params, data.targets, data.weights, data.X.shape[1], directions)
        n_threads = effective_threads(None)
        seeds = make_seeds(check_random_state(params.random_state), 1)
        columns = growth.columns(data.X, data.coder.flags, n_threads, n_trees=1)
        return growth.grow(columns, data.targets, data.weights, seeds=seeds, n_threads=n_threads)

    def _attributes(self, store: TreeStore, params: SimpleNamespace, data: Training) -> dict[str, Any]:
        return {
            "tree_": store[0],
            "max_features_": count_features(params.max_features, data.X.shape[1]),
            "_coder": data.coder,
            "_has_one_output": data.has_one_output,
            **data.label_attributes(),
        }

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes."""
        return parameters_of_variants(self.max_leaf_nodes)

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each value in the order given, from one tree that is cut or pruned.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : {"max_depth", "ccp_alpha"}
        values : sequence

        Returns
        -------
        iterator of estimators
        """
        candidates = Candidates(self, name, values, self.sweep_parameters())
        first, grown = candidates.estimators[0], largest(name, candidates.params)
        data = first._training(X, y, sample_weight, grown, is_classifier=is_classifier(self))
        candidates.share_input(first)
        stores = variants(first._grow(grown, data), name, candidates.params)
        for each, params, store in zip(candidates.estimators, candidates.params, stores, strict=True):
            each._store(each._attributes(store, params, data))
        return iter(candidates.estimators)

    def _values(self, X: Any, check_input: bool = True) -> FloatArray:
        """The values of each row's leaf, of shape (n_rows, n_outputs, n_values)."""
        check_is_fitted(self)
        return self.tree_.leaf_values(check_query(self, X, check_input=check_input), n_threads=effective_threads(None))

    @property
    def feature_importances_(self) -> FloatArray:
        """The impurity that the splits on each feature remove, weighted by the rows that pass them; they sum to one."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    @property
    def categories_(self) -> list[npt.NDArray[Any] | None]:
        """The categories of each column, None for a column of numbers."""
        check_is_fitted(self)
        return list(self._coder.categories)

    def get_depth(self) -> int:
        """How many splits lead to the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        check_is_fitted(self)
        return self.tree_.n_leaves

    def apply(self, X: Any, check_input: bool = True) -> IntArray:
        """The number of each row's leaf, of shape (n_rows,). Without `check_input` X is not searched for infinity."""
        check_is_fitted(self)
        return self.tree_.apply(check_query(self, X, check_input=check_input), n_threads=effective_threads(None))

    def decision_path(self, X: Any, check_input: bool = True) -> sp.csr_matrix:
        """The nodes on each row's way to its leaf, as a sparse indicator of shape (n_rows, n_nodes).

        Without `check_input` X is not searched for infinity.
        """
        check_is_fitted(self)
        return self.tree_.decision_path(check_query(self, X, check_input=check_input), n_threads=effective_threads(None))

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The values of `ccp_alpha` at which the tree grown on X and y loses a branch, and the impurity of the leaves after it.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        Bunch with `ccp_alphas` and `impurities`, both of shape (n_steps,)
        """
        return pruning_path(clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight).tree_)

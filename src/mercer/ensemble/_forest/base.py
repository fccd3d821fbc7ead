"""Forests: trees grown side by side on columns that are ranked once, kept in one store."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, MercerEstimator
from mercer._parallel import effective_threads
from mercer._params import check_params
from mercer._trace import log, warn
from mercer._trees.growth import check_directions, count_features, make_growth
from mercer._trees.pruning import prune
from mercer._trees.store import IntArray, TreeStore
from mercer._trees.training import Training, check_query, check_training, require_counts
from mercer.ensemble._forest.bags import Bags, count_draws, make_states
from mercer.ensemble._forest.balanced import grow_balanced
from mercer.ensemble._forest.out_of_bag import OutOfBag, look_out_of_bag
from mercer.ensemble._forest.sampling import check_sampling, class_weight_of_all, needs_left_out
from mercer.ensemble._forest.tree_sequence import TreeSequence
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor


class Forest(MultiOutputMixin, MercerEstimator):  # type: ignore[misc]
    """What all forests share. The trees are in `_trees`, and what each of them was grown on in `_bags`."""

    _input_tags: ClassVar[tuple[str, ...]] = ("allow_nan", "sparse", "categorical")
    _tree_class: ClassVar[type[DecisionTreeClassifier] | type[DecisionTreeRegressor]]
    _splitter: ClassVar[str] = "best"
    _optional: ClassVar[tuple[str, ...]] = ("oob_score_", "oob_decision_function_", "oob_prediction_", "_oob_importance")

    _trees: TreeStore
    _bags: tuple[Bags, ...]
    _vote_weights: FloatArray | None
    n_outputs_: int
    n_features_in_: int

    # ---- fitting

    def _checked_params(self) -> Any:
        return check_params(self)

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, is_classifier: bool) -> Self:
        params = self._checked_params()
        data = self._training(X, y, sample_weight, params, is_classifier=is_classifier)
        task = FitTask.start(self, X, y)
        n_threads = effective_threads(params.n_jobs)
        earlier = self._earlier(params, data)
        bags = self._draw(params, data, 0 if earlier is None else len(earlier))
        facts = {}
        if earlier is not None and not len(bags):
            store = earlier
        else:
            new = self._grow(params, data, bags, n_threads)
            store = new if earlier is None else TreeStore.join([earlier, new])
            facts = self._facts(store, new, bags, data, n_threads)
        all_bags = (bags,) if earlier is None else (*self._bags, *((bags,) if len(bags) else ()))
        attributes = self._attributes(params, data, store, all_bags) | facts
        return self._finish(task, attributes, unset=self._optional)

    def _training(self, X: Any, y: Any, sample_weight: Any, params: Any, *, is_classifier: bool) -> Training:
        """What a fit is given, checked."""
        check_sampling(params)
        if sp.issparse(y):
            raise ValueError("y is sparse: sparse multilabel-indicator for y is not supported. Give y.toarray().")
        data = check_training(
            self,
            X,
            y,
            sample_weight,
            is_classifier=is_classifier,
            categorical_features=params.categorical_features,
            class_weight=class_weight_of_all(params),
        )
        require_counts(params.criterion, data)
        return data

    def _attributes(
        self, params: Any, data: Training, store: TreeStore, bags: tuple[Bags, ...], found: OutOfBag | None = None
    ) -> dict[str, Any]:
        """What a forest is; `found` is what was found out of its bags, if anything was looked for."""
        if found is None and needs_left_out(params):
            found = self._look_out_of_bag(params, store, bags, data)
        fixed = {"_trees": store, "_bags": bags, "_coder": data.coder, "_has_one_output": data.has_one_output}
        return data.label_attributes() | fixed | self._left_out_attributes(params, data, found)

    def _earlier(self, params: Any, data: Training) -> TreeStore | None:
        """The trees that a warm start goes on from."""
        if not params.warm_start or not hasattr(self, "_trees"):
            return None
        n_earlier = len(self._trees)
        if params.n_estimators < n_earlier:
            raise ValueError(
                f"n_estimators={params.n_estimators} must be larger or equal to len(estimators_)={n_earlier} when "
                "warm_start==True"
            )
        if self._trees.n_features != data.X.shape[1] or not _are_equal(self._coder.categories, data.coder.categories):
            raise ValueError("warm_start=True goes on with the same features; fit a new forest for others.")
        if data.classes and not _are_equal(data.classes, self.classes_ if self.n_outputs_ > 1 else [self.classes_]):
            raise ValueError(
                f"warm_start=True goes on with the classes of the first fit; y holds others: {data.classes}. Fit a new forest."
            )
        if params.n_estimators == n_earlier:
            warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return self._trees

    def _draw(self, params: Any, data: Training, n_earlier: int) -> Bags:
        """The draws of the new trees."""
        n_rows = data.targets.n_rows
        n_draws = count_draws(params.max_samples, n_rows, data.weights) if params.bootstrap else 0
        states = make_states(params.random_state, params.n_estimators - n_earlier, n_earlier)
        return Bags.make(states, n_rows, n_draws, data.weights)

    def _grow(self, params: Any, data: Training, bags: Bags, n_threads: int) -> TreeStore:
        directions = check_directions(params.monotonic_cst, data.targets, data.coder.mask, data.coder.names)
        params.splitter = self._splitter
        n_features = data.X.shape[1]
        growth = make_growth(params, data.targets, data.weights, n_features, directions, n_draws=bags.n_draws)
        columns = growth.columns(data.X, data.coder.flags, n_threads, n_trees=len(bags))
        log(params.verbose, "%s: growing %d trees on %d rows", type(self).__name__, len(bags), bags.n_rows)
        if bags.n_draws and getattr(params, "class_weight", None) == "balanced_subsample":
            store = grow_balanced(growth, columns, data, bags, n_threads)
        else:
            store = growth.grow(
                columns, data.targets, data.weights, seeds=bags.seeds, n_draws=bags.n_draws, n_threads=n_threads
            )
        log(params.verbose, "%s: %d nodes", type(self).__name__, len(store.nodes))
        return prune(store, params.ccp_alpha)

    def _facts(self, store: TreeStore, new: TreeStore, bags: Bags, data: Training, n_threads: int) -> dict[str, Any]:
        """What else is kept of the trees, or of those among them that are new."""
        return {}

    def _look_out_of_bag(self, params: Any, store: TreeStore, bags: tuple[Bags, ...], data: Training) -> OutOfBag:
        is_weighted, has_importance = params.tree_weights == "oob", params.oob_importance
        return look_out_of_bag(
            store, Bags.join(bags), data.X, data.targets,
            is_weighted=is_weighted, has_importance=has_importance, n_threads=effective_threads(params.n_jobs),
        )  # fmt: skip

    def _left_out_attributes(self, params: Any, data: Training, found: OutOfBag | None) -> dict[str, Any]:
        if found is None:
            return {"_vote_weights": None}
        attributes: dict[str, Any] = {"_vote_weights": found.weights if params.tree_weights == "oob" else None}
        if params.oob_importance:
            attributes["_oob_importance"] = found.importance
        if params.oob_score:
            if not found.is_known.all():
                warn(
                    f"Some inputs do not have OOB scores: {int((~found.is_known).sum())} rows are in the bag of every tree; "
                    "more trees (n_estimators) would leave each of them out."
                )
            attributes |= self._score_out_of_bag(found, data, params.oob_score)
        return attributes

    def _score_out_of_bag(self, found: OutOfBag, data: Training, scoring: Any) -> dict[str, Any]:
        raise NotImplementedError

    # ---- what was fitted

    @property
    def estimators_(self) -> TreeSequence:
        """The trees as estimators: each is made when it is looked at, and is a view of the one store."""
        check_is_fitted(self)
        return TreeSequence(self._member, len(self._trees))

    @property
    def estimator(self) -> Any:
        """A tree of the forest's kind with the defaults of its class, as scikit-learn's forests have it."""
        return self._tree_class()

    @property
    def estimator_(self) -> Any:
        """The estimator that the trees are instances of, not fitted."""
        check_is_fitted(self)
        return self._tree_class(**self._tree_params())

    @property
    def estimators_samples_(self) -> list[npt.NDArray[np.signedinteger[Any]]]:
        """The rows that each tree was grown on, as often as they were drawn; drawn anew at every look."""
        check_is_fitted(self)
        return [_short(bags.rows(member)) for bags in self._bags for member in range(len(bags))]

    @property
    def tree_weights_(self) -> FloatArray:
        """The weight of each tree's vote; they sum to one."""
        check_is_fitted(self)
        n_trees = len(self._trees)
        return np.full(n_trees, 1 / n_trees) if self._vote_weights is None else self._vote_weights

    @property
    def feature_importances_(self) -> FloatArray:
        """The impurity that the splits on each feature remove: the mean over the trees of their importances, of sum one."""
        check_is_fitted(self)
        trees = [self._trees[index] for index in range(len(self._trees))]
        each = [tree.compute_feature_importances() for tree in trees if tree.node_count > 1]
        if not each:
            return np.zeros(self.n_features_in_)
        mean = np.mean(each, axis=0)
        return np.asarray(mean / mean.sum()) if mean.sum() > 0 else mean

    @property
    def oob_permutation_importance_(self) -> FloatArray:
        """How much the error of a tree on the rows out of its bag rises when a feature is permuted among them; the mean."""
        check_is_fitted(self)
        if not hasattr(self, "_oob_importance"):
            raise AttributeError("oob_permutation_importance_ is there after a fit with oob_importance=True.")
        return np.asarray(self._oob_importance)

    @property
    def categories_(self) -> list[npt.NDArray[Any] | None]:
        """The categories of each column, None for a column of numbers."""
        check_is_fitted(self)
        return list(self._coder.categories)

    def _tree_params(self) -> dict[str, Any]:
        names = self._tree_class().get_params(deep=False).keys() & self.get_params(deep=False).keys()
        params = {name: getattr(self, name) for name in names - {"random_state"}}
        if params.get("class_weight") == "balanced_subsample":
            params["class_weight"] = "balanced"  # what it is for one tree
        return {**params, "splitter": self._splitter}

    def _member(self, index: int) -> Any:
        states = np.concatenate([bags.states for bags in self._bags])
        member: Any = self._tree_class(**self._tree_params(), random_state=int(states[index]))
        shared = ("n_outputs_", "classes_", "n_classes_", "n_features_in_", "feature_names_in_", "_coder", "_has_one_output")
        member._store({name: getattr(self, name) for name in shared if hasattr(self, name)})
        member._store({"tree_": self._trees[index], "max_features_": count_features(self.max_features, self.n_features_in_)})
        return member

    # ---- predicting

    def _mean_numbers(self, X: Any) -> FloatArray:
        """The mean of the leaves' own numbers: a regression target, or the share of the second of two classes."""
        check_is_fitted(self)
        X, n_threads = check_query(self, X), effective_threads(self.n_jobs)
        return self._trees.sum_leaves(X, n_threads=n_threads)[:, 0] / len(self._trees)

    def _mean_values(self, X: Any) -> FloatArray:
        """The weighted mean of the leaves' values, of shape (n_rows, n_outputs, n_values)."""
        check_is_fitted(self)
        X, n_threads = check_query(self, X), effective_threads(self.n_jobs)
        if self._vote_weights is not None:
            return self._trees.sum_values(X, weights=self._vote_weights, n_threads=n_threads)
        return self._trees.sum_values(X, n_threads=n_threads) / len(self._trees)

    def apply(self, X: Any) -> IntArray:
        """The number of each row's leaf in each tree, of shape (n_samples, n_estimators)."""
        check_is_fitted(self)
        return self._trees.apply(check_query(self, X), n_threads=effective_threads(self.n_jobs))

    def decision_path(self, X: Any) -> tuple[sp.csr_matrix, IntArray]:
        """The nodes on each row's way to its leaves.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            1 where a row passes a node; the nodes of all trees side by side.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Where each tree's nodes begin.
        """
        check_is_fitted(self)
        X, n_threads = check_query(self, X), effective_threads(self.n_jobs)
        parts = [self._trees[index].decision_path(X, n_threads=n_threads) for index in range(len(self._trees))]
        return sp.hstack(parts).tocsr(), self._trees.starts

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Any:
        return iter(self.estimators_)


def _short(rows: npt.NDArray[np.intp]) -> npt.NDArray[np.signedinteger[Any]]:
    """Row numbers in four bytes each, as scikit-learn gives them, wherever they have room."""
    return rows.astype(np.int32) if rows.max(initial=0) <= np.iinfo(np.int32).max else rows


def _are_equal(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))

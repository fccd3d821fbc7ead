"""Forests for numbers: what they predict, whichever way their trees were grown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._parallel import effective_threads
from mercer._params import InvalidParameterError, OneOf, Rule
from mercer._trees.growth import REGRESSION
from mercer._trees.store import TreeStore
from mercer._trees.training import Training, check_query
from mercer._tuning import Integers, OutOfBagView, Reals, Space
from mercer.ensemble._forest.bags import Bags
from mercer.ensemble._forest.base import Forest
from mercer.ensemble._forest.leaf_rows import LeafRows
from mercer.ensemble._forest.out_of_bag import OutOfBag
from mercer.ensemble._forest.sampling import FOREST_RULES
from mercer.ensemble._forest.sweep import ForestSweep
from mercer.metrics import r2_score


class ForestRegressor(ForestSweep, RegressorMixin, Forest):  # type: ignore[misc]
    """A forest whose trees predict numbers; the leaves keep their training targets, so that quantiles can be told as well."""

    _search_space: ClassVar[Mapping[str, Space]] = {
        "max_features": Reals(0.1, 1.0),
        "min_samples_leaf": Integers(1, 50, log=True),
        "max_depth": Integers(3, 40, log=True),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {**FOREST_RULES, "criterion": OneOf(*REGRESSION)}

    _leaf_rows: LeafRows

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
        bootstrap: bool = True,
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
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.tree_weights = tree_weights
        self.oob_importance = oob_importance

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            NaN is a missing value. Sparse rows stay sparse, unless most of their values are not zero.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            With a bootstrap, rows are drawn in proportion to their weights; without one, they weigh so much in every tree.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, is_classifier=False)

    def predict(self, X: Any) -> FloatArray:
        """The mean over the trees of the value of each row's leaf, of shape (n_samples,) or (n_samples, n_outputs)."""
        check_is_fitted(self)
        if self.n_outputs_ == 1 and self._vote_weights is None:
            values = self._mean_numbers(X)[:, None]
        else:
            values = self._mean_values(X)[:, :, 0]
        return values[:, 0] if self._has_one_output else values

    def predict_quantiles(self, X: Any, quantiles: Any = 0.5) -> FloatArray:
        """Quantiles of the target, given each row.

        The training rows that share a leaf with a row, each weighing what it weighs in `predict`, are the forest's estimate
        of the target's distribution; its mean is what `predict` gives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        quantiles : float or array-like of shape (n_quantiles,), default=0.5
            From 0 to 1. The quantile q is the least target at which the distribution function reaches q.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_quantiles) if `quantiles` is an array
            With several outputs these follow the first axis.
        """
        check_is_fitted(self)
        wanted = np.asarray(quantiles, dtype=np.float64)
        if wanted.ndim > 1 or not ((wanted >= 0) & (wanted <= 1)).all():
            raise InvalidParameterError(
                f"quantiles={quantiles!r} is not valid; it must be a number from 0 to 1 or a list of such."
            )
        rows, n_threads = check_query(self, X), effective_threads(self.n_jobs)
        out = self._leaf_rows.quantiles(self._trees, rows, np.atleast_1d(wanted), self._vote_weights, n_threads)
        out = out[:, 0] if self._has_one_output else out
        return out[..., 0] if wanted.ndim == 0 else out

    def _facts(self, store: TreeStore, new: TreeStore, bags: Bags, data: Training, n_threads: int) -> dict[str, Any]:
        found = LeafRows.find(new, bags, data.X, data.targets.values, data.weights, n_threads)
        return {"_leaf_rows": found if new is store else self._leaf_rows.joined(found)}

    def _score_out_of_bag(self, found: OutOfBag, data: Training, scoring: Any) -> dict[str, Any]:
        predictions, truth = found.predictions[:, :, 0], data.targets.values
        if data.has_one_output:
            predictions, truth = predictions[:, 0], truth[:, 0]
        score = scoring if callable(scoring) else r2_score
        return {
            "oob_prediction_": predictions,
            "oob_score_": float(score(truth[found.is_known], predictions[found.is_known])),
        }

    def _left_out_view(self, found: OutOfBag, data: Training) -> OutOfBagView:
        values = found.predictions[found.is_known, :, 0]
        return OutOfBagView(found.is_known, values[:, 0] if data.has_one_output else values)

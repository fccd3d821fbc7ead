"""Forests for classes: what they predict, whichever way their trees were grown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from mercer._base import fit_method
from mercer._params import Instance, Null, OneOf, Rule
from mercer._trees.growth import CLASSIFICATION
from mercer._trees.labels import labels_of, shares_of
from mercer._trees.training import Training
from mercer._tuning import Integers, OutOfBagView, Reals, Space
from mercer.ensemble._forest.base import Forest
from mercer.ensemble._forest.out_of_bag import OutOfBag
from mercer.ensemble._forest.sampling import FOREST_RULES
from mercer.ensemble._forest.sweep import ForestSweep
from mercer.metrics import accuracy_score


class ForestClassifier(ForestSweep, ClassifierMixin, Forest):  # type: ignore[misc]
    """A forest whose trees vote for classes, each by the shares in its leaf."""

    _search_space: ClassVar[Mapping[str, Space]] = {
        "max_features": Reals(0.1, 1.0),
        "min_samples_leaf": Integers(1, 50, log=True),
        "max_depth": Integers(3, 40, log=True),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **FOREST_RULES,
        "criterion": OneOf(*CLASSIFICATION),
        "class_weight": Null() | OneOf("balanced", "balanced_subsample") | Instance(dict) | Instance(list),
    }

    classes_: Any

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
        bootstrap: bool = True,
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
        self.class_weight = class_weight
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
        return self._fit(X, y, sample_weight, is_classifier=True)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of largest mean share, of shape (n_samples,) or (n_samples, n_outputs)."""
        if self._is_one_share:
            return np.asarray(self.classes_.take(self._mean_numbers(X) > 0.5))
        return labels_of(self._mean_values(X), self.classes_)

    def predict_proba(self, X: Any) -> Any:
        """The mean over the trees of the class shares in each row's leaf, of shape (n_samples, n_classes).

        A list of such for several outputs.
        """
        if self._is_one_share:
            second = self._mean_numbers(X)
            return np.stack([1 - second, second], axis=1)
        return shares_of(self._mean_values(X), self.classes_)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(each) for each in shares] if isinstance(shares, list) else np.log(shares)

    @property
    def _is_one_share(self) -> bool:
        """Whether a leaf's own number, the share of the second of two classes, says it all."""
        check_is_fitted(self)
        return self.n_outputs_ == 1 and self._vote_weights is None and len(self.classes_) == 2

    def _training(self, X: Any, y: Any, sample_weight: Any, params: Any, *, is_classifier: bool) -> Training:
        data = super()._training(X, y, sample_weight, params, is_classifier=is_classifier)
        if params.oob_score is True and (kind := type_of_target(np.asarray(y))) == "multiclass-multioutput":
            raise ValueError(
                f"oob_score=True is not valid: The type of target cannot be used to compute OOB estimates. Got {kind}, "
                "for which there is no accuracy and no `score`; give a function of true and predicted labels as oob_score."
            )
        return data

    def _score_out_of_bag(self, found: OutOfBag, data: Training, scoring: Any) -> dict[str, Any]:
        shares = np.moveaxis(found.predictions, 1, 2)  # scikit-learn's order: the outputs last
        codes, is_known = found.predictions.argmax(axis=2)[found.is_known], found.is_known
        classes = data.classes
        truth, answers = (
            np.stack([each.take(part) for each, part in zip(classes, given.T, strict=True)], axis=1)
            for given in (data.targets.values[is_known], codes)
        )
        if len(classes) == 1:
            shares, truth, answers = shares[:, :, 0], truth[:, 0], answers[:, 0]
        score = scoring if callable(scoring) else accuracy_score  # of several outputs: a row is right if all of them are
        return {"oob_decision_function_": shares, "oob_score_": float(score(truth, answers))}

    def _left_out_view(self, found: OutOfBag, data: Training) -> OutOfBagView:
        classes: Any = data.classes[0] if len(data.classes) == 1 else data.classes
        values = found.predictions[found.is_known]
        return OutOfBagView(found.is_known, labels_of(values, classes), shares_of(values, classes), classes, "classifier")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

"""What bagging of classifiers and of regressors share: parameters, draws, members and what is left out of their bags."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._parallel import effective_threads
from mercer._params import Bool, Fittable, Integer, Null, Real, Rule, check_params
from mercer._trace import log, warn
from mercer._tuning import Integers, Reals, Space
from mercer.ensemble._bagging.bag import Bag, LeftOut
from mercer.ensemble._bagging.data import BagData, check_data
from mercer.ensemble._bagging.draws import BagDraws, Indices
from mercer.ensemble._bagging.members import BagMembers, asked_method
from mercer.ensemble._bagging.sweep import BaggingSweep
from mercer.ensemble._bagging.trees import BaggedTrees, can_grow
from mercer.ensemble._forest.bags import make_states
from mercer.ensemble._forest.sampling import SAMPLING_RULES

_RULES: dict[str, Rule] = {
    **SAMPLING_RULES,
    "estimator": Null() | Fittable(),
    "max_samples": Null() | Integer(1) | Real(above=0, most=1),
    "max_features": Integer(1) | Real(above=0, most=1),
    "bootstrap_features": Bool(),
    "oob_score": Bool(),
}


class Bagging(BaggingSweep, MetaEstimatorMixin, MercerEstimator):  # type: ignore[misc]
    """Members on draws of the rows. They are in `_members`: estimators of any kind, or trees in one store."""

    _search_space: ClassVar[Mapping[str, Space]] = {
        "n_estimators": Integers(10, 200, log=True),
        "max_samples": Reals(0.2, 1.0),
        "max_features": Reals(0.2, 1.0),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = _RULES
    _is_classifier: ClassVar[bool]
    _optional: ClassVar[tuple[str, ...]] = ("oob_score_", "oob_decision_function_", "oob_prediction_", "_coder")

    _members: BagMembers | BaggedTrees
    _draws: tuple[BagDraws, ...]
    n_features_in_: int

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ---- fitting

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            What it may hold is for the members to say.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            With a bootstrap, rows are drawn in proportion to their weights; without one, the members are given them.
        **fit_params
            For the members' `fit`, where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
        """
        params = self._checked()
        task = FitTask.start(self, X, y, n_subtasks=params.n_estimators)
        bag = self._fit_bag(X, y, sample_weight, params, self._route("fit", fit_params), task)
        attributes = self._attributes(params, bag)
        return self._finish(task, attributes, unset=self._optional)

    def _checked(self) -> SimpleNamespace:
        params = check_params(self)
        if params.oob_score and not params.bootstrap:
            raise ValueError("oob_score=True is not valid: Out of bag estimation only available if bootstrap=True.")
        return params

    def _fit_bag(
        self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace, metadata: dict[str, Any], task: FitTask
    ) -> Bag:
        """The members, those of earlier fits among them."""
        base = clone(self._get_estimator())
        data = check_data(self, X, y, base, is_classifier=self._is_classifier, grows=can_grow(base, params) and not metadata)
        weights = check_weights(sample_weight, len(data.y), np.float64)
        n_earlier = self._count_earlier(params)
        states = make_states(params.random_state, params.n_estimators - n_earlier, n_earlier)
        draws = BagDraws.make(params, states, data.X.shape, weights)
        if not len(draws):
            return Bag(base, data, self._members, self._draws)
        own_weights = None if params.bootstrap else weights
        members = self._fit_members(base, data, own_weights, draws, params, metadata, task)
        if n_earlier == 0:
            return Bag(base, data, members, (draws,))
        return Bag(base, data, self._join(members), (*self._draws, draws))

    def _attributes(self, params: SimpleNamespace, bag: Bag, found: LeftOut | None = None) -> dict[str, Any]:
        """What an ensemble is; `found` is what was found out of its bags, if that is known already."""
        data = bag.data
        attributes: dict[str, Any] = {"estimator_": bag.base, "_members": bag.members, "_draws": bag.draws}
        if data.classes is not None:
            attributes |= {"classes_": data.classes, "n_classes_": data.n_classes}
        if data.trees is not None:
            attributes["_coder"] = data.trees.coder
        if params.oob_score:
            found = bag.look_out(self.n_jobs) if found is None else found
            if not found.is_known.all():
                warn(
                    f"Some inputs do not have OOB scores: {int((~found.is_known).sum())} rows are in the bag of every member; "
                    "more members (n_estimators) would leave each of them out."
                )
            attributes |= self._score_out_of_bag(found.values, data, found.is_known)
        return attributes

    def _count_earlier(self, params: Any) -> int:
        """How many members a warm start goes on from."""
        n_earlier = len(self._members) if params.warm_start and hasattr(self, "_members") else 0
        if params.n_estimators < n_earlier:
            raise ValueError(
                f"n_estimators={params.n_estimators} must be larger or equal to len(estimators_)={n_earlier} when "
                "warm_start==True"
            )
        if params.n_estimators == n_earlier:
            warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return n_earlier

    def _fit_members(
        self, base: Any, data: BagData, weights: FloatArray | None, draws: BagDraws, params: Any, metadata: Any, task: FitTask
    ) -> BagMembers | BaggedTrees:
        if data.trees is None:
            return BagMembers.fit(
                base, data.X, data.y, weights, draws, n_classes=data.n_classes, metadata=metadata, task=task, params=params
            )
        log(params.verbose, "%s: growing %d trees on %d rows", type(self).__name__, len(draws), draws.n_rows)
        return BaggedTrees.grow(base, data.trees, weights, draws, effective_threads(params.n_jobs))

    def _join(self, later: BagMembers | BaggedTrees) -> BagMembers | BaggedTrees:
        """The members so far, and later ones of the same kind."""
        earlier = self._members
        if isinstance(earlier, BagMembers) and isinstance(later, BagMembers):
            return earlier.joined(later)
        if isinstance(earlier, BaggedTrees) and isinstance(later, BaggedTrees):
            return earlier.joined(later)
        raise ValueError("warm_start=True goes on with members of the same kind; fit a new ensemble for others.")

    # ---- out of the bag

    def _score_out_of_bag(self, values: FloatArray, data: BagData, is_known: npt.NDArray[np.bool_]) -> dict[str, Any]:
        raise NotImplementedError

    # ---- what was fitted

    @property
    def estimators_(self) -> Any:
        """The members; those that are trees of one store are made when they are looked at."""
        check_is_fitted(self)
        return self._members.estimators(self, self._draws)

    @property
    def estimators_samples_(self) -> list[Indices]:
        """The rows of each member, as often as they were drawn; drawn anew at every look."""
        check_is_fitted(self)
        return [draws.draw(member)[1] for draws in self._draws for member in range(len(draws))]

    @property
    def estimators_features_(self) -> list[Indices]:
        """The features of each member."""
        check_is_fitted(self)
        return [draws.draw(member)[0] for draws in self._draws for member in range(len(draws))]

    def _mean(self, X: Any, caller: str, metadata: dict[str, Any]) -> FloatArray:
        """What `caller` is made from: the mean of what the members predict."""
        check_is_fitted(self)
        routed = self._route(caller, metadata)
        return self._members.mean(self._members.query(self, X), self.n_jobs, routed)

    def predict_std(self, X: Any) -> FloatArray:
        """The spread of the members: the standard deviation of what they predict, numbers or class shares.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of the shape of `predict`, or of `predict_proba` for a classifier
        """
        check_is_fitted(self)
        mean: Any = 0.0
        squares: Any = 0.0
        for count, values in enumerate(self._members.each(self._members.query(self, X), self.n_jobs), start=1):
            change = values - mean  # Welford's way: no sum of large squares
            mean = mean + change / count
            squares = squares + change * (values - mean)
        return np.asarray(np.sqrt(squares / len(self._members)))

    # ---- company

    def _get_estimator(self) -> Any:
        return self._default() if self.estimator is None else self.estimator

    def _default(self) -> Any:
        raise NotImplementedError

    def _route(self, caller: str, metadata: dict[str, Any]) -> dict[str, Any]:
        """What of the metadata given to a method the members are to have."""
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, caller, **metadata).estimator[self._member_methods()[caller]])
        if metadata:
            raise ValueError(
                f"{caller} was given {sorted(metadata)}, which only sklearn.set_config(enable_metadata_routing=True) hands on "
                "to the members."
            )
        return {}

    def _member_methods(self) -> dict[str, str]:
        """Which method of the members each method calls."""
        asked = asked_method(self._get_estimator(), is_classifier=self._is_classifier)
        predictions = ("predict", "predict_proba", "predict_log_proba") if self._is_classifier else ("predict",)
        return {"fit": "fit", "decision_function": "decision_function", **dict.fromkeys(predictions, asked)}

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata `fit` and the predictions hand on to the members (scikit-learn's metadata routing)."""
        mapping = MethodMapping()
        for caller, callee in self._member_methods().items():
            mapping.add(caller=caller, callee=callee)
        return MetadataRouter(owner=self).add(estimator=self._get_estimator(), method_mapping=mapping)

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Any:
        return iter(self.estimators_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self._get_estimator()
        if hasattr(given, "__sklearn_tags__") and not isinstance(given, type):
            tags.input_tags.sparse = get_tags(given).input_tags.sparse
            tags.input_tags.allow_nan = get_tags(given).input_tags.allow_nan
        return tags

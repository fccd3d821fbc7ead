"""Ensembles of named members of any kind: their parameters, tags, metadata and what a fit stores of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, TransformerMixin, is_classifier, is_regressor
from sklearn.utils import Bunch, column_or_1d, get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing

from mercer._arrays import check_weights
from mercer._base import MercerEstimator
from mercer._weighted import weight_name
from mercer.ensemble._combination.jobs import naming

KINDS: dict[str, Callable[[Any], bool]] = {"classifier": is_classifier, "regressor": is_regressor}


def is_dropped(member: Any) -> bool:
    return isinstance(member, str) and member == "drop"


class NamedMembers(MetaEstimatorMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of ensembles whose parameter `estimators` is a list of (name, estimator).

    Members and their parameters are parameters of the ensemble: `set_params(ridge__alpha=2.0, tree="drop")`. X goes to the
    members as it is: what it may be is for them to say.
    """

    # Weights are for the members: which of them ask for weights decides, and there is nothing to request of the ensemble.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"sample_weight": UNUSED}

    estimators: Any

    # ---- parameters

    @property
    def named_estimators(self) -> Bunch:
        """The members as given, by name."""
        return Bunch(**dict(self.estimators))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the ensemble and, if `deep`, its members by name and their parameters as name__parameter."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if not deep:
            return params
        for name, member in self._pairs():
            params[name] = member
            if hasattr(member, "get_params") and not isinstance(member, type):
                params |= {f"{name}__{key}": value for key, value in member.get_params(deep=True).items()}
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the ensemble, members by name ('drop' leaves one out), and their parameters as name__parameter."""
        if "estimators" in params:  # first: the other names may be those of its members
            self.estimators = params.pop("estimators")
        names = {name for name, _ in self._pairs()}
        if replaced := {name: params.pop(name) for name in names & params.keys()}:
            self.estimators = [(name, replaced.get(name, member)) for name, member in self.estimators]
        super().set_params(**params)
        return self

    def _pairs(self) -> list[tuple[str, Any]]:
        """The members by name; none where `estimators` is not yet what it has to be, which a fit will say."""
        try:
            return [(name, member) for name, member in self.estimators if isinstance(name, str)]
        except (TypeError, ValueError):
            return []

    def _check_members(self, members: Sequence[tuple[str, Any]], kind: str | None) -> dict[str, Any]:
        """Those that are not dropped, by name, or an error that says what is wrong with names or kinds."""
        owner, names = type(self).__name__, [name for name, _ in members]
        if len(set(names)) != len(names):
            raise ValueError(
                f"{owner}: the names in estimators must differ; given are {names!r}. Names provided are not unique."
            )
        if taken := sorted(set(names) & set(self.get_params(deep=False))):
            raise ValueError(
                f"{owner}: the names {taken!r} in estimators are those of parameters of {owner}; choose others. "
                "Estimator names conflict with constructor arguments."
            )
        if marked := [name for name in names if "__" in name]:
            raise ValueError(f"{owner}: the names {marked!r} in estimators hold '__'. Estimator names must not contain __.")
        kept = {name: member for name, member in members if not is_dropped(member)}
        if not kept:
            raise ValueError(f"{owner}: all members are 'drop'; at least one of estimators must be an estimator.")
        for name, member in kept.items():
            if kind is not None and not KINDS[kind](member):
                raise ValueError(
                    f"{owner}: member {name!r} ({type(member).__name__}) is no {kind}. The estimator {type(member).__name__} "
                    f"should be a {kind}."
                )
        return kept

    # ---- tags and metadata

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        members = [
            member for _, member in self._pairs() if hasattr(member, "__sklearn_tags__") and not isinstance(member, type)
        ]
        inputs = [get_tags(member).input_tags for member in members]
        tags.input_tags.allow_nan = bool(inputs) and all(given.allow_nan for given in inputs)
        tags.input_tags.sparse = bool(inputs) and all(given.sparse for given in inputs)
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata `fit` hands on to which member (scikit-learn's metadata routing)."""
        router = MetadataRouter(owner=self)
        for name, member in self._pairs():
            if not is_dropped(member):
                router.add(**{name: member}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def _route(self, members: Mapping[str, Any], weights: Any, metadata: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """What each member is given besides X and y: what it asks for if routing is enabled, else the weights if any."""
        given = dict(metadata) if weights is None else {**metadata, "sample_weight": weights}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given)
            return {name: dict(routed[name].fit) for name in members}
        if metadata:
            raise ValueError(
                f"{type(self).__name__}.fit: {sorted(metadata)} can be passed only where metadata routing is enabled, by "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        return {name: {} if weights is None else {weight_name(member): weights} for name, member in members.items()}

    # ---- what a fit stores

    def _members_attributes(self, members: Mapping[str, Any], fitted: Sequence[Any]) -> dict[str, Any]:
        """Fitted members in a list and by name, and the features that they saw."""
        by_name = dict(zip(members, fitted, strict=True))
        attributes: dict[str, Any] = {
            "estimators_": list(fitted),
            "named_estimators_": Bunch(**{name: by_name.get(name, "drop") for name, _ in self.estimators}),
        }
        for seen in ("n_features_in_", "feature_names_in_"):
            self._unset(seen)  # an earlier fit's; a failed fit puts it back
            if values := [getattr(member, seen) for member in fitted if hasattr(member, seen)]:
                attributes[seen] = values[0]
        return attributes

    def _fitted_members(self) -> list[tuple[str, Any]]:
        """The members that were fitted, by name."""
        return [(name, member) for name, member in self.named_estimators_.items() if not is_dropped(member)]

    def _member_outputs(self, X: Any, methods: Sequence[str]) -> list[Any]:
        """What each fitted member makes of X."""
        pairs = zip(self._fitted_members(), methods, strict=True)
        return [respond(name, member, method, X) for (name, member), method in pairs]

    def _check_feature_names(self, input_features: Any) -> npt.NDArray[Any]:
        """The names of the columns of X: those given, if they are right, those of the fit, or x0, x1, ..."""
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return np.asarray([f"x{j}" for j in range(self.n_features_in_)], dtype=object) if known is None else known
        given = np.asarray(input_features, dtype=object)
        if known is not None and not np.array_equal(known, given):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), got {len(given)}"
            )
        return given


def respond(name: str, member: Any, method: str, X: Any) -> Any:
    """What a fitted member makes of X."""
    with naming(name, member):
        return getattr(member, method)(X)


def check_target(y: Any) -> npt.NDArray[Any]:
    """y as one value a row."""
    values: npt.NDArray[Any] = column_or_1d(y, warn=True)
    return values


def check_row_weights(sample_weight: Any, y: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Weights in double precision, whatever that of X: members take them so."""
    return check_weights(sample_weight, len(y), np.float64)

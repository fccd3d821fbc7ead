"""Ensembles that are classifiers or regressors as their members are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy.typing as npt
from sklearn.utils import ClassifierTags, RegressorTags

from mercer._arrays import check_labels
from mercer._params import check_params
from mercer.ensemble._combination.members import KINDS, check_target, is_dropped
from mercer.ensemble._combination.stacking import Stacking


class EitherKind(Stacking):
    """Members of one kind, whichever it is: that of the ensemble, its predictions and its tags."""

    _member_kind = None

    @property
    def _kind(self) -> str | None:  # type: ignore[override]
        members = [member for _, member in self._pairs() if not is_dropped(member) and not isinstance(member, type)]
        return next((kind for kind, is_kind in KINDS.items() if members and all(map(is_kind, members))), None)

    @property
    def stack_method(self) -> str:
        return "predict_proba" if self._kind == "classifier" else "predict"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.target_tags.required = self._kind, True
        tags.classifier_tags = ClassifierTags() if self._kind == "classifier" else None
        tags.regressor_tags = RegressorTags() if self._kind == "regressor" else None
        return tags

    def _check(self) -> tuple[SimpleNamespace, dict[str, Any]]:
        params = check_params(self)
        members = self._check_members(params.estimators, None)
        owner, kind = type(self).__name__, self._kind
        if kind is None:
            kinds = {name: [kind for kind, is_kind in KINDS.items() if is_kind(member)] for name, member in members.items()}
            described = ", ".join(f"{name!r} is {' and '.join(found) or 'neither'}" for name, found in kinds.items())
            raise ValueError(f"{owner}: estimators must be all classifiers or all regressors; {described}.")
        if params.final_estimator is not None and not KINDS[kind](params.final_estimator):
            raise ValueError(f"{owner}: final_estimator={params.final_estimator!r} is not valid; it must be a {kind} or None.")
        return params, members

    def _check_y(self, y: Any) -> tuple[npt.NDArray[Any], dict[str, Any]]:
        """Targets, or codes of labels with the classes that they stand for."""
        if self._kind == "regressor":
            return check_target(y), {}
        classes, codes = check_labels(y)
        return codes, {"classes_": classes}

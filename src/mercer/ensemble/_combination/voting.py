"""Voting: members fitted on the same rows, whose predictions are averaged or counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._base import FitTask
from mercer._params import ArrayLike, NamedEstimators, Null, NumberOfJobs, Rule, Verbosity, check_params
from mercer.ensemble._combination.jobs import fit_jobs, run_members
from mercer.ensemble._combination.members import NamedMembers, check_row_weights, is_dropped


class Voting(NamedMembers):
    """What both kinds of voting share: the fit, the votes' weights and the names of the outputs."""

    _kind: ClassVar[str]
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimators": NamedEstimators(),
        "weights": Null() | ArrayLike(),
        "n_jobs": NumberOfJobs(),
        "verbose": Verbosity(),
    }

    weights: Any

    def _fit(
        self,
        X: Any,
        y: npt.NDArray[Any],
        sample_weight: Any,
        metadata: dict[str, Any],
        found: dict[str, Any],
        labels: Any = None,
    ) -> Any:
        """Fit all members on `y`; `found` is what the fit stores besides them, and `labels` what codes of classes stand for."""
        params = check_params(self)
        members = self._check_members(params.estimators, self._kind)
        _check_votes(self, params.weights)
        routed = self._route(members, check_row_weights(sample_weight, y), metadata)
        task = FitTask.start(self, X, y if labels is None else labels, n_subtasks=len(members))
        jobs = fit_jobs(members, X, y, routed)
        fitted = run_members(jobs, "fitted", task, n_jobs=params.n_jobs, verbose=params.verbose)
        attributes = {**found, **self._members_attributes(members, fitted)}
        return self._finish(task, attributes)

    def _votes(self) -> FloatArray | None:
        """The weights of the members that are not dropped."""
        if self.weights is None:
            return None
        pairs = zip(self.named_estimators_.values(), self.weights, strict=True)
        return np.asarray([weight for member, weight in pairs if not is_dropped(member)], dtype=np.float64)

    def _predictions(self, X: Any) -> npt.NDArray[Any]:
        """One column a member."""
        return np.asarray(self._member_outputs(X, ["predict"] * len(self.estimators_))).T

    def _names_out(self, suffixes: list[str]) -> npt.NDArray[Any]:
        prefix = type(self).__name__.lower()
        names = [f"{prefix}_{name}{suffix}" for name, _ in self._fitted_members() for suffix in suffixes]
        return np.asarray(names, dtype=object)


def _check_votes(ensemble: Voting, weights: Any) -> None:
    """One finite number >= 0 for each of `estimators`, those of the members not dropped not all zero."""
    if weights is None:
        return
    owner, members = type(ensemble).__name__, ensemble.estimators
    if len(weights) != len(members):
        raise ValueError(
            f"{owner}: weights={weights!r} has {len(weights)} values and estimators {len(members)}. Number of `estimators` and "
            "weights must be equal."
        )
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.full(len(weights), np.nan)
    if values.ndim != 1 or not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"{owner}: weights={weights!r} is not valid; it must be None or one finite number >= 0 a member.")
    if not any(value for value, (_, member) in zip(values, members, strict=True) if not is_dropped(member)):
        raise ValueError(f"{owner}: weights={weights!r} is zero for every member; at least one must be positive.")

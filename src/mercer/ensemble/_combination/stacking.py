"""Stacking: a final estimator learns from what members predict of rows that they were not fitted on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import sklearn
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask
from mercer._params import Bool, Fittable, NamedEstimators, Null, NumberOfJobs, OneOf, Rule, Splitter, Verbosity, check_params
from mercer.ensemble._combination.jobs import Job, fit_jobs, fold_jobs, naming, run_members
from mercer.ensemble._combination.members import KINDS, NamedMembers, check_row_weights

RESPONSES = ("predict_proba", "decision_function", "predict")


def response_of(owner: str, name: str, member: Any, method: str) -> str:
    """The method of a member that the ensemble calls: the one asked for or, if "auto", the first that there is."""
    wanted = RESPONSES if method == "auto" else (method,)
    for response in wanted:
        if hasattr(member, response):
            return response
    raise ValueError(f"{owner}: member {name!r} ({type(member).__name__}) does not implement the method {' or '.join(wanted)}.")


def as_columns(outputs: Sequence[Any], methods: Sequence[str], *, is_binary: bool) -> list[FloatArray]:
    """The outputs of members as matrices; of the probabilities of two classes, or of labels, the redundant first goes."""
    columns = []
    for output, method in zip(outputs, methods, strict=True):
        if isinstance(output, list):  # several labels: one matrix each
            columns.append(np.hstack([part[:, 1:] for part in output]))
        elif output.ndim == 1:
            columns.append(output.reshape(-1, 1))
        else:
            columns.append(output[:, 1:] if is_binary and method == "predict_proba" else output)
    return columns


def has_two_classes(classes: Any) -> bool:
    return isinstance(classes, np.ndarray) and len(classes) == 2


def has_final(method: str) -> Callable[[Any], bool]:
    """Whether the final estimator, fitted, given or by default, has a method."""

    def check(ensemble: Stacking) -> bool:
        getattr(getattr(ensemble, "final_estimator_", ensemble._final()), method)  # its own AttributeError says what lacks
        return True

    return check


class Stacking(NamedMembers):
    """What both kinds of stacking share: members' predictions out of fold, and the final estimator fitted on them."""

    _kind: ClassVar[str]
    _member_kind: ClassVar[str | None]
    _default_final: ClassVar[Any]
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimators": NamedEstimators(),
        "final_estimator": Null() | Fittable(),
        "cv": OneOf("prefit") | Splitter(),
        "n_jobs": NumberOfJobs(),
        "passthrough": Bool(),
        "verbose": Verbosity(),
    }

    final_estimator: Any
    passthrough: Any
    stack_method: Any = "predict"

    def _final(self) -> Any:
        return self._default_final() if self.final_estimator is None else self.final_estimator

    def _check(self) -> tuple[SimpleNamespace, dict[str, Any]]:
        """Checked parameters, and the members."""
        params = check_params(self)
        members = self._check_members(params.estimators, self._member_kind)
        if not KINDS[self._kind](self._final()):
            raise ValueError(
                f"{type(self).__name__}: final_estimator={self.final_estimator!r} is not valid; 'final_estimator' parameter "
                f"should be a {self._kind}."
            )
        return params, members

    def _fit(
        self,
        X: Any,
        y: npt.NDArray[Any],
        sample_weight: Any,
        metadata: dict[str, Any],
        found: dict[str, Any],
        labels: Any = None,
    ) -> Any:
        """Fit members and final estimator on `y`; `found` is stored besides them, `labels` are what codes stand for."""
        params, members = self._check()
        weights = check_row_weights(sample_weight, y)
        routed = self._route(members, weights, metadata)
        n_tasks = (1 if params.cv == "prefit" else 2) * len(members) + 1
        task = FitTask.start(self, X, y if labels is None else labels, n_subtasks=n_tasks)
        fitted = self._fit_members(members, X, y, routed, params, task)
        methods = [response_of(type(self).__name__, *pair, self.stack_method) for pair in zip(members, fitted, strict=True)]
        outputs = self._outputs_to_learn_from(members, X, y, methods, routed, params, task)
        columns = as_columns(outputs, methods, is_binary=has_two_classes(found.get("classes_")))
        jobs = [Job("final_estimator", clone(self._final()), fit_final, (self._join(columns, X), y, weights))]
        (final,) = run_members(jobs, "fitted", task, n_jobs=1, verbose=params.verbose)
        attributes = {
            **found,
            **self._members_attributes(members, fitted),
            "stack_method_": methods,
            "final_estimator_": final,
            "_n_columns": [matrix.shape[1] for matrix in columns],
        }
        return self._finish(task, attributes)

    def _fit_members(
        self, members: dict[str, Any], X: Any, y: Any, routed: Any, params: SimpleNamespace, task: FitTask
    ) -> list[Any]:
        """Clones fitted on all rows; prefit members as they are."""
        if params.cv != "prefit":
            return run_members(fit_jobs(members, X, y, routed), "fitted", task, n_jobs=params.n_jobs, verbose=params.verbose)
        for name, member in members.items():
            with naming(name, member):
                check_is_fitted(member)
        return list(members.values())

    def _outputs_to_learn_from(
        self, members: dict[str, Any], X: Any, y: Any, methods: list[str], routed: Any, params: SimpleNamespace, task: FitTask
    ) -> list[Any]:
        """What each member makes of rows that it was not fitted on, or, prefit, of all rows."""
        options = {"n_jobs": params.n_jobs, "verbose": params.verbose}
        if params.cv == "prefit":
            jobs = [Job(*pair, _respond, (X, method)) for pair, method in zip(members.items(), methods, strict=True)]
            return run_members(jobs, "applied", task, n_jobs=1, verbose=params.verbose)
        X, y, splits = split(X, y, params.cv, is_classifier=self._kind == "classifier")
        jobs = fold_jobs(members, X, y, splits, methods=methods, params=routed, n_jobs=params.n_jobs)
        outputs = run_members(jobs, "cross-validated", task, **options)
        return [
            bounded(output) if method == "decision_function" else output
            for output, method in zip(outputs, methods, strict=True)
        ]

    def _join(self, columns: list[FloatArray], X: Any) -> Any:
        """The final estimator's X: members' outputs and, if `passthrough`, the columns of X."""
        if not self.passthrough:
            return np.hstack(columns)
        return sp.hstack([*columns, X], format=X.format) if sp.issparse(X) else np.hstack([*columns, X])

    def _transform(self, X: Any) -> Any:
        check_is_fitted(self)
        outputs = self._member_outputs(X, self.stack_method_)
        is_binary = has_two_classes(getattr(self, "classes_", None))
        return self._join(as_columns(outputs, self.stack_method_, is_binary=is_binary), X)

    def transform(self, X: Any) -> Any:
        """What the final estimator sees of X: the members' outputs and, with `passthrough`, X itself, sparse if X is."""
        return self._transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of the columns that `transform` gives; `input_features` names those of X."""
        check_is_fitted(self)
        passed = self._check_feature_names(input_features)
        prefix = type(self).__name__.lower()
        names: list[str] = []
        for (name, _), n_columns in zip(self._fitted_members(), self._n_columns, strict=True):
            names += [f"{prefix}_{name}"] if n_columns == 1 else [f"{prefix}_{name}{j}" for j in range(n_columns)]
        return np.asarray([*names, *passed] if self.passthrough else names, dtype=object)

    def _predict(self, X: Any, metadata: dict[str, Any]) -> Any:
        """The final estimator's prediction; with routing enabled it is given the metadata that it asks for, else all."""
        check_is_fitted(self)
        if get_config()["enable_metadata_routing"]:
            metadata = process_routing(self, "predict", **metadata).final_estimator_.predict
        return self.final_estimator_.predict(self._transform(X), **metadata)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata `fit` hands on to which member, and `predict` to the final estimator."""
        router = super().get_metadata_routing()
        final = getattr(self, "final_estimator_", self._final())
        if final is not None:
            router.add(final_estimator_=final, method_mapping=MethodMapping().add(caller="predict", callee="predict"))
        return router


def bounded(decisions: FloatArray) -> FloatArray:
    """Decision values in which the least float, which stands for a class that a training fold lacks, is the least value.

    The order stays, and a final estimator can compute with them.
    """
    is_absent = decisions <= np.finfo(np.float32).min
    return np.where(is_absent, decisions[~is_absent].min(), decisions) if is_absent.any() else decisions


def fit_final(final: Any, X: Any, y: Any, weights: Any) -> Any:
    return final.fit(X, y) if weights is None else final.fit(X, y, sample_weight=weights)


def _respond(member: Any, X: Any, method: str) -> Any:
    return getattr(member, method)(X)


def split(X: Any, y: Any, cv: Any, *, is_classifier: bool) -> tuple[Any, Any, list[Any]]:
    """X and y as something with rows to pick, and folds drawn once, so that all members have the same."""
    X, y = indexable(X, y)
    return X, y, list(sklearn.model_selection.check_cv(cv, y=y, classifier=is_classifier).split(X, y))

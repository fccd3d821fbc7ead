"""Members of a bagging ensemble, of any kind: each is fitted on its draw, and asked in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from mercer._arrays import FloatArray
from mercer._base import FitTask
from mercer._compat import validate_data
from mercer._jobs import count_workers, run_jobs
from mercer._labels import pad_classes
from mercer._saved import saved
from mercer.ensemble._bagging.draws import BagDraws, Indices
from mercer.ensemble._combination.jobs import Job, run_members

UNCHECKED = {"accept_sparse": ["csr", "csc"], "dtype": None, "ensure_all_finite": False}  # the members say what X may hold

Metadata = Mapping[str, Any]
NO_METADATA: Metadata = {}


@saved("BagMembers")
@dataclass(frozen=True)
class BagMembers:
    """Fitted estimators, each with the features that it was given (None: all of them)."""

    members: tuple[Any, ...]
    features: tuple[Indices | None, ...]
    n_classes: int  # 0 in regression

    @classmethod
    def fit(
        cls,
        base: Any,
        X: Any,
        y: npt.NDArray[Any],
        weights: FloatArray | None,
        draws: BagDraws,
        *,
        n_classes: int,
        metadata: Metadata,
        task: FitTask,
        params: Any,
    ) -> BagMembers:
        """A clone of `base` for each draw. Rows are drawn by weighing them where the base takes weights, else by copying."""
        takes_weights = has_fit_parameter(base, "sample_weight")
        if weights is not None and not takes_weights:
            raise ValueError(
                f"sample_weight needs bootstrap=True here: {type(base).__name__} does not support sample weights, so rows can "
                "only be drawn by them."
            )
        jobs, features = [], []
        for number in range(len(draws)):
            chosen, rows = draws.draw(number)
            features.append(None if draws.has_all_features else chosen)
            member = draws.set_states(clone(base), number)
            jobs.append(Job(str(number), member, _fit, (X, y, weights, rows, features[-1], takes_weights, metadata)))
        fitted = run_members(jobs, "fitted", task, n_jobs=params.n_jobs, verbose=params.verbose)
        return cls(tuple(fitted), tuple(features), n_classes)

    def __len__(self) -> int:
        return len(self.members)

    def first(self, n_members: int) -> BagMembers:
        return BagMembers(self.members[:n_members], self.features[:n_members], self.n_classes)

    def joined(self, later: BagMembers) -> BagMembers:
        return BagMembers(self.members + later.members, self.features + later.features, later.n_classes)

    def query(self, owner: Any, X: Any) -> Any:
        """X of a prediction, as the members are to have it."""
        return validate_data(owner, X, **UNCHECKED, reset=False)

    def mean(self, X: Any, n_jobs: int | None, metadata: Metadata = NO_METADATA) -> FloatArray:
        """The mean over the members: class shares, or numbers. `metadata` is for the method that they are asked by."""
        total: FloatArray = sum(self.each(X, n_jobs, metadata=metadata))  # type: ignore[assignment]
        return total / len(self)

    def each(
        self, X: Any, n_jobs: int | None, rows: Callable[[int], Indices] | None = None, metadata: Metadata = NO_METADATA
    ) -> Iterator[FloatArray]:
        """What each member predicts for all rows, or for those that `rows` says."""

        def ask(number: int) -> FloatArray:
            part = X if rows is None else X[rows(number)]
            return self._ask(self.members[number], _columns(part, self.features[number]), metadata)

        if count_workers(n_jobs) == 1:
            return map(ask, range(len(self)))  # one by one: not all of their answers are in memory at a time
        with run_jobs([partial(ask, number) for number in range(len(self))], n_jobs, in_threads=True) as answers:
            return iter(list(answers))

    def _ask(self, member: Any, X: Any, metadata: Metadata) -> FloatArray:
        method = asked_method(member, is_classifier=self.n_classes > 0)
        answer = getattr(member, method)(X, **metadata)
        if not self.n_classes:
            return np.asarray(answer, dtype=np.float64)
        if method == "predict_proba":  # a bag may lack a class
            return pad_classes(answer, member.classes_, self.n_classes, dtype=np.float64)
        out = np.zeros((X.shape[0], self.n_classes))
        out[np.arange(len(out)), answer] = 1
        return out

    def decisions(self, X: Any, metadata: Metadata = NO_METADATA) -> FloatArray:
        """The mean of the members' decision functions."""
        values = [
            member.decision_function(_columns(X, chosen), **metadata)
            for member, chosen in zip(self.members, self.features, strict=True)
        ]
        return np.asarray(sum(values) / len(self))

    def estimators(self, owner: Any, draws: Sequence[BagDraws]) -> list[Any]:
        return list(self.members)


def asked_method(member: Any, *, is_classifier: bool) -> str:
    """The method that gives class shares, or numbers."""
    return "predict_proba" if is_classifier and hasattr(member, "predict_proba") else "predict"


def _columns(X: Any, features: Indices | None) -> Any:
    return X if features is None else X[:, features]


def _fit(
    member: Any,
    X: Any,
    y: npt.NDArray[Any],
    weights: FloatArray | None,
    rows: Indices,
    features: Indices | None,
    takes_weights: bool,
    metadata: Metadata,
) -> Any:
    X = _columns(X, features)
    if not takes_weights:
        return member.fit(X[rows], y[rows], **metadata)
    counts = np.bincount(rows, minlength=len(y)).astype(np.float64)
    return member.fit(X, y, **metadata, sample_weight=counts if weights is None else counts * weights)

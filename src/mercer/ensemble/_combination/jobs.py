"""Work on members, one job a member, side by side or in turn: the results are the same and in the same order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.base import clone

from mercer._base import FitTask
from mercer._jobs import run_tasks
from mercer._labels import pad_classes
from mercer._rows import take_rows
from mercer._trace import log

Rows = npt.NDArray[np.intp]


@contextmanager
def naming(name: str, member: Any) -> Iterator[None]:
    """Put the name of the member at work at the head of any error that it raises, whose type stays what it is."""
    try:
        yield
    except Exception as error:
        who = f"member {name!r} ({type(member).__name__})"
        if isinstance(error, TypeError) and "unexpected keyword argument 'sample_weight'" in str(error):
            raise TypeError(f"{who} does not support sample weights: its fit has no sample_weight.") from error
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (f"{who}: {error.args[0]}",)
        else:
            error.add_note(f"raised by {who}")
        raise


@dataclass(frozen=True)
class Job:
    """A function of one member. It runs in another process where `n_jobs` asks for that, so it holds all that it needs."""

    name: str
    member: Any  # already cloned, so that a generator among its parameters is copied in the same state for any n_jobs
    work: Callable[..., Any]  # takes the member first
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def run(self) -> tuple[Any, float]:
        """What the work gives, and the seconds it took."""
        started = time.perf_counter()
        with naming(self.name, self.member):
            result = self.work(self.member, *self.args, **self.options)
        return result, time.perf_counter() - started


def run_members(jobs: Sequence[Job], doing: str, task: FitTask, *, n_jobs: int | None, verbose: int) -> list[Any]:
    """The results in the order of the jobs. Each job is a task "member" to callbacks and a line in the log."""
    owner, results = type(task.estimator).__name__, []
    runs = run_tasks([job.run for job in jobs], task, "member", n_jobs)
    for position, (job, (result, seconds)) in enumerate(zip(jobs, runs, strict=True), start=1):
        results.append(result)
        log(verbose, "%s: %s %r (%d of %d) in %.3g s", owner, doing, job.name, position, len(jobs), seconds)
    return results


def _fit(member: Any, X: Any, y: Any, params: Mapping[str, Any]) -> Any:
    return member.fit(X, y, **params)


def fit_jobs(members: Mapping[str, Any], X: Any, y: Any, params: Mapping[str, Mapping[str, Any]]) -> list[Job]:
    """Fit a clone of each member on all rows, with its own share of the metadata."""
    return [Job(name, clone(member), _fit, (X, y, params[name])) for name, member in members.items()]


def held_out_jobs(
    members: Mapping[str, Any],
    X: Any,
    y: Any,
    split: tuple[Rows, Rows],
    *,
    methods: Sequence[str],
    params: Mapping[str, Mapping[str, Any]],
    n_classes: int,
) -> list[Job]:
    """Predict the second rows of a split by a clone of each member that was fitted on the first.

    A class that is not among the first has probability zero.
    """
    train, test = split
    data = (take_rows(X, train), y[train], take_rows(X, test))
    return [
        Job(name, clone(member), _fit_and_respond, (*data, method, _of_rows(params[name], train, len(y)), n_classes))
        for (name, member), method in zip(members.items(), methods, strict=True)
    ]


def _of_rows(params: Mapping[str, Any], rows: Rows, n_rows: int) -> dict[str, Any]:
    """Metadata of some rows: what has a value a row is cut to them, all else stays."""
    is_per_row = {name: hasattr(value, "__len__") and len(value) == n_rows for name, value in params.items()}
    return {name: take_rows(value, rows) if is_per_row[name] else value for name, value in params.items()}


def _fit_and_respond(
    member: Any, X: Any, y: Any, X_test: Any, method: str, params: Mapping[str, Any], n_classes: int
) -> npt.NDArray[Any]:
    output = np.asarray(getattr(member.fit(X, y, **params), method)(X_test))
    if method != "predict_proba" or output.shape[1] == n_classes:
        return output
    return pad_classes(output, member.classes_, n_classes, dtype=np.float64)


def fold_jobs(
    members: Mapping[str, Any],
    X: Any,
    y: Any,
    splits: Sequence[Any],
    *,
    methods: Sequence[str],
    params: Mapping[str, Mapping[str, Any]],
    n_jobs: int | None,
) -> list[Job]:
    """Predict each row by a clone of each member that was fitted on the folds without this row.

    The folds are the same for all members. A class that a training fold lacks has probability zero there.
    """
    return [
        Job(
            name,
            clone(member),
            sklearn.model_selection.cross_val_predict,
            (X, y),
            {"cv": splits, "method": method, "params": dict(params[name]), "n_jobs": n_jobs},
        )
        for (name, member), method in zip(members.items(), methods, strict=True)
    ]

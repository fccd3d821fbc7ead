"""What all estimators share: parameters by rule, callbacks, and fits that either succeed or leave no trace."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer._compat import callback_support, with_callbacks
from mercer._parallel import serial_blas
from mercer._params import Rule, check_arguments
from mercer._parts.answers import answer_parts
from mercer._parts.entry import lies_in_parts, parted, require_parted_form
from mercer._trace import Outcome, Record, Solver, Status, iterate, log, warn
from mercer._tuning import Space
from mercer._versions import warn_of_other_versions

Method = TypeVar("Method", bound=Callable[..., Any])


class MercerEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of every estimator. Subclasses say what their parameters may be, once, in `_parameter_rules`."""

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {}
    _search_space: ClassVar[Mapping[str, Space] | None] = None  # what is worth searching; None: nothing was said of it
    _no_candidate: ClassVar[str | None] = None  # why `mercer train` does not try it by itself
    _candidate_params: ClassVar[Mapping[str, Any]] = {}  # its first look there, where the defaults refuse tables of words
    _takes_parts: ClassVar[bool] = False  # whether X may lie in parts: its fit then asks of X only what adds up
    _input_tags: ClassVar[tuple[str, ...]] = ()  # what X may be or hold besides dense numbers, as scikit-learn's tags call it

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        answer_parts(cls)

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: the version that made it too."""
        return {**super().__getstate__(), "_mercer_version": mercer.__version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_mercer_version", None)
        warn_of_other_versions(f"this {type(self).__name__}", {"mercer": version})
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name in self._input_tags:
            setattr(tags.input_tags, name, True)
        return tags

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if args or kwargs:
            check_arguments(cls, args, kwargs)
        made: Self = super().__new__(cls)
        return made

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Have callbacks of `sklearn.callback` called in fits; none takes those away that were set. Needs scikit-learn 1.9.

        Parameters
        ----------
        *callbacks : objects that follow the protocol `sklearn.callback.FitCallback`

        Returns
        -------
        self : estimator
        """
        return callback_support().set_callbacks(self, *callbacks)

    def _init_callback_context(self, **options: Any) -> Any:
        """What scikit-learn's machinery of callbacks calls at the start of a fit."""
        return callback_support()._init_callback_context(self, **options)

    def _fit_by(
        self,
        solver: Solver,
        task: FitTask,
        *,
        max_iter: int,
        verbose: int,
        fitted: Callable[[], dict[str, Any]],
        outcome: Callable[[Status, list[Record]], Outcome],
    ) -> Self:
        """Run a solver and end the fit with what it found: `fitted` gives the attributes, `outcome` what they reached."""
        status, history = run_solver(solver, task, max_iter=max_iter, verbose=verbose, fitted=fitted)
        reached = outcome(status, history)
        return self._finish(task, fitted(), reached)

    def _finish(
        self, task: FitTask, attributes: dict[str, Any], outcome: Outcome | None = None, *, unset: Sequence[str] = ()
    ) -> Self:
        """End a fit: callbacks see what it found, which is then stored with what it reached, and the one warning is given.

        `unset` names attributes that only some fits leave: those of an earlier one are forgotten. What `attributes` say of the
        iterations stands above what the outcome says.
        """
        task.end(lambda: attributes)
        self._unset(*unset)
        self._store(attributes if outcome is None else {**outcome.attributes(), **attributes})
        if outcome is not None and outcome.warning is not None:
            warn(f"{type(self).__name__}: {outcome.warning}", ConvergenceWarning)
        return self

    def _store(self, attributes: Mapping[str, Any]) -> None:
        """Set fitted attributes, all at once at the end of a fit."""
        self.__dict__.update(attributes)

    def _unset(self, *names: str) -> None:
        """Remove attributes that an earlier fit may have left and this one has not."""
        for name in names:
            self.__dict__.pop(name, None)


# The attributes that the estimator would have if its fit ended now; None where it could not predict yet.
Fitted = Callable[[], dict[str, Any] | None]


def fit_method(method: Method) -> Method:
    """Make a method a fit: callbacks are set up and torn down, and an error or Ctrl-C puts the estimator back as it was.

    BLAS is serial meanwhile, so that the result has the same bits for any number of its threads; not so where the estimator
    fits others, which may be anybody's.
    """
    signature = inspect.signature(method)

    @functools.wraps(method)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        if lies_in_parts(kwargs.get("X", args[0] if args else None)):
            require_parted_form(self, method.__name__)
            args, kwargs = tuple(map(parted, args)), {name: parted(value) for name, value in kwargs.items()}
        try:
            with nullcontext() if isinstance(self, MetaEstimatorMixin) else serial_blas():
                if not has_callbacks(self):
                    return method(self, *args, **kwargs)
                self._fit_metadata = _metadata(signature.bind(self, *args, **kwargs).arguments)
                return with_callbacks(method)(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        finally:
            vars(self).pop("_fit_metadata", None)

    return fit  # type: ignore[return-value]


def has_callbacks(estimator: Any) -> bool:
    return bool(getattr(estimator, "_skl_callbacks", None))


def _metadata(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """What callbacks that score a fit need to know besides X and y: the rows' weights, if each has its own."""
    weights = arguments.get("sample_weight")
    return None if weights is None or np.ndim(weights) == 0 else {"sample_weight": weights}


class FitTask:
    """A task of a fit as callbacks see it: the fit itself, a restart, an iteration. Free where no callback is set."""

    def __init__(self, estimator: Any, context: Any, data: dict[str, Any], fitted: Fitted | None = None) -> None:
        self.estimator, self._context, self._data = estimator, context, data
        if context is not None:
            context.call_on_fit_task_begin(estimator=estimator, reconstruction_attributes=fitted, **data)

    @classmethod
    def start(cls, estimator: Any, X: Any, y: Any = None, *, n_subtasks: int | None = 0) -> FitTask:
        """The root task of a fit; `n_subtasks` is None where nobody can say how many there will be."""
        if not has_callbacks(estimator):
            return cls(estimator, None, {})
        context = estimator._init_callback_context(max_subtasks=n_subtasks)
        return cls(estimator, context, {"X": X, "y": y, "metadata": getattr(estimator, "_fit_metadata", None)})

    def subtask(self, name: str, *, n_subtasks: int = 0, fitted: Fitted | None = None) -> FitTask:
        """A part of this task that begins now; `fitted` gives the attributes that the estimator would have without it."""
        context = None if self._context is None else self._context.subcontext(task_name=name, max_subtasks=n_subtasks)
        return FitTask(self.estimator, context, self._data, fitted)

    def handed_to(self, part: Any) -> Any:
        """A context in which callbacks that go on to parts of an estimator see the fit of one."""
        return nullcontext() if self._context is None else self._context.propagate_callback_context(part)

    @property
    def is_watched(self) -> bool:
        return self._context is not None

    def end(self, fitted: Fitted | None = None) -> bool:
        """Close the task; True if a callback asks to stop. `fitted` gives the attributes the estimator would have now."""
        if self._context is None:
            return False
        return bool(
            self._context.call_on_fit_task_end(estimator=self.estimator, reconstruction_attributes=fitted, **self._data)
        )


def run_solver(solver: Solver, task: FitTask, *, max_iter: int, verbose: int, fitted: Fitted) -> tuple[Status, list[Record]]:
    """Iterate as a task of a fit: callbacks see every iteration begin and end and may stop it, `verbose` logs every record.

    `task` was made with `n_subtasks=max_iter`; `fitted` gives the attributes that the estimator would have after the steps so
    far, before the first one too.
    """
    name, iteration = type(task.estimator).__name__, task

    def begin() -> None:
        nonlocal iteration
        iteration = task.subtask("iteration", fitted=fitted)

    look: Look | None = getattr(task.estimator, "_look", None)
    n_steps = itertools.count(1)

    def watch(record: Record) -> bool:
        if verbose:
            log(verbose, "%s: %s", name, ", ".join(f"{key} {value:.8g}" for key, value in record.items()))
        is_over = look is not None and look(next(n_steps), lambda: _as_fitted(task.estimator, fitted()))
        return bool(task.is_watched and iteration.end(fitted)) or is_over

    return iterate(solver, max_iter=max_iter, watch=watch, begin=begin if task.is_watched else None)


# Called after each step of a fit, with the number of steps so far and what makes the estimator as it would be if its fit
# ended now (None where it could not predict yet); True ends the fit there.
Look = Callable[[int, Callable[[], Any]], bool]


@contextmanager
def looking(estimator: Any, look: Look) -> Iterator[None]:
    """Have `look` called after every step of the estimator's fits in this block.

    It does what a callback that asks for the fitted estimator does, for those who want that estimator now and then alone.
    """
    estimator._look = look
    try:
        yield
    finally:
        vars(estimator).pop("_look", None)


def _as_fitted(estimator: Any, attributes: dict[str, Any] | None) -> Any:
    """A copy that holds these attributes; none where there are none."""
    if attributes is None:
        return None
    made = copy(estimator)
    vars(made).pop("_look", None)
    made._store(attributes)
    return made


class Run(Protocol):
    """One of several runs from different starts, finished."""

    @property
    def objective(self) -> float: ...
    def attributes(self) -> dict[str, Any]: ...


Start = TypeVar("Start")
SomeRun = TypeVar("SomeRun", bound=Run)


def best_of_restarts(
    starts: Iterable[Start], run: Callable[[Start, FitTask], SomeRun], task: FitTask, *, n_subtasks: int
) -> SomeRun:
    """The run of least objective, the first of equals; each is a task "run" to callbacks. No more than two are in memory."""

    def watched(start: Start) -> SomeRun:
        subtask = task.subtask("run", n_subtasks=n_subtasks)
        found = run(start, subtask)
        subtask.end(found.attributes)
        return found

    return min(map(watched, starts), key=lambda found: found.objective)

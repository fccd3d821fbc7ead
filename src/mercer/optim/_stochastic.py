"""Stochastic descent on a finite sum: the one loop over epochs and batches, and the reasons for which it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from mercer._params import Bool, Function, Integer, InvalidParameterError, Null, OneOf, RandomState, Real, check_value
from mercer._random import as_random_state
from mercer.optim._minimize import CONVERGED, DIVERGED, MAX_ITER, STOPPED, Callback, Ending, grown, is_stopped
from mercer.optim._optimizers import Optimizer, as_optimizer
from mercer.optim._sampling import Batches, Indices
from mercer.optim._schedules import as_schedule
from mercer.optim._settings import start_point
from mercer.optim._trace import Iteration, Trace, Vector

_OWNER = "sgd_minimize"


def sgd_minimize(
    grad: Callable[[Vector, Indices], Any],
    x0: Any,
    n_samples: int,
    *,
    fun: Callable[[Vector, Indices], Any] | None = None,
    optimizer: str | Optimizer = "sgd",
    rate: float | None = None,
    schedule: str | Callable[[float], float] = "constant",
    schedule_by: str = "update",
    sampling: str = "shuffle",
    batch_size: int = 1,
    n_epochs: int = 100,
    tol: float | None = None,
    average: bool | int = False,
    random_state: Any = None,
    callback: Callback | None = None,
    keep_path: bool = True,
) -> OptimizeResult:
    r"""Minimise a mean :math:`\frac1n \sum_{i=1}^n f_i(x)` by steps along the gradients of a few of its terms at a time.

    Parameters
    ----------
    grad : callable
        ``grad(x, indices)`` gives the mean of the gradients of the terms :math:`f_i` with i in `indices`, an integer array.
    x0 : array-like of shape (d,)
        Where to start.
    n_samples : int
        n, the number of terms.
    fun : callable or None, default=None
        ``fun(x, indices)`` gives the mean of those terms. Called once an epoch with all of them, for the trace and the result
        only.
    optimizer : {"sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam"} or Optimizer, default="sgd"
        What a gradient does to x. An object sets its options: ``Momentum(gamma=0.8)``.
    rate : float or None, default=None
        The learning rate. None means 0.001 for `rmsprop` and `adam` and 0.01 for the others.
    schedule : {"constant", "inverse", "step", "exponential", "cosine"}, Schedule or callable, default="constant"
        What the rate is multiplied by as time t = 0, 1, 2, ... goes on: ``InverseDecay(0.01)``, ``lambda t: 0.99 ** t``.
    schedule_by : {"update", "epoch"}, default="update"
        What the schedule's time counts.
    sampling : {"full", "cyclic", "random", "shuffle"}, default="shuffle"
        Which terms make up a gradient: all; the next ones in their order; drawn with replacement; drawn without
        replacement, in a new order every epoch.
    batch_size : int, default=1
        How many terms make up a gradient. With ``sampling="full"`` it does not matter; else at most n.
    n_epochs : int, default=100
        An epoch is n terms, hence ceil(n / `batch_size`) updates.
    tol : float or None, default=None
        The Euclidean norm of the full gradient at which to stop; measured after every epoch, which costs n terms. None means
        that all epochs are run.
    average : bool or int, default=False
        Whether to answer with the mean of the iterates (Polyak and Ruppert) instead of the last: True means over all
        updates, an integer k over those from epoch k on (the first is 1). The trace and the stopping rule then see the mean.
    random_state : int, RandomState instance or None, default=None
        An integer makes the run the same every time.
    callback : callable or None, default=None
        Called with every record of the trace, the start included. Returning True or raising StopIteration ends the run.
    keep_path : bool, default=True
        Whether the trace holds x and the gradient after every epoch.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x`, `fun` (NaN without `fun`), `jac` (as in the trace), `nit` (epochs), `nfev` and `njev` (calls of `fun` and `grad`),
        `n_terms` (single gradients that went into these), `n_updates`, `success`, `status`, `message` and `trace`, a `Trace`
        with one record an epoch. Its `step` is the last rate; its `jac` and `grad_norm` are those of the full gradient if `tol`
        is given, else of the mean of the gradients of the epoch (NaN at the start). Nothing is raised or warned about when the
        run fails; `status` and `message` say how it ended:

        0. the full gradient's norm reached `tol`, or all epochs were run where no `tol` was given;
        1. all epochs were run and `tol` was not reached;
        3. a value became NaN or infinite or grew beyond all bounds; `x` is the last record's;
        99. the callback ended it.

    Notes
    -----
    O(d) an update besides `grad`. With a constant rate plain descent ends near the minimum, not at it, unless all terms have
    the same one: let the rate decay, or average.

    Examples
    --------
    The mean of numbers minimises the mean square distance, and 1/t steps give exactly it:

    >>> import numpy as np
    >>> from mercer.optim import sgd_minimize
    >>> a = np.array([1.0, 2.0, 6.0])
    >>> def gradient(x, indices):
    ...     return x - a[indices].mean()
    >>> sgd_minimize(gradient, [0.0], len(a), rate=1.0, schedule="inverse", n_epochs=1, random_state=0).x
    array([3.])

    References
    ----------
    L. Bottou, F. Curtis and J. Nocedal, Optimization methods for large-scale machine learning, SIAM Review 60 (2018).
    """
    n = check_value(_OWNER, "n_samples", n_samples, Integer(1))
    how = check_value(_OWNER, "sampling", sampling, OneOf("full", "cyclic", "random", "shuffle"))
    size = check_value(_OWNER, "batch_size", batch_size, Integer(1))
    if how != "full" and size > n:
        raise InvalidParameterError(f"{_OWNER}: batch_size={size} is not valid; it must be at most n_samples={n}.")
    batches = Batches(n, size, how, as_random_state(check_value(_OWNER, "random_state", random_state, RandomState())))
    epochs = check_value(_OWNER, "n_epochs", n_epochs, Integer(1))
    by_epoch = check_value(_OWNER, "schedule_by", schedule_by, OneOf("update", "epoch")) == "epoch"
    chosen = as_optimizer(_OWNER, optimizer)
    given_rate = check_value(_OWNER, "rate", rate, Real(above=0) | Null())
    terms = _Terms(check_value(_OWNER, "grad", grad, Function()), check_value(_OWNER, "fun", fun, Function() | Null()), n)
    run = _Run(
        terms,
        batches,
        chosen,
        rate=chosen.default_rate if given_rate is None else given_rate,
        schedule=as_schedule(_OWNER, schedule, epochs if by_epoch else epochs * batches.n_batches),
        by_epoch=by_epoch,
        n_epochs=epochs,
        tol=check_value(_OWNER, "tol", tol, Real(above=0) | Null()),
        average_from=int(check_value(_OWNER, "average", average, Bool() | Integer(1))),
        callback=check_value(_OWNER, "callback", callback, Function() | Null()),
        keep_path=check_value(_OWNER, "keep_path", keep_path, Bool()),
    )
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        return run.descend(start_point(_OWNER, x0))


class _Terms:
    """The user's functions, with shapes checked and calls counted."""

    def __init__(self, grad: Callable[..., Any], fun: Callable[..., Any] | None, n_samples: int) -> None:
        self.grad, self.fun, self.all = grad, fun, np.arange(n_samples)
        self.nfev = self.njev = self.n_terms = 0

    def gradient(self, x: Vector, indices: Indices) -> Vector:
        self.njev += 1
        self.n_terms += len(indices)
        gradient = np.asarray(self.grad(x.copy(), indices), dtype=np.float64)
        if gradient.shape != x.shape:
            raise ValueError(
                f"{_OWNER}: grad returned an array of shape {gradient.shape}; it must be of shape {x.shape} like x0."
            )
        return gradient

    def value(self, x: Vector) -> float:
        if self.fun is None:
            return np.nan
        self.nfev += 1
        value = np.asarray(self.fun(x.copy(), self.all))
        if value.size != 1 or value.dtype.kind not in "fiub":
            raise ValueError(f"{_OWNER}: fun returned an object of shape {value.shape}; it must return a real number.")
        return float(value.reshape(()))


@dataclass
class _Run:
    """One run of `sgd_minimize`."""

    terms: _Terms
    batches: Batches
    optimizer: Optimizer
    rate: float
    schedule: Callable[[float], float]
    by_epoch: bool
    n_epochs: int
    tol: float | None
    average_from: int
    callback: Callback | None
    keep_path: bool
    trace: Trace = field(default_factory=Trace)
    n_updates: int = 0
    n_averaged: int = 0

    def descend(self, x: Vector) -> OptimizeResult:
        self.x, self.state, self.mean = x, self.optimizer.init(x), x.copy()
        self.reached = x.copy(), np.full(len(x), np.nan)
        ending = self._record(np.full(len(x), np.nan), np.nan)
        while ending is None:
            ending = self._epoch()
        return self._result(ending)

    def _epoch(self) -> Ending | None:
        """All updates of an epoch; the reason to end if there is one."""
        epoch, total, rate = len(self.trace), np.zeros_like(self.x), self.rate
        if epoch > self.n_epochs:
            return self._ran_out()
        for indices in self.batches.epoch():
            gradient = self.terms.gradient(self.x, indices)
            if not np.isfinite(gradient @ gradient):
                return self._broken("the gradient of a batch", epoch)
            rate = self.rate * self.schedule(epoch - 1 if self.by_epoch else self.n_updates)
            self.optimizer.update(self.x, gradient, self.state, rate)
            self.n_updates += 1
            total += gradient * len(indices)
            if 0 < self.average_from <= epoch:
                self.n_averaged += 1
                self.mean += (self.x - self.mean) / self.n_averaged
        return self._record(total / self.batches.n_samples, rate)

    def _record(self, gradient: Vector, rate: float) -> Ending | None:
        """Add a record, tell the callback, and say whether to end here."""
        epoch = len(self.trace)
        x = (self.mean if self.n_averaged else self.x).copy()
        fun = self.terms.value(x)
        if self.tol is not None:
            gradient = self.terms.gradient(x, self.terms.all).copy()
        norm = float(np.linalg.norm(gradient))
        for what, is_finite in (
            ("x", np.isfinite(x).all()),
            ("the function", self.terms.fun is None or np.isfinite(fun)),
            ("the gradient", np.isfinite(norm) or (epoch == 0 and self.tol is None)),
        ):
            if not is_finite:
                return self._broken(what, epoch)
        self.reached = x, gradient
        path = (x, gradient) if self.keep_path else (None, None)
        record = Iteration(epoch, fun, norm, rate, self.terms.nfev, "", *path)
        self.trace._append(record)
        has_stopped = is_stopped(self.callback, record)
        if self.tol is not None and norm <= self.tol:
            return Ending(CONVERGED, f"Converged: gradient norm {norm:.3g} <= tol={self.tol:g}.")
        if growth := grown(self.trace, "epochs"):
            return Ending(DIVERGED, f"{growth} {self._remedy()}")
        return Ending(STOPPED, "Stopped by the callback.") if has_stopped else None

    def _ran_out(self) -> Ending:
        if self.tol is None:
            return Ending(CONVERGED, f"Ran the {self.n_epochs} epochs asked for; no tol was given to measure convergence by.")
        return Ending(
            MAX_ITER,
            f"Stopped at n_epochs={self.n_epochs} with the gradient norm at {self.trace[-1].grad_norm:.3g} > tol={self.tol:g}. "
            "Raise n_epochs or tol, or change the rate or its schedule.",
        )

    def _broken(self, what: str, epoch: int) -> Ending:
        if epoch == 0:
            return Ending(DIVERGED, f"Diverged: {what} is not finite at x0. Start where it is.")
        return Ending(DIVERGED, f"Diverged: {what} is not finite in epoch {epoch}. {self._remedy()}")

    def _remedy(self) -> str:
        return f"Try a rate below {self.rate:g}, or a schedule that lets it decay."

    def _result(self, ending: Ending) -> OptimizeResult:
        x, gradient = self.reached
        return OptimizeResult(
            x=x.copy(),
            fun=self.trace[-1].fun if len(self.trace) else np.nan,
            jac=gradient.copy(),
            nit=max(0, len(self.trace) - 1),
            nfev=self.terms.nfev,
            njev=self.terms.njev,
            n_terms=self.terms.n_terms,
            n_updates=self.n_updates,
            success=ending.status == CONVERGED,
            status=ending.status,
            message=ending.message,
            trace=self.trace,
        )

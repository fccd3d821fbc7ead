"""Training of networks: epochs of stochastic descent as a solver, L-BFGS on the whole, and what a fit reached.

The objective is sum_i s_i loss(y_i, f(x_i)) / S + alpha |w|^2 / (2 S), with S the sum of the weights s_i: of all rows for
L-BFGS, of a batch's for a step of stochastic descent, as in scikit-learn. Intercepts go free.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.utils import shuffle

from mercer._arrays import FloatArray, require_finite
from mercer._base import FitTask, run_solver
from mercer._lazy import lazy_property
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._patience import Patience
from mercer._saved import saved
from mercer._trace import Certificate, Outcome, Record, Status, log
from mercer.neural_network._network import Network
from mercer.optim import SGD, AdaGrad, Adam, Momentum, Nesterov, Optimizer, RMSProp

LEAST_RATE = 1e-6  # below which the adaptive rate is not lowered any more
CERTIFIED_ROWS = 4096  # at most, on which the gradient at the end is measured: all where there are no more
GRADIENT_ROWS = 1024  # that pass at a time where a gradient over all of them is taken
NATIVE_NAMES: dict[type, str] = {
    SGD: "sgd", Momentum: "momentum", Nesterov: "nesterov", AdaGrad: "adagrad", RMSProp: "rmsprop", Adam: "adam",
}  # fmt: skip


@dataclass(frozen=True)
class Objective:
    """A checked objective: the loss by the kernels' name, the weight decay, and the price of draws."""

    loss: str
    parameter: float = 0.0
    alpha: float = 0.0
    is_decoupled: bool = False
    beta: float = 0.0
    loss_scale: float = 1.0  # of the loss that is told: one over the outputs where it is a mean over them
    offset: float = 0.0  # added to it: what the loss has besides what depends on the model

    def native(self) -> Any:
        return kernels.NetworkObjective(self.loss, self.parameter, self.alpha, self.is_decoupled, self.beta)


@dataclass(frozen=True)
class Settings:
    """A checked fit by stochastic descent."""

    optimizer: Optimizer
    rate: float
    schedule: str | Callable[[float], float]  # "constant", "invscaling" (of samples), "adaptive", or a factor by epochs
    power_t: float
    batch_size: int | str
    max_iter: int
    tol: float
    n_iter_no_change: float
    shuffle: bool
    longest: float  # of a gradient
    verbose: int
    n_threads: int
    has_adam_hat: bool = False  # Adam with the eps of scikit-learn, beside the root of squares that keep their bias


@dataclass(frozen=True)
class Sample:
    """Rows and what they are to be fitted to: codes of classes (softmax) or a value an output."""

    X: Any
    codes: npt.NDArray[np.int32] | None
    values: FloatArray | None
    weights: FloatArray | None

    @lazy_property
    def rows(self) -> Any:
        return native_rows(self.X)

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def take(self, index: npt.NDArray[Any]) -> Sample:
        parts = (None if part is None else part[index] for part in (self.codes, self.values, self.weights))
        return Sample(self.X[index], *parts)


def require_weight(owner: str, learnt: Sample, held_out: Sample) -> None:
    """Refuse a split one of whose sides has no weight."""
    for part, what in ((learnt, "to learn from"), (held_out, "held out to score by")):
        if part.weights is not None and not part.weights.any():
            raise ValueError(
                f"{owner}: sample_weight is zero for all {part.n_rows} rows that are {what}; with early_stopping=True both "
                "sides need a row that counts. Drop the rows of weight zero, or raise validation_fraction."
            )


@saved("mercer.neural_network.Memory")
@dataclass
class Memory:
    """What an optimiser remembers between epochs, and between calls of `partial_fit`."""

    moment: FloatArray
    squares: FloatArray
    n_updates: int = 0
    rate: float = 0.0

    @classmethod
    def of(cls, settings: Settings, flat: FloatArray) -> Memory:
        state = settings.optimizer.init(flat)
        moment, squares = (np.ascontiguousarray(part, dtype=flat.dtype) for part in (state.moment, state.squares))
        return cls(moment, squares, rate=settings.rate)

    def copy(self) -> Memory:
        return Memory(self.moment.copy(), self.squares.copy(), self.n_updates, self.rate)


def native_step(settings: Settings) -> Any:
    """The optimiser as the kernels have it."""
    optimizer = settings.optimizer
    gamma = getattr(optimizer, "gamma", getattr(optimizer, "beta1", 0.0))
    rho = getattr(optimizer, "rho", getattr(optimizer, "beta2", 0.0))
    name = "adam_hat" if settings.has_adam_hat else NATIVE_NAMES[type(optimizer)]
    return kernels.NetworkStep(name, gamma, rho, getattr(optimizer, "eps", 0.0), settings.longest)


@dataclass
class Progress:
    """What a fit leaves that is continued: the parameters, what was told of them, and where the optimiser is."""

    flat: FloatArray
    losses: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    history: list[Record] = field(default_factory=list)
    n_seen: int = 0
    memory: Memory | None = None

    def copy(self) -> Progress:
        memory = None if self.memory is None else self.memory.copy()
        return Progress(self.flat.copy(), list(self.losses), list(self.scores), list(self.history), self.n_seen, memory)


class Trainer:
    """The kernels' passes over a sample, for one objective."""

    def __init__(
        self,
        network: Network,
        sample: Sample,
        objective: Objective,
        *,
        mask: FloatArray | None = None,
        noise: tuple[str, float] = ("none", 0.0),
        seed: int = 0,
        n_threads: int = 1,
    ) -> None:
        self.network, self.sample = network, sample
        self.mask, self.seed, self.n_threads = mask, seed, n_threads
        self._noise = kernels.NetworkNoise(*noise)
        self.set_objective(objective)

    def set_objective(self, objective: Objective) -> None:
        self.objective, self._native_objective = objective, objective.native()

    def epoch(
        self, flat: FloatArray, memory: Memory, step: Any, order: npt.NDArray[np.int64], batch_size: int, rates: FloatArray
    ) -> Record:
        """One pass with a step after every batch: moves `flat` and `memory`."""
        sample = self.sample
        told = kernels.train_network_epoch(
            self.network.native, sample.rows, sample.codes, sample.values, sample.weights, self._native_objective, self._noise,
            step, order, batch_size, rates, memory.n_updates, self.seed, flat, memory.moment, memory.squares, self.mask,
            self.n_threads,
        )  # fmt: skip
        memory.n_updates += len(rates)
        return self._record(told)

    def gradient(self, flat: FloatArray, rows: npt.NDArray[np.int64] | None = None) -> tuple[float, Record, FloatArray]:
        """The objective on some rows or all, what it is made of, and its gradient."""
        order = np.arange(self.sample.n_rows, dtype=np.int64) if rows is None else rows
        sample, gradient = self.sample, np.empty_like(flat)
        told = kernels.network_gradient(
            self.network.native, sample.rows, sample.codes, sample.values, sample.weights, self._native_objective, self._noise,
            order, GRADIENT_ROWS, self.seed, flat, self.mask, gradient, self.n_threads,
        )  # fmt: skip
        loss, penalty, divergence, _ = told
        return loss + penalty + self.objective.beta * divergence, self._record(told), gradient

    def _record(self, told: tuple[float, float, float, list[float]]) -> Record:
        loss, penalty, divergence, squares = told
        scale, beta = self.objective.loss_scale, self.objective.beta
        fitted = scale * loss + self.objective.offset
        record = {"loss": fitted, "penalty": penalty}
        if any(layer.draws for layer in self.network.layers):  # the negative evidence bound, and what it is made of
            record |= {"loss": fitted + scale * beta * divergence, "reconstruction": fitted, "kl": divergence}
        layers = [k for k, layer in enumerate(self.network.layers) if not layer.draws]
        return record | {f"gradient_norm_{place}": math.sqrt(squares[k]) for place, k in enumerate(layers, start=1)}

    @staticmethod
    def value(record: Record) -> float:
        """The objective as it is told."""
        return record["loss"] + record["penalty"]


class Epochs:
    """Stochastic descent as a solver: a step is an epoch. Ends when what it watches has not improved by `tol` for a while."""

    def __init__(
        self,
        owner: Any,
        trainer: Trainer,
        settings: Settings,
        progress: Progress,
        random_state: np.random.RandomState,
        score: Callable[[FloatArray], float] | None = None,
    ) -> None:
        self._owner, self.trainer, self._settings, self._random_state = owner, trainer, settings, random_state
        self.progress, self._score = progress, score
        self.memory = progress.memory or Memory.of(settings, progress.flat)
        self._step = native_step(settings)
        n = trainer.sample.n_rows
        wanted = min(200, n) if settings.batch_size == "auto" else settings.batch_size
        self.batch_size = min(int(wanted), n)
        self._order = np.arange(n, dtype=np.int64)
        self._patience = self._new_patience()
        self.best: tuple[float, FloatArray] | None = None  # the best held-out score and its parameters
        if progress.losses and score is None:
            self._patience.see(min(progress.losses))
            self._patience.renew()
        self.n_epochs = 0
        self.is_done = False

    def step(self) -> Record:
        settings, progress = self._settings, self.progress
        if settings.shuffle:
            self._order = shuffle(self._order, random_state=self._random_state)
        rates = self._rates()
        with np.errstate(over="ignore", invalid="ignore"):
            told = self.trainer.epoch(progress.flat, self.memory, self._step, self._order, self.batch_size, rates)
        value = self.trainer.value(told)
        if not (np.isfinite(progress.flat).all() and math.isfinite(value)):
            self._refuse_overflow(rates[0])
        self.n_epochs += 1
        progress.n_seen += len(self._order)
        progress.losses.append(value)
        record = {**told, "rate": float(rates[0])}
        watched = value
        if self._score is not None:
            score = self._score(progress.flat)
            record["score"], watched = score, math.inf if math.isnan(score) else -score
            progress.scores.append(score)
            if self.best is None or score > self.best[0] or math.isnan(self.best[0]):
                self.best = score, progress.flat.copy()
        progress.history.append(record)
        self._settle(self._patience.see(watched))
        return record

    def _new_patience(self) -> Patience:
        return Patience(self._settings.n_iter_no_change + 1, self._settings.tol)  # type: ignore[arg-type]  # may be infinite

    @property
    def kept(self) -> FloatArray:
        """The parameters that the fit would leave if it ended now: where rows are held out, those of the best epoch."""
        return self.progress.flat if self.best is None else self.best[1]

    @property
    def improvement(self) -> float:
        return self._patience.gain

    def _rates(self) -> FloatArray:
        """The learning rate of each batch of the next epoch."""
        n_batches = -(-len(self._order) // self.batch_size)
        if callable(self._settings.schedule):
            times = (self.n_epochs + np.arange(n_batches) / n_batches).tolist()
            rates = np.array([self._settings.rate * float(self._settings.schedule(t)) for t in times])
            if not (np.isfinite(rates).all() and (rates >= 0).all()):
                wrong = rates[~(rates >= 0) | ~np.isfinite(rates)][0] / self._settings.rate
                raise ValueError(
                    f"{type(self._owner).__name__}: learning_rate gave the factor {wrong:g} in epoch {self.n_epochs + 1}; it "
                    "must be finite and not negative."
                )
            return rates
        return np.full(n_batches, self.memory.rate)

    def _settle(self, is_over: bool) -> None:
        settings = self._settings
        if settings.schedule == "invscaling":
            self.memory.rate = settings.rate / (self.progress.n_seen + 1) ** settings.power_t
        if is_over and settings.schedule == "adaptive" and self.memory.rate > LEAST_RATE:
            self.memory.rate /= 5
            self._patience.renew()
            is_over = False
        self.is_done = is_over

    def _refuse_overflow(self, rate: float) -> None:
        X, values = self.trainer.sample.X, self.trainer.sample.values
        require_finite(self._owner, X)
        largest = f"{np.abs(X.data if sp.issparse(X) else X).max(initial=0):.3g}"
        has_y = values is not None and values is not X
        of_y = f", of y as large as {np.abs(np.asarray(values)).max(initial=0):.3g}" if has_y else ""
        raise ValueError(
            f"{type(self._owner).__name__}: Solver produced non-finite parameter weights or loss in epoch {self.n_epochs + 1}. "
            f"Values of X are as large as {largest}{of_y}, the learning rate was {rate:.3g}. Scale X (StandardScaler)"
            f"{' and y (TransformedTargetRegressor)' if has_y else ''}, lower learning_rate_init, or set clip_norm, so that a "
            "single gradient can move the weights only so far."
        )


def run_epochs(
    epochs: Epochs, settings: Settings, task: FitTask, fitted: Callable[[], dict[str, Any]], *, until: int | None = None
) -> Outcome:
    """The epochs of a fit, or only those `until` some number; more can follow. The certificate is that of `epochs.kept`."""
    n_epochs = (settings.max_iter if until is None else until) - epochs.n_epochs
    status, history = run_solver(epochs, task, max_iter=n_epochs, verbose=settings.verbose, fitted=fitted)
    if status is Status.CONVERGED:
        status = Status.SETTLED
    warning = None
    what = "validation score" if epochs.best is not None else "training loss"
    if status is Status.MAX_ITER:
        warning = (
            f"Stochastic Optimizer: Maximum iterations ({settings.max_iter}) reached and the optimization hasn't converged "
            f"yet: the {what} improved by {epochs.improvement:.3g} in the last epoch (tol={settings.tol:g}). Raise max_iter "
            "or tol, or the learning rate."
        )
    if epochs.best is None and status is Status.SETTLED:
        log(
            settings.verbose,
            "the %s did not improve more than tol=%g for %d epochs",
            what,
            settings.tol,
            settings.n_iter_no_change,
        )
    method = f"stochastic descent by {type(settings.optimizer).__name__}"
    return Outcome(_certificate(epochs.trainer, epochs.kept, status, method, settings.tol), history, warning)


def _certificate(trainer: Trainer, flat: FloatArray, status: Status, method: str, tol: float) -> Certificate:
    n = trainer.sample.n_rows
    rows = None if n <= CERTIFIED_ROWS else np.linspace(0, n - 1, CERTIFIED_ROWS).astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        value, _, gradient = trainer.gradient(flat, rows)
    norm = float(np.linalg.norm(gradient.astype(np.float64)))
    where = "" if rows is None else f" over {len(rows)} of {n} rows"
    return Certificate(
        method=method,
        status=status.given(is_reached=norm <= tol),
        primal=value,
        condition=f"norm of the gradient{where} (a local statement: the objective is not convex)",
        residual=norm,
        tol=tol,
    )


class _Stopped(Exception):
    """A callback asks L-BFGS to stop."""


def run_lbfgs(
    trainer: Trainer, settings: Settings, progress: Progress, max_fun: int, task: FitTask, fitted: Callable[[], dict[str, Any]]
) -> Outcome:
    """L-BFGS over all rows at once, from `progress`, which it moves: an iteration is a record."""
    dtype, history, status = progress.flat.dtype, progress.history, Status.CONVERGED
    seen: dict[str, Any] = {}
    iteration = task

    def value_and_gradient(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal iteration
        if task.is_watched and not seen:
            iteration = task.subtask("iteration", fitted=fitted)
        value, record, gradient = trainer.gradient(x.astype(dtype))
        seen.update(value=value, record=record)
        return value, gradient.astype(np.float64)

    def end_iteration(x: FloatArray) -> None:
        nonlocal iteration
        progress.flat = x.astype(dtype)
        history.append(dict(seen["record"]))
        log(settings.verbose, "iteration %d: objective %.8g", len(history), seen["value"])
        if task.is_watched:
            if iteration.end(fitted):
                raise _Stopped
            iteration = task.subtask("iteration", fitted=fitted)

    n_before = len(history)
    options = {"maxfun": max_fun, "maxiter": settings.max_iter, "gtol": settings.tol}
    message = ""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found = minimize(
                value_and_gradient, progress.flat.astype(np.float64), method="L-BFGS-B", jac=True, options=options,
                callback=end_iteration,
            )  # fmt: skip
        progress.flat = found.x.astype(dtype)
        if found.status == 1:
            status, message = Status.MAX_ITER, f"lbfgs failed to converge after {len(history) - n_before} iteration(s)"
        elif found.status != 0:
            status, message = Status.INEXACT, f"lbfgs ended: {found.message}"
    except _Stopped:
        status = Status.STOPPED
    if not np.isfinite(progress.flat).all():
        require_finite(task.estimator, trainer.sample.X)
        raise ValueError(
            f"{type(task.estimator).__name__}: Solver produced non-finite parameter weights. The input data may contain large "
            "values and need to be preprocessed (StandardScaler)."
        )
    value, record, gradient = trainer.gradient(progress.flat)
    progress.losses.append(trainer.value(record))
    norm = float(np.abs(gradient).max(initial=0))
    certificate = Certificate(
        method="L-BFGS",
        status=status.given(is_reached=norm <= settings.tol),
        primal=value,
        condition="largest slope (a local statement: the objective is not convex)",
        residual=norm,
        tol=settings.tol,
    )
    warning = None
    if message and not certificate.converged:
        warning = f"{message}: the largest slope is {norm:.3g} (tol={settings.tol:g}). Raise max_iter or max_fun, or scale X."
    return Outcome(certificate, history[n_before:], warning)

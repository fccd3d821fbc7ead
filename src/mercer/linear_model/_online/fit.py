"""What the online learners share: fits and parts of fits, from checked data to fitted attributes."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import Finite, FloatArray
from mercer._base import FitTask, run_solver
from mercer._linear import LinearModel
from mercer._params import Bool, Integer, Null, RandomState, Real, Rule, Verbosity, check_params
from mercer._trace import Certificate, Outcome, Record, Status
from mercer.linear_model._online.bound import Reached, measure
from mercer.linear_model._online.draws import prepare
from mercer.linear_model._online.stochastic import AVERAGING, Descent, Iterate, Problem, Settings, has_averaging

SHARED_RULES: dict[str, Rule] = {
    "fit_intercept": Bool(),
    "max_iter": Integer(1),
    "tol": Real(least=0) | Null(),
    "shuffle": Bool(),
    "verbose": Verbosity(),
    "random_state": RandomState(),
    "early_stopping": Bool(),
    "validation_fraction": Real(above=0, most=1),
    "n_iter_no_change": Integer(1),
    "warm_start": Bool(),
}


class OnlineLearner(LinearModel):
    """A linear model fitted by stochastic descent; subclasses say by which settings, and what their data are."""

    _parameter_rules: ClassVar[dict[str, Rule]] = {}
    _of_whole_fits: ClassVar[tuple[str, ...]] = ("certificate_", "history_")  # attributes that a partial fit takes away

    def _settings(self, params: SimpleNamespace) -> Settings:
        """The settings of a fit, from checked parameters."""
        raise NotImplementedError

    def _to_stored(self, coef: FloatArray, intercept: FloatArray) -> dict[str, Any]:
        """The attributes of a model."""
        raise NotImplementedError

    def _check_params(self, *, is_partial: bool) -> tuple[SimpleNamespace, Settings]:
        """The parameters and the settings, with what no single parameter can say checked."""
        params = check_params(self)
        settings = self._check_settings(params)
        if is_partial and params.early_stopping:
            raise ValueError(f"{type(self).__name__}: early_stopping=True is not valid with partial_fit; it must be False.")
        return params, settings

    def _check_settings(self, params: SimpleNamespace) -> Settings:
        owner, settings = type(self).__name__, self._settings(params)
        if settings.learning_rate == "optimal" and settings.alpha == 0:
            raise ValueError(
                f"{owner}: alpha=0.0 is not valid with learning_rate='optimal', which divides by it; it must be > 0."
            )
        if settings.early_stopping and settings.validation_fraction == 1:
            raise ValueError(
                f"{owner}: validation_fraction=1.0 is not valid; it must be < 1, or nothing is left to learn from."
            )
        return settings

    def _start(
        self, problem: Problem, settings: Settings, coef_init: Any = None, intercept_init: Any = None, *, is_warm: bool = False
    ) -> Iterate:
        """A new iterate: at zero, at the last fit, or where the caller says."""
        k, (_, d), dtype = problem.n_outputs, problem.X.shape, problem.X.dtype
        if is_warm and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        coef = self._checked_start("coef_init", coef_init, (k, d), dtype)
        intercept = self._checked_start("intercept_init", intercept_init, (k,), dtype)
        return Iterate.at(coef, intercept, is_averaged=settings.average > 0)

    def _checked_start(self, name: str, given: Any, shape: tuple[int, ...], dtype: npt.DTypeLike) -> FloatArray:
        if given is None:
            return np.zeros(shape, dtype=dtype)
        values = np.array(given, dtype=dtype, order="C")
        if values.shape != shape:
            if values.size != np.prod(shape) or shape[0] > 1:
                raise ValueError(f"{type(self).__name__}: {name} has shape {values.shape}; for this data it must be {shape}.")
            values = values.reshape(shape)
        if not np.isfinite(values).all():
            raise ValueError(f"{type(self).__name__}: {name} contains NaN or infinity; every value must be a finite number.")
        return values

    def _solve(
        self, problem: Problem, settings: Settings, start: Iterate, fixed: dict[str, Any], task: FitTask
    ) -> tuple[dict[str, Any], Outcome]:
        """Descend, and say what was reached. `fixed` are fitted attributes that do not change on the way."""
        problem, seeds, score = prepare(problem, settings)
        descent = Descent(self, problem, settings, copy.deepcopy(start), seeds, score)

        def fitted() -> dict[str, Any]:
            return {**fixed, **self._attributes(descent.iterate, settings)}

        status, history = run_solver(descent, task, max_iter=settings.max_iter, verbose=settings.verbose, fitted=fitted)
        coef, intercept = descent.iterate.chosen(settings.average)
        with np.errstate(over="ignore", invalid="ignore"):
            reached = measure(problem, settings, descent.rule, coef, intercept)
        attributes = {**fitted(), **self._extra_attributes(problem, settings, start, descent, reached)}
        return attributes, self._outcome(status, history, settings, descent, reached)

    def _attributes(self, iterate: Iterate, settings: Settings) -> dict[str, Any]:
        # Without averages `coef_` and `intercept_` are all there is: who sets them sets where the next part of a fit begins.
        averaging = iterate.averaging() if settings.average > 0 else {}
        return {**self._to_stored(*iterate.chosen(settings.average)), "t_": iterate.time, **averaging}

    def _extra_attributes(
        self, problem: Problem, settings: Settings, start: Iterate, descent: Descent, reached: Reached
    ) -> dict[str, Any]:
        """Fitted attributes of one learner alone."""
        return {}

    def _outcome(
        self, status: Status, history: list[Record], settings: Settings, descent: Descent, reached: Reached
    ) -> Outcome:
        what = "validation score" if settings.early_stopping else "objective over a pass"
        tol = 0.0 if settings.tol is None else settings.tol
        if status is Status.CONVERGED:  # the peer's rule, which only says that passes have stopped to help
            status = Status.SETTLED
        gap = None if reached.dual is None else max(reached.primal - reached.dual, 0.0)
        if gap is None or settings.early_stopping:
            condition, residual = f"last improvement of the {what}", descent.improvement
        else:
            condition, residual = "duality gap", gap
            status = status.given(is_reached=gap <= tol)
        certificate = Certificate(
            method="stochastic descent",
            status=status,
            primal=reached.primal,
            condition=condition,
            residual=residual,
            tol=tol,
            dual=reached.dual,
            gap=gap,
        )
        warning = None
        if status is Status.MAX_ITER and settings.tol is not None:
            warning = (
                f"stopped at max_iter={settings.max_iter} before the {what} had settled: in the last pass it improved by "
                f"{descent.improvement:.3g} (tol={tol:g}). Raise max_iter or tol, or scale X."
            )
        return Outcome(certificate, history, warning)

    def _fit_problem(
        self, problem: Problem, settings: Settings, start: Iterate, fixed: dict[str, Any], task: FitTask
    ) -> OnlineLearner:
        attributes, outcome = self._solve(problem, settings, start, fixed, task)
        return self._finish(task, attributes, outcome, unset=AVERAGING)

    def _last_iterate(self, problem: Problem, settings: Settings) -> Iterate:
        """A copy of where the last pass ended, so that one that fails leaves it whole; a new start before the first."""
        if settings.average > 0 and hasattr(self, "coef_"):
            if not has_averaging(self):
                owner = type(self).__name__
                raise ValueError(f"{owner}: average={settings.average} is not valid after passes without averages; fit anew.")
            return Iterate.of_averaging(self)
        iterate = self._start(problem, settings, is_warm=True)
        iterate.time = getattr(self, "t_", 1.0)
        return iterate

    def _continue(self, problem: Problem, settings: Settings, fixed: dict[str, Any]) -> OnlineLearner:
        """One pass from where the last ended: no certificate, which would speak of this part of the data only."""
        descent = Descent(self, problem, settings, self._last_iterate(problem, settings), prepare(problem, settings)[1], None)
        descent.step()
        self._unset(*self._of_whole_fits, *AVERAGING)
        self._store({**fixed, **self._attributes(descent.iterate, settings), "n_iter_": 1})
        return self


def finite_of(sample_weight: Any, settings: Settings) -> Finite:
    """The first pass finds NaN by itself, unless rows may be absent from it."""
    return "deferred" if sample_weight is None and not settings.early_stopping else "check"

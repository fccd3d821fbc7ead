"""What the online learners share: fits and parts of fits, from checked data to fitted attributes."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import unique_labels

from mercer._arrays import Finite, FloatArray, check_weights, check_X_known_labels, check_X_labels, check_X_y
from mercer._base import FitTask, run_solver
from mercer._linear import LinearClassifier, LinearModel, LinearRegressor, SparseCoefficients
from mercer._params import Bool, Integer, Null, RandomState, Real, Rule, Verbosity, check_params
from mercer._random import as_random_state
from mercer._trace import Certificate, Outcome, Record, Status, store_outcome
from mercer.linear_model._online.bound import Reached, measure
from mercer.linear_model._online.stochastic import Descent, Iterate, Problem, Score, Settings
from mercer.metrics import r2_score

MAX_SEED = np.iinfo(np.int32).max

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

    def _check_settings(self, params: SimpleNamespace) -> Settings:
        """The settings, with what no single parameter can say checked."""
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
        problem, seeds, score = _prepare(problem, settings)
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
        averaging = iterate if settings.average > 0 else None
        return {**self._to_stored(*iterate.chosen(settings.average)), "t_": iterate.time, "_averaging": averaging}

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
        certificate = Certificate(
            method="stochastic descent",
            status=status,
            primal=reached.primal,
            condition=f"last improvement of the {what}",
            residual=descent.improvement,
            tol=tol,
            dual=reached.dual,
            gap=None if reached.dual is None else reached.primal - reached.dual,
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
        task.end(lambda: attributes)
        self._store(attributes)
        return store_outcome(self, outcome)

    def _last_iterate(self, problem: Problem, settings: Settings) -> Iterate:
        """A copy of where the last pass ended, so that one that fails leaves it whole; a new start before the first."""
        averaging: Iterate | None = getattr(self, "_averaging", None)
        if settings.average > 0 and hasattr(self, "coef_"):
            if averaging is None:
                owner = type(self).__name__
                raise ValueError(f"{owner}: average={settings.average} is not valid after passes without averages; fit anew.")
            return copy.deepcopy(averaging)
        iterate = self._start(problem, settings, is_warm=True)
        iterate.time = getattr(self, "t_", 1.0)
        return iterate

    def _continue(self, problem: Problem, settings: Settings, fixed: dict[str, Any]) -> OnlineLearner:
        """One pass from where the last ended: no certificate, which would speak of this part of the data only."""
        descent = Descent(self, problem, settings, self._last_iterate(problem, settings), _prepare(problem, settings)[1], None)
        descent.step()
        for name in self._of_whole_fits:
            self.__dict__.pop(name, None)
        self._store({**fixed, **self._attributes(descent.iterate, settings), "n_iter_": 1})
        return self


def _prepare(problem: Problem, settings: Settings) -> tuple[Problem, npt.NDArray[np.int64], Score | None]:
    """The rows to learn from, seeds and the validation score: what is drawn at random, in the order of the peer's draws."""
    random = as_random_state(settings.random_state)
    is_binary = problem.positives is not None and problem.n_outputs == 1
    if is_binary:
        random.randint(1, MAX_SEED)  # the peer's data set takes a seed that nothing uses
    score = None
    if settings.early_stopping:
        problem, score = _split(problem, settings)
    if problem.n_outputs > 1:
        seeds = [_seed_of_output(seed) for seed in random.randint(MAX_SEED, size=problem.n_outputs)]
    else:
        seeds = [int(random.randint(MAX_SEED))]
        if not is_binary:
            random.randint(1, MAX_SEED)
    return problem, np.array(seeds if settings.shuffle else [-1] * len(seeds), dtype=np.int64), score


def _seed_of_output(seed: int) -> int:
    random = np.random.RandomState(seed)
    random.randint(1, MAX_SEED)
    return int(random.randint(MAX_SEED))


def _split(problem: Problem, settings: Settings) -> tuple[Problem, Score]:
    """The problem without some rows, and the score of an output on them."""
    splitter = ShuffleSplit if problem.positives is None else StratifiedShuffleSplit
    splits = splitter(test_size=settings.validation_fraction, random_state=settings.random_state)
    _, chosen = next(splits.split(np.zeros((len(problem.y), 1)), problem.y))
    X, y = problem.X[chosen], problem.y[chosen].astype(np.float64)
    weights = None if problem.weights is None else problem.weights[chosen].astype(np.float64)
    if weights is not None and not weights.any():
        raise ValueError(
            "The sample weights for validation set are all zero, consider using a different random state: sample_weight must "
            f"be positive for some of the {len(chosen)} rows set aside by "
            f"validation_fraction={settings.validation_fraction:g}."
        )
    positives, has_log_link = problem.positives, settings.loss in ("poisson", "gamma")

    def score(coef: FloatArray, intercept: float, output: int) -> float:
        values = X @ coef + intercept
        if positives is None:
            return float(r2_score(y, np.exp(values) if has_log_link else values, sample_weight=weights))
        return float(np.average((values > 0) == (y == positives[output]), weights=weights))

    is_left_out = np.zeros(len(problem.y), dtype=bool)
    is_left_out[chosen] = True
    return problem.without(is_left_out), score


def _finite(sample_weight: Any, settings: Settings) -> Finite:
    """The first pass finds NaN by itself, unless rows may be absent from it."""
    return "deferred" if sample_weight is None and not settings.early_stopping else "check"


class OnlineRegressor(SparseCoefficients, LinearRegressor, OnlineLearner):
    """A regressor fitted by stochastic descent."""

    def _to_stored(self, coef: FloatArray, intercept: FloatArray) -> dict[str, Any]:
        return {"coef_": coef[0], "intercept_": intercept}

    def _check_targets(self, y: FloatArray, settings: Settings) -> None:
        if settings.loss == "poisson" and (y < 0).any():
            raise ValueError(f"{type(self).__name__}: y holds {y.min():g}; with loss='poisson' every value must be >= 0.")
        if settings.loss == "gamma" and (y <= 0).any():
            raise ValueError(f"{type(self).__name__}: y holds {y.min():g}; with loss='gamma' every value must be > 0.")

    def _fit(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any) -> Any:
        params = check_params(self)
        settings = self._check_settings(params)
        X, y = check_X_y(self, X, y, sparse="csr", finite=_finite(sample_weight, settings))
        self._check_targets(y, settings)
        problem = Problem.of(X, y, check_weights(sample_weight, X.shape[0], X.dtype))
        start = self._start(problem, settings, coef_init, intercept_init, is_warm=params.warm_start)
        task = FitTask.start(self, X, y, n_subtasks=settings.max_iter)
        return self._fit_problem(problem, settings, start, {}, task)

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        params = check_params(self)
        settings = self._check_settings(params)
        if params.early_stopping:
            raise ValueError(f"{type(self).__name__}: early_stopping=True is not valid with partial_fit; it must be False.")
        is_first = not hasattr(self, "coef_")
        X, y = check_X_y(self, X, y, sparse="csr", reset=is_first)
        self._check_targets(y, settings)
        if not is_first:
            X = X.astype(self.coef_.dtype, copy=False)
        return self._continue(Problem.of(X, y, check_weights(sample_weight, X.shape[0], X.dtype)), settings, {})


class OnlineClassifier(LinearClassifier, OnlineLearner):
    """A classifier fitted by stochastic descent: one output for two classes, one-vs-rest for more."""

    def _to_stored(self, coef: FloatArray, intercept: FloatArray) -> dict[str, Any]:
        return {"coef_": coef, "intercept_": intercept}

    def _problem(
        self, X: Any, codes: npt.NDArray[np.intp], classes: npt.NDArray[Any], weights: FloatArray | None, class_weight: Any
    ) -> Problem:
        of_class = self._class_weights(class_weight, classes, codes, weights)
        if len(classes) == 2:
            return Problem.of(X, codes, weights, np.array([1], dtype=np.int32), of_class[None, :])
        pairs = np.column_stack([np.ones(len(classes)), of_class])  # as the peer does: in each output, its own class alone
        return Problem.of(X, codes, weights, np.arange(len(classes), dtype=np.int32), pairs)

    def _fit(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any) -> Any:
        params = check_params(self)
        settings = self._check_settings(params)
        X, classes, codes = check_X_labels(self, X, y, sparse="csr", finite=_finite(sample_weight, settings))
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        problem = self._problem(X, codes, classes, weights, params.class_weight)
        start = self._start(problem, settings, coef_init, intercept_init, is_warm=params.warm_start)
        task = FitTask.start(self, X, y, n_subtasks=settings.max_iter)
        return self._fit_problem(problem, settings, start, {"classes_": classes}, task)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
        params = check_params(self)
        settings = self._check_settings(params)
        if params.early_stopping:
            raise ValueError(f"{type(self).__name__}: early_stopping=True is not valid with partial_fit; it must be False.")
        if params.class_weight == "balanced":
            raise ValueError(
                f"{type(self).__name__}: class_weight='balanced' is not valid with partial_fit, which does not see all labels; "
                "it must be None or a dict, such as one made by sklearn.utils.class_weight.compute_class_weight."
            )
        is_first = not hasattr(self, "classes_")
        classes = self._known_classes(classes)
        X, codes = check_X_known_labels(self, X, y, classes, sparse="csr", reset=is_first)
        if not is_first:
            X = X.astype(self.coef_.dtype, copy=False)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        problem = self._problem(X, codes, classes, weights, params.class_weight)
        return self._continue(problem, settings, {"classes_": classes})

    def _known_classes(self, classes: Any) -> npt.NDArray[Any]:
        """Those of the first call of partial_fit, which later calls may repeat."""
        known: npt.NDArray[Any] | None = getattr(self, "classes_", None)
        if classes is None:
            if known is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            return known
        given: npt.NDArray[Any] = unique_labels(classes)
        if known is not None and not np.array_equal(known, given):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        if len(given) < 2:
            raise ValueError(f"{type(self).__name__}: classes={classes!r} is not valid; it must hold at least 2 classes.")
        return given

    def _class_weights(
        self, class_weight: Any, classes: npt.NDArray[Any], codes: npt.NDArray[np.intp], weights: FloatArray | None
    ) -> FloatArray:
        """One weight a class; "balanced" counts a row by its weight."""
        if class_weight is None:
            return np.ones(len(classes))
        if isinstance(class_weight, str):  # the rule of the parameter allows "balanced" only
            counts = np.bincount(codes, weights=weights, minlength=len(classes))
            balanced: FloatArray = counts.sum() / (len(classes) * np.maximum(counts, np.finfo(np.float64).tiny))
            return balanced
        try:
            of_class: FloatArray = compute_class_weight(class_weight, classes=classes, y=classes[codes]).astype(np.float64)
        except (TypeError, ValueError):
            of_class = np.array([np.nan])
        if not (np.isfinite(of_class) & (of_class >= 0)).all():
            raise ValueError(
                f"{type(self).__name__}: class_weight={class_weight!r} is not valid; it must be a dict of finite numbers >= 0 "
                f"by label, for labels among {classes.tolist()!r}."
            )
        return of_class

"""What both mixtures share: the fit from several starts, and everything that is asked of fitted densities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X, require_no_overflow
from mercer._base import FitTask, MercerEstimator, best_of_restarts, fit_method, run_solver
from mercer._gaussians import COVARIANCE_TYPES, CovarianceType, draw, shares_of
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, OneOf, RandomState, Real, Rule, Verbosity, check_params
from mercer._random import as_random_state
from mercer._solvers.em import EM
from mercer._trace import Outcome, Record, Status, log
from mercer.mixture._rows import Rows


class MixtureModel(Protocol):
    """Parameters of a mixture that EM improves, and what they are called on an estimator."""

    covariance_type: CovarianceType
    means: FloatArray
    covariances: FloatArray
    factors: FloatArray

    @property
    def log_weights(self) -> FloatArray:
        """What the logarithm of a density of each component is moved by in predictions."""
        ...

    def expect(self) -> tuple[Any, float]: ...
    def maximise(self, statistics: Any, objective: float) -> float: ...
    def final_objective(self, reached: float) -> float: ...
    def attributes(self) -> dict[str, Any]: ...


class Spoken(EM[Any]):
    """EM that logs every so many iterations; `before` is the objective before those of an earlier fit that goes on."""

    def __init__(self, model: MixtureModel, params: SimpleNamespace, before: float) -> None:
        super().__init__(model, tol=params.tol)
        self.objective = before
        self._verbose, self._interval, self._n_steps = params.verbose, params.verbose_interval, 0

    def step(self) -> Record:
        record = super().step()
        self._n_steps += 1
        if self._verbose and self._n_steps % self._interval == 0:
            log(self._verbose, "EM: iteration %d, lower bound %.8g", self._n_steps, self.objective)
        return record


class Run:
    """A finished run from one start."""

    def __init__(self, solver: EM[Any], model: MixtureModel, status: Status, history: list[Record]) -> None:
        self._solver, self._model, self._status, self._history = solver, model, status, history
        self._reached = model.final_objective(solver.objective)

    @property
    def objective(self) -> float:
        return -self._reached if np.isfinite(self._reached) else np.inf

    def attributes(self) -> dict[str, Any]:
        return {
            **self._model.attributes(),
            "lower_bound_": self._reached,
            "lower_bounds_": [record["lower_bound"] for record in self._history],
            "n_iter_": len(self._history),
            "history_": self._history,
        }

    def outcome(self, method: str) -> Outcome:
        advice = "Raise max_iter or tol, or try other starts (n_init, init_params)."
        return self._solver.outcome(method, self._status, self._history, self._reached, advice)


class BaseMixture(DensityMixin, MercerEstimator):  # type: ignore[misc]
    """Fit, predictions and draws of mixtures of Gaussians. Subclasses make the model of a start."""

    _shared_rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "covariance_type": OneOf(*COVARIANCE_TYPES),
        "tol": Real(least=0),
        "reg_covar": Real(least=0),
        "max_iter": Integer(0),
        "n_init": Integer(1),
        "init_params": OneOf("kmeans", "random", "random_from_data", "k-means++"),
        "random_state": RandomState(),
        "warm_start": Bool(),
        "verbose": Verbosity(),
        "verbose_interval": Integer(1),
        "missing": OneOf("error", "em"),
    }
    _method: ClassVar[str]
    _parameter_rules: ClassVar[Mapping[str, Rule]] = _shared_rules

    n_components: int
    covariance_type: CovarianceType
    missing: str

    def _prepare(self, rows: Rows, params: SimpleNamespace) -> Callable[[Any], MixtureModel]:
        """Check the parameters that depend on X; what makes the model of a start, given the generator."""
        raise NotImplementedError

    def _resumed(self, rows: Rows, params: SimpleNamespace) -> MixtureModel:
        """The model as an earlier fit left it."""
        raise NotImplementedError

    def _log_weights(self) -> FloatArray:
        """What is added to the log-density of each component, by the fitted attributes."""
        raise NotImplementedError

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Estimate the parameters by EM from `n_init` starts; the best lower bound wins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, finite=self._finite)
        self._require_rows(len(X), params)
        weights = check_weights(sample_weight, len(X), np.float64)
        rows = Rows.of(X, weights, may_lack=params.missing == "em")
        if not np.isfinite(rows.variances).all():
            require_no_overflow(self, X, "squares of its deviations", allow_nan=params.missing == "em")
        resumes = params.warm_start and hasattr(self, "converged_")
        before = self.lower_bounds_[-1] if resumes and self.lower_bounds_ else -np.inf
        make = self._prepare(rows, params)
        task = FitTask.start(self, X, n_subtasks=1 if resumes else params.n_init)
        random = as_random_state(params.random_state)
        starts = [lambda: self._resumed(rows, params)] if resumes else [lambda: make(random)] * params.n_init

        def run(start: Callable[[], MixtureModel], subtask: FitTask) -> Run:
            model = start()
            solver = Spoken(model, params, before)
            status, history = run_solver(solver, subtask, max_iter=params.max_iter, verbose=0, fitted=model.attributes)
            return Run(solver, model, status, history)

        best = best_of_restarts(starts, run, task, n_subtasks=params.max_iter)
        outcome = best.outcome(self._method)
        found = {**best.attributes(), "converged_": outcome.certificate.converged}
        return self._finish(task, self._typed(found, X.dtype), outcome)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> npt.NDArray[np.int64]:
        """Fit, and return the most probable component of each row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def score_samples(self, X: Any) -> FloatArray:
        """The log-density of each row."""
        logs: FloatArray = self._joint(X)
        sums = np.empty(len(logs), dtype=logs.dtype)
        kernels.softmax_rows(logs, sums, None, effective_threads(None))
        return sums

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean log-density of the rows."""
        logs = self.score_samples(X)
        weights = check_weights(sample_weight, len(logs), np.float64)
        return float(np.average(logs, weights=weights))

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """The most probable component of each row."""
        labels: npt.NDArray[np.int64] = self._joint(X).argmax(axis=1)
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each component, given the row."""
        return shares_of(self._joint(X))[1]

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, npt.NDArray[np.int64]]:
        """Draw rows, component after component, and tell which drew them."""
        check_is_fitted(self)
        if not isinstance(n_samples, (int, np.integer)) or n_samples < 1:
            raise ValueError(
                f"{type(self).__name__}: Invalid value for 'n_samples': {n_samples!r} . The sampling requires at least one "
                "sample: "
                "it must be an integer >= 1."
            )
        random = as_random_state(getattr(self, "random_state", None))
        counts = random.multinomial(
            n_samples, np.asarray(self.weights_, dtype=np.float64) / np.sum(self.weights_, dtype=np.float64)
        )
        covariances = np.asarray(self.covariances_, dtype=np.float64)
        if self.covariance_type == "tied":
            covariances = np.broadcast_to(covariances, (len(counts), *covariances.shape))
        components = zip(self.means_, covariances, counts, strict=True)
        parts = [draw(random, mean, covariance, int(n)) for mean, covariance, n in components]
        return np.vstack(parts).astype(self.means_.dtype, copy=False), np.repeat(np.arange(len(counts)), counts)

    @property
    def _finite(self) -> Any:
        return "allow-nan" if self.missing == "em" else "check"

    def _require_rows(self, n: int, params: SimpleNamespace) -> None:
        if n < params.n_components:
            raise ValueError(
                f"{type(self).__name__}: Expected n_samples >= n_components but got n_components = {params.n_components}, "
                f"n_samples = {n}. Ask for fewer components, or give more rows."
            )

    def _joint(self, X: Any) -> FloatArray:
        """The log-density of each row and component, with the weight of the component."""
        check_is_fitted(self)
        X = check_X(self, X, finite=self._finite, reset=False)
        rows = Rows.of(X, may_lack=self.missing == "em")
        return rows.log_densities(
            np.asarray(self.means_, dtype=np.float64),
            np.asarray(self.covariances_, dtype=np.float64),
            self.precisions_cholesky_,
            self.covariance_type,
            self._log_weights(),
        )

    @staticmethod
    def _typed(found: dict[str, Any], dtype: npt.DTypeLike) -> dict[str, Any]:
        """Arrays in the precision of X."""
        return {name: value.astype(dtype) if isinstance(value, np.ndarray) else value for name, value in found.items()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "em"
        return tags

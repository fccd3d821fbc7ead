"""What all hidden Markov models share: parameters, sequences, fits, and everything that is asked of a chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array

from mercer._arrays import FloatArray, check_weights, check_X, require_no_overflow, validate
from mercer._base import FitTask, MercerEstimator, fit_method, run_solver
from mercer._params import ArrayLike, Integer, OneOf, RandomState, Real, Rule, Verbosity, check_params, check_value
from mercer._random import as_random_state
from mercer._solvers.em import EM
from mercer._trace import Status, warn
from mercer.hmm._chain import Chain, Emissions, HiddenMarkov, States, Steps

FEW = 10  # values, that an error shows


class Letters(Rule):
    """Names of parameters, a letter each, in any order."""

    def __init__(self, letters: str) -> None:
        self._letters = letters

    def accept(self, value: Any) -> Any:
        is_known = isinstance(value, str) and set(value) <= set(self._letters)
        return value if is_known else OneOf().accept(value)

    def describe(self) -> str:
        return f"a word of the letters {self._letters!r}"


@dataclass(frozen=True)
class Monitor:
    """How a fit went, under the names that hmmlearn has for it."""

    tol: float
    n_iter: int
    verbose: bool
    history: list[float]
    converged: bool

    @property
    def iter(self) -> int:
        return len(self.history)


class BaseHMM(MercerEstimator):
    """A chain of hidden states. Subclasses say what the states emit."""

    _names: ClassVar[Mapping[str, str]]  # what a fit moves: the attribute of each letter
    _shared_rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "startprob_prior": Real(least=0) | ArrayLike(),
        "transmat_prior": Real(least=0) | ArrayLike(),
        "algorithm": OneOf("viterbi", "map"),
        "random_state": RandomState(),
        "n_iter": Integer(0),
        "tol": Real(),
        "verbose": Verbosity(),
        "implementation": OneOf("log", "scaling"),
    }
    _parameter_rules: ClassVar[Mapping[str, Rule]] = _shared_rules

    n_components: int
    verbose: bool
    n_iter: int
    tol: float
    algorithm: str
    implementation: str
    init_params: str
    startprob_: FloatArray
    transmat_: FloatArray

    # What a subclass says of its emissions.

    def _check_values(self, X: FloatArray) -> None:
        """Refuse X that no state can emit."""

    def _emissions_from_data(self, X: FloatArray, params: SimpleNamespace, random: Any) -> Emissions:
        """The emissions to start from: what the user has set, and what `init_params` names or is not there, from X."""
        raise NotImplementedError

    def _emissions(self) -> Emissions:
        """The emissions of the attributes as they are."""
        raise NotImplementedError

    def _draw(self, state: int, random: Any) -> FloatArray:
        """A row that a state emits."""
        raise NotImplementedError

    def _n_free(self) -> dict[str, int]:
        """How many numbers a fit chooses, by letter."""
        raise NotImplementedError

    @fit_method
    def fit(self, X: Any, lengths: Any = None, sequence_weight: Any = None) -> Self:
        """Estimate the parameters by expectation maximisation (Baum-Welch).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The steps of all sequences, one behind another. A step whose values are all NaN is missing.
        lengths : array-like of int of shape (n_sequences,), default=None
            The number of steps of each sequence; None means one sequence.
        sequence_weight : array-like of shape (n_sequences,), default=None
            A sequence of weight two counts as two equal ones.

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, finite="allow-nan")
        steps = self._steps(X, lengths)
        weights = check_weights(sequence_weight, steps.n_sequences, np.float64)
        self._warn_of_what_is_replaced(params)
        random = as_random_state(params.random_state)
        chain = self._chain_to_start_from(params, random)
        model = HiddenMarkov(
            steps,
            weights,
            chain,
            self._emissions_from_data(steps.present, params, random),
            start_prior=self._prior(params.startprob_prior, "startprob_prior", (params.n_components,)),
            transition_prior=self._prior(params.transmat_prior, "transmat_prior", (params.n_components,) * 2),
            params=params.params,
        )
        task = FitTask.start(self, X, n_subtasks=params.n_iter)
        solver = EM(model, tol=params.tol, is_two_sided=False, name="log_posterior")
        status, history = run_solver(solver, task, max_iter=params.n_iter, verbose=params.verbose, fitted=model.attributes)
        outcome = solver.outcome("Baum-Welch", status, history, solver.objective, "Raise n_iter or tol.")
        found = {"n_iter_": len(history), "history_": history, **model.attributes()}
        return self._finish(task, found, outcome)

    @property
    def monitor_(self) -> Monitor:
        """The log posterior density at each iteration, and whether the iterations came to rest."""
        self._require_parameters()
        history = [record["log_posterior"] for record in getattr(self, "history_", [])]
        certificate = getattr(self, "certificate_", None)
        return Monitor(
            self.tol,
            self.n_iter,
            bool(self.verbose),
            history,
            certificate is not None and certificate.status is Status.CONVERGED,
        )

    @monitor_.setter
    def monitor_(self, monitor: Any) -> None:
        raise AttributeError(
            f"{type(self).__name__}: monitor_ tells how a fit went and cannot be set. To watch a fit, or to end it by a "
            "rule of your own, give callbacks to set_callbacks; tol and n_iter say when it ends by itself."
        )

    def score(self, X: Any, lengths: Any = None) -> float:
        """The log-likelihood of the sequences."""
        steps, logs = self._seen(X, lengths)
        return float(self._chain().score(steps, logs).sum())

    def score_samples(self, X: Any, lengths: Any = None) -> tuple[float, FloatArray]:
        """The log-likelihood of the sequences, and the probability of each state at each step."""
        steps, logs = self._seen(X, lengths)
        found = self._chain().expect(steps, logs)
        return float(found.log_likelihoods.sum()), found.posteriors

    def predict_proba(self, X: Any, lengths: Any = None) -> FloatArray:
        """The probability of each state at each step, given the whole sequence."""
        return self.score_samples(X, lengths)[1]

    def decode(self, X: Any, lengths: Any = None, algorithm: str | None = None) -> tuple[float, States]:
        """The states that explain the sequences.

        Parameters
        ----------
        X, lengths
            As of `fit`.
        algorithm : {"viterbi", "map"} or None, default=None
            The most likely path, or the most probable state of each step; None means that of the constructor.

        Returns
        -------
        log_prob : float
            The log-likelihood of path and emissions; for "map" the sum of the probabilities of the states, as hmmlearn has it.
        state_sequence : int array of shape (n_samples,)
        """
        algorithm = check_value(type(self).__name__, "algorithm", algorithm or self.algorithm, OneOf("viterbi", "map"))
        if algorithm == "map":
            posteriors = self.predict_proba(X, lengths)
            return float(posteriors.max(axis=1).sum()), posteriors.argmax(axis=1)
        steps, logs = self._seen(X, lengths)
        likelihoods, states = self._chain().decode(steps, logs)
        return float(likelihoods.sum()), states

    def predict(self, X: Any, lengths: Any = None) -> States:
        """The states that explain the sequences, by `algorithm`."""
        return self.decode(X, lengths)[1]

    def sample(self, n_samples: int = 1, random_state: Any = None, currstate: int | None = None) -> tuple[FloatArray, States]:
        """Draw a sequence, and the states that emitted it.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState or None, default=None
            None means that of the constructor.
        currstate : int or None, default=None
            The first state; None draws it.
        """
        chain = self._chain()
        check_value(type(self).__name__, "n_samples", n_samples, Integer(1))
        random = as_random_state(self.random_state if random_state is None else random_state)
        starts, moves = np.cumsum(chain.start), np.cumsum(chain.transitions, axis=1)
        state = int((starts > random.rand()).argmax()) if currstate is None else int(currstate)
        states, rows = [state], [self._draw(state, random)]
        for _ in range(n_samples - 1):
            state = int((moves[state] > random.rand()).argmax())
            states.append(state)
            rows.append(self._draw(state, random))
        return np.atleast_2d(rows), np.array(states, dtype=np.int64)

    def get_stationary_distribution(self) -> FloatArray:
        """The law that the transitions leave as it is."""
        transitions = self._chain().transitions
        k = len(transitions)
        # pi (P - I) = 0 and sum(pi) = 1, by least squares: the equations say one thing twice.
        system = np.vstack([transitions.T - np.eye(k), np.ones(k)])
        law: FloatArray = np.linalg.lstsq(system, np.append(np.zeros(k), 1.0), rcond=None)[0]
        law = np.maximum(law, 0)
        return np.asarray(law / law.sum())

    def aic(self, X: Any, lengths: Any = None) -> float:
        """Akaike's information criterion on X: lower is better."""
        return -2 * self.score(X, lengths) + 2 * sum(self._n_free().values())

    def bic(self, X: Any, lengths: Any = None) -> float:
        """The Bayesian information criterion on X: lower is better."""
        return -2 * self.score(X, lengths) + sum(self._n_free().values()) * float(np.log(len(X)))

    # Parameters and data.

    def _warn_of_what_is_replaced(self, params: SimpleNamespace) -> None:
        """Of parameters that were set by hand; what an earlier fit has left is its own to replace."""
        if hasattr(self, "certificate_"):
            return
        letters = [letter for letter in self._names if letter in params.init_params and hasattr(self, self._names[letter])]
        if letters:
            names = " and ".join(self._names[letter] for letter in letters)
            rest = "".join(letter for letter in params.init_params if letter not in letters)
            warn(
                f"{type(self).__name__}: what was set as {names} will be overwritten, since init_params={params.init_params!r} "
                f"makes it anew from the data. To start from it, give init_params={rest!r}."
            )

    def _needs_init(self, letter: str, name: str, params: SimpleNamespace) -> bool:
        """Whether a parameter is to be made from data: asked for, or not there."""
        return letter in params.init_params or not hasattr(self, name)

    def _chain_to_start_from(self, params: SimpleNamespace, random: Any) -> Chain:
        k = params.n_components
        concentration = np.full(k, 1 / k)
        makes_start = self._needs_init("s", "startprob_", params)
        start = random.dirichlet(concentration) if makes_start else self.startprob_
        makes_moves = self._needs_init("t", "transmat_", params)
        moves = random.dirichlet(concentration, size=k) if makes_moves else self.transmat_
        return self._checked_chain(start, moves, params.implementation)

    def _checked_chain(self, start: Any, transitions: Any, implementation: str) -> Chain:
        k = self.n_components
        start, transitions = np.array(start, dtype=np.float64), np.array(transitions, dtype=np.float64)
        if start.shape != (k,):
            raise ValueError(f"startprob_ must have length n_components={k}, but has shape {start.shape}")
        if transitions.shape != (k, k):
            raise ValueError(f"transmat_ must have shape (n_components, n_components)={(k, k)}, but has {transitions.shape}")
        require_law("startprob_", start)
        require_law("transmat_", transitions)
        return Chain(start, transitions, implementation == "scaling")

    def _chain(self) -> Chain:
        """The chain of the attributes as they are: fitted, or set by hand."""
        self._require_parameters()
        check_value(type(self).__name__, "implementation", self.implementation, self._shared_rules["implementation"])
        return self._checked_chain(self.startprob_, self.transmat_, self.implementation)

    def _require_parameters(self) -> None:
        if not hasattr(self, "startprob_") or not hasattr(self, "transmat_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
                "this "
                "estimator, or set startprob_, transmat_ and what the states emit."
            )

    @staticmethod
    def _prior(value: Any, name: str, shape: tuple[int, ...]) -> FloatArray:
        prior = np.asarray(value, dtype=np.float64)
        try:
            prior = np.broadcast_to(prior, shape)
        except ValueError:
            raise ValueError(f"{name} has shape {prior.shape}; it must be a number or have shape {shape}.") from None
        if not np.isfinite(prior).all():
            raise ValueError(f"{name} holds NaN or infinity; every value must be a finite number.")
        return prior

    def _seen(self, X: Any, lengths: Any) -> tuple[Steps, FloatArray]:
        """The steps of sequences, and the log-density of each in each state."""
        self._require_parameters()
        if hasattr(self, "n_features_in_"):
            X = check_X(self, X, finite="allow-nan", reset=False)
        else:
            X = check_array(X, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan", input_name="X", estimator=self)
        steps = self._steps(X, lengths)
        return steps, steps.log_emissions(self._emissions())

    def _steps(self, X: FloatArray, lengths: Any) -> Steps:
        steps = Steps.of(X, self._starts(len(X), lengths))
        validate(self, steps.present, reset=False) if hasattr(self, "n_features_in_") and len(steps.present) else None
        if len(steps.present) == 0:
            raise ValueError(f"{type(self).__name__}: every step of X is missing; at least one must be there.")
        self._check_values(steps.present)
        return steps

    def _starts(self, n: int, lengths: Any) -> States:
        """Where the sequences start, and the end."""
        if lengths is None:
            return np.array([0, n])
        counts = np.asarray(lengths)
        if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 1).any():
            given = repr(lengths) if counts.size <= FEW else f"an array of {counts.size} values of the type {counts.dtype}"
            raise ValueError(
                f"{type(self).__name__}: lengths={given} is not valid; it must hold the number of steps of each sequence, "
                "integers >= 1 (there is no y)."
            )
        if counts.sum() != n:
            more = "more" if n > counts.sum() else "less"
            raise ValueError(
                f"{type(self).__name__}: lengths array adds up to {counts.sum()}, but X has {more} than that: {n} samples. "
                "lengths must say how many steps each sequence has, and sum to the rows of X."
            )
        return np.append(0, np.cumsum(counts)).astype(np.int64)


def number_of_columns(name: str) -> property:
    """`n_features` of a model, which the attribute of that name has said already; hmmlearn has it set before `sample`."""

    def get(self: BaseHMM) -> int:
        """The number of columns that a state emits."""
        return int(np.shape(getattr(self, name))[-1])

    def give(self: BaseHMM, n_features: int) -> None:
        if not hasattr(self, name) or n_features != get(self):
            has = f"{name} has {get(self)} columns" if hasattr(self, name) else f"{name} is not set"
            raise AttributeError(f"{type(self).__name__}: n_features={n_features!r} is that of {name}, and {has}; set {name}.")

    return property(get, give)


def require_squares(estimator: BaseHMM, X: FloatArray) -> None:
    """Refuse values whose squares, which covariances are made of, no number can hold."""
    with np.errstate(over="ignore"):
        if not np.isfinite(np.einsum("ij,ij->", X, X, dtype=np.float64)):
            require_no_overflow(estimator, X, "squares of its values")


def require_law(name: str, law: FloatArray) -> None:
    """Refuse lines that are no probabilities."""
    sums = law.sum(axis=-1)
    if not np.allclose(sums, 1):
        what = (
            f"{name} must sum to 1 (got {sums:.4f})"
            if sums.ndim == 0
            else f"{name} rows must sum to 1 (got row sums of {sums})"
        )
        raise ValueError(what)
    if (law < 0).any():
        raise ValueError(f"{name} holds the negative number {law.min():g}; probabilities are >= 0.")

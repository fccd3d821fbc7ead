"""Restricted Boltzmann machines of binary units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, fit_method, run_solver
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Integer, RandomState, Real, Rule, Verbosity, check_params, check_value
from mercer._random import as_random_state
from mercer._trace import Certificate, Outcome, Record, Status

_MOST_ENUMERATED = 20  # units of the smaller side, whose states the exact likelihood goes through
_UNIFORMS = 1 << 18  # drawn at a time
_WATCHED_ROWS = 1024  # by which the epochs are measured,
_WATCHED_VALUES = 1 << 22  # and how many values they may have


class BernoulliRBM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]  # no types there
    r"""Restricted Boltzmann machine of binary visible units v and hidden units h.

    The model is :math:`P(v, h) = e^{-E(v, h)} / Z` with the energy

    .. math:: E(v, h) = -b^\top v - c^\top h - h^\top W v,

    so that units of one side are independent given the other: :math:`P(h_k = 1 | v) = \sigma(c_k + W_k v)`. It is learned by
    persistent contrastive divergence: a step along the gradient of the mean log-likelihood of a batch, whose expectation under
    the model is replaced by a mean over Gibbs chains that go on from batch to batch.

    Parameters
    ----------
    n_components : int, default=256
        The number of hidden units.
    learning_rate : float, default=0.1
        The length of a step.
    batch_size : int, default=10
        How many rows a step looks at, and how many chains there are.
    n_iter : int, default=10
        Epochs: passes over the data.
    verbose : int, default=0
        Log each epoch to the logger `mercer`.
    random_state : int, RandomState or None, default=None
        Draws the weights to begin with, the states of the chains, and what `score_samples`, `gibbs` and `sample` draw.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The weights W.
    intercept_hidden_ : array of shape (n_components,)
        The biases c.
    intercept_visible_ : array of shape (n_features,)
        The biases b.
    h_samples_ : array of shape (batch_size, n_components)
        The hidden units of the chains.
    n_iter_ : int
        Epochs.
    history_ : list of dict
        For each epoch, at its end and over up to 1,024 rows at equal distances: `pseudo_likelihood` (the mean over rows, of one
        flipped unit each, the same in all epochs) and `reconstruction_error` (the mean squared difference to
        P(v = 1 | E[h | v])); and `update_norm`, how far the epoch has moved all parameters.
    certificate_ : Certificate
        How far the last epoch (the last batch of `partial_fit`) moved the parameters. There is no objective at hand, and steps
        of one length do not come to rest: no fit is called converged that still moves.
    random_state_ : RandomState
        After `partial_fit` or `gibbs`: the generator, which goes on from call to call.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An epoch costs O((n + n_batches batch_size) n_features n_components), for sparse X too: chains are dense. Values of X
    are not checked to be 0 or 1; between them they count as probabilities, beyond them the model means nothing.

    Differences from scikit-learn: from the same `random_state` the draws are the same, and so are the weights up to rounding.
    `partial_fit` keeps float32 and returns the estimator. As there, the sum over the chains is divided by the rows of the
    batch, so that chains count for more in a batch (the last of an epoch, or one of `partial_fit`) that has fewer rows than
    `batch_size`, and for less where it has more.

    References
    ----------
    T. Tieleman, "Training restricted Boltzmann machines using approximations to the likelihood gradient", ICML 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neural_network import BernoulliRBM
    >>> X = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> model = BernoulliRBM(n_components=2, random_state=0).fit(X)
    >>> model.transform(X).shape
    (4, 2)
    >>> model.log_likelihood(X).round(1)
    array([-1.3, -2.4, -2.5, -3.1])
    """

    components_: FloatArray

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "learning_rate": Real(above=0),
        "batch_size": Integer(1),
        "n_iter": Integer(0),
        "verbose": Verbosity(),
        "random_state": RandomState(),
    }

    def __init__(
        self,
        n_components: int = 256,
        *,
        learning_rate: float = 0.1,
        batch_size: int = 10,
        n_iter: int = 10,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.verbose = verbose
        self.random_state = random_state

    @fit_method
    def fit(self, X: Any, y: Any = None) -> BernoulliRBM:
        """Learn the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Values in [0, 1].
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, sparse="csr")
        task = FitTask.start(self, X, y, n_subtasks=params.n_iter)
        random = as_random_state(params.random_state)
        solver = _Epochs(type(self).__name__, X, _Machine.start(X, params, random), params, random)
        status, history = run_solver(
            solver, task, max_iter=params.n_iter, verbose=params.verbose, fitted=solver.machine.attributes
        )
        iterations = {"n_iter_": len(history), "history_": history}
        outcome = Outcome(_certificate("persistent contrastive divergence", status, solver.update_norm, "epoch"))
        return self._finish(task, solver.machine.attributes() | iterations, outcome, unset=("random_state_",))

    @fit_method
    def partial_fit(self, X: Any, y: Any = None) -> BernoulliRBM:
        """Learn from one batch, which goes on where the last one ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Values in [0, 1].
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        is_first = not hasattr(self, "components_")
        X = check_X(self, X, sparse="csr", reset=is_first)
        task = FitTask.start(self, X, y)
        random = getattr(self, "random_state_", None) or as_random_state(params.random_state)
        before = _Machine.start(X, params, random) if is_first else _Machine.of(self)
        machine = before.copy()
        machine.train(X.astype(machine.dtype, copy=False), X.shape[0], params.learning_rate, random)
        update_norm = machine.distance(before)
        _require_finite(type(self).__name__, update_norm, params.learning_rate)
        outcome = Outcome(_certificate("a step of contrastive divergence", Status.MAX_ITER, update_norm, "batch"))
        found = machine.attributes() | {"random_state_": random}
        return self._finish(task, found, outcome, unset=("n_iter_", "history_"))

    def transform(self, X: Any) -> FloatArray:
        """The probabilities of the hidden units, P(h = 1 | v = X).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        X, machine = self._heard(X)
        return machine.hidden_probabilities(X)

    def score_samples(self, X: Any) -> FloatArray:
        r"""The pseudo-likelihood of each row, :math:`d \log \sigma(F(v') - F(v))`; in v' one unit, drawn at random, is flipped.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        X, machine = self._heard(X)
        n, d = X.shape
        flips = as_random_state(self.random_state).randint(0, d, n)
        return machine.pseudo_likelihoods(X, flips)

    def free_energy(self, X: Any) -> FloatArray:
        r"""The free energy of each row, :math:`F(v) = -\log \sum_h e^{-E(v, h)}`.

        It is :math:`-b^\top v - \sum_k \log(1 + e^{c_k + W_k v})`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        X, machine = self._heard(X)
        return machine.free_energies(X)

    def log_likelihood(self, X: Any) -> FloatArray:
        r"""The exact log-likelihood of each row, :math:`-F(v) - \log Z`, for machines with few units on one side.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Values 0 and 1.

        Returns
        -------
        array of shape (n_samples,)

        Notes
        -----
        log Z is a sum over all states of the smaller side, of which 20 units at most are taken: O(2^min(d, k) max(d, k)).
        """
        X, machine = self._heard(X, dtype=np.float64)
        owner, fewer = type(self).__name__, min(machine.weights.shape)
        if fewer > _MOST_ENUMERATED:
            raise ValueError(
                f"{owner}.log_likelihood goes through all states of the side with fewer units, which has {fewer} here; it can "
                f"have {_MOST_ENUMERATED} at most. score_samples has the pseudo-likelihood of larger machines."
            )
        values = X.data if sp.issparse(X) else X
        if (is_other := (values != 0) & (values != 1)).any():
            raise ValueError(
                f"{owner}.log_likelihood: X holds {values[is_other][0]:g}; every value must be 0 or 1, of which the model is. "
                "Binarise X first."
            )
        return -machine.free_energies(X) - machine.log_partition()

    def gibbs(self, v: Any) -> npt.NDArray[np.bool_]:
        """One step of Gibbs sampling: hidden units given v, then visible units given them.

        Parameters
        ----------
        v : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        bool array of shape (n_samples, n_features)
        """
        X, machine = self._heard(v)
        if not hasattr(self, "random_state_"):
            self.random_state_ = as_random_state(self.random_state)
        hidden = _draw(machine.hidden_probabilities(X), self.random_state_)
        return _draw(machine.visible_probabilities(hidden), self.random_state_)

    def sample(self, n_samples: int = 1, *, n_steps: int = 100) -> npt.NDArray[np.bool_]:
        """Rows that the model draws: chains of Gibbs sampling, which begin where those of the fit have ended.

        Parameters
        ----------
        n_samples : int, default=1
            How many, each by a chain of its own.
        n_steps : int, default=100
            The length of the chains.

        Returns
        -------
        bool array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        owner = f"{type(self).__name__}.sample"
        n_samples = check_value(owner, "n_samples", n_samples, Integer(1))
        n_steps = check_value(owner, "n_steps", n_steps, Integer(1))
        random, machine = as_random_state(self.random_state), _Machine.of(self)
        hidden = machine.chains[np.arange(n_samples) % len(machine.chains)]
        visible = _draw(machine.visible_probabilities(hidden), random)
        for _ in range(n_steps - 1):
            hidden = _draw(machine.hidden_probabilities(visible.astype(machine.dtype)), random)
            visible = _draw(machine.visible_probabilities(hidden), random)
        return visible

    def _heard(self, X: Any, dtype: Any = None) -> tuple[Any, _Machine]:
        """Checked X and the machine, in one precision."""
        check_is_fitted(self)
        X = check_X(self, X, sparse="csr", reset=False)
        dtype = np.result_type(X.dtype, self.components_) if dtype is None else dtype
        return X.astype(dtype, copy=False), _Machine.of(self, dtype)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


RestrictedBoltzmannMachine = BernoulliRBM


@dataclass(frozen=True)
class _Machine:
    """The parameters as kernels take them, and the chains; `train` changes the arrays."""

    weights: FloatArray  # visible x hidden
    visible: FloatArray
    hidden: FloatArray
    chains: FloatArray

    @classmethod
    def start(cls, X: Any, params: SimpleNamespace, random: np.random.RandomState) -> _Machine:
        n_visible, n_hidden, dtype = X.shape[1], params.n_components, X.dtype
        weights = np.ascontiguousarray(random.normal(0, 0.01, (n_hidden, n_visible)).T, dtype=dtype)
        chains = np.zeros((params.batch_size, n_hidden), dtype)
        return cls(weights, np.zeros(n_visible, dtype), np.zeros(n_hidden, dtype), chains)

    @classmethod
    def of(cls, model: BernoulliRBM, dtype: Any = None) -> _Machine:
        dtype = model.components_.dtype if dtype is None else dtype
        arrays = (model.components_.T, model.intercept_visible_, model.intercept_hidden_, model.h_samples_)
        return cls(*(np.asarray(array, dtype=dtype) for array in arrays))

    def copy(self) -> _Machine:
        return _Machine(*(np.array(array, order="C") for array in self._arrays))

    def attributes(self) -> dict[str, Any]:
        """A copy, as the estimator has it."""
        machine = self.copy()
        return {
            "components_": machine.weights.T,
            "intercept_visible_": machine.visible,
            "intercept_hidden_": machine.hidden,
            "h_samples_": machine.chains,
        }

    @property
    def dtype(self) -> Any:
        return self.weights.dtype

    @property
    def _arrays(self) -> Iterator[FloatArray]:
        yield from (self.weights, self.visible, self.hidden, self.chains)

    def distance(self, other: _Machine) -> float:
        """How far apart the parameters are."""
        pairs = zip([self.weights, self.visible, self.hidden], [other.weights, other.visible, other.hidden], strict=True)
        with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at the result
            return float(np.sqrt(sum(np.sum(np.square(mine - theirs), dtype=np.float64) for mine, theirs in pairs)))

    def train(self, X: Any, batch_size: int, rate: float, random: np.random.RandomState) -> None:
        """Step through all batches of X. Each draws for the visible units of all chains, and then for the hidden ones."""
        n_uniforms = len(self.chains) * sum(self.weights.shape)
        n_rows, rows, n_threads = X.shape[0], native_rows(X), effective_threads(None)
        step = batch_size * max(1, _UNIFORMS // n_uniforms)
        for first in range(0, n_rows, step):
            last = min(first + step, n_rows)
            uniforms = random.random_sample((-((first - last) // batch_size), n_uniforms))
            kernels.train_boltzmann(
                rows, first, last, batch_size, uniforms, rate, self.weights, self.visible, self.hidden, self.chains, n_threads
            )

    def hidden_probabilities(self, X: Any) -> FloatArray:
        """P(h = 1 | v) for rows v."""
        return _probabilities(X, self.weights, self.hidden)

    def visible_probabilities(self, hidden: npt.NDArray[Any]) -> FloatArray:
        """P(v = 1 | h) for rows h."""
        return _probabilities(hidden.astype(self.dtype, copy=False), self.weights.T, self.visible)

    def free_energies(self, X: Any) -> FloatArray:
        return self._energies(X, None)[0]

    def pseudo_likelihoods(self, X: Any, flips: npt.NDArray[Any]) -> FloatArray:
        """d log sigma(F(v') - F(v)) for rows v, of which v' has one value flipped."""
        _, rises = self._energies(X, flips.astype(np.int64, copy=False))
        likelihoods: FloatArray = -X.shape[1] * np.logaddexp(0, -rises)
        return likelihoods

    def _energies(self, X: Any, flips: npt.NDArray[np.int64] | None) -> tuple[FloatArray, FloatArray]:
        """Free energies, and their rises by a flip in each row."""
        energies, rises = np.empty(X.shape[0]), np.empty(0 if flips is None else X.shape[0])
        kernels.free_energies(
            native_rows(X), self.weights, self.visible, self.hidden, flips, energies, rises, effective_threads(None)
        )
        return energies, rises

    def log_partition(self) -> float:
        """log Z, by the states of the side that has fewer units; in double precision."""
        n_visible, n_hidden = self.weights.shape
        sides = (
            (self.weights, self.visible, self.hidden) if n_visible < n_hidden else (self.weights.T, self.hidden, self.visible)
        )
        return float(kernels.log_partition(*sides, effective_threads(None)))


class _Epochs:
    """Passes over the rows, each measured at its end."""

    def __init__(self, owner: str, X: Any, machine: _Machine, params: SimpleNamespace, random: np.random.RandomState) -> None:
        self._owner, self._X, self._params, self._random, self.machine = owner, X, params, random, machine
        most = max(1, min(_WATCHED_ROWS, _WATCHED_VALUES // X.shape[1]))
        self._watched = X[:: -(-X.shape[0] // most)]
        self._values = self._watched.toarray() if sp.issparse(X) else self._watched
        # A generator of its own: what is measured changes no draw of the fit.
        self._flips = np.random.RandomState(0).randint(0, X.shape[1], self._watched.shape[0])
        self.update_norm = np.inf

    def step(self) -> Record:
        machine, before = self.machine, self.machine.copy()
        machine.train(self._X, self._params.batch_size, self._params.learning_rate, self._random)
        self.update_norm = machine.distance(before)
        _require_finite(self._owner, self.update_norm, self._params.learning_rate)
        reconstructed = machine.visible_probabilities(machine.hidden_probabilities(self._watched))
        return {
            "pseudo_likelihood": float(machine.pseudo_likelihoods(self._watched, self._flips).mean()),
            "reconstruction_error": float(np.mean(np.square(reconstructed - self._values), dtype=np.float64)),
            "update_norm": self.update_norm,
        }

    @property
    def is_done(self) -> bool:
        """The number of epochs ends it, which is no tolerance reached."""
        return False


def _certificate(method: str, status: Status, update_norm: float, of: str) -> Certificate:
    return Certificate(method, status, None, f"norm of the update by the last {of}", update_norm, 0.0)


def _require_finite(owner: str, update_norm: float, learning_rate: float) -> None:
    if not np.isfinite(update_norm):
        raise ValueError(
            f"{owner}: the weights overflow: learning_rate={learning_rate!r} is too large, or values of X are, which must be "
            "in [0, 1]. Scale X (MinMaxScaler), or lower learning_rate."
        )


def _probabilities(rows: Any, weights: FloatArray, biases: FloatArray) -> FloatArray:
    out = np.empty((rows.shape[0], len(biases)), weights.dtype)
    kernels.unit_probabilities(native_rows(rows), weights, biases, out, effective_threads(None))
    return out


def _draw(probabilities: FloatArray, random: np.random.RandomState) -> npt.NDArray[np.bool_]:
    """Units that are on with these probabilities."""
    drawn: npt.NDArray[np.bool_] = random.random_sample(probabilities.shape) < probabilities
    return drawn

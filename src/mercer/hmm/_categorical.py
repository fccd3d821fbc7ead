"""Chains whose states emit symbols."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._params import ArrayLike, Integer, Null, Real, Rule
from mercer.hmm._base import BaseHMM, Letters, require_law
from mercer.hmm._chain import log_dirichlet, normalised


class CategoricalEmissions:
    """The probability of each symbol in each state, with a Dirichlet prior."""

    def __init__(self, law: FloatArray, prior: FloatArray) -> None:
        self.law, self._prior = law, prior

    def log_densities(self, X: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            table = np.ascontiguousarray(np.log(self.law).T)
        logs: FloatArray = table[X[:, 0].astype(np.intp)]
        return logs

    def update(self, X: FloatArray, posteriors: FloatArray, params: str) -> None:
        if "e" not in params:
            return
        symbols, n_symbols = X[:, 0].astype(np.intp), self.law.shape[1]
        counts = np.stack([np.bincount(symbols, weights=shares, minlength=n_symbols) for shares in posteriors.T])
        self.law = normalised(self._prior - 1 + counts, self.law)

    def log_prior(self) -> float:
        return log_dirichlet(self._prior, self.law)

    def attributes(self) -> dict[str, Any]:
        return {"emissionprob_": self.law, "n_features_": self.law.shape[1]}


class CategoricalHMM(BaseHMM):
    r"""A hidden Markov model whose states emit one of several symbols.

    Maximises :math:`\log \sum_z \pi_{z_1} B_{z_1 x_1} \prod_{t > 1} A_{z_{t-1} z_t} B_{z_t x_t}` plus what the priors say,
    locally.

    Parameters
    ----------
    n_components : int, default=1
        The number of states.
    startprob_prior, transmat_prior, emissionprob_prior : float or array, default=1.0
        Dirichlet priors; 1 says nothing.
    n_features : int or None, default=None
        The number of symbols, 0 to n_features - 1; None means one more than the largest of X.
    algorithm, random_state, n_iter, tol, verbose, implementation
        As of `GaussianHMM`.
    params, init_params : str, default="ste"
        What a fit moves, and what it makes anew before: start, transitions, emissions.

    Attributes
    ----------
    startprob_ : array of shape (n_components,)
    transmat_ : array of shape (n_components, n_components)
    emissionprob_ : array of shape (n_components, n_features)
    n_features_ : int
        The number of symbols.
    monitor_, n_iter_, history_, certificate_, n_features_in_
        As of `GaussianHMM`.

    Notes
    -----
    X has one column of whole numbers; NaN is a missing step. An iteration is O(n K^2).

    References
    ----------
    L. R. Rabiner, "A tutorial on hidden Markov models", Proceedings of the IEEE 77 (1989).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.hmm import CategoricalHMM
    >>> model = CategoricalHMM(n_components=2)
    >>> model.startprob_ = np.array([0.6, 0.4])
    >>> model.transmat_ = np.array([[0.7, 0.3], [0.4, 0.6]])
    >>> model.emissionprob_ = np.array([[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]])
    >>> log_prob, states = model.decode([[0], [1], [2]])
    >>> float(np.exp(log_prob).round(5)), states
    (0.01344, array([1, 0, 0]))
    """

    _names: ClassVar[Mapping[str, str]] = {"s": "startprob_", "t": "transmat_", "e": "emissionprob_"}
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **BaseHMM._shared_rules,
        "emissionprob_prior": Real(least=0) | ArrayLike(),
        "n_features": Null() | Integer(1),
        "params": Letters("ste"),
        "init_params": Letters("ste"),
    }

    emissionprob_: FloatArray

    def __init__(
        self,
        n_components: int = 1,
        startprob_prior: float | npt.ArrayLike = 1.0,
        transmat_prior: float | npt.ArrayLike = 1.0,
        *,
        emissionprob_prior: float | npt.ArrayLike = 1.0,
        n_features: int | None = None,
        algorithm: str = "viterbi",
        random_state: int | np.random.RandomState | None = None,
        n_iter: int = 10,
        tol: float = 1e-2,
        verbose: bool = False,
        params: str = "ste",
        init_params: str = "ste",
        implementation: str = "log",
    ) -> None:
        self.n_components = n_components
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.emissionprob_prior = emissionprob_prior
        self.n_features = n_features
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_iter = n_iter
        self.tol = tol
        self.verbose = verbose
        self.params = params
        self.init_params = init_params
        self.implementation = implementation

    def _check_values(self, X: FloatArray) -> None:
        if X.shape[1] != 1:
            raise ValueError(f"CategoricalHMM: X has {X.shape[1]} columns; it must have one, of symbols.")
        if (np.floor(X) != X).any():
            raise ValueError("CategoricalHMM: Symbols should be integers; X holds other numbers.")
        if (X < 0).any():
            raise ValueError(f"CategoricalHMM: Symbols should be nonnegative; X holds {X.min():g}.")
        known = self.n_features if self.n_features is not None else getattr(self, "_n_symbols", None)
        if known is not None and X.max() >= known:
            raise ValueError(
                f"CategoricalHMM: Largest symbol is {X.max():g} but the model only emits symbols up to {known - 1}."
            )

    def _emissions_from_data(self, X: FloatArray, params: SimpleNamespace, random: Any) -> CategoricalEmissions:
        if self._needs_init("e", "emissionprob_", params):
            n_symbols = int(X.max()) + 1 if params.n_features is None else params.n_features
            law = random.rand(params.n_components, n_symbols)
            law /= law.sum(axis=1, keepdims=True)
        else:
            law = self.emissionprob_
            if X.max() >= np.shape(law)[1]:
                raise ValueError(
                    f"CategoricalHMM: Largest symbol is {X.max():g} but emissionprob_ only has symbols up to "
                    f"{np.shape(law)[1] - 1}."
                )
        return self._made(law)

    def _emissions(self) -> CategoricalEmissions:
        return self._made(self.emissionprob_)

    def _seen(self, X: Any, lengths: Any) -> Any:
        self._require_parameters()
        law = np.atleast_2d(self.emissionprob_)
        values = np.asarray(X, dtype=np.float64)
        if values.size and np.nanmax(values, initial=-1) >= law.shape[1]:
            raise ValueError(
                f"CategoricalHMM: Largest symbol is {np.nanmax(values):g} but the model only emits symbols up to "
                f"{law.shape[1] - 1}."
            )
        return super()._seen(X, lengths)

    def _made(self, law: Any) -> CategoricalEmissions:
        law = np.array(np.atleast_2d(law), dtype=np.float64)
        n_symbols = law.shape[1] if self.n_features is None else self.n_features
        if law.shape != (self.n_components, n_symbols):
            raise ValueError(f"emissionprob_ must have shape ({self.n_components}, {n_symbols}), but has {law.shape}")
        require_law("emissionprob_", law)
        return CategoricalEmissions(law, self._prior(self.emissionprob_prior, "emissionprob_prior", law.shape))

    def _draw(self, state: int, random: Any) -> FloatArray:
        return np.array([int((np.cumsum(self.emissionprob_[state]) > random.rand()).argmax())])

    def _n_free(self) -> dict[str, int]:
        k, n_symbols = np.shape(self.emissionprob_)
        return {"s": k - 1, "t": k * (k - 1), "e": k * (n_symbols - 1)}

"""Variational autoencoders: codes with a law, and rows drawn from it."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, OneOf, Real, Rule, check_value
from mercer._random import as_random_state
from mercer.neural_network._autoencoder import CODE_RULES, OUTPUTS, CodedNetwork
from mercer.neural_network._network import ACTIVATIONS, Layer, Network
from mercer.neural_network._training import Objective, Progress

LOG_2PI = math.log(2 * math.pi)
DRAWN_VALUES = 1 << 22  # at a time, where draws are weighted


class VariationalAutoencoder(CodedNetwork):
    r"""An autoencoder whose code is a normal law for each row: a generative model, fitted by the evidence lower bound.

    With :math:`q(z | x)` normal, of the encoder's means :math:`\mu` and variances :math:`\sigma^2`, and :math:`p(z)` standard
    normal, each step goes up the bound on the log likelihood

    .. math:: \mathrm{ELBO}(x) = E_q \log p(x | z) - \beta\, \mathrm{KL}(q(z | x) \,\|\, p(z)), \qquad
              z = \mu + \sigma \epsilon, \quad \epsilon \sim N(0, I)

    with one draw a row (the reparametrisation trick).

    Parameters
    ----------
    n_components : int, default=2
        The dimensions of the code.
    hidden_layer_sizes : int or array-like of int, default=(64,)
        Of the encoder; the decoder mirrors them.
    activation : str, default="relu"
        Of the hidden layers, as in `MLPClassifier`.
    output : {"gaussian", "bernoulli"}, default="gaussian"
        The law p(x | z): normal of deviation `output_scale`, or Bernoulli for values from 0 to 1.
    output_scale : float, default=1.0
    beta : float, default=1.0
        The price of the divergence; 1 is the bound itself.
    annealing : int, default=0
        Epochs over which the price rises to `beta`, from one part in so many on.
    dropout : float, default=0.0
    solver, alpha, batch_size, learning_rate, learning_rate_init, power_t, max_iter, shuffle, random_state, tol, verbose,
    momentum, nesterovs_momentum, beta_1, beta_2, epsilon, n_iter_no_change, clip_norm, decoupled_decay, init, early_stopping,
    validation_fraction, n_jobs
        As in `MLPClassifier`; `early_stopping` goes by the bound on the rows held out.

    Attributes
    ----------
    coefs_, intercepts_ : list of arrays
        Of the encoder's layers, of which the last gives means and log variances, then of the decoder's.
    history_ : list of dict
        For each epoch: `loss` (minus the bound), `reconstruction`, `kl`, and the others of `MLPClassifier`.
    loss_, n_iter_, n_parameters_, certificate_, n_features_in_, feature_names_in_
        As in `MLPClassifier`.

    Notes
    -----
    An epoch takes O(n parameters). Codes are drawn anew in every epoch, for each row by itself: a row of weight two has one
    draw, two equal rows have two.

    References
    ----------
    D. Kingma and M. Welling, Auto-encoding variational Bayes, ICLR 2014.
    Y. Burda, R. Grosse and R. Salakhutdinov, Importance weighted autoencoders, ICLR 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neural_network import VariationalAutoencoder
    >>> X = np.random.RandomState(0).randn(300, 1) @ [[1.0, -1.0, 2.0]]
    >>> model = VariationalAutoencoder(1, (16,), max_iter=20, tol=0, random_state=0).fit(X)
    >>> model.transform(X).shape, model.sample(5, random_state=0).shape
    ((300, 1), (5, 3))
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **CODE_RULES,
        "n_components": Integer(1),
        "activation": OneOf(*ACTIVATIONS[:-1]),
        "output_scale": Real(above=0),
        "beta": Real(least=0),
        "annealing": Integer(0),
    }

    def __init__(
        self,
        n_components: int = 2,
        hidden_layer_sizes: Any = (64,),
        activation: str = "relu",
        *,
        output: str = "gaussian",
        output_scale: float = 1.0,
        beta: float = 1.0,
        annealing: int = 0,
        dropout: float = 0.0,
        solver: Any = "adam",
        alpha: float = 0.0001,
        batch_size: Any = "auto",
        learning_rate: Any = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        verbose: bool | int = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: int = 10,
        clip_norm: float | None = None,
        decoupled_decay: bool = False,
        init: str = "glorot",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.output = output
        self.output_scale = output_scale
        self.beta = beta
        self.annealing = annealing
        self.dropout = dropout
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.clip_norm = clip_norm
        self.decoupled_decay = decoupled_decay
        self.init = init
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs

    # ---- of the fit

    def _network(self, params: SimpleNamespace, n_features: int) -> Network:
        k, hidden = params.n_components, params.hidden_layer_sizes
        layers = [Layer((place,), units, params.activation, params.dropout) for place, units in enumerate(hidden)]
        layers += [Layer((len(layers),), 2 * k), Layer((len(layers) + 1,), k, draws=True)]
        for units in reversed(hidden):
            layers.append(Layer((len(layers),), units, params.activation, params.dropout))
        layers.append(Layer((len(layers),), n_features))
        return Network(n_features, tuple(layers))

    def _code_width(self, network: Network) -> int:
        return next(layer.units for layer in network.layers if layer.draws)

    def _objective_of(self, params: SimpleNamespace, epoch: int, n_features: int) -> Objective:
        """Minus the bound, times the variance of a Gaussian output; told without that factor, and with its constants."""
        price = params.beta * min(1.0, (epoch + 1) / max(params.annealing, 1))
        if params.output == "bernoulli":
            return Objective("logistic", 0.0, params.alpha, params.decoupled_decay, price)
        variance = params.output_scale**2
        offset = n_features * (LOG_2PI + math.log(variance)) / 2
        return Objective(
            "squared", 0.0, params.alpha, params.decoupled_decay, price * variance, loss_scale=1 / variance, offset=offset
        )

    def _attributes(self, network: Network, progress: Progress) -> dict[str, Any]:
        found = super()._attributes(network, progress)
        for name in ("coefs_", "intercepts_"):  # draws have none
            found[name] = [array for array, layer in zip(found[name], network.layers, strict=True) if not layer.draws]
        return found

    # ---- what a fit is good for

    def _through(self, X: FloatArray, first: int, last: int, activation: str) -> FloatArray:
        """What the layers with coefficients [first, last) make of rows."""
        coefs, intercepts = self.coefs_[first:last], self.intercepts_[first:last]
        ends = (self._n_encoding - 1, len(self.coefs_) - 1)
        layers = tuple(
            Layer((k,), coef.shape[1], "identity" if first + k in ends else self.activation) for k, coef in enumerate(coefs)
        )
        return Network(X.shape[1], layers).outputs(X, coefs, intercepts, activation, effective_threads(self.n_jobs))

    @property
    def _n_encoding(self) -> int:
        return len(self.coefs_) // 2

    def _encode(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means and log variances of the codes."""
        both = self._through(X, 0, self._n_encoding, "identity")
        return both[:, : self._n_features_out], both[:, self._n_features_out :]

    def _decode(self, codes: FloatArray, activation: str) -> FloatArray:
        return self._through(codes, self._n_encoding, len(self.coefs_), activation)

    def transform(self, X: Any) -> FloatArray:
        """The means of the codes, of shape (n_samples, n_components)."""
        return np.ascontiguousarray(self._encode(self._rows(X))[0])

    def inverse_transform(self, X: Any) -> FloatArray:
        """Rows from codes: the means of p(x | z), of shape (n_samples, n_features)."""
        return self._decode(self._codes_in(X), OUTPUTS[self.output][1])

    def sample(self, n_samples: int = 1, *, means: bool = False, random_state: Any = None) -> FloatArray:
        """New rows: codes are drawn from N(0, I), and rows from p(x | z).

        Parameters
        ----------
        n_samples : int, default=1
        means : bool, default=False
            Whether rows are the means of p(x | z), rather than drawn from it.
        random_state : int, RandomState or None, default=None
            None: the estimator's.

        Returns
        -------
        X : array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        n = check_value(type(self).__name__, "n_samples", n_samples, Integer(1))
        means = check_value(type(self).__name__, "means", means, Bool())
        random = as_random_state(self.random_state if random_state is None else random_state)
        codes = random.standard_normal((n, self._n_features_out)).astype(self.coefs_[0].dtype)
        rows = self._decode(codes, OUTPUTS[self.output][1])
        if means:
            return rows
        if self.output == "bernoulli":
            return (random.uniform(size=rows.shape) < rows).astype(rows.dtype)
        return (rows + self.output_scale * random.standard_normal(rows.shape)).astype(rows.dtype)

    def score_samples(self, X: Any, *, n_draws: int = 64, random_state: Any = None) -> FloatArray:
        r"""A lower bound on the log likelihood of each row, the tighter the more draws are weighted.

        .. math:: \log \frac1K \sum_k \frac{p(x | z_k)\, p(z_k)}{q(z_k | x)}, \qquad z_k \sim q(z | x)

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        n_draws : int, default=64
            K; of one draw it is the evidence bound in expectation.
        random_state : int, RandomState or None, default=None
            None: the estimator's.

        Returns
        -------
        bounds : array of shape (n_samples,)
        """
        rows = self._rows(X)
        n_draws = check_value(type(self).__name__, "n_draws", n_draws, Integer(1))
        random = as_random_state(self.random_state if random_state is None else random_state)
        at_once = max(1, DRAWN_VALUES // (n_draws * rows.shape[1]))
        parts = [self._weighted_bounds(rows[i : i + at_once], n_draws, random) for i in range(0, len(rows), at_once)]
        return np.concatenate(parts)

    def _weighted_bounds(self, rows: FloatArray, n_draws: int, random: np.random.RandomState) -> FloatArray:
        mean, log_variance = self._encode(rows)
        noise = random.standard_normal((n_draws, *mean.shape))
        codes = mean + np.exp(log_variance / 2) * noise
        raw = self._decode(codes.reshape(-1, mean.shape[1]).astype(rows.dtype), "identity").reshape(n_draws, *rows.shape)
        # log p(z) - log q(z | x), whose constants cancel
        log_ratio = ((noise**2 - codes**2 + log_variance) / 2).sum(axis=2)
        bounds: FloatArray = logsumexp(self._log_density(rows, raw.astype(np.float64)) + log_ratio, axis=0) - math.log(n_draws)
        return bounds

    def _log_density(self, rows: FloatArray, raw: FloatArray) -> FloatArray:
        """log p(x | z) from raw outputs."""
        if self.output == "bernoulli":
            return -(np.logaddexp(0, raw) - rows * raw).sum(axis=-1)  # type: ignore[no-any-return]
        variance = self.output_scale**2
        density: FloatArray = -(np.square(raw - rows) / variance + LOG_2PI + math.log(variance)).sum(axis=-1) / 2
        return density

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples`."""
        return float(self.score_samples(X).mean())

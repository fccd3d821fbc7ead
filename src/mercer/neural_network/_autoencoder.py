"""Autoencoders: networks that give back what they are shown through a narrow code, and layers that begin as their encoders."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._parallel import effective_threads
from mercer._params import ArrayLike, Bool, Integer, InvalidParameterError, OneOf, Real, Rule, check_params
from mercer._random import as_random_state
from mercer.neural_network._network import ACTIVATIONS, Layer, Network, starting_parameters
from mercer.neural_network._settings import TRAINING_RULES, checked_sizes, settings_of
from mercer.neural_network._training import Epochs, Objective, Progress, Sample, Settings, Trainer, require_weight, run_epochs

OUTPUTS = {"gaussian": ("squared", "identity"), "bernoulli": ("logistic", "logistic")}  # the loss, and the output's activation

CODE_RULES: dict[str, Rule] = {
    **TRAINING_RULES,
    "hidden_layer_sizes": Integer(1) | ArrayLike(),
    "output": OneOf(*OUTPUTS),
    "dropout": Real(least=0, below=1),
    "init": OneOf("glorot", "he", "orthogonal"),
    "early_stopping": Bool(),
    "validation_fraction": Real(above=0, below=1),
}


class CodedNetwork(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]
    """A network from rows to codes and back, trained by epochs; subclasses say what it is made of."""

    _parameter_rules: ClassVar[dict[str, Rule]] = CODE_RULES
    _no_candidate: ClassVar[str | None] = "it learns codes, without a target"

    def _network(self, params: SimpleNamespace, n_features: int) -> Network:
        """The whole network, encoder and decoder."""
        raise NotImplementedError

    def _noise(self, params: SimpleNamespace) -> tuple[str, float]:
        return ("none", 0.0)

    def _objective_of(self, params: SimpleNamespace, epoch: int, n_features: int) -> Objective:
        """The objective of an epoch. A Gaussian loss is told as the mean over features."""
        scale = 1 / n_features if params.output == "gaussian" else 1.0
        return Objective(OUTPUTS[params.output][0], 0.0, params.alpha, params.decoupled_decay, loss_scale=scale)

    def _check(self) -> tuple[SimpleNamespace, Settings]:
        params = check_params(self)
        params.hidden_layer_sizes = checked_sizes(type(self).__name__, params.hidden_layer_sizes)
        return params, settings_of(params)

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn codes of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            For a Bernoulli output from 0 to 1.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        params, settings = self._check()
        X = self._own_rows(check_X(self, X), params)
        weights = check_weights(sample_weight, len(X), X.dtype)
        network = self._network(params, X.shape[1])
        random_state = as_random_state(params.random_state)
        progress = Progress(starting_parameters(network, params.init, random_state, X.dtype))
        task = FitTask.start(self, X, y, n_subtasks=settings.max_iter)
        return self._train(network, Sample(X, None, X, weights), params, settings, progress, random_state, task)

    def _own_rows(self, X: FloatArray, params: SimpleNamespace) -> FloatArray:
        """A copy of the rows, which are input and target at different times; checked where the output is a probability."""
        X = np.array(X, order="C")
        if params.output == "bernoulli" and ((X < 0) | (X > 1)).any():
            worst = X[(X < 0) | (X > 1)][0]
            raise ValueError(
                f"{type(self).__name__}: X holds {worst:g}; with output='bernoulli' every value must be from 0 to 1. "
                "Scale X (MinMaxScaler), or set output='gaussian'."
            )
        return X

    def _train(
        self,
        network: Network,
        sample: Sample,
        params: SimpleNamespace,
        settings: Settings,
        progress: Progress,
        random_state: np.random.RandomState,
        task: FitTask,
    ) -> Self:
        seed = int(random_state.randint(2**31 - 1))
        held_out = None
        if params.early_stopping:
            order = random_state.permutation(sample.n_rows)
            n_held = max(1, round(params.validation_fraction * sample.n_rows))
            if n_held >= sample.n_rows:
                raise ValueError(
                    f"{type(self).__name__}: {sample.n_rows} rows are too few for early_stopping=True; it needs 2 or more."
                )
            sample, held_out = sample.take(np.sort(order[n_held:])), sample.take(np.sort(order[:n_held]))
            require_weight(type(self).__name__, sample, held_out)
        n_features = sample.X.shape[1]

        def objective(epoch: int) -> Objective:
            return self._objective_of(params, epoch, n_features)

        trainer = Trainer(network, sample, objective(0), noise=self._noise(params), seed=seed, n_threads=settings.n_threads)
        score = None
        if held_out is not None:
            judge = Trainer(network, held_out, objective(params.max_iter), seed=seed, n_threads=settings.n_threads)

            def score(flat: FloatArray) -> float:
                return -judge.value(judge.gradient(flat)[1])

        def fitted() -> dict[str, Any]:
            return self._attributes(network, progress)

        epochs = CodedEpochs(self, trainer, settings, progress, random_state, score, objective)
        outcome = run_epochs(epochs, settings, task, fitted)
        progress.flat = epochs.kept
        found = {
            "n_iter_": epochs.n_epochs,
            "history_": progress.history,
            "loss_": progress.losses[-1],
            "n_parameters_": int(network.native.n_parameters),
        }
        return self._finish(task, {**fitted(), **found}, outcome)

    def _attributes(self, network: Network, progress: Progress) -> dict[str, Any]:
        coefs, intercepts = network.views(progress.flat)
        return {"coefs_": coefs, "intercepts_": intercepts, "_n_features_out": self._code_width(network)}

    def _code_width(self, network: Network) -> int:
        return network.layers[len(network.layers) // 2 - 1].units

    def _rows(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        rows: FloatArray = check_X(self, X, reset=False).astype(self.coefs_[0].dtype, copy=False)
        return rows

    def _codes_in(self, codes: Any) -> FloatArray:
        """Codes as a checked matrix."""
        check_is_fitted(self)
        checked: FloatArray = np.asarray(codes, dtype=self.coefs_[0].dtype)
        if checked.ndim != 2 or checked.shape[1] != self._n_features_out or not np.isfinite(checked).all():
            raise ValueError(
                f"{type(self).__name__}: codes of shape {checked.shape} are not valid; they must be finite, a line a row with "
                f"{self._n_features_out} columns."
            )
        return checked


class CodedEpochs(Epochs):
    """Epochs whose objective may change from one to the next, as the price of draws does; until it stays, nothing is final."""

    def __init__(self, *args: Any) -> None:
        *others, self._objective = args
        super().__init__(*others)

    def step(self) -> dict[str, float]:
        objective = self._objective(self.n_epochs)
        if objective != self.trainer.objective:
            self.trainer.set_objective(objective)
            self._patience, self.best = self._new_patience(), None
        return super().step()


class Autoencoder(CodedNetwork):
    r"""A network that gives rows back through a narrow code.

    The encoder's layers lead to the code :math:`z`, the decoder's mirror them back, and the reconstruction is compared with the
    row by the law of the output: Gaussian, :math:`\frac12 \|x - \hat x\|^2`, or Bernoulli, the log loss of each value.

    Parameters
    ----------
    hidden_layer_sizes : int or array-like of int, default=(32,)
        The encoder's layers; the last is the code.
    activation : str, default="relu"
        Of the hidden layers, as in `MLPClassifier`.
    code_activation : str, default="identity"
        Of the code.
    output : {"gaussian", "bernoulli"}, default="gaussian"
        The law of a value given the code; Bernoulli wants values from 0 to 1.
    tied : bool, default=False
        Whether the decoder's coefficients are the encoder's, transposed.
    dropout : float, default=0.0
        Of the hidden layers but the code.
    solver, alpha, batch_size, learning_rate, learning_rate_init, power_t, max_iter, shuffle, random_state, tol, verbose,
    momentum, nesterovs_momentum, beta_1, beta_2, epsilon, n_iter_no_change, clip_norm, decoupled_decay, init, early_stopping,
    validation_fraction, n_jobs
        As in `MLPClassifier`; `early_stopping` goes by the loss on the rows held out. "lbfgs" is not for these.

    Attributes
    ----------
    coefs_, intercepts_ : list of arrays
        Of the encoder's layers, then of the decoder's.
    loss_, n_iter_, n_parameters_, history_, certificate_, n_features_in_, feature_names_in_
        As in `MLPClassifier`.

    Notes
    -----
    An epoch takes O(n parameters).

    See Also
    --------
    DenoisingAutoencoder, VariationalAutoencoder
    mercer.decomposition.PCA : What a linear one with squared loss comes to.

    References
    ----------
    G. Hinton and R. Salakhutdinov, Reducing the dimensionality of data with neural networks, Science 313 (2006).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neural_network import Autoencoder
    >>> t = np.random.RandomState(0).randn(300, 1)
    >>> X = np.hstack([t, 2 * t, -t])
    >>> model = Autoencoder((1,), learning_rate_init=0.02, max_iter=100, tol=0, n_iter_no_change=100, random_state=0).fit(X)
    >>> model.transform(X).shape, bool(model.reconstruction_error(X).mean() < 0.01)
    ((300, 1), True)
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **CODE_RULES,
        "activation": OneOf(*ACTIVATIONS[:-1]),
        "code_activation": OneOf(*ACTIVATIONS[:-1]),
        "tied": Bool(),
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = (32,),
        activation: str = "relu",
        *,
        code_activation: str = "identity",
        output: str = "gaussian",
        tied: bool = False,
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
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.code_activation = code_activation
        self.output = output
        self.tied = tied
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

    def _network(self, params: SimpleNamespace, n_features: int) -> Network:
        encoder = params.hidden_layer_sizes
        if not encoder:
            raise InvalidParameterError(
                f"{type(self).__name__}: hidden_layer_sizes=() is not valid; it must hold the code's units at least."
            )
        sizes = [n_features, *encoder, *encoder[-2::-1], n_features]
        n_layers, code = len(sizes) - 1, len(encoder)
        layers = []
        for k in range(n_layers):
            is_hidden = k + 1 not in (code, n_layers)
            activation = params.activation if is_hidden else params.code_activation if k + 1 == code else "identity"
            tied_to = n_layers - 1 - k if params.tied and k >= code else -1
            layers.append(Layer((k,), sizes[k + 1], activation, params.dropout if is_hidden else 0.0, tied_to=tied_to))
        return Network(n_features, tuple(layers))

    def _part(self, X: FloatArray, first: int, last: int, activation: str) -> FloatArray:
        """What layers [first, last) make of rows."""
        params, _ = self._check()
        layers = self._network(params, self.n_features_in_).layers[first:last]
        part = Network(X.shape[1], tuple(Layer((k,), layer.units, layer.activation) for k, layer in enumerate(layers)))
        return part.outputs(
            X, self.coefs_[first:last], self.intercepts_[first:last], activation, effective_threads(self.n_jobs)
        )

    @property
    def _n_encoding(self) -> int:
        return len(self.coefs_) // 2

    def transform(self, X: Any) -> FloatArray:
        """The codes of rows, of shape (n_samples, n_codes)."""
        return self._part(self._rows(X), 0, self._n_encoding, "identity")

    def inverse_transform(self, X: Any) -> FloatArray:
        """Rows from codes: the means of the output's law, of shape (n_samples, n_features)."""
        return self._part(self._codes_in(X), self._n_encoding, len(self.coefs_), OUTPUTS[self.output][1])

    def reconstruction_error(self, X: Any) -> FloatArray:
        """How badly each row is given back: the mean of its squared errors (Gaussian) or log losses (Bernoulli).

        Rows unlike those of the fit have large errors: an outlier score.
        """
        X = self._rows(X)
        raw = self._part(X, 0, len(self.coefs_), "identity")
        if self.output == "gaussian":
            return np.square(raw - X).mean(axis=1)  # type: ignore[no-any-return]
        return (np.logaddexp(0, raw) - X * raw).mean(axis=1)  # type: ignore[no-any-return]

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean reconstruction error."""
        return -float(self.reconstruction_error(X).mean())


class DenoisingAutoencoder(Autoencoder):
    """An autoencoder that is shown spoilt rows and gives back the true ones, so that its code holds what rows have in common.

    Parameters
    ----------
    hidden_layer_sizes, activation
        As in `Autoencoder`.
    noise : {"gaussian", "masking", "salt_and_pepper"}, default="gaussian"
        A normal number of deviation `level` is added to each value; or, with probability `level`, a value becomes 0
        (masking), or 0 or 1 (salt and pepper).
    level : float, default=0.1
    code_activation, output, tied, dropout, solver, alpha, batch_size, learning_rate, learning_rate_init, power_t, max_iter,
    shuffle, random_state, tol, verbose, momentum, nesterovs_momentum, beta_1, beta_2, epsilon, n_iter_no_change, clip_norm,
    decoupled_decay, init, early_stopping, validation_fraction, n_jobs
        As in `Autoencoder`.

    Attributes
    ----------
    coefs_, intercepts_, loss_, n_iter_, n_parameters_, history_, certificate_, n_features_in_, feature_names_in_
        As in `Autoencoder`.

    Notes
    -----
    An epoch takes O(n parameters). Noise is drawn anew in every epoch, for each row by itself: a row of weight two is shown
    with one draw, two equal rows with two.

    References
    ----------
    P. Vincent et al., Stacked denoising autoencoders, JMLR 11 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neural_network import DenoisingAutoencoder
    >>> X = np.random.RandomState(0).rand(200, 6)
    >>> DenoisingAutoencoder((3,), noise="masking", level=0.3, max_iter=20, tol=0, random_state=0).fit(X).transform(X).shape
    (200, 3)
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **Autoencoder._parameter_rules,
        "noise": OneOf("gaussian", "masking", "salt_and_pepper"),
        "level": Real(least=0),
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = (32,),
        activation: str = "relu",
        *,
        noise: str = "gaussian",
        level: float = 0.1,
        code_activation: str = "identity",
        output: str = "gaussian",
        tied: bool = False,
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
        super().__init__(
            hidden_layer_sizes,
            activation,
            code_activation=code_activation,
            output=output,
            tied=tied,
            dropout=dropout,
            solver=solver,
            alpha=alpha,
            batch_size=batch_size,
            learning_rate=learning_rate,
            learning_rate_init=learning_rate_init,
            power_t=power_t,
            max_iter=max_iter,
            shuffle=shuffle,
            random_state=random_state,
            tol=tol,
            verbose=verbose,
            momentum=momentum,
            nesterovs_momentum=nesterovs_momentum,
            beta_1=beta_1,
            beta_2=beta_2,
            epsilon=epsilon,
            n_iter_no_change=n_iter_no_change,
            clip_norm=clip_norm,
            decoupled_decay=decoupled_decay,
            init=init,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
        )
        self.noise = noise
        self.level = level

    def _noise(self, params: SimpleNamespace) -> tuple[str, float]:
        if params.noise != "gaussian" and params.level > 1:
            raise InvalidParameterError(
                f"{type(self).__name__}: level={params.level:g} is not valid with noise={params.noise!r}; it must be a "
                "probability."
            )
        return params.noise, params.level


def pretrain_layers(owner: Any, network: Network, params: SimpleNamespace, flat: FloatArray, sample: Sample) -> FloatArray:
    """The flat vector with hidden layers that begin as encoders of their inputs, trained one after another without labels."""
    if not isinstance(params.pretrain, Autoencoder):
        raise InvalidParameterError(
            f"{type(owner).__name__}: pretrain={params.pretrain!r} is not valid; it must be None or an Autoencoder, such as "
            "DenoisingAutoencoder(max_iter=20): its layers' sizes and activation are set by the network."
        )
    if hasattr(sample.X, "tocsr") or any(layer.sources != (place,) for place, layer in enumerate(network.layers)):
        raise InvalidParameterError(
            f"{type(owner).__name__}: pretrain is not valid with sparse X or skip_connections; it must be None."
        )
    flat = flat.copy()
    coefs, intercepts = network.views(flat)
    rows = sample.X
    for k, layer in enumerate(network.layers[:-1]):
        coder = clone(params.pretrain).set_params(hidden_layer_sizes=(layer.units,), code_activation=layer.activation)
        if k > 0:
            coder.set_params(output="gaussian")  # codes are any numbers
        if coder.random_state is None:
            coder.set_params(random_state=params.random_state)
        coder.fit(rows, sample_weight=sample.weights)
        coefs[k][...], intercepts[k][...] = coder.coefs_[0], coder.intercepts_[0]
        rows = coder.transform(rows)
    return flat

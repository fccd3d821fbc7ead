"""Regression by multi-layer perceptrons."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if

from mercer._arrays import FloatArray, check_weights, check_X_y
from mercer._base import fit_method
from mercer._params import Instance, OneOf, Rule
from mercer.losses import Loss, get_loss
from mercer.neural_network._classifier import _is_stochastic
from mercer.neural_network._mlp import SPARSE, MultilayerPerceptron
from mercer.neural_network._settings import MLP_RULES
from mercer.neural_network._training import Objective, Sample

LOSSES = (
    "squared_error", "squared", "poisson", "absolute_error", "absolute", "huber", "log_cosh", "quantile", "pinball",
    "epsilon_insensitive", "squared_epsilon_insensitive", "gamma",
)  # fmt: skip
PARAMETERS = ("delta", "epsilon", "quantile", "power")  # of losses, of which each has one at most


class MLPRegressor(RegressorMixin, MultilayerPerceptron):  # type: ignore[misc]  # scikit-learn has no types
    r"""Regression by a multi-layer perceptron, fitted by back-propagation.

    As `MLPClassifier`, with outputs that are the prediction, or, for the losses of counts and amounts, its logarithm.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        "squared_error" (half the square), "poisson" and "gamma" (half the deviance, under the log link), "absolute_error",
        "huber", "log_cosh", "quantile", "epsilon_insensitive", "squared_epsilon_insensitive", or an object of `mercer.losses`,
        which has parameters: ``Pinball(0.9)``, ``Tweedie(1.5)``.
    hidden_layer_sizes, activation, solver, alpha, batch_size, learning_rate, learning_rate_init, power_t, max_iter, shuffle,
    random_state, tol, verbose, warm_start, momentum, nesterovs_momentum, early_stopping, validation_fraction, beta_1, beta_2,
    epsilon, n_iter_no_change, max_fun, dropout, clip_norm, decoupled_decay, init, masks, skip_connections, pretrain, n_jobs
        As in `MLPClassifier`; `early_stopping` goes by R^2.

    Attributes
    ----------
    coefs_, intercepts_, n_parameters_, loss_, loss_curve_, best_loss_, validation_scores_, best_validation_score_, t_, n_iter_,
    n_layers_, n_outputs_, out_activation_, history_, certificate_, n_features_in_, feature_names_in_
        As in `MLPClassifier`.

    Notes
    -----
    The squared loss that is told is the mean over outputs, as in scikit-learn; the gradient is that of their sum.

    References
    ----------
    D. Rumelhart, G. Hinton and R. Williams, Learning representations by back-propagating errors, Nature 323 (1986).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neural_network import MLPRegressor
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> model = MLPRegressor(hidden_layer_sizes=(20,), activation="tanh", solver="lbfgs", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {**MLP_RULES, "loss": OneOf(*LOSSES) | Instance(Loss)}

    def __init__(
        self,
        loss: Any = "squared_error",
        hidden_layer_sizes: Any = (100,),
        activation: Any = "relu",
        *,
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
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: int = 10,
        max_fun: int = 15000,
        dropout: Any = 0.0,
        clip_norm: float | None = None,
        decoupled_decay: bool = False,
        init: Any = "glorot",
        masks: Any = None,
        skip_connections: Any = None,
        pretrain: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
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
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.dropout = dropout
        self.clip_norm = clip_norm
        self.decoupled_decay = decoupled_decay
        self.init = init
        self.masks = masks
        self.skip_connections = skip_connections
        self.pretrain = pretrain
        self.n_jobs = n_jobs

    @fit_method
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None, sample_weight_val: Any = None
    ) -> MLPRegressor:
        """Fit to rows with numbers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
        X_val, y_val, sample_weight_val : array-like, default=None
            Rows to score by after each epoch, in place of some that `early_stopping` would hold out.

        Returns
        -------
        self
        """
        validation = (X_val, y_val, sample_weight_val)
        return self._fit_network(X, y, sample_weight, validation=validation)

    @available_if(_is_stochastic)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @fit_method
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> MLPRegressor:
        """Make one epoch over these rows, from where the last one ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        return self._fit_network(X, y, sample_weight, is_partial=True)

    def predict(self, X: Any) -> FloatArray:
        """The value of each row, of shape (n_samples,) or (n_samples, n_outputs)."""
        values = self._raw(X, getattr(self, "out_activation_", "identity"))
        return values[:, 0] if values.shape[1] == 1 else values

    # ---- of the fit

    def _check_target(
        self, X: Any, y: Any, sample_weight: Any, *, is_first: bool, is_partial: bool, params: SimpleNamespace
    ) -> tuple[Sample, dict[str, Any]]:
        X, y = self._check_rows(X, y, reset=is_first)
        if not is_first:
            X = X.astype(self.coefs_[0].dtype, copy=False)
            y = y.astype(X.dtype, copy=False)
        if not is_first and y.shape[1] != self.n_outputs_:
            raise ValueError(f"{type(self).__name__}: y has {y.shape[1]} outputs; the earlier fit had {self.n_outputs_}.")
        sample = Sample(X, None, y, check_weights(sample_weight, X.shape[0], X.dtype))
        return sample, {"n_outputs_": y.shape[1]}

    def _check_rows(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, FloatArray]:
        X, y = check_X_y(self, X, y, sparse=SPARSE, multi_output=True, reset=reset)
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        self._loss.check_y(y)
        return X.tocsr() if sp.issparse(X) else X, np.array(y.reshape(len(y), -1), dtype=X.dtype)  # a copy: y may be written to

    @property
    def _loss(self) -> Loss:
        return get_loss(self.loss)

    def _objective(self, params: SimpleNamespace, sample: Sample, fixed: dict[str, Any]) -> tuple[Objective, str]:
        loss = self._loss
        if loss.kind not in ("residual", "positive"):
            raise ValueError(
                f"{type(self).__name__}: loss={params.loss!r} is not valid, it is one for labels; it must be one of "
                f"{', '.join(map(repr, LOSSES))} or another loss of numbers."
            )
        parameter = next((float(getattr(loss, name)) for name in PARAMETERS if hasattr(loss, name)), 0.0)
        offset = 0.0
        if loss.name == "poisson":  # half the deviance has this besides
            y = np.asarray(sample.values, dtype=np.float64)
            offset = float(np.average(xlogy(y, y) - y, weights=sample.weights, axis=0).sum())
        is_mean = loss.kind == "residual"
        objective = Objective(
            loss.name,
            parameter,
            params.alpha,
            params.decoupled_decay,
            loss_scale=1 / fixed["n_outputs_"] if is_mean else 1.0,
            offset=offset,
        )
        return objective, "exp" if loss.kind == "positive" else "identity"

    def _score_on(self, raw: FloatArray, sample: Sample) -> float:
        values = np.exp(raw) if self._loss.kind == "positive" else raw
        return (
            float(r2_score(sample.values, values, sample_weight=sample.weights)) if np.isfinite(values).all() else float("nan")
        )

    def _check_validation(self, X: Any, y: Any, sample_weight: Any, *, fixed: dict[str, Any], dtype: npt.DTypeLike) -> Sample:
        if y is None:
            raise ValueError(f"{type(self).__name__}: X_val is given without y_val; both must be, or neither.")
        X, y = self._check_rows(X, y, reset=False)
        if y.shape[1] != fixed["n_outputs_"]:
            raise ValueError(f"{type(self).__name__}: y_val has {y.shape[1]} outputs; y has {fixed['n_outputs_']}.")
        if len(y) < 2:
            raise ValueError(f"{type(self).__name__}: X_val has 1 row; R^2, by which epochs are scored, needs 2 or more.")
        X = X.astype(dtype, copy=False)
        return Sample(X, None, y.astype(dtype, copy=False), check_weights(sample_weight, X.shape[0], dtype))

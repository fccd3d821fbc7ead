"""Classification by multi-layer perceptrons."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target, unique_labels
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_class_weight, check_weights, check_X_known_labels, check_X_labels, validate
from mercer._base import fit_method
from mercer._labels import choose_codes, choose_labels
from mercer._params import Instance, Mapped, Null, OneOf, Rule
from mercer.losses import Loss
from mercer.neural_network._mlp import SPARSE, MultilayerPerceptron
from mercer.neural_network._settings import MLP_RULES
from mercer.neural_network._training import Objective, Sample

# Losses of one output against -1 and 1, one-vs-rest for more than two classes.
MARGIN_LOSSES = ("hinge", "squared_hinge", "modified_huber", "exponential")


def _has_probabilities(model: Any) -> bool:
    if _name(model.loss) not in MARGIN_LOSSES:
        return True
    raise AttributeError(f"probability estimates are not available for loss={model.loss!r}; loss='log_loss' has them.")


def _is_stochastic(model: Any) -> bool:
    if model.solver == "lbfgs":
        raise AttributeError("partial_fit is only available for stochastic optimizers. lbfgs is not stochastic.")
    return True


class MLPClassifier(ClassifierMixin, MultilayerPerceptron):  # type: ignore[misc]  # scikit-learn has no types
    r"""Classification by a multi-layer perceptron, fitted by back-propagation.

    Layer l computes :math:`a_l = h(W_l^\top a_{l-1} + b_l)`; the outputs are compared with the labels by the log loss of their
    softmax (several classes) or sigmoid (two classes, and each of several labels). What is minimised is

    .. math:: \frac{1}{S} \sum_i s_i\, \ell(y_i, f(x_i)) + \frac{\alpha}{2 S} \sum_l \|W_l\|^2,

    S being the sum of the weights :math:`s_i`, over a batch at a time.

    Parameters
    ----------
    hidden_layer_sizes : int or array-like of int, default=(100,)
        The units of each hidden layer.
    activation : str or list of str, default="relu"
        Of all hidden layers, or of each: "identity", "logistic" (also "sigmoid"), "tanh", "relu", "leaky_relu" (slope .01 below
        zero) or "gelu" (:math:`z \Phi(z)`). "heaviside" has no slope to learn by and is refused; see `network`.
    solver : {"adam", "sgd", "lbfgs", "momentum", "nesterov", "adagrad", "rmsprop"} or Optimizer, default="adam"
        "sgd" has the momentum below; an object of `mercer.optim`, such as ``Adam(beta1=0.8)``, sets its own options. "lbfgs"
        takes all rows at once, which is best for small data.
    alpha : float, default=0.0001
        The strength of the weight decay.
    batch_size : int or "auto", default="auto"
        Rows a step; "auto" is ``min(200, n_samples)``.
    learning_rate : str or callable, default="constant"
        "constant", "invscaling", "adaptive", "inverse", "step", "exponential" or "cosine". "invscaling" divides by the number
        of samples seen to `power_t`; "adaptive" divides by five where a fit would end; the others, and callables such as the
        schedules of `mercer.optim`, give a factor at time t in epochs.
    learning_rate_init : float, default=0.001
    power_t : float, default=0.5
    max_iter : int, default=200
        The most epochs (of "lbfgs": iterations).
    shuffle : bool, default=True
        Whether every epoch takes the rows in a new order.
    random_state : int, RandomState or None, default=None
        Of the initial weights, rows held out, orders and dropped units, drawn as scikit-learn does.
    tol : float, default=1e-4
        A fit ends when the loss (or held-out score) has not improved by `tol` for more than `n_iter_no_change` epochs.
    verbose : bool or int, default=False
        Log each epoch to the logger `mercer`.
    warm_start : bool, default=False
        Whether `fit` goes on from the last fit.
    momentum : float, default=0.9
    nesterovs_momentum : bool, default=True
        Both of "sgd".
    early_stopping : bool, default=False
        Whether to hold out rows, stop by the accuracy on them, and restore the best epoch; "lbfgs" has no epochs, and learns
        from all rows.
    validation_fraction : float, default=0.1
    beta_1, beta_2 : float, default=0.9 and 0.999
    epsilon : float, default=1e-8
        Of "adam".
    n_iter_no_change : int, default=10
    max_fun : int, default=15000
        The most evaluations of "lbfgs".
    loss : {"log_loss", "hinge", "squared_hinge", "modified_huber", "exponential"} or Loss, default="log_loss"
        The margin losses compare one output a class (one in all for two classes) with -1 and 1.
    dropout : float or list of float, default=0.0
        The share of each hidden layer's units that a step leaves out; the others grow by 1 / (1 - share) meanwhile.
    clip_norm : float or None, default=None
        The longest gradient: longer ones are cut to it.
    decoupled_decay : bool, default=False
        Whether the decay is taken off the weights by itself (AdamW), rather than as a part of the gradient.
    init : {"glorot", "he", "orthogonal"} or (coefs, intercepts), default="glorot"
    masks : list of arrays or None, default=None
        For each layer None, or an array of the shape of its coefficients with 0 where a connection is cut.
    skip_connections : list of (int, int) or None, default=None
        Pairs (from, to) of places, 0 being the input: layer `to` reads place `from` too. Of sparse X only the first layer reads
        the input.
    pretrain : Autoencoder or None, default=None
        Hidden layers begin as the encoders of autoencoders like this one, trained one after another without labels.
    class_weight : dict, "balanced" or None, default=None
        Factors of the rows' weights, by class.
    n_jobs : int or None, default=None
        The number of threads; the result does not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coefs_, intercepts_ : list of arrays
        Of each layer: (inputs, units), and (units,).
    n_parameters_ : int
        The number of weights that may move.
    loss_, loss_curve_, best_loss_, validation_scores_, best_validation_score_, t_, n_iter_, n_layers_, n_outputs_,
    out_activation_ : as in scikit-learn
    history_ : list of dict
        For each epoch: `loss`, `penalty`, `rate`, `gradient_norm_k` of each layer (root of the mean square over batches), and
        `score` where rows are held out.
    certificate_ : Certificate
        The norm of the gradient at the end: a local statement, for the objective is not convex.
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    MLPRegressor : The same for numbers.
    network : Networks built by hand.

    Notes
    -----
    An epoch takes O(n parameters). Differences from scikit-learn are listed in `docs/differences.md`.

    References
    ----------
    D. Rumelhart, G. Hinton and R. Williams, Learning representations by back-propagating errors, Nature 323 (1986).
    X. Glorot and Y. Bengio, Understanding the difficulty of training deep feedforward neural networks, AISTATS 2010.
    N. Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting, JMLR 15 (2014).

    Examples
    --------
    >>> from mercer.datasets import make_moons
    >>> from mercer.neural_network import MLPClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = MLPClassifier((20, 20), solver="lbfgs", random_state=0).fit(X, y)
    >>> model.n_parameters_, model.score(X, y) > 0.98
    (501, True)
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **MLP_RULES,
        "loss": OneOf("log_loss", "logistic", *MARGIN_LOSSES) | Instance(Loss),
        "class_weight": Mapped() | OneOf("balanced") | Null(),
    }

    def __init__(
        self,
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
        loss: Any = "log_loss",
        dropout: Any = 0.0,
        clip_norm: float | None = None,
        decoupled_decay: bool = False,
        init: Any = "glorot",
        masks: Any = None,
        skip_connections: Any = None,
        pretrain: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
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
        self.loss = loss
        self.dropout = dropout
        self.clip_norm = clip_norm
        self.decoupled_decay = decoupled_decay
        self.init = init
        self.masks = masks
        self.skip_connections = skip_connections
        self.pretrain = pretrain
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @fit_method
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None, sample_weight_val: Any = None
    ) -> MLPClassifier:
        """Fit to labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or (n_samples, n_labels) of zeros and ones
            Labels of any type; of several labels a row, which of them it has.
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
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> MLPClassifier:
        """Make one epoch over these rows, from where the last one ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
        sample_weight : array-like of shape (n_samples,), default=None
        classes : array-like, default=None
            All classes that will ever come; needed on the first call.

        Returns
        -------
        self
        """
        self._classes_given = classes
        try:
            return self._fit_network(X, y, sample_weight, is_partial=True)
        finally:
            del self._classes_given

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row; of several labels, which of them it has."""
        return self._labels(self._raw(X, "identity"))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class (of several labels: of each label), a column each."""
        check_is_fitted(self)
        shares = self._raw(X, self.out_activation_)
        if self.out_activation_ == "softmax" or self._is_multi_label:
            return shares
        return np.column_stack([1 - shares[:, 0], shares[:, 0]])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of the probabilities."""
        shares: FloatArray = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            np.log(shares, out=shares)
        return shares

    def decision_function(self, X: Any) -> FloatArray:
        """The outputs before the softmax or sigmoid: of shape (n_samples,) for two classes, else with a column a class."""
        raw = self._raw(X, "identity")
        return raw[:, 0] if raw.shape[1] == 1 else raw

    # ---- of the fit

    def _labels(self, raw: FloatArray) -> npt.NDArray[Any]:
        if self._is_multi_label:
            return (raw > 0).astype(np.intp)
        return choose_labels(raw, self.classes_)

    def _check_target(
        self, X: Any, y: Any, sample_weight: Any, *, is_first: bool, is_partial: bool, params: SimpleNamespace
    ) -> tuple[Sample, dict[str, Any]]:
        if _is_label_matrix(y):
            return self._check_label_matrix(X, y, sample_weight, is_first=is_first, params=params)
        classes: npt.NDArray[Any]
        if is_partial:
            classes = self._known(self._classes_given, is_first=is_first)
            X, codes = check_X_known_labels(self, X, y, classes, sparse=SPARSE, reset=is_first)
            if params.class_weight == "balanced":
                raise ValueError(
                    f"{type(self).__name__}: class_weight='balanced' is not valid with partial_fit, which does not see all "
                    "labels; it must be None or a dict."
                )
        else:
            X, classes, codes = check_X_labels(self, X, y, sparse=SPARSE)
            if not is_first and not np.array_equal(classes, self.classes_):
                raise ValueError(
                    "warm_start can only be used where `y` has the same classes as in the previous call to fit. Previously got "
                    f"{self.classes_}, `y` has {classes}"
                )
        X = self._as_fitted(X, is_first=is_first)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        weights = check_class_weight(params.class_weight, classes, codes, weights, X.dtype)
        n_outputs = 1 if len(classes) == 2 else len(classes)
        sample = self._sample(X, codes, weights, n_outputs, params.loss)
        return sample, {"classes_": classes, "n_outputs_": n_outputs, "_is_multi_label": False}

    def _sample(self, X: Any, codes: npt.NDArray[np.intp], weights: FloatArray | None, n_outputs: int, loss: Any) -> Sample:
        is_margin = _name(loss) in MARGIN_LOSSES
        if n_outputs > 1 and not is_margin:
            return Sample(X, codes.astype(np.int32), None, weights)
        is_it = codes[:, None] == (np.arange(n_outputs) if n_outputs > 1 else 1)
        scored_by = codes.astype(np.int32) if n_outputs > 1 else None
        return Sample(X, scored_by, _targets(is_it, X.dtype, is_margin=is_margin), weights)

    def _check_label_matrix(
        self, X: Any, y: Any, sample_weight: Any, *, is_first: bool, params: SimpleNamespace
    ) -> tuple[Sample, dict[str, Any]]:
        if params.class_weight is not None:
            raise ValueError(
                f"{type(self).__name__}: class_weight={params.class_weight!r} is not valid with several labels a row; it "
                "must be None (sample_weight weighs rows)."
            )
        X, y = validate(self, X, y, sparse=SPARSE, multi_output=True, reset=is_first)
        y = y.toarray() if sp.issparse(y) else y
        if type_of_target(y) != "multilabel-indicator":
            raise ValueError(
                "Multioutput target data is not supported with label binarization: y must be one column of labels, or 0-1."
            )
        X = self._as_fitted(X, is_first=is_first)
        if not is_first and y.shape[1] != self.n_outputs_:
            raise ValueError(f"{type(self).__name__}: y has {y.shape[1]} labels a row; the earlier fit had {self.n_outputs_}.")
        values = _targets(y != 0, X.dtype, is_margin=_name(params.loss) in MARGIN_LOSSES)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        return Sample(X, None, values, weights), {
            "classes_": np.arange(y.shape[1]),
            "n_outputs_": y.shape[1],
            "_is_multi_label": True,
        }

    def _known(self, classes: Any, *, is_first: bool) -> npt.NDArray[Any]:
        """The classes of the first call of partial_fit, which later calls may repeat."""
        known: npt.NDArray[Any]
        if is_first or not hasattr(self, "classes_"):
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            known = unique_labels(classes)
            if len(known) < 2:
                raise ValueError(f"{type(self).__name__}: classes={classes!r} is not valid; it must hold at least 2 classes.")
            return known
        if classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}")
        known = self.classes_
        return known

    def _as_fitted(self, X: Any, *, is_first: bool) -> Any:
        X = X.tocsr() if sp.issparse(X) else X
        return X if is_first else X.astype(self.coefs_[0].dtype, copy=False)

    def _objective(self, params: SimpleNamespace, sample: Sample, fixed: dict[str, Any]) -> tuple[Objective, str]:
        name = _name(params.loss)
        if name in MARGIN_LOSSES:
            return Objective(name, 0.0, params.alpha, params.decoupled_decay), "identity"
        if name != "logistic":
            raise ValueError(
                f"{type(self).__name__}: loss={params.loss!r} is not valid; it must be the log loss or one of "
                f"{', '.join(map(repr, MARGIN_LOSSES))}."
            )
        is_softmax = sample.values is None
        kernel = "softmax" if is_softmax else "logistic"
        return Objective(kernel, 0.0, params.alpha, params.decoupled_decay), kernel

    def _strata(self, sample: Sample, fixed: dict[str, Any]) -> Any:
        return (sample.values[:, 0] > 0).astype(np.intp) if fixed["n_outputs_"] == 1 and sample.values is not None else None

    def _score_on(self, raw: FloatArray, sample: Sample) -> float:
        if sample.codes is not None:
            is_right = choose_codes(raw, raw.shape[1]) == sample.codes
        else:
            is_right = ((raw > 0) == (np.asarray(sample.values) > 0)).all(axis=1)  # every label of a row
        return float(np.average(is_right, weights=sample.weights))

    def _check_validation(self, X: Any, y: Any, sample_weight: Any, *, fixed: dict[str, Any], dtype: npt.DTypeLike) -> Sample:
        if y is None:
            raise ValueError(f"{type(self).__name__}: X_val is given without y_val; both must be, or neither.")
        classes = fixed["classes_"]
        if fixed["_is_multi_label"]:
            X, y = validate(self, X, y, sparse=SPARSE, multi_output=True, reset=False)
            y = y.toarray() if sp.issparse(y) else y
            if y.shape[1:] != (fixed["n_outputs_"],) or not np.isin(y, (0, 1)).all():
                raise ValueError(
                    f"{type(self).__name__}: y_val of shape {y.shape} is not valid; it must hold 0 and 1 for each of "
                    f"{fixed['n_outputs_']} labels, as y does."
                )
            values = _targets(y != 0, dtype, is_margin=_name(self.loss) in MARGIN_LOSSES)
            sample = Sample(X, None, values, None)
        else:
            if _is_label_matrix(y):
                raise ValueError(
                    f"{type(self).__name__}: y_val of shape {np.shape(y)} is not valid; it must be one column of labels, as y "
                    "is."
                )
            X, codes = check_X_known_labels(self, X, y, classes, sparse=SPARSE, reset=False)
            sample = self._sample(X, codes, None, fixed["n_outputs_"], self.loss)
        X = (X.tocsr() if sp.issparse(X) else X).astype(dtype, copy=False)
        return Sample(X, sample.codes, sample.values, check_weights(sample_weight, X.shape[0], dtype))


def _name(loss: Any) -> str:
    """The name of a loss given by name or as an object; the log loss has several."""
    name = loss.name if isinstance(loss, Loss) else loss
    return "logistic" if name in ("log_loss", "logistic", "softmax") else name


def _is_label_matrix(y: Any) -> bool:
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    return len(shape) == 2 and shape[1] > 1


def _targets(is_it: npt.NDArray[np.bool_], dtype: npt.DTypeLike, *, is_margin: bool) -> FloatArray:
    """One where a row has a label, else 0, or -1 for a margin."""
    values: FloatArray = np.ascontiguousarray(is_it.astype(dtype))
    return 2 * values - 1 if is_margin else values

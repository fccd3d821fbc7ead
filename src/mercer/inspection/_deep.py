"""`DeepExplainer`: values of perceptrons by the rescale rule of DeepLIFT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, ndtr
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._parallel import serial_blas
from mercer._params import OneOf, check_value
from mercer.inspection._background import Background
from mercer.inspection._coalition_rows import number_table
from mercer.inspection._explainer import Explainer, column_names
from mercer.inspection._explanation import Explanation
from mercer.inspection._groups import players_of
from mercer.inspection._model import Model, squeezed

_LEAK = 0.01
_NEAR = 1e-6  # differences below which the slope takes the place of the quotient
_CELLS = 2**20  # values of the widest layer that are held at a time
_TOLERANCE = 1e-4  # of outputs computed here against those of the model, which may be of single precision


class Activation(NamedTuple):
    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]


_LOGISTIC = Activation(expit, lambda z: expit(z) * expit(-z))
ACTIVATIONS = {
    "identity": Activation(lambda z: z, np.ones_like),
    "logistic": _LOGISTIC,
    "sigmoid": _LOGISTIC,
    "tanh": Activation(np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    "relu": Activation(lambda z: np.maximum(z, 0), lambda z: np.where(z > 0, 1.0, 0.0)),
    "leaky_relu": Activation(lambda z: np.where(z > 0, z, _LEAK * z), lambda z: np.where(z > 0, 1.0, _LEAK)),
    "gelu": Activation(lambda z: z * ndtr(z), lambda z: ndtr(z) + z * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)),
    "heaviside": Activation(lambda z: np.where(z >= 0, 1.0, 0.0), np.zeros_like),
}


@dataclass(frozen=True)
class Layer:
    """Reads the values of places side by side: place 0 is the input, place p the output of layer p - 1."""

    sources: tuple[int, ...]
    coef: FloatArray
    intercept: FloatArray
    activation: str


class Passed(NamedTuple):
    """What rows become: the values of all places, and the sums of all layers before their activations."""

    values: list[FloatArray]
    sums: list[FloatArray]


@dataclass(frozen=True)
class Perceptron:
    """A fitted feed-forward network, in double precision."""

    layers: tuple[Layer, ...]

    @classmethod
    def of(cls, model: Any, out_activation: str) -> Perceptron:
        """From the public attributes and parameters of Mercer's and scikit-learn's perceptrons."""
        n = len(model.coefs_)
        named = [model.activation] * (n - 1) if isinstance(model.activation, str) else list(model.activation)
        skips = getattr(model, "skip_connections", None) or ()
        layers = []
        for place, (coef, intercept) in enumerate(zip(model.coefs_, model.intercepts_, strict=True), start=1):
            sources = sorted({place - 1} | {int(start) for start, end in skips if end == place})
            activation = out_activation if place == n else named[place - 1]
            layers.append(
                Layer(tuple(sources), np.asarray(coef, np.float64), np.asarray(intercept, np.float64).ravel(), activation)
            )
        return cls(tuple(layers))

    @property
    def widest(self) -> int:
        return max(int(size) for layer in self.layers for size in layer.coef.shape)

    def passed(self, X: FloatArray) -> Passed:
        values, sums = [X], []
        for layer in self.layers:
            read = values[layer.sources[0]] if len(layer.sources) == 1 else np.hstack([values[s] for s in layer.sources])
            sums.append(read @ layer.coef + layer.intercept)
            values.append(ACTIVATIONS[layer.activation].value(sums[-1]))
        return Passed(values, sums)

    def contributions(self, one: Passed, others: Passed, output: int) -> FloatArray:
        """What each input of one row gave an output, against each of the other rows: (rows, inputs)."""
        n = len(others.values[0])
        towards: list[Any] = [0.0] * len(one.values)
        towards[-1] = np.zeros((n, self.layers[-1].coef.shape[1]))
        towards[-1][:, output] = 1.0
        for place in range(len(self.layers), 0, -1):
            layer = self.layers[place - 1]
            if isinstance(towards[place], float):  # nobody reads it
                continue
            through = towards[place] * _quotients(layer.activation, one, others, place)
            back = through @ layer.coef.T
            start = 0
            for source in layer.sources:
                width = one.values[source].shape[1]
                towards[source] = towards[source] + back[:, start : start + width]
                start += width
        difference: FloatArray = (one.values[0] - others.values[0]) * towards[0]
        return difference


def _quotients(name: str, one: Passed, others: Passed, place: int) -> FloatArray:
    """By how much a unit passes on a difference of its sum; where that is next to none, its slope."""
    apart = one.sums[place - 1] - others.sums[place - 1]
    is_near = np.abs(apart) < _NEAR
    quotients: FloatArray = (one.values[place] - others.values[place]) / np.where(is_near, 1.0, apart)
    if is_near.any():
        middle = (one.sums[place - 1] + others.sums[place - 1]) / 2
        quotients[is_near] = ACTIVATIONS[name].slope(middle[is_near])
    return quotients


class DeepExplainer(Explainer):
    r"""Values of a multi-layer perceptron by DeepLIFT's rescale rule, on average over background rows.

    .. math:: \phi_i(x) = \operatorname{E}_b\, (x_i - b_i) \sum_{\text{paths from } i} \prod
              w \frac{f(z_x) - f(z_b)}{z_x - z_b}

    Each unit passes differences from a background row on in proportion, so that the values add up to f(x) - f(b). They are
    Shapley values where the network is linear, and near them otherwise.

    Parameters
    ----------
    model : MLPClassifier or MLPRegressor
        Fitted; Mercer's, with any activations and skip connections, or scikit-learn's.
    data : {array-like, sparse matrix, data frame, Background} of shape (n_background, n_features)
        The background.
    model_output : {"raw", "probability"}, default="raw"
        Whether the values before or after the activation of the output are explained; "probability" takes two classes.
    feature_names : list of str, default=None
        The names of the columns where the background has none.
    groups : dict or Grouped, default=None
        Columns that are one player: their values are added up.
    class_of_interest : label, default=None
        The class that is explained alone; all of them where nothing is said.

    Attributes
    ----------
    expected_value : float or ndarray of shape (n_outputs,)
        What the network says on average over the background.

    Notes
    -----
    A row takes one pass back through the network for each background row and output; blocks of background rows keep memory
    bounded. `additivity_error` of the result compares the sums with what the model itself says, in its own precision.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import DeepExplainer
    >>> from mercer.neural_network import MLPRegressor
    >>> X = np.random.RandomState(0).randn(50, 3)
    >>> model = MLPRegressor(hidden_layer_sizes=(8,), tol=0.01, random_state=0).fit(X, X[:, 0])
    >>> bool(DeepExplainer(model, X)(X[:5]).additivity_error < 1e-12)
    True

    References
    ----------
    Shrikumar, Greenside and Kundaje, "Learning important features through propagating activation differences", 2017.
    """

    method: ClassVar[str] = "deep, rescale rule"

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        model_output: str = "raw",
        feature_names: Any = None,
        groups: Any = None,
        class_of_interest: Any = None,
    ) -> None:
        owner = "DeepExplainer"
        self.model = model
        wanted = check_value(owner, "model_output", model_output, OneOf("raw", "probability"))
        if not (hasattr(model, "fit") and hasattr(model, "hidden_layer_sizes") and hasattr(model, "predict")):
            raise ValueError(f"{owner}: {type(model).__name__} is no multi-layer perceptron.")
        check_is_fitted(model)
        self._asked, self._sign, self._offset = _asked(owner, model, wanted, class_of_interest)
        background = Background.of(data)
        self._table = number_table(owner, background.rows, takes_names=hasattr(model, "feature_names_in_"))
        self._weights = background.weights
        self._network = Perceptron.of(model, str(model.out_activation_) if wanted == "probability" else "identity")
        n_inputs, n_outputs = self._network.layers[0].coef.shape[0], self._network.layers[-1].coef.shape[1]
        if self._table.n_columns != n_inputs:
            raise ValueError(f"{owner}: data has {self._table.n_columns} columns; the network has {n_inputs} inputs.")
        column = None if n_outputs == 1 else self._asked.column
        self._outputs = list(range(n_outputs)) if column is None else [column]
        self._names = column_names(owner, feature_names, self._table.names, model, n_inputs)
        self._players = players_of(owner, groups, self._names)
        with serial_blas():
            self._others = self._network.passed(self._table.own_rows.astype(np.float64))
        own = self._offset + self._sign * self._others.values[-1][:, self._outputs]
        given = self._asked(self._table.for_model(self._table.own_rows))
        if given.shape != own.shape or np.abs(given - own).max() > _TOLERANCE * (1 + np.abs(own).max()):
            raise ValueError(f"{owner}: {type(model).__name__} gives other values than its coefs_ and intercepts_ do.")
        self._base: FloatArray = self._weights @ own
        self.expected_value = squeezed(self._base, is_vector=self._asked.is_vector)
        if not self._asked.is_vector:
            self.expected_value = float(self.expected_value)

    @classmethod
    def unsuited(cls, model: Any, background: Any) -> str | None:
        if background is None:
            return "it needs background rows"
        try:
            cls(model, background)
        except (TypeError, ValueError) as error:
            return str(error)
        return None

    def __call__(self, X: Any) -> Explanation:
        """Explain rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        explanation : Explanation
            With what the model itself says of the rows as its predictions.
        """
        admitted = self._table.admit(X)
        rows = self._table.cells(admitted).astype(np.float64)
        values = np.empty((len(rows), rows.shape[1], len(self._outputs)))
        with serial_blas():
            for i in range(len(rows)):
                values[i] = self._sign * self._contributions(self._network.passed(rows[i : i + 1]))
        is_vector = self._asked.is_vector
        return Explanation(
            squeezed(self._players.sums(values), is_vector=is_vector),
            squeezed(np.repeat(self._base[None], len(rows), axis=0), is_vector=is_vector),
            self._players.cells(rows, self._names),
            feature_names=self._players.names,
            output_names=self._asked.output_names,
            method=self.method,
            predictions=squeezed(self._asked(self._table.for_model(admitted)), is_vector=is_vector),
            n_evaluations=len(rows) * len(self._weights),
        )

    def _contributions(self, one: Passed) -> FloatArray:
        """The weighted mean over the background of what each input of a row gave each output."""
        sums = np.zeros((one.values[0].shape[1], len(self._outputs)))
        step = max(1, _CELLS // self._network.widest)
        for start in range(0, len(self._weights), step):
            part = slice(start, start + step)
            others = Passed([values[part] for values in self._others.values], [before[part] for before in self._others.sums])
            for place, output in enumerate(self._outputs):
                sums[:, place] += self._weights[part] @ self._network.contributions(one, others, output)
        return sums


def _asked(owner: str, model: Any, wanted: str, class_of_interest: Any) -> tuple[Model, float, float]:
    """What the model itself is asked for, and how that follows from the network's output: times a sign, plus an offset."""
    if wanted == "raw":
        response = "decision_function" if hasattr(model, "classes_") else "predict"
        asked = Model.of(owner, model, response, class_of_interest)
        return asked, asked.sign, 0.0
    out = str(model.out_activation_)
    if out == "softmax" or not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{owner}: model_output='probability' is not valid where the output is {out!r}, as it takes sigmoids of single "
            "units; it must be 'raw'."
        )
    is_of_two = model.intercepts_[-1].size == 1
    label = model.classes_[1] if class_of_interest is None and is_of_two else class_of_interest
    asked = Model.of(owner, model, "predict_proba", label)
    is_first = is_of_two and asked.column == 0
    return asked, -1.0 if is_first else 1.0, 1.0 if is_first else 0.0

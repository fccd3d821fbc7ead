"""Rows explained by LIME with the draws of one seed: the model is asked, and each row has its surrogates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._jobs import run_jobs
from mercer._parallel import serial_blas
from mercer._params import Fittable, Integer, Null, OneOf, Text, check_value
from mercer._trace import warn
from mercer.inspection._lime_columns import Columns
from mercer.inspection._lime_samples import Draws, Sampler
from mercer.inspection._lime_surrogate import Neighbours, Surrogate
from mercer.inspection._model import Model

_LASSO_PENALTY = 0.01


@dataclass(frozen=True)
class Options:
    """What a call asks for."""

    labels: tuple[Any, ...]
    top_labels: int | None
    num_features: int
    num_samples: int
    distance_metric: str
    regressor: Any  # None: ridge regression
    n_repeats: int


def options_of(
    labels: Any, top_labels: Any, num_features: Any, num_samples: Any, metric: Any, regressor: Any, n_repeats: Any, mode: str
) -> Options:
    """The options of a call, checked."""
    owner = "LimeExplainer"
    given = check_value(owner, "model_regressor", regressor, Null() | OneOf("ridge", "lasso") | Fittable())
    if isinstance(given, str) and given == "lasso":
        from mercer.linear_model import Lasso

        given = Lasso(alpha=_LASSO_PENALTY)
    asked = (labels,) if isinstance(labels, str | int | np.integer) else tuple(labels)
    if len(asked) == 0 and mode == "classification":
        raise ValueError(f"{owner}: labels={labels!r} is not valid; it must hold one class at least.")
    return Options(
        asked,
        check_value(owner, "top_labels", top_labels, Null() | Integer(1)),
        check_value(owner, "num_features", num_features, Integer(1)),
        check_value(owner, "num_samples", num_samples, Integer(2)),
        check_value(owner, "distance_metric", metric, Text()),
        None if isinstance(given, str) else given,
        check_value(owner, "n_repeats", n_repeats, Integer(0)),
    )


@dataclass(frozen=True)
class Setting:
    """What an explainer is: its columns, what it draws, how samples are weighted, and how features are chosen."""

    mode: str
    columns: Columns
    sampler: Sampler
    kernel: Callable[[FloatArray, float], Any]
    width: float
    feature_selection: str

    def said(self, model: Model, rows: FloatArray) -> FloatArray:
        """What the model says of rows, which must be what the mode says it is."""
        said = model(self.columns.table(rows)) if len(rows) else np.empty((0, 1))
        if self.mode == "classification" and len(rows):
            if not model.is_vector:
                raise ValueError(
                    "LimeExplainer: predict_fn gives one value a row; with mode='classification' it must give the probability "
                    "of each class. Set mode='regression' to explain decision values."
                )
            if not np.allclose(said.sum(axis=1), 1.0):
                warn("LimeExplainer: what predict_fn gives does not add up to 1; it should give probabilities of the classes.")
        elif said.shape[1] != 1:
            raise ValueError(
                f"LimeExplainer: predict_fn gives {said.shape[1]} values a row; with mode='regression' it must give one."
            )
        return said

    def neighbours(self, draws: Draws, x: FloatArray, said: FloatArray, metric: str) -> Neighbours:
        """The samples as the surrogate of a row sees them, weighted, and what the model says of them."""
        row, samples = self.sampler.seen(draws, x)
        weights = np.asarray(self.kernel(_distances(row, samples, metric), self.width), dtype=np.float64)
        is_right = weights.shape == (len(samples) + 1,) and np.isfinite(weights).all()
        if not is_right or (weights < 0).any() or weights.sum() <= 0:
            raise ValueError(
                "LimeExplainer: the kernel gives no weights >= 0, one for each distance, that add up to more than 0; use a "
                "larger kernel_width or another kernel."
            )
        return Neighbours(row, samples, weights, said)


def _distances(row: FloatArray, samples: FloatArray, metric: str) -> FloatArray:
    """Of the row from itself and the samples."""
    if metric == "euclidean":
        squares = np.einsum("ij,ij->i", samples, samples) - 2 * (samples @ row) + row @ row
        return np.concatenate([[0.0], np.sqrt(np.maximum(squares, 0.0))])
    from mercer.metrics import pairwise_distances

    return np.concatenate([pairwise_distances(one, row[None], metric=metric).ravel() for one in (row[None], samples)])


def exponential_weights(distances: FloatArray, width: float, power: float) -> FloatArray:
    """exp(-power d^2 / width^2)."""
    weights: FloatArray = np.exp(-power * (distances / width) ** 2)
    return weights


class Run:
    """The rows X, of which the model says `of_rows`, explained with the draws of one seed."""

    def __init__(
        self,
        setting: Setting,
        model: Model,
        X: FloatArray,
        of_rows: FloatArray,
        labels: list[list[int]],
        draws: Draws,
        options: Options,
        n_jobs: int | None,
    ) -> None:
        self._setting, self._model, self._draws, self._options = setting, model, draws, options
        self.X, self.of_rows, self.labels, self.names = X, of_rows, labels, model.names
        self._shared: FloatArray | None = None  # what the model says of samples that all rows share
        if not setting.sampler.is_around and len(X):
            self._shared = setting.said(model, setting.sampler.rows(draws, X[0])[1:])
        with serial_blas(), run_jobs([partial(self._row, i) for i in range(len(X))], n_jobs, in_threads=True) as results:
            found = list(results)
        self.surrogates = [surrogates for surrogates, _, _ in found]
        self.least, self.most = [least for _, least, _ in found], [most for _, _, most in found]

    def _row(self, i: int) -> tuple[list[Surrogate], float, float]:
        """The surrogates of a row, one a label, and the range of what the model says of its samples."""
        setting, options = self._setting, self._options
        if self._shared is None:
            said = setting.said(self._model, setting.sampler.rows(self._draws, self.X[i]))
        else:
            said = np.concatenate([self.of_rows[i : i + 1], self._shared])
        targets = np.ascontiguousarray(said[:, self.labels[i]])
        neighbours = setting.neighbours(self._draws, self.X[i], targets, options.distance_metric)
        found = []
        for output in range(targets.shape[1]):
            features = neighbours.selected(output, options.num_features, setting.feature_selection)
            if options.regressor is None:
                found.append(neighbours.ridge(output, features, 1.0))
            else:
                found.append(neighbours.fitted(output, features, options.regressor))
        return found, float(said[:, 0].min()), float(said[:, 0].max())

"""A fitted classifier with the maps that turn its scores into probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._labels import pad_classes
from mercer._saved import saved
from mercer._score_maps import (
    IsotonicMap,
    SigmoidMap,
    TemperatureMap,
    fit_isotonic,
    fit_sigmoid,
    fit_temperature,
)
from mercer._wrapped import class_scores, response_method

OWNER = "CalibratedClassifierCV"
RESPONSES = ("decision_function", "predict_proba")
_LEAST = 1e-12  # is added to probabilities before their logarithm is taken


@saved("mercer.calibration.CalibratedClassifier")
@dataclass(frozen=True, eq=False)
class CalibratedClassifier:
    """One member of a `CalibratedClassifierCV`: scores of `estimator`, then one map a class (one in all for two classes)."""

    estimator: Any
    calibrators: list[SigmoidMap | IsotonicMap | TemperatureMap]
    classes: npt.NDArray[Any]
    method: str

    def predict_proba(self, X: Any) -> FloatArray:
        """Calibrated probabilities, of shape (n_samples, n_classes)."""
        response = response_method(self.estimator, RESPONSES)
        scores = seen_scores(self.estimator, X, response)
        places = np.searchsorted(self.classes, self.estimator.classes_)
        n_classes = len(self.classes)
        if self.method == "temperature":
            seen = self.calibrators[0].predict(logits_of(scores, response, len(places)))
            return pad_classes(seen, places, n_classes, dtype=np.float64)
        proba = np.zeros((len(scores), n_classes))
        columns = map_columns(scores, response, len(places))
        parts = [each.predict(column) for each, column in zip(self.calibrators, columns.T, strict=True)]
        if len(places) == 2:
            proba[:, places[1]] = parts[0]
            np.subtract(1, parts[0], out=proba[:, places[0]])
            return proba
        for place, part in zip(places, parts, strict=True):
            proba[:, place] = part
        totals = proba.sum(axis=1, keepdims=True)
        np.divide(proba, totals, out=proba, where=totals > 0)
        proba[totals[:, 0] == 0] = 1 / n_classes
        return proba


def seen_scores(estimator: Any, X: Any, response: str) -> FloatArray:
    """Finite scores, one column a class that the estimator has seen; decision values of two have one."""
    return class_scores(OWNER, estimator, X, response, np.asarray(estimator.classes_))


def map_columns(scores: FloatArray, response: str, n_seen: int) -> FloatArray:
    """The columns that are mapped one by one: of two classes that of the second."""
    return scores[:, 1:] if n_seen == 2 and response == "predict_proba" else scores


def logits_of(scores: FloatArray, response: str, n_seen: int) -> FloatArray:
    """Logits of all classes: logarithms of probabilities, decision values d, or (-d, d) of two classes."""
    if response == "predict_proba":
        return np.log(scores.astype(np.float64) + _LEAST)
    return np.column_stack([-scores, scores]) if n_seen == 2 else scores


def calibrate(
    estimator: Any,
    scores: FloatArray,
    response: str,
    classes: npt.NDArray[Any],
    codes: npt.NDArray[np.intp],
    weights: FloatArray | None,
    method: str,
) -> CalibratedClassifier:
    """Fit the maps on scores of rows that the estimator has not seen. Rows of weight zero are as if absent."""
    weights = np.ones(len(codes)) if weights is None else weights
    places = np.searchsorted(classes, estimator.classes_)
    kept = weights > 0
    if method == "temperature":
        kept &= np.isin(codes, places)  # what was never seen has probability zero at any temperature
    if not kept.any():
        raise ValueError(f"{OWNER}: a fold has no row of positive sample_weight to calibrate by; give another cv.")
    scores, codes, weights = scores[kept], codes[kept], weights[kept]
    if method == "temperature":
        own = np.searchsorted(places, codes)
        temperature = fit_temperature(logits_of(scores, response, len(places)), own, weights)
        return CalibratedClassifier(estimator, [temperature], classes, method)
    columns = map_columns(scores, response, len(places))
    targets = places[1:] if len(places) == 2 else places
    fit: Any = fit_isotonic if method == "isotonic" else fit_sigmoid
    maps = [fit(column, codes == place, weights) for column, place in zip(columns.T, targets, strict=True)]
    return CalibratedClassifier(estimator, maps, classes, method)

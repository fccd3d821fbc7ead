"""What of a model is explained: probabilities, decision values or predictions, all outputs or that of one class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._params import OneOf, check_value

RESPONSES = ("predict_proba", "decision_function", "predict")
RESPONSE_RULE = OneOf("auto", *RESPONSES)


@dataclass
class Model:
    """A function of rows with one output or several, as whoever explains it sees it.

    `function` takes rows as the user gives them; `names` are those of its outputs where they are known; `column` is the output
    that is explained alone, and `sign` is -1 where that is the first of two classes whose one decision value is the second's.
    """

    owner: str
    function: Callable[[Any], Any]
    names: Sequence[str] | None = None
    column: int | None = None
    sign: float = 1.0
    is_vector: bool = False
    estimator: Any = None

    @classmethod
    def of(cls, owner: str, model: Any, response_method: str = "auto", class_of_interest: Any = None) -> Model:
        """The model behind an estimator, one of its methods, or any function of rows."""
        response = check_value(owner, "response_method", response_method, RESPONSE_RULE)
        bound = getattr(model, "__self__", None)
        if not hasattr(model, "fit") and callable(model):
            if response != "auto":
                raise ValueError(
                    f"{owner}: response_method={response!r} is not valid for a function, which is called as it is; it must be "
                    "'auto', or model an estimator."
                )
            if not (hasattr(bound, "fit") and getattr(model, "__name__", "") in RESPONSES):
                return cls._of_function(owner, model, class_of_interest)
            model, response = bound, model.__name__
        return cls._of_estimator(owner, model, response, class_of_interest)

    @classmethod
    def _of_function(cls, owner: str, function: Any, class_of_interest: Any) -> Model:
        if class_of_interest is not None and not isinstance(class_of_interest, int | np.integer):
            raise ValueError(
                f"{owner}: class_of_interest={class_of_interest!r} is not valid for a function, whose outputs have no names; "
                "it must be the number of an output, or model an estimator."
            )
        return cls(owner, function, column=None if class_of_interest is None else int(class_of_interest))

    @classmethod
    def _of_estimator(cls, owner: str, model: Any, response: str, class_of_interest: Any) -> Model:
        if isinstance(model, type) or not (hasattr(model, "fit") or hasattr(model, "predict")):
            raise TypeError(f"{owner}: model is {model!r}; it must be a fitted estimator or a function of rows.")
        check_is_fitted(model)
        method = _response_of(owner, model) if response == "auto" else response
        if not hasattr(model, method):
            has = [name for name in RESPONSES if hasattr(model, name)]
            raise ValueError(
                f"{owner}: response_method={response!r} is not valid, as {type(model).__name__} has no {method}; it has "
                f"{', '.join(has) or 'none that could be explained'}."
            )
        classes = getattr(model, "classes_", None) if method != "predict" and is_classifier(model) else None
        made = cls(owner, getattr(model, method), estimator=model)
        if classes is None:
            if class_of_interest is not None:
                raise ValueError(
                    f"{owner}: class_of_interest={class_of_interest!r} is not valid, as {method} of {type(model).__name__} has "
                    "no classes; it must be None."
                )
            return made
        if isinstance(classes, list):
            raise ValueError(
                f"{owner}: {type(model).__name__} predicts several targets; explain one of them, by a function of rows such as "
                "lambda X: model.predict_proba(X)[0]."
            )
        made.names = [str(label) for label in classes]
        if class_of_interest is not None:
            made._choose(np.asarray(classes), class_of_interest, is_decision=method == "decision_function")
        return made

    def _choose(self, classes: Any, label: Any, *, is_decision: bool) -> None:
        places = np.flatnonzero([bool(each == label) for each in classes.tolist()])
        if len(places) != 1:
            words = ", ".join(map(repr, classes.tolist()))
            raise ValueError(
                f"{self.owner}: class_of_interest={label!r} is not a class of the model; it must be one of {words}."
            )
        if is_decision and len(classes) == 2:
            self.sign = 1.0 if places[0] == 1 else -1.0
        else:
            self.column = int(places[0])

    @property
    def takes_names(self) -> bool:
        """Whether rows are to have the names of their columns: not for an estimator that was fitted without."""
        return self.estimator is None or hasattr(self.estimator, "feature_names_in_")

    @property
    def output_names(self) -> list[str] | None:
        """The names of the outputs if there are several."""
        if not self.is_vector or self.names is None:
            return None
        return list(self.names)

    def __call__(self, X: Any) -> FloatArray:
        """What the model says of rows, in double precision, one column an output."""
        given = np.asarray(self.function(X))
        if given.dtype.kind not in "fiub":
            raise ValueError(
                f"{self.owner}: the model gives values of type {given.dtype}, which cannot be added up; explain its "
                "probabilities or decision values (response_method), or a function that gives numbers."
            )
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if given.ndim not in (1, 2) or len(given) != n_rows:
            raise ValueError(
                f"{self.owner}: the model gives an array of shape {given.shape} for {n_rows} rows; it must give one value or "
                "one line of values a row."
            )
        values: FloatArray = np.ascontiguousarray(given.reshape(len(given), -1), dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(f"{self.owner}: the model gives NaN or infinity for some rows; every value must be finite.")
        if self.column is not None:
            if self.column >= values.shape[1] or self.column < -values.shape[1]:
                raise ValueError(
                    f"{self.owner}: class_of_interest={self.column} is not valid; the model has {values.shape[1]} outputs."
                )
            values = np.ascontiguousarray(values[:, [self.column]])
        else:
            self.is_vector = given.ndim == 2 and not (values.shape[1] == 1 and self.estimator is not None)
            if self.names is not None and len(self.names) != values.shape[1]:
                self.names = None  # pairs of classes, say
        return values if self.sign == 1.0 else -values


def _response_of(owner: str, model: Any) -> str:
    """What is explained where nothing is said: probabilities, else decision values, else predictions."""
    wanted: tuple[str, ...] = ("predict",)
    if is_classifier(model):
        wanted = ("predict_proba", "decision_function")
    elif is_outlier_detector(model):
        wanted = ("decision_function", "predict")
    for name in wanted:
        if hasattr(model, name):
            return name
    raise ValueError(
        f"{owner}: {type(model).__name__} has {'neither ' if len(wanted) > 1 else 'no '}{' nor '.join(wanted)}; explain a "
        "function of rows instead, or set response_method."
    )


def squeezed(values: FloatArray, *, is_vector: bool) -> Any:
    """Without the last axis, that of outputs, where the model has one output alone."""
    return values if is_vector else values[..., 0]

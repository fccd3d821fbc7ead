"""Training data of tree models: X as the splitters read it, y as codes or numbers, and what predictions need of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets

from mercer._arrays import FloatArray, check_weights, check_X, class_factors, is_ready, require_finite, validate
from mercer._compat import validate_data
from mercer._labels import code_labels
from mercer._trees.categories import CategoryCoder, check_categories
from mercer._trees.growth import Targets
from mercer._trees.rows import Rows, is_ready_sparse


@dataclass(frozen=True)
class Training:
    """One fit's data."""

    X: Rows
    targets: Targets
    weights: FloatArray | None
    coder: CategoryCoder
    classes: list[npt.NDArray[Any]]  # of each output; none in regression
    has_one_output: bool

    def label_attributes(self) -> dict[str, Any]:
        """`classes_` and the like, as scikit-learn has them."""
        n_outputs = self.targets.values.shape[1]
        if not self.classes:
            return {"n_outputs_": n_outputs}
        if n_outputs == 1:
            return {"n_outputs_": 1, "classes_": self.classes[0], "n_classes_": len(self.classes[0])}
        return {"n_outputs_": n_outputs, "classes_": self.classes, "n_classes_": [len(classes) for classes in self.classes]}


def check_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    is_classifier: bool,
    categorical_features: Any,
    class_weight: Any = None,
    check_input: bool = True,
) -> Training:
    """Check everything that a fit is given; without `check_input`, X is not searched for infinity."""
    coder, X, y = check_X_y(estimator, X, y, categorical_features, is_classifier, check_input)
    weights = check_weights(sample_weight, len(y), np.float64)
    has_one_output = y.ndim == 1
    y = y.reshape(len(y), -1)
    if not is_classifier:
        return Training(X, Targets(y.astype(np.float64)), weights, coder, [], has_one_output)
    found = [code_labels(column) for column in y.T]
    classes, codes = [each for each, _ in found], np.stack([places for _, places in found], axis=1)
    weights = _weigh_classes(class_weight, classes, codes, weights)
    targets = Targets(codes.astype(np.int32), max(len(each) for each in classes))
    return Training(X, targets, weights, coder, classes, has_one_output)


def check_X_y(
    estimator: Any, X: Any, y: Any, categorical_features: Any, is_classifier: bool, check_input: bool = True
) -> tuple[CategoryCoder, Rows, npt.NDArray[Any]]:
    """X coded, y as it is (labels or numbers, of one or several outputs), and the coder."""
    options = {"multi_output": True, "y_numeric": not is_classifier}
    is_plain = categorical_features is None or (isinstance(categorical_features, str) and not hasattr(X, "columns"))
    coder = None if is_plain else check_categories(estimator, X, categorical_features)
    if coder is not None and coder.has_any:
        y = validate_data(estimator, X="no_validation", y=y, **options)
        validate_data(estimator, X, skip_check_array=True)  # the names: after y, whose check forgets them
        X = coder.encode(X, "error")
        check_consistent_length(X, y)
    else:
        X, y = validate(estimator, X, y, sparse="csr", finite="allow-nan" if check_input else "deferred", **options)
        coder = CategoryCoder((None,) * X.shape[1], tuple(getattr(estimator, "feature_names_in_", ())) or None)
    if is_classifier:
        check_classification_targets(y)
    return coder, X, y


def _weigh_classes(
    class_weight: Any, classes: list[npt.NDArray[Any]], codes: npt.NDArray[np.intp], weights: FloatArray | None
) -> FloatArray | None:
    """The rows' weights times those of their classes, in every output."""
    if class_weight is None:
        return weights
    of_output = class_weight if isinstance(class_weight, list) else [class_weight] * len(classes)
    if len(of_output) != len(classes) or (isinstance(class_weight, dict) and len(classes) > 1):
        raise ValueError(
            f"class_weight={class_weight!r} is not valid for {len(classes)} outputs; it must be None, 'balanced' or a list "
            "with one dict an output."
        )
    total = weights
    for output, wanted in enumerate(of_output):
        if wanted is not None:
            factors = class_factors(wanted, classes[output], codes[:, output], weights)[codes[:, output]]
            total = factors if total is None else total * factors
    return total


def check_query(estimator: Any, X: Any, unseen: str | None = None, *, check_input: bool = True) -> Rows:
    """X of a prediction: coded where the fit saw categories. Without `check_input` it is not searched for infinity."""
    coder: CategoryCoder = estimator._coder
    if not coder.has_any:
        if is_ready_sparse(estimator, X):
            if check_input:
                require_finite(estimator, X, allow_nan=True)
            return X
        return check_X(estimator, X, sparse="csr", finite="allow-nan" if check_input else "deferred", reset=False)
    if not is_ready(estimator, X):
        validate_data(estimator, X, reset=False, skip_check_array=True)
    return coder.encode(X, estimator.unseen if unseen is None else unseen)


def require_counts(criterion: Any, data: Training) -> None:
    """Refuse targets that the Poisson deviance is not made for."""
    if criterion != "poisson":
        return
    y, weights = data.targets.values, data.weights
    if (y < 0).any():
        raise ValueError(f"y holds {y.min():g}: some value(s) of y are negative which is not allowed for Poisson regression.")
    if (np.average(y, axis=0, weights=weights) <= 0).any():
        raise ValueError("Sum of y is not strictly positive which is necessary for Poisson regression.")

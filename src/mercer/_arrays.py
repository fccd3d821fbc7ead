"""Input validation: every array that enters the library passes here once. Knows no algorithm.

float32 and float64 are kept, everything else becomes float64. Memory order is left as it is: kernels read any strides.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from mercer._compat import validate_data
from mercer._labels import code_labels, require_two_classes
from mercer._parts.passes import Parted, each, is_parted
from mercer._remedies import explained
from mercer._rows import with_own_structure

FloatArray = npt.NDArray[Any]
FLOATS = (np.float64, np.float32)
LABELS = "biuU"  # the kinds of dtypes whose every value may be a label and none is missing
HARMLESS = {"multi_output", "y_numeric"}  # what a check of X and y may be told without meaning another one for a plain y
FEW_VALUES = 4096
LARGEST_INDEX = np.iinfo(np.int32).max

# "check" reads X once; "allow-nan" lets NaN (missing) pass; "deferred" leaves the check to `require_finite`, which a fit calls
# when its first pass over X comes out as NaN or infinity: the good case then costs nothing.
Finite = Literal["check", "allow-nan", "deferred"]


def _finite_option(finite: Finite) -> bool | str:
    """What scikit-learn calls it."""
    return finite if finite == "allow-nan" else finite == "check"


def require_countable(caller: Any, X: Any) -> None:
    """Refuse sparse X that 32 bits cannot count; before anything converts it, which takes memory for every row or column."""
    if sp.issparse(X) and max(*X.shape, X.nnz) > LARGEST_INDEX:
        raise ValueError(
            f"{_name_of(caller)}: X is sparse with {X.nnz} entries and shape {X.shape}; Mercer counts entries, rows and "
            f"columns in 32 bits, to {LARGEST_INDEX} at most. Give fewer rows at a time (to predict, or to partial_fit where "
            "there is one), or fewer columns (features can be hashed into fewer)."
        )


def tidy(X: Any) -> Any:
    """Canonical sparse structure (of `with_own_structure`) with 32-bit indices, aligned dense memory: what kernels take."""
    if not sp.issparse(X):
        return X if X.flags.aligned else np.array(X)
    if X.indices.dtype != np.int32 or X.indptr.dtype != np.int32:
        X = type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    if not X.has_canonical_format:
        X = type(X)((X.data.copy(), X.indices, X.indptr), shape=X.shape)  # the indices are our own already
        X.sum_duplicates()
    return X


def in_own_byte_order(X: Any) -> Any:
    """X as this machine writes numbers, in the same precision: scikit-learn makes float32 of another byte order float64."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or X.dtype.isnative:
        return X
    return X.astype(X.dtype.newbyteorder("="))


def validate(
    estimator: Any,
    X: Any,
    *y: Any,
    sparse: str | tuple[str, ...] | None = None,
    finite: Finite = "check",
    reset: bool = True,
    **checks: Any,
) -> Any:
    """scikit-learn's `validate_data`, with a float X as the kernels take it; X and y where y is given.

    Plain arrays pass without it: what it asks, of which library an array is for one, takes longer than a fit of few rows.
    Rows in parts are checked where they lie.
    """
    if is_parted(X):
        from mercer._parts.checks import validate_parts

        return validate_parts(estimator, X, *y, sparse=sparse, finite=finite, reset=reset, **checks)
    is_ready_at_once = is_plain(X) and all(_is_plain_target(each, len(X)) for each in y) and checks.keys() <= HARMLESS
    if is_ready_at_once and (reset or _has_known_features(estimator, X)):
        if finite != "deferred":
            require_finite(estimator, X, allow_nan=finite == "allow-nan")
        if reset:
            vars(estimator).pop("feature_names_in_", None)
            estimator.n_features_in_ = X.shape[1]
        return (X, *y) if y else X
    require_countable(estimator, X)
    X = in_own_byte_order(with_own_structure(X))
    checks |= {"accept_sparse": sparse or False, "dtype": FLOATS, "ensure_all_finite": _finite_option(finite), "reset": reset}
    try:
        valid = validate_data(estimator, X, *y, **checks)
    except ValueError as error:
        raise explained(error, estimator, X) from None
    return (tidy(valid[0]), valid[1]) if y else tidy(valid)


def check_X(
    estimator: Any, X: Any, *, sparse: str | tuple[str, ...] | None = None, finite: Finite = "check", reset: bool = True
) -> Any:
    """X as a float matrix, with the estimator's feature names and count recorded (`reset`) or compared."""
    return validate(estimator, X, sparse=sparse, finite=finite, reset=reset)


def check_X_y(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sparse: str | tuple[str, ...] | None = None,
    finite: Finite = "check",
    multi_output: bool = False,
    reset: bool = True,
) -> tuple[Any, FloatArray]:
    """X as in `check_X` and a numeric y of the same float type, one value (or one line) a row."""
    X, y = validate(estimator, X, y, sparse=sparse, finite=finite, multi_output=multi_output, y_numeric=True, reset=reset)
    if is_parted(y):
        from mercer._parts.checks import as_type

        return X, as_type(y, X.dtype)  # type: ignore[return-value]  # a vector to all that goes over parts
    return X, np.ascontiguousarray(y, dtype=X.dtype)


def check_X_labels(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sparse: str | tuple[str, ...] | None = None,
    finite: Finite = "check",
    one_class: bool = False,
) -> tuple[Any, npt.NDArray[Any], npt.NDArray[np.intp]]:
    """X as in `check_X`, the sorted classes of y (two or more, or `one_class`), and the place of each label among them."""
    X, y = validate(estimator, X, y, sparse=sparse, finite=finite)
    classes, codes = _sorted_labels(y) if not is_parted(y) else _sorted_labels_of_parts(estimator, y)
    if not one_class:
        require_two_classes(_name_of(estimator), classes)
    return X, classes, codes


def check_X_known_labels(
    estimator: Any, X: Any, y: Any, classes: npt.NDArray[Any], *, sparse: str | tuple[str, ...] | None = None, reset: bool
) -> tuple[Any, npt.NDArray[np.intp]]:
    """X as in `check_X` and the place of each label among sorted `classes`, for data that come in parts and may lack some."""
    X, y = validate(estimator, X, y, sparse=sparse, reset=reset)
    return X, places_of_labels(estimator, y, classes)


def places_of_labels(estimator: Any, y: npt.NDArray[Any], classes: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """The place of each label of y, a checked vector, among sorted `classes`; an error where one is not there."""
    check_classification_targets(y)
    codes: npt.NDArray[np.intp] = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    if (unknown := classes[codes] != y).any():
        raise ValueError(
            f"{_name_of(estimator)}: y holds the label {y[unknown].tolist()[0]!r}, which is not among "
            f"classes={classes.tolist()!r}; the first call of partial_fit must name all of them."
        )
    return codes


def check_labels(y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """The sorted labels, and the place of each row's among them; for estimators that leave X to others."""
    return _sorted_labels(column_or_1d(y, warn=True))


def _sorted_labels(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Refuse y that holds no labels; the sorted labels, and the place of each row's among them."""
    is_plain = y.dtype.kind in LABELS
    if not is_plain:
        check_classification_targets(y)
    classes, codes = code_labels(y)
    if is_plain and 2 * len(classes) > len(y):  # scikit-learn warns of labels that may be numbers
        check_classification_targets(y)
    return classes, codes


def _sorted_labels_of_parts(estimator: Any, y: Parted) -> Any:
    from mercer._parts.checks import sorted_labels

    return sorted_labels(estimator, y)


def check_class_weight(
    class_weight: Any, classes: npt.NDArray[Any], codes: npt.NDArray[np.intp], weights: FloatArray | None, dtype: npt.DTypeLike
) -> FloatArray | None:
    """The weights of rows times those of their classes (see `class_factors`)."""
    if class_weight is None:
        return weights
    if is_parted(codes):
        from mercer._parts.checks import weights_of_classes

        return weights_of_classes(class_weight, classes, codes, weights)  # type: ignore[arg-type, return-value]
    of_row: FloatArray = class_factors(class_weight, classes, codes, weights).astype(dtype)[codes]
    return of_row if weights is None else of_row * weights


def class_factors(
    class_weight: Any, classes: npt.NDArray[Any], codes: npt.NDArray[np.intp], weights: FloatArray | None
) -> FloatArray:
    """The weight of each class: "balanced" (n / (n_classes n_of_class), where rows count by their weights) or by a dict."""
    if isinstance(class_weight, str):  # the rule of the parameter allows "balanced" only
        if is_parted(codes):
            from mercer._parts.checks import count_classes

            counts = count_classes(codes, weights, len(classes))
        else:
            counts = np.bincount(codes, weights=weights, minlength=len(classes))
        of_class = counts.sum() / (len(classes) * np.maximum(counts, np.finfo(np.float64).tiny))
    else:
        try:
            of_class = compute_class_weight(class_weight, classes=classes, y=classes)
        except ValueError as error:
            raise ValueError(
                f"class_weight={class_weight!r} is not valid; it must be None, 'balanced' or a dict by class: {error}."
            ) from error
    return np.asarray(of_class)


def check_transformed(estimator: Any, X: Any, *, sparse: str | tuple[str, ...] | None = None) -> Any:
    """What a transformation gave back, as a float matrix of as many columns, whatever their names; NaN and infinity pass."""
    if not is_plain(X):
        require_countable(estimator, X)
        X = with_own_structure(X)
        X = tidy(check_array(X, accept_sparse=sparse or False, dtype=FLOATS, ensure_all_finite=False))
    if X.shape[1] != estimator.n_features_in_:
        owner, n_features = type(estimator).__name__, estimator.n_features_in_
        raise ValueError(f"X has {X.shape[1]} features, but {owner} is expecting {n_features} features as input.")
    return X


def is_ready(estimator: Any, X: Any) -> bool:
    """Whether X is an array that needs no conversion, with the features that the estimator was fitted to."""
    return is_plain(X) and _has_known_features(estimator, X)


def is_plain(X: Any) -> bool:
    """Whether X is an array that needs no conversion: one row is then ready in a microsecond."""
    return type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS and X.size > 0 and X.flags.aligned


def _is_plain_target(y: Any, n_rows: int) -> bool:
    """Whether y is an array of numbers or words, one a row, of which none is missing."""
    if type(y) is not np.ndarray or y.shape != (n_rows,) or not (y.flags.c_contiguous and y.flags.aligned):
        return False
    return y.dtype.kind in LABELS or (y.dtype in FLOATS and bool(np.isfinite(y).all()))


def _has_known_features(estimator: Any, X: FloatArray) -> bool:
    """Whether a plain X has the features that the estimator was fitted to."""
    return bool(X.shape[1] == estimator.n_features_in_) and not hasattr(estimator, "feature_names_in_")


def _name_of(caller: Any) -> str:
    """The name of a function or of an estimator's class; a name itself."""
    return caller if isinstance(caller, str) else str(getattr(caller, "__name__", type(caller).__name__))


def require_finite(caller: Any, X: Any, *, allow_nan: bool = False) -> None:
    """Raise an error for NaN or infinity in X, which says where it is and what to do."""
    if is_parted(X):
        for _ in each(require_finite, caller, X, allow_nan=allow_nan):
            pass  # the first part that holds any raises
        return
    if type(X) is np.ndarray and X.dtype.kind == "f" and X.size <= FEW_VALUES and np.isfinite(X).all():
        return  # what scikit-learn asks besides takes longer than many a prediction of one row
    try:
        assert_all_finite(X, allow_nan=allow_nan, estimator_name=_name_of(caller), input_name="X")
    except ValueError as error:
        raise explained(error, caller, X) from None


def require_no_overflow(caller: Any, X: Any, what: str, *, allow_nan: bool = False) -> None:
    """Raise the right error for a sum over X that is NaN or infinite: bad values in X, or values too large for its type."""
    require_finite(caller, X, allow_nan=allow_nan)
    largest = max(each(_largest, X)) if is_parted(X) else _largest(X)
    raise ValueError(
        f"{_name_of(caller)}: X holds values as large as {largest:.3g}, and {what} "
        f"overflow {X.dtype}. Scale X to moderate values first."
    )


def _largest(X: Any) -> float:
    """The largest absolute value; NaN does not count."""
    return float(np.fmax.reduce(np.abs(X.data if sp.issparse(X) else X), axis=None, initial=0))


def check_weights(sample_weight: Any, n_rows: int, dtype: npt.DTypeLike) -> FloatArray | None:
    """Weights as a vector of non-negative numbers, not all zero; None where all rows weigh the same.

    It is never the array given: weights say which rows take part, which kernels ask more than once, and another thread may
    write to what is the user's.
    """
    if sample_weight is None:
        return None
    if is_parted(sample_weight):
        from mercer._parts.checks import weights_of_parts

        return weights_of_parts(sample_weight)  # type: ignore[return-value]  # a vector to all that goes over parts
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_rows, sample_weight)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind == "c":
        raise ValueError("sample_weight holds complex numbers; every weight must be a real number >= 0.")
    if weights.dtype.kind not in "fiub":
        try:
            weights = weights.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample_weight of dtype {weights.dtype} is not numeric.") from error
    if weights.ndim == 0:  # scikit-learn's type of error, and its words
        raise TypeError(
            "Input should have at least 1 dimension i.e. satisfy `len(x.shape) > 0`, got scalar "
            f"`{weights.astype(np.float64)!r}` instead: sample_weight must be a vector, or a plain number."
        )
    if weights.ndim != 1:
        raise ValueError(
            f"sample_weight has {weights.ndim} dimensions; it must have 1. Sample weights must be 1D array or scalar."
        )
    if weights.shape[0] != n_rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({n_rows},): one value for each row of X.")
    weights = np.array(weights, dtype=dtype)
    if not np.isfinite(weights).all():
        raise ValueError("Input sample_weight contains NaN or infinity; every weight must be a finite number >= 0.")
    if (weights < 0).any():
        raise ValueError(
            f"Negative values in data passed to sample_weight: the least is {weights.min():g}; every weight must be >= 0."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return weights

"""What differs between versions of other packages: nothing else asks for a version.

Supported are the versions from the lower bounds in `pyproject.toml` on; `make oldest` tests with exactly those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn
import sklearn.utils.validation

SCIKIT_LEARN: tuple[int, ...] = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


class _NamedColumns:
    """A frame of polars 2 as scikit-learn before 1.9 takes it: names by the protocol that polars no longer speaks."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.shape = frame, frame.shape

    def __len__(self) -> int:
        return int(self.shape[0])

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self.frame.to_numpy(), dtype=dtype)

    def __dataframe__(self) -> _NamedColumns:
        return self

    def column_names(self) -> list[str]:
        return list(self.frame.columns)


def _lacks_names(X: Any) -> bool:
    """Whether X is a frame whose names scikit-learn before 1.9 does not see."""
    return hasattr(X, "columns") and hasattr(X, "to_numpy") and not hasattr(X, "iloc") and not hasattr(X, "__dataframe__")


def _validate_older(estimator: Any, /, X: Any = "no_validation", *y: Any, **options: Any) -> Any:
    valid = sklearn.utils.validation.validate_data(estimator, _NamedColumns(X) if _lacks_names(X) else X, *y, **options)
    given, *others = valid if isinstance(valid, tuple) else (valid,)
    given = given.frame if isinstance(given, _NamedColumns) else given  # where it is not checked, it is given back
    return (given, *others) if others else given


# scikit-learn's, which before 1.9 does not see the names of polars' frames.
validate_data: Callable[..., Any] = sklearn.utils.validation.validate_data if SCIKIT_LEARN >= (1, 9) else _validate_older


def require_names(estimator: Any, X: Any) -> None:
    """Refuse frames whose names are not those of the fit, where scikit-learn does not see them."""
    if SCIKIT_LEARN < (1, 9) and _lacks_names(X):
        validate_data(estimator, X, reset=False, skip_check_array=True)


def callback_support() -> Any:
    """`sklearn.callback.CallbackSupportMixin`, imported when callbacks are used: it brings a whole progress bar along."""
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError as error:
        raise ImportError(f"Callbacks need scikit-learn 1.9 or later; {sklearn.__version__} is installed.") from error
    return CallbackSupportMixin


def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method with callbacks torn down at its end, for an estimator that has some."""
    from sklearn.callback import with_callbacks as managed

    return managed(method)  # type: ignore[no-any-return]

"""What differs between versions of other packages: nothing else asks for a version.

Supported are the versions from the lower bounds in `pyproject.toml` on; `make oldest` tests with exactly those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def callback_support() -> Any:
    """`sklearn.callback.CallbackSupportMixin`, imported when callbacks are used: it brings a whole progress bar along."""
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError as error:
        from sklearn import __version__

        raise ImportError(f"Callbacks need scikit-learn 1.9 or later; {__version__} is installed.") from error
    return CallbackSupportMixin


def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method with callbacks torn down at its end, for an estimator that has some."""
    from sklearn.callback import with_callbacks as managed

    return managed(method)  # type: ignore[no-any-return]

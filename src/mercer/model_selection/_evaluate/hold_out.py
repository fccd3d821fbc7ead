"""Holding out the test set."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from mercer._params import InvalidParameterError
from mercer._rows import count_rows

Rows = npt.NDArray[np.intp]


def hold_out(
    X: Any, y: Any, groups: Any, has_classes: bool, *, stratify: Any, test_size: Any, random_state: Any
) -> tuple[Rows, Rows]:
    """The numbers of the training and of the test rows: whole groups, if any, and else as `train_test_split` has them."""
    n_rows = count_rows(X)
    if groups is not None:
        if not (isinstance(stratify, str) or stratify is None or stratify is False):
            raise InvalidParameterError(
                f"evaluate: stratify={stratify!r} is not valid with groups, which go whole to one side; it must be 'auto', "
                "False or None."
            )
        splitter = GroupShuffleSplit(1, test_size=test_size, random_state=random_state)
        train, test = next(splitter.split(np.empty(n_rows), y, groups))
        return train, test
    strata = _strata(y, has_classes, stratify)
    train, test = train_test_split(np.arange(n_rows), test_size=test_size, stratify=strata, random_state=random_state)
    return train, test


def _strata(y: Any, has_classes: bool, stratify: Any) -> Any:
    if stratify is None or stratify is False:
        return None
    if stratify is True:
        return np.asarray(y)
    if isinstance(stratify, str):  # "auto"
        return np.asarray(y) if has_classes and np.unique(np.asarray(y), return_counts=True)[1].min() > 1 else None
    return np.asarray(stratify)

"""Conformal prediction: intervals and sets of labels that hold the truth as often as they say, whatever the law of the rows."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from mercer.conformal._classification import (
        ConformalClassifier as ConformalClassifier,
        conformal_classifier as conformal_classifier,
    )
    from mercer.conformal._regression import (
        ConformalRegressor as ConformalRegressor,
        conformal_regressor as conformal_regressor,
    )

__getattr__, __dir__ = exports(
    __name__,
    {
        "._classification": ("ConformalClassifier", "conformal_classifier"),
        "._regression": ("ConformalRegressor", "conformal_regressor"),
    },
    peers=(),
)

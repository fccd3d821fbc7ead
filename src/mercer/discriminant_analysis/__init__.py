"""Linear and quadratic discriminant analysis."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.discriminant_analysis import *  # noqa: F403

    from mercer.discriminant_analysis._linear import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
    from mercer.discriminant_analysis._quadratic import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis

__getattr__, __dir__ = exports(
    __name__, {"._linear": ("LinearDiscriminantAnalysis",), "._quadratic": ("QuadraticDiscriminantAnalysis",)}
)

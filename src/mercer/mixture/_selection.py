"""How many components: a criterion for each number of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._params import Integer, OneOf, check_value, check_values
from mercer.mixture._likelihood import GaussianMixture

CRITERIA = ("bic", "aic")


@dataclass(frozen=True)
class ComponentsCurve:
    """A criterion of mixtures of more and more components; the best number has the least."""

    n_components: npt.NDArray[np.int64]
    values: FloatArray
    criterion: str
    best: int
    models: list[GaussianMixture]

    @property
    def best_model(self) -> GaussianMixture:
        """The fitted mixture of the best number of components."""
        return self.models[int(np.flatnonzero(self.n_components == self.best)[0])]


def select_n_components(
    X: Any, n_components: Iterable[int] = range(1, 11), criterion: str = "bic", **params: Any
) -> ComponentsCurve:
    """Fit a `GaussianMixture` for each number of components and compare them by a criterion.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    n_components : iterable of int, default=range(1, 11)
        The numbers to try.
    criterion : {"bic", "aic"}, default="bic"
        -2 log-likelihood plus log(n), or 2, for each free parameter: lower is better. The first finds the number of
        components where there is one; the second looks for good predictions.
    **params
        Parameters of `GaussianMixture`.

    Returns
    -------
    ComponentsCurve
        With `n_components`, `values`, `best`, `models` and `best_model`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.mixture import select_n_components
    >>> random = np.random.default_rng(0)
    >>> X = np.concatenate([random.normal(size=(100, 2)), random.normal(size=(100, 2)) + 6])
    >>> select_n_components(X, range(1, 5), random_state=0).best
    2

    References
    ----------
    G. Schwarz, "Estimating the dimension of a model", Annals of Statistics 6 (1978).
    """
    check_value("select_n_components", "criterion", criterion, OneOf(*CRITERIA))
    numbers = check_values("select_n_components", "n_components", list(n_components), Integer(1))
    models = [GaussianMixture(n, **params).fit(X) for n in numbers]
    values = np.array([getattr(model, criterion)(X) for model in models])
    return ComponentsCurve(np.array(numbers), values, criterion, numbers[int(np.argmin(values))], models)

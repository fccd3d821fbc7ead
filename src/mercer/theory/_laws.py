"""Laws of data that are known: what experiments draw from, and what their noise and best predictions are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._params import InvalidParameterError

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RegressionLaw:
    r"""y = f(x) + noise, with everything known.

    Parameters
    ----------
    draw_X : callable
        ``draw_X(random, n)`` gives n rows; `random` is a `numpy.random.RandomState`.
    mean : callable
        ``mean(X)`` gives f: the expectation of y, one value a row.
    noise : float or callable, default=1.0
        The standard deviation of normal noise, or ``noise(X)``, one a row.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.theory import RegressionLaw
    >>> law = RegressionLaw(lambda random, n: random.uniform(size=(n, 1)), lambda X: np.sin(6 * X[:, 0]), noise=0.1)
    >>> X, y = law.draw(5, np.random.RandomState(0))
    >>> X.shape, bool(abs(y - law.mean(X)).max() < 0.4)
    ((5, 1), True)
    """

    draw_X: Callable[[np.random.RandomState, int], Any]
    mean: Callable[[Any], Any]
    noise: Any = 1.0

    def noise_at(self, X: Any) -> Values:
        """The standard deviation of the noise at each row."""
        found = self.noise(X) if callable(self.noise) else self.noise
        return np.broadcast_to(np.asarray(found, dtype=np.float64), len(X))

    def draw(self, n: int, random: np.random.RandomState) -> tuple[Any, Values]:
        """n rows with their targets."""
        X = self.draw_X(random, n)
        return X, np.asarray(self.mean(X)) + self.noise_at(X) * random.normal(size=n)


@dataclass(frozen=True)
class ClassificationLaw:
    """Classes with known probabilities at every x.

    Parameters
    ----------
    draw_X : callable
        ``draw_X(random, n)`` gives n rows.
    probabilities : callable
        ``probabilities(X)`` gives P(y = k | x), of shape (n, n_classes); of shape (n,) it is that of the second of two classes.
    classes : sequence, default=(0, 1)
        Sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.theory import ClassificationLaw
    >>> law = ClassificationLaw(lambda random, n: random.uniform(size=(n, 1)), lambda X: 0.1 + 0.8 * (X[:, 0] > 0.5))
    >>> round(law.bayes_error(np.array([[0.2], [0.7]])), 4)
    0.1
    """

    draw_X: Callable[[np.random.RandomState, int], Any]
    probabilities: Callable[[Any], Any]
    classes: Any = (0, 1)

    def shares(self, X: Any) -> Values:
        """P(y = k | x) of all classes, a line a row."""
        found = np.asarray(self.probabilities(X), dtype=np.float64)
        found = np.column_stack([1 - found, found]) if found.ndim == 1 else found
        if found.shape != (len(X), len(self.classes)) or found.min() < 0 or not np.allclose(found.sum(axis=1), 1):
            raise InvalidParameterError(
                f"ClassificationLaw: probabilities gave an array of shape {found.shape}; it must hold a law over "
                f"{len(self.classes)} classes for each of {len(X)} rows."
            )
        return found

    def bayes_error(self, X: Any) -> float:
        """The mean error of the best prediction at these rows."""
        return float((1 - self.shares(X).max(axis=1)).mean())

    def draw(self, n: int, random: np.random.RandomState) -> tuple[Any, npt.NDArray[Any]]:
        """n rows with their classes."""
        X = self.draw_X(random, n)
        places = (random.uniform(size=(n, 1)) > self.shares(X).cumsum(axis=1)[:, :-1]).sum(axis=1)
        return X, np.asarray(self.classes)[places]

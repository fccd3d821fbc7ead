"""What a loss is: formulas on (y, raw), where raw is the model's output before any link. Knows no X and no weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from mercer._arrays import FloatArray
from mercer._convex import as_floats, finish
from mercer._params import Checked

Kind = Literal["margin", "residual", "positive", "multiclass"]


class Loss(Checked, ABC):
    """A loss of a target `y` and a model's raw output `raw`, with all that solvers ask of it.

    Every method is vectorised, broadcasts its arguments, and gives float32 if `raw` (or `u`) is float32, float64 otherwise.
    Arguments are trusted: call `check_y` once on targets that come from outside. Losses are immutable and compare by their
    parameters.

    Attributes
    ----------
    name : str
        What names the loss in every estimator that takes one; `aliases` are further names.
    kind : {"margin", "residual", "positive", "multiclass"}
        "margin": y is -1 or +1, and the loss depends on y * raw. "residual": y is a number, and the loss depends on raw - y.
        "positive": y is a count or an amount, and exp(raw) is its mean. "multiclass": y is a class and raw has one column a
        class.
    is_convex : bool
        Convex in raw.
    is_smooth : bool
        Differentiable in raw everywhere.
    is_robust : bool
        One example can pull only so hard, however wrong: the slope is bounded (for zero-one, the loss itself).
    estimates : str
        What the minimiser of the expected loss is, in words.
    lipschitz, derivative_lipschitz : float
        The Lipschitz constants, in raw, of the loss and of its derivative; infinity where there is none.

    Examples
    --------
    >>> from mercer.losses import Huber, Loss
    >>> loss = Huber(delta=2.0)
    >>> isinstance(loss, Loss), loss.kind, loss.lipschitz
    (True, 'residual', 2.0)
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    kind: ClassVar[Kind]
    is_smooth: ClassVar[bool]
    is_robust: ClassVar[bool]
    estimates: ClassVar[str]

    @property
    @abstractmethod
    def is_convex(self) -> bool:
        """Whether the loss is convex in raw."""

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """The Lipschitz constant of the loss in raw; infinity if there is none."""

    @property
    @abstractmethod
    def derivative_lipschitz(self) -> float:
        """The Lipschitz constant of the derivative in raw; infinity if there is none."""

    @abstractmethod
    def value(self, y: Any, raw: Any) -> Any:
        """The loss."""

    @abstractmethod
    def derivative(self, y: Any, raw: Any) -> Any:
        """The derivative in raw; at a kink, the subgradient that the class names."""

    @abstractmethod
    def second_derivative(self, y: Any, raw: Any) -> Any:
        """The second derivative in raw: where it jumps, the value that the class names; at a kink 0, not infinity."""

    @abstractmethod
    def conjugate(self, y: Any, u: Any) -> Any:
        """The convex conjugate in raw, sup over z of u z - value(y, z); infinity outside its domain."""

    @abstractmethod
    def prox(self, y: Any, raw: Any, step: Any) -> Any:
        """The proximal map, argmin over z of step value(y, z) + (z - raw)^2 / 2, for step > 0."""

    def subdifferential(self, y: Any, raw: Any) -> tuple[Any, Any]:
        """The ends of the interval of slopes at raw; both are the derivative where there is one."""
        slope = self.derivative(y, raw)
        return slope, slope

    def subdifferential_distance(self, y: Any, raw: Any, u: Any) -> Any:
        """How far u is from the subdifferential at raw; zero inside."""
        low, high = self.subdifferential(y, raw)
        u = np.asarray(u, dtype=np.asarray(low).dtype)
        return finish(np.maximum(np.maximum(low - u, u - high), 0), u)

    def inverse_link(self, raw: Any) -> Any:
        """What `predict` reports for a raw output: here raw itself."""
        return finish(raw, as_floats(raw))

    @abstractmethod
    def check_y(self, y: Any) -> FloatArray:
        """The targets as an array, or an error that names a value outside the domain of the loss."""

    def _refuse(self, value: Any, domain: str) -> NoReturn:
        raise ValueError(f"{type(self).__name__}: y holds {value}; every value must be {domain}.")

    def _check_values(self, y: Any, is_valid: Any, domain: str) -> FloatArray:
        """y as floats, if a predicate holds for every value."""
        try:
            values = as_floats(y)
        except (TypeError, ValueError):
            self._refuse(f"values that are not numbers (dtype {np.asarray(y).dtype})", domain)
        wrong = ~np.asarray(is_valid(values) & np.isfinite(values))
        if wrong.any():
            self._refuse(f"{values[wrong].flat[0]:g}", domain)
        return values

    def _has_no_conjugate(self) -> NoReturn:
        raise NotImplementedError(
            f"{self!r} is not convex, so its conjugate says nothing about it and no duality gap follows; "
            "choose a convex loss (is_convex) where a dual is needed."
        )


class ProfileLoss(Loss):
    """A loss that is one function of one number: value(y, raw) = f(sign (raw - origin)), with sign = +1 or -1.

    The rules for value, derivatives, conjugate and prox under this change of variable stand here once; a loss gives f.
    """

    @abstractmethod
    def _frame(self, y: FloatArray) -> tuple[Any, Any]:
        """(sign, origin) for each target."""

    @abstractmethod
    def _f(self, t: FloatArray) -> Any:
        """f(t)."""

    @abstractmethod
    def _slope(self, t: FloatArray) -> Any:
        """f'(t), or the subgradient chosen at a kink."""

    @abstractmethod
    def _curvature(self, t: FloatArray) -> Any:
        """f''(t)."""

    @abstractmethod
    def _f_conjugate(self, v: FloatArray) -> Any:
        """sup over t of v t - f(t)."""

    @abstractmethod
    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        """argmin over s of step f(s) + (s - t)^2 / 2."""

    def _slopes(self, t: FloatArray) -> tuple[Any, Any]:
        """The ends of the subdifferential of f at t."""
        slope = self._slope(t)
        return slope, slope

    def _place(self, y: Any, raw: Any) -> tuple[FloatArray, Any, Any]:
        """The argument of f, and the frame it was made with, in the float type of raw."""
        raw = as_floats(raw)
        sign, origin = self._frame(np.asarray(y, dtype=raw.dtype))
        return sign * (raw - origin), sign, origin

    def value(self, y: Any, raw: Any) -> Any:
        t, _, _ = self._place(y, raw)
        return finish(self._f(t), t)

    def derivative(self, y: Any, raw: Any) -> Any:
        t, sign, _ = self._place(y, raw)
        return finish(sign * self._slope(t), t)

    def second_derivative(self, y: Any, raw: Any) -> Any:
        t, _, _ = self._place(y, raw)
        return finish(self._curvature(t), t)

    def conjugate(self, y: Any, u: Any) -> Any:
        u = as_floats(u)
        sign, origin = self._frame(np.asarray(y, dtype=u.dtype))
        return finish(u * origin + self._f_conjugate(sign * u), u)

    def prox(self, y: Any, raw: Any, step: Any) -> Any:
        t, sign, origin = self._place(y, raw)
        return finish(origin + sign * self._f_prox(t, np.asarray(step, dtype=t.dtype)), t)

    def subdifferential(self, y: Any, raw: Any) -> tuple[Any, Any]:
        t, sign, _ = self._place(y, raw)
        one, other = (sign * end for end in self._slopes(t))
        return finish(np.minimum(one, other), t), finish(np.maximum(one, other), t)


def within(domain: Any, value: Any) -> Any:
    """A conjugate: its value on its domain, infinity outside."""
    return np.where(domain, value, np.inf)

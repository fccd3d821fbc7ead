"""Learning-rate schedules: what the rate is multiplied by at time t = 0, 1, 2, ... (updates or epochs: the caller counts).

The formulas are in `native/optim/schedule.hpp`, where stochastic descent has them from as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mercer._native import kernels
from mercer._params import Checked, Integer, Real, Rule
from mercer.optim._settings import named


class Schedule(Checked):
    """Base of the schedules: calling one with t >= 0 gives the factor of the learning rate at that time.

    At hand are `ConstantRate`, `InverseDecay`, `StepDecay`, `ExponentialDecay` and `CosineDecay`; any callable will do as well.

    Examples
    --------
    >>> from mercer.optim import InverseDecay, Schedule
    >>> isinstance(InverseDecay(), Schedule)
    True
    """

    def __call__(self, t: float) -> float:
        raise NotImplementedError


@dataclass(frozen=True)
class ConstantRate(Schedule):
    """No decay: the factor is 1. Its name is ``"constant"``.

    Notes
    -----
    A stochastic method with it does not converge to a point but wanders about one, at a distance that shrinks with the rate.

    Examples
    --------
    >>> from mercer.optim import ConstantRate
    >>> ConstantRate()(100)
    1.0

    References
    ----------
    L. Bottou, F. Curtis and J. Nocedal, Optimization methods for large-scale machine learning, SIAM Review 60 (2018).
    """

    def __call__(self, t: float) -> float:
        return 1.0


@dataclass(frozen=True)
class InverseDecay(Schedule):
    r"""Decay like 1/t: the factor is :math:`1 / (1 + a t)^b`. Its name is ``"inverse"``.

    Parameters
    ----------
    decay : float, default=1.0
        a; the default gives :math:`1 / (t + 1)`.
    power : float, default=1.0
        b; stochastic descent converges for 1/2 < b <= 1.

    Examples
    --------
    >>> from mercer.optim import InverseDecay
    >>> [InverseDecay()(t) for t in range(4)]
    [1.0, 0.5, 0.3333333333333333, 0.25]

    References
    ----------
    H. Robbins and S. Monro, A stochastic approximation method, Annals of Mathematical Statistics 22 (1951).
    """

    decay: float = 1.0
    power: float = 1.0

    _rules: ClassVar[Mapping[str, Rule]] = {"decay": Real(least=0), "power": Real(least=0)}

    def __call__(self, t: float) -> float:
        return kernels.inverse_decay(t, self.decay, self.power)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class StepDecay(Schedule):
    r"""Decay in steps: the factor is :math:`\gamma^{\lfloor t / m \rfloor}`. Its name is ``"step"``.

    Parameters
    ----------
    factor : float, default=0.5
        :math:`\gamma`, between 0 and 1.
    every : int, default=10
        m, the length of a step.

    Examples
    --------
    >>> from mercer.optim import StepDecay
    >>> [StepDecay(every=2)(t) for t in range(5)]
    [1.0, 1.0, 0.5, 0.5, 0.25]

    References
    ----------
    I. Goodfellow, Y. Bengio and A. Courville, Deep Learning, MIT Press 2016, section 8.3.
    """

    factor: float = 0.5
    every: int = 10

    _rules: ClassVar[Mapping[str, Rule]] = {"factor": Real(above=0, below=1), "every": Integer(1)}

    def __call__(self, t: float) -> float:
        return kernels.step_decay(t, self.factor, self.every)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ExponentialDecay(Schedule):
    r"""Geometric decay: the factor is :math:`\gamma^t`. Its name is ``"exponential"``.

    Parameters
    ----------
    factor : float, default=0.99
        :math:`\gamma`, between 0 and 1.

    Notes
    -----
    The rates add up to a finite sum: what is farther away than that is never reached.

    Examples
    --------
    >>> from mercer.optim import ExponentialDecay
    >>> ExponentialDecay(0.5)(3)
    0.125

    References
    ----------
    I. Goodfellow, Y. Bengio and A. Courville, Deep Learning, MIT Press 2016, section 8.3.
    """

    factor: float = 0.99

    _rules: ClassVar[Mapping[str, Rule]] = {"factor": Real(above=0, below=1)}

    def __call__(self, t: float) -> float:
        return kernels.exponential_decay(t, self.factor)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class CosineDecay(Schedule):
    r"""Half a wave down: the factor is :math:`l + (1 - l)(1 + \cos(\pi \min(t / T, 1))) / 2`. Its name is ``"cosine"``.

    Parameters
    ----------
    n_steps : int
        T, the time at which the bottom is reached. By its name, the schedule ends with the run.
    least : float, default=0.0
        l, the factor at the bottom, from 0 to 1.

    Examples
    --------
    >>> from mercer.optim import CosineDecay
    >>> [round(CosineDecay(4)(t), 3) for t in range(6)]
    [1.0, 0.854, 0.5, 0.146, 0.0, 0.0]

    References
    ----------
    I. Loshchilov and F. Hutter, SGDR: Stochastic gradient descent with warm restarts, ICLR 2017.
    """

    n_steps: int
    least: float = 0.0

    _rules: ClassVar[Mapping[str, Rule]] = {"n_steps": Integer(1), "least": Real(least=0, most=1)}

    def __call__(self, t: float) -> float:
        return kernels.cosine_decay(t, self.n_steps, self.least)  # type: ignore[no-any-return]


SCHEDULES = ("constant", "inverse", "step", "exponential", "cosine")


def as_schedule(owner: str, value: Any, n_steps: int) -> Callable[[float], float]:
    """A schedule by its name or by itself; `n_steps` is the length of the run, which the cosine spans."""
    if callable(value) and not isinstance(value, type):
        return value  # type: ignore[no-any-return]
    makers = (ConstantRate, InverseDecay, StepDecay, ExponentialDecay, lambda: CosineDecay(n_steps))
    return named(owner, "schedule", value, Schedule, dict(zip(SCHEDULES, makers, strict=True)))

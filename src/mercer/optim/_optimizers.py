"""First-order optimisers for noisy gradients: what one gradient does to the parameters.

An optimiser holds settings. What a run learns is a `State`, one for every array of parameters, from `init`; `update` changes
the parameters and the state in place. Arrays may have any shape, so that a network can hand over its weights one by one; the
rules themselves are kernels over flat vectors (`native/optim/step_rules.hpp`), which native training can call as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._native import kernels
from mercer._params import Checked, Real, Rule
from mercer.optim._settings import named

Array = npt.NDArray[np.floating[Any]]


def _nothing() -> Array:
    return np.empty(0)


@dataclass
class State:
    """What an optimiser remembers about one array of parameters; arrays that it does not use are empty."""

    n_updates: int = 0
    moment: Array = field(default_factory=_nothing)  # of the gradients
    squares: Array = field(default_factory=_nothing)  # of their squares, element by element


class Optimizer(Checked):
    """Base of the optimisers: `SGD`, `Momentum`, `Nesterov`, `AdaGrad`, `RMSProp` and `Adam`.

    `init` gives a state for an array of parameters of any shape, and `update` moves the array in place.

    Examples
    --------
    A model with several arrays keeps a state for each:

    >>> import numpy as np
    >>> from mercer.optim import Adam
    >>> optimizer, weights = Adam(), [np.ones((2, 2)), np.zeros(3)]
    >>> states = [optimizer.init(array) for array in weights]
    >>> for array, state in zip(weights, states):
    ...     optimizer.update(array, np.full_like(array, 0.5), state, rate=0.01)
    >>> weights[1].round(6)
    array([-0.01, -0.01, -0.01])
    """

    default_rate: ClassVar[float] = 0.01

    def init(self, x: Array) -> State:
        """A fresh state for an array of parameters."""
        return State()

    def update(self, x: Array, gradient: Array, state: State, rate: float) -> None:
        """Move `x` in place by one step with this learning rate. The gradient is left as it is."""
        if x.dtype.kind != "f" or not x.flags.writeable:
            raise TypeError(f"{type(self).__name__}: the parameters must be a float array that can be written to, in place.")
        state.n_updates += 1
        dtype = np.float32 if x.dtype == np.float32 else np.float64
        moved = (x, state.moment, state.squares)
        flat: list[Array] = [np.ascontiguousarray(array, dtype=dtype) for array in moved]
        whole = gradient if np.shape(gradient) == x.shape else np.broadcast_to(gradient, x.shape)
        slopes: Array = np.ascontiguousarray(whole, dtype=dtype)
        flat_x, moment, squares = (array.reshape(-1) for array in flat)
        self._move(flat_x, slopes.reshape(-1), moment, squares, state.n_updates, float(rate))
        for array, copy in zip(moved, flat, strict=True):
            if copy is not array:  # other memory orders and types of numbers
                array[...] = copy.reshape(array.shape)

    def _move(self, x: Array, gradient: Array, moment: Array, squares: Array, n_updates: int, rate: float) -> None:
        """One step of flat parameters, and of what is remembered of gradients (empty where that is nothing), in place."""
        raise NotImplementedError


@dataclass(frozen=True)
class SGD(Optimizer):
    r"""Plain stochastic gradient descent: :math:`\theta \leftarrow \theta - \alpha g`. Its name is ``"sgd"``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.optim import SGD
    >>> optimizer, theta = SGD(), np.array([1.0, 2.0])
    >>> optimizer.update(theta, np.array([4.0, -4.0]), optimizer.init(theta), rate=0.25)
    >>> theta
    array([0., 3.])

    References
    ----------
    H. Robbins and S. Monro, A stochastic approximation method, Annals of Mathematical Statistics 22 (1951).
    """

    def _move(self, x: Array, gradient: Array, moment: Array, squares: Array, n_updates: int, rate: float) -> None:
        kernels.sgd_step(x, gradient, rate)


@dataclass(frozen=True)
class Momentum(Optimizer):
    r"""Gradient descent with momentum: :math:`m \leftarrow \gamma m + g,\ \theta \leftarrow \theta - \alpha m`.

    Its name is ``"momentum"``.

    Parameters
    ----------
    gamma : float, default=0.9
        The weight of the past, from 0 and below 1.

    Notes
    -----
    m is a sum, not a mean: steady gradients are in the end followed :math:`1 / (1 - \gamma)` times as fast as by plain descent.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.optim import Momentum
    >>> optimizer, theta = Momentum(gamma=0.5), np.array([0.0])
    >>> state = optimizer.init(theta)
    >>> for _ in range(3):
    ...     optimizer.update(theta, np.array([1.0]), state, rate=1.0)
    >>> theta  # 1 + 1.5 + 1.75
    array([-4.25])

    References
    ----------
    B. Polyak, Some methods of speeding up the convergence of iteration methods, USSR Comp. Math. and Math. Phys. 4 (1964).
    """

    gamma: float = 0.9

    _rules: ClassVar[Mapping[str, Rule]] = {"gamma": Real(least=0, below=1)}

    def init(self, x: Array) -> State:
        return State(moment=np.zeros_like(x))

    def _move(self, x: Array, gradient: Array, moment: Array, squares: Array, n_updates: int, rate: float) -> None:
        kernels.momentum_step(x, gradient, moment, self.gamma, rate)


@dataclass(frozen=True)
class Nesterov(Momentum):
    r"""Nesterov's momentum: :math:`m \leftarrow \gamma m + g,\ \theta \leftarrow \theta - \alpha (g + \gamma m)`.

    Its name is ``"nesterov"``.

    Parameters
    ----------
    gamma : float, default=0.9
        The weight of the past, from 0 and below 1.

    Notes
    -----
    The method takes the gradient ahead of the iterate u, at :math:`\theta = u - \alpha \gamma m`. Here :math:`\theta` itself is
    kept, so that a gradient is only ever asked for where the parameters are; at a constant rate the two are the same path.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.optim import Nesterov
    >>> optimizer, theta = Nesterov(gamma=0.5), np.array([0.0])
    >>> optimizer.update(theta, np.array([1.0]), optimizer.init(theta), rate=1.0)
    >>> theta
    array([-1.5])

    References
    ----------
    I. Sutskever, J. Martens, G. Dahl and G. Hinton, On the importance of initialization and momentum in deep learning,
    ICML 2013.
    """

    def _move(self, x: Array, gradient: Array, moment: Array, squares: Array, n_updates: int, rate: float) -> None:
        kernels.nesterov_step(x, gradient, moment, self.gamma, rate)


@dataclass(frozen=True)
class AdaGrad(Optimizer):
    r"""Rates by the gradients so far, element by element. Its name is ``"adagrad"``.

    .. math:: s \leftarrow s + g^2, \qquad \theta \leftarrow \theta - \alpha g / (\sqrt{s} + \epsilon)

    Parameters
    ----------
    eps : float, default=1e-8
        Keeps a parameter without gradients where it is.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.optim import AdaGrad
    >>> optimizer, theta = AdaGrad(), np.array([0.0, 0.0])
    >>> optimizer.update(theta, np.array([100.0, 0.01]), optimizer.init(theta), rate=0.1)
    >>> theta.round(6)
    array([-0.1, -0.1])

    References
    ----------
    J. Duchi, E. Hazan and Y. Singer, Adaptive subgradient methods for online learning and stochastic optimization,
    JMLR 12 (2011).
    """

    eps: float = 1e-8

    _rules: ClassVar[Mapping[str, Rule]] = {"eps": Real(above=0)}

    def init(self, x: Array) -> State:
        return State(squares=np.zeros_like(x))

    def _move(self, x: Array, gradient: Array, moment: Array, squares: Array, n_updates: int, rate: float) -> None:
        kernels.adagrad_step(x, gradient, squares, self.eps, rate)


@dataclass(frozen=True)
class RMSProp(Optimizer):
    r"""Rates by the recent gradients: a fading mean in place of AdaGrad's sum. Its name is ``"rmsprop"``.

    .. math:: \sigma^2 \leftarrow \rho \sigma^2 + (1 - \rho) g^2, \qquad
              \theta \leftarrow \theta - \alpha g / (\sigma + \epsilon)

    Parameters
    ----------
    rho : float, default=0.9
        How much of the mean stays, from 0 and below 1.
    eps : float, default=1e-8
        Keeps a parameter without gradients where it is.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.optim import RMSProp
    >>> optimizer, theta = RMSProp(rho=0.75), np.array([0.0])
    >>> optimizer.update(theta, np.array([3.0]), optimizer.init(theta), rate=0.1)
    >>> theta.round(6)
    array([-0.2])

    References
    ----------
    T. Tieleman and G. Hinton, Lecture 6.5: RMSProp, Coursera, Neural Networks for Machine Learning, 2012.
    """

    rho: float = 0.9
    eps: float = 1e-8

    _rules: ClassVar[Mapping[str, Rule]] = {"rho": Real(least=0, below=1), "eps": Real(above=0)}
    default_rate: ClassVar[float] = 0.001

    def init(self, x: Array) -> State:
        return State(squares=np.zeros_like(x))

    def _move(self, x: Array, gradient: Array, moment: Array, squares: Array, n_updates: int, rate: float) -> None:
        kernels.rmsprop_step(x, gradient, squares, self.rho, self.eps, rate)


@dataclass(frozen=True)
class Adam(Optimizer):
    r"""Fading means of the gradients and of their squares, both freed of the bias towards 0. Its name is ``"adam"``.

    .. math:: m \leftarrow \beta_1 m + (1 - \beta_1) g, \qquad s \leftarrow \beta_2 s + (1 - \beta_2) g^2, \qquad
              \theta \leftarrow \theta - \alpha \frac{m / (1 - \beta_1^t)}{\sqrt{s / (1 - \beta_2^t)} + \epsilon}

    Parameters
    ----------
    beta1, beta2 : float, default=0.9 and 0.999
        How much of the means stays, from 0 and below 1.
    eps : float, default=1e-8
        Keeps a parameter without gradients where it is.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.optim import Adam
    >>> optimizer, theta = Adam(), np.array([0.0, 0.0])
    >>> optimizer.update(theta, np.array([100.0, -0.01]), optimizer.init(theta), rate=0.1)
    >>> theta.round(6)
    array([-0.1,  0.1])

    References
    ----------
    D. Kingma and J. Ba, Adam: A method for stochastic optimization, ICLR 2015.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    _rules: ClassVar[Mapping[str, Rule]] = {
        "beta1": Real(least=0, below=1),
        "beta2": Real(least=0, below=1),
        "eps": Real(above=0),
    }
    default_rate: ClassVar[float] = 0.001

    def init(self, x: Array) -> State:
        return State(moment=np.zeros_like(x), squares=np.zeros_like(x))

    def _move(self, x: Array, gradient: Array, moment: Array, squares: Array, n_updates: int, rate: float) -> None:
        kernels.adam_step(x, gradient, moment, squares, self.beta1, self.beta2, self.eps, n_updates, rate)


OPTIMIZERS: Mapping[str, Callable[[], Optimizer]] = {
    "sgd": SGD,
    "momentum": Momentum,
    "nesterov": Nesterov,
    "adagrad": AdaGrad,
    "rmsprop": RMSProp,
    "adam": Adam,
}


def as_optimizer(owner: str, value: Any) -> Optimizer:
    """An optimiser by its name or by itself."""
    return named(owner, "optimizer", value, Optimizer, OPTIMIZERS)

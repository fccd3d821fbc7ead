"""The whole path of a descent: one record an iteration, and the same as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Iteration:
    """One record of a `Trace`: where the descent stood after an iteration.

    Attributes
    ----------
    k : int
        The number of the iteration; 0 is the start. For `sgd_minimize` an iteration is an epoch.
    fun : float
        The value of the function; NaN where `sgd_minimize` was given none.
    grad_norm : float
        The Euclidean norm of the gradient.
    step : float
        The step length (for `sgd_minimize` the learning rate) that led here; NaN at the start.
    nfev : int
        How often the function had been called by then.
    note : str
        What was out of the ordinary: a restart, a fall-back, an update left out. Mostly empty.
    x, jac : array of shape (d,) or None
        The point and the gradient there; None with ``keep_path=False``.

    Examples
    --------
    >>> from mercer.optim import Quadratic, minimize
    >>> minimize(Quadratic([[2.0]]), [1.0], method="gd", step=0.25).trace[1]
    Iteration(k=1, fun=0.25, grad_norm=1.0, step=0.25, nfev=2, note='', x=array([0.5]), jac=array([1.]))
    """

    k: int
    fun: float
    grad_norm: float
    step: float
    nfev: int
    note: str
    x: Vector | None
    jac: Vector | None


class Trace(Sequence[Iteration]):
    """The path of a descent, from the start (record 0) to the end.

    A sequence of `Iteration` records, whose fields are columns as well: ``trace.fun[k]`` is ``trace[k].fun``.

    Attributes
    ----------
    x, jac : array of shape (n_iter + 1, d)
        The points and the gradients there. With ``keep_path=False`` these raise an error.
    fun, grad_norm, step : array of shape (n_iter + 1,)
    nfev : int array of shape (n_iter + 1,)
    note : list of str

    Examples
    --------
    >>> from mercer.optim import Quadratic, minimize
    >>> trace = minimize(Quadratic([[4.0, 0.0], [0.0, 1.0]]), [3.0, 2.0], method="newton").trace
    >>> trace.x
    array([[3., 2.],
           [0., 0.]])
    >>> [record.fun for record in trace]
    [20.0, 0.0]
    """

    def __init__(self) -> None:
        self._records: list[Iteration] = []

    def _append(self, record: Iteration) -> None:
        self._records.append(record)

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> Iteration: ...
    @overload
    def __getitem__(self, index: slice) -> list[Iteration]: ...
    def __getitem__(self, index: int | slice) -> Iteration | list[Iteration]:
        return self._records[index]

    def __iter__(self) -> Iterator[Iteration]:
        return iter(self._records)

    def _vectors(self, name: str) -> Vector:
        vectors = [getattr(record, name) for record in self._records]
        if any(vector is None for vector in vectors):
            raise AttributeError(f"trace.{name} was not kept; call with keep_path=True to have it.")
        return np.array(vectors)

    @property
    def x(self) -> Vector:
        return self._vectors("x")

    @property
    def jac(self) -> Vector:
        return self._vectors("jac")

    @property
    def fun(self) -> Vector:
        return np.array([record.fun for record in self._records])

    @property
    def grad_norm(self) -> Vector:
        return np.array([record.grad_norm for record in self._records])

    @property
    def step(self) -> Vector:
        return np.array([record.step for record in self._records])

    @property
    def nfev(self) -> npt.NDArray[np.int64]:
        return np.array([record.nfev for record in self._records], dtype=np.int64)

    @property
    def note(self) -> list[str]:
        return [record.note for record in self._records]

    def __repr__(self) -> str:
        head = f"Trace: {len(self)} records\n{'k':>6} {'fun':>16} {'grad norm':>11} {'step':>11} {'nfev':>7}"
        lines = [f"{r.k:>6} {r.fun:>16.9g} {r.grad_norm:>11.4g} {r.step:>11.4g} {r.nfev:>7}  {r.note}".rstrip() for r in self]
        if len(lines) > 20:
            lines = [*lines[:10], f"{'...':>6}", *lines[-9:]]
        return "\n".join([head, *lines])

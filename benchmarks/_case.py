"""What a case is, who takes part in it, and where the cases are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

MERCER = "mercer"
SCIKIT_LEARN = "scikit-learn"
SKLEARNEX = "sklearnex"
_PACKAGES = {MERCER: "mercer", SCIKIT_LEARN: "sklearn", SKLEARNEX: "sklearnex"}

Estimator = Any  # a class under scikit-learn's API, or an instance of it


@dataclass(frozen=True)
class Data:
    """The input of a case. `start` is a help (the first centres, say) and does not count as input."""

    X: Any
    y: Any = None
    sample_weight: Any = None
    start: Any = None

    @property
    def nbytes(self) -> int:
        return sum(_nbytes(array) for array in (self.X, self.y, self.sample_weight) if array is not None)


def _nbytes(array: Any) -> int:
    if hasattr(array, "indptr"):
        return int(array.data.nbytes + array.indices.nbytes + array.indptr.nbytes)
    return int(array.nbytes)


@dataclass(frozen=True)
class Contender:
    """An implementation, imported when first used. `target` is written `package.module:Class`.

    `params` are what this contender alone needs: the name of a solver, a tolerance in its own units.
    """

    name: str
    target: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Estimator:
        """The class; raises ImportError or AttributeError where it is missing."""
        module, attribute = self.target.split(":")
        found = getattr(importlib.import_module(module), attribute)
        if self.name == MERCER and getattr(found, "__module__", "").startswith("sklearn."):
            raise ImportError(f"{self.target} is scikit-learn's own, passed on")
        return partial(found, **self.params) if self.params else found


def contenders(estimator: str, peers: tuple[str, ...] = (SCIKIT_LEARN, SKLEARNEX)) -> tuple[Contender, ...]:
    """Mercer and its peers for an estimator that has the same place in all of them, such as `cluster.KMeans`."""
    module, name = estimator.rsplit(".", 1)
    return tuple(Contender(who, f"{_PACKAGES[who]}.{module}:{name}") for who in (MERCER, *peers))


@dataclass(frozen=True)
class Quality:
    """How good an outcome is: `measure(model, outcome, data)`, to be computed in float64 and by the same code for everyone.

    A value is worse than another when it is behind by more than `rtol` times that value plus `atol`.
    """

    name: str
    measure: Callable[[Any, Any, Data], float]
    rtol: float = 0.0
    atol: float = 0.0
    is_lower_better: bool = True

    def best(self, values: list[float]) -> float:
        return min(values) if self.is_lower_better else max(values)

    def is_worse(self, value: float, other: float) -> bool:
        behind = value - other if self.is_lower_better else other - value
        # Written so that a NaN is worse.
        return not behind <= self.rtol * abs(other) + self.atol


def _construct(estimator: Estimator, data: Data) -> Any:
    return estimator()


@dataclass(frozen=True)
class Case:
    """One row of one table.

    `prepare(estimator, data)` makes the model, untimed; `run(model, data)` is timed, and what it returns is the outcome.
    An outcome with `n_iter_` has it shown. `small_data`, where given, has memory measured too: it is a small input of the
    same kind, run first so that what a library loads or starts once does not count.
    """

    table: str
    name: str
    make_data: Callable[[], Data]
    contenders: tuple[Contender, ...]
    run: Callable[[Any, Data], Any]
    quality: Quality
    prepare: Callable[[Estimator, Data], Any] = _construct
    small_data: Callable[[], Data] | None = None
    is_quick: bool = False

    @property
    def label(self) -> str:
        return f"{self.table}: {self.name}"

    @property
    def heading(self) -> tuple[str, ...]:
        """What the rows of one printed table share: its title and its contenders."""
        return self.table, *(contender.name for contender in self.contenders)


def find_groups() -> dict[str, list[Case]]:
    """The cases of every `cases_<group>.py` in this folder, by group."""
    package = importlib.import_module("benchmarks")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__) if module.name.startswith("cases_"))
    return {name.removeprefix("cases_"): list(importlib.import_module(f"benchmarks.{name}").cases()) for name in names}

"""What a kernel is, and what kernels are made of kernels: sums, products, multiples, powers, columns, cosines."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn, Self

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Instance, Integer, InvalidParameterError, Real, Rule, check_value
from mercer._rows import count_rows
from mercer.kernels._matrix import CombinedMatrix, FeatureMatrix, KernelMatrix, NormalizedMatrix


class Kernel(ABC):
    """A function k(x, y) of two rows: an inner product of what a feature map makes of them, where it is a Mercer kernel.

    Kernels are added, multiplied (also by a number >= 0, which may be added too) and raised to whole powers; what comes of it
    is a kernel, and of Mercer kernels a Mercer kernel. They compare by their parameters, which are checked whenever they are
    set, and answer to `get_params` and `set_params`, so that `clone` and searches reach those of nested ones ("k1__gamma").

    Attributes
    ----------
    is_mercer : bool
        Whether the kernel matrix of any rows is known to be positive semi-definite.
    takes : {"numbers", "sequences", "gram"}
        What a row is: numbers; a sequence of hashable symbols; a line of the kernel matrix itself.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> kernel = 0.5 * Linear() + RBF(gamma=1.0) ** 2
    >>> kernel([[0.0, 1.0]], [[1.0, 1.0]]).round(4)
    array([[0.6353]])
    >>> kernel.get_params()["k2__kernel__gamma"]
    1.0
    """

    _rules: ClassVar[Mapping[str, Rule]] = {}
    takes: ClassVar[Literal["numbers", "sequences", "gram"]] = "numbers"

    # ---- what each kernel says

    @property
    @abstractmethod
    def is_mercer(self) -> bool:
        """Whether the kernel matrix of any rows is known to be positive semi-definite."""

    @abstractmethod
    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """The kernel of every row of X and every row of Y (X itself if None), of shape (n_rows_X, n_rows_Y)."""

    @abstractmethod
    def diagonal(self, X: Any) -> FloatArray:
        """The kernel of each row with itself, in double precision."""

    @abstractmethod
    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        """The kernel among the rows of X, of which lines are computed when they are asked for.

        `n_threads=None` uses all threads that Mercer may use. Parameters that depend on the rows (gamma="scale") are taken from
        these.
        """

    def feature_map(self, X: Any) -> Any:
        """Features whose inner products are the kernel, of shape (n_rows, n_features_out)."""
        self._has_no_map()

    def resolved(self, X: Any) -> Kernel:
        """This kernel with a number for each parameter that is said in terms of the rows, as those of X have it."""
        return self

    def by_number(self, names: Any) -> Kernel:
        """This kernel with numbers for columns that are named (`on_features`), for rows whose columns have these names."""
        return self

    # ---- parameters

    def __setattr__(self, name: str, value: Any) -> None:
        rule = self._rules.get(name)
        object.__setattr__(self, name, value if rule is None else check_value(type(self).__name__, name, value, rule))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; those of nested kernels too where `deep`."""
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        nested = {
            f"{name}__{inner}": value
            for name, kernel in own.items()
            if deep and isinstance(kernel, Kernel)
            for inner, value in kernel.get_params().items()
        }
        return own | nested

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of nested kernels by "name__parameter"."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise InvalidParameterError(
                    f"Invalid parameter {name!r} for kernel {self!r}. Valid parameters are: {sorted(known)!r}."
                )
        for name in sorted(params, key=lambda name: name.count("__")):  # a kernel before what is set in it
            holder, _, last = name.rpartition("__")
            owner: Any = self
            for part in holder.split("__") if holder else ():
                owner = getattr(owner, part)
            setattr(owner, last, params[name])
        return self

    # ---- algebra

    def __add__(self, other: Any) -> Kernel:
        return Sum(self, _as_term(other)) if _is_term(other) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        return Sum(_as_term(other), self) if _is_term(other) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(other, self) if _is_term(other) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        return Scaled(other, self) if _is_term(other) else NotImplemented

    def __pow__(self, power: Any) -> Kernel:
        return Power(self, power)

    def on_features(self, features: Any) -> Kernel:
        """This kernel of some columns alone, by number or by name."""
        return OnFeatures(self, features)

    def normalized(self) -> Kernel:
        """k(x, y) / sqrt(k(x, x) k(y, y)), zero where one of them has no length: the cosine in the space of the features."""
        return Normalized(self)

    def _has_no_map(self) -> NoReturn:
        raise NotImplementedError(
            f"{self!r} has no finite feature map at hand; mercer.kernel_approximation has maps that come close to kernels "
            "(Nystroem for any of them)."
        )


def _is_term(other: Any) -> bool:
    return isinstance(other, (Kernel, int, float, np.number)) and not isinstance(other, bool)


def _as_term(other: Any) -> Kernel:
    return other if isinstance(other, Kernel) else Constant(other)


def float_type(X: Any) -> Any:
    """The type of a kernel's values for rows of numbers: float32 where the rows are that, float64 otherwise."""
    return np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64


def dense(features: Any) -> FloatArray:
    return features.toarray() if hasattr(features, "toarray") else np.asarray(features)


@dataclass
class Constant(Kernel):
    """k(x, y) = value, for a number >= 0: what a number stands for in a sum of kernels.

    Parameters
    ----------
    value : float, default=1

    Examples
    --------
    >>> from mercer.kernels import Constant
    >>> Constant(2.0)([[1.0], [3.0]])
    array([[2., 2.],
           [2., 2.]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"value": Real(least=0)}
    value: float = 1.0

    @property
    def is_mercer(self) -> bool:
        return True

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        return np.full((count_rows(X), count_rows(X if Y is None else Y)), self.value, dtype=float_type(X))

    def diagonal(self, X: Any) -> FloatArray:
        return np.full(count_rows(X), self.value)

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        from mercer.kernels._matrix import CallMatrix

        return CallMatrix(
            self, np.empty((count_rows(X), 0), float_type(X)), lambda rows, i: rows[i], count_rows(X), float_type(X)
        )

    def feature_map(self, X: Any) -> Any:
        return np.full((count_rows(X), 1), np.sqrt(self.value), dtype=float_type(X))


class Composed(Kernel):
    """A kernel whose values are made of those of others, pair by pair."""

    @property
    def _parts(self) -> dict[str, Kernel]:
        return {name: kernel for name, kernel in self.get_params(deep=False).items() if isinstance(kernel, Kernel)}

    @abstractmethod
    def _combine(self, values: list[FloatArray]) -> FloatArray:
        """The value, of those of the parts; the first may be overwritten."""

    @property
    def takes(self) -> Any:  # type: ignore[override]
        kinds = {kernel.takes for kernel in self._parts.values() if not isinstance(kernel, Constant)}
        return kinds.pop() if len(kinds) == 1 else "numbers"

    @property
    def is_mercer(self) -> bool:
        return all(kernel.is_mercer for kernel in self._parts.values())

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        return self._combine([kernel(X, Y) for kernel in self._parts.values()])

    def diagonal(self, X: Any) -> FloatArray:
        return self._combine([kernel.diagonal(X) for kernel in self._parts.values()])

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        return CombinedMatrix([kernel.on(X, n_threads) for kernel in self._parts.values()], self._combine)

    def resolved(self, X: Any) -> Kernel:
        return self._with_parts({name: kernel.resolved(X) for name, kernel in self._parts.items()})

    def by_number(self, names: Any) -> Kernel:
        return self._with_parts({name: kernel.by_number(names) for name, kernel in self._parts.items()})

    def _with_parts(self, parts: dict[str, Any]) -> Kernel:
        made: Kernel = dataclasses.replace(self, **parts)  # type: ignore[type-var]
        return made


@dataclass
class Sum(Composed):
    """k1(x, y) + k2(x, y), which `k1 + k2` makes; its features are those of both side by side.

    Parameters
    ----------
    k1, k2 : Kernel

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() + 1)([[1.0, 2.0]], [[3.0, -1.0]])
    array([[2.]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"k1": Instance(Kernel), "k2": Instance(Kernel)}
    k1: Kernel
    k2: Kernel

    def _combine(self, values: list[FloatArray]) -> FloatArray:
        values[0] += values[1]
        return values[0]

    def feature_map(self, X: Any) -> Any:
        return np.hstack([dense(kernel.feature_map(X)) for kernel in (self.k1, self.k2)])


@dataclass
class Product(Composed):
    """k1(x, y) k2(x, y), which `k1 * k2` makes; its features are the products of one of each.

    Parameters
    ----------
    k1, k2 : Kernel

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() * Linear())([[1.0, 2.0]], [[3.0, -2.0]])
    array([[1.]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"k1": Instance(Kernel), "k2": Instance(Kernel)}
    k1: Kernel
    k2: Kernel

    def _combine(self, values: list[FloatArray]) -> FloatArray:
        values[0] *= values[1]
        return values[0]

    def feature_map(self, X: Any) -> Any:
        return _tensor(dense(self.k1.feature_map(X)), dense(self.k2.feature_map(X)))


@dataclass
class Scaled(Composed):
    """factor k(x, y), which `factor * k` makes, for a number >= 0.

    Parameters
    ----------
    factor : float
    kernel : Kernel

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (2.0 * Linear())([[1.0, 2.0]], [[3.0, -1.0]])
    array([[2.]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"factor": Real(least=0), "kernel": Instance(Kernel)}
    factor: float
    kernel: Kernel

    def _combine(self, values: list[FloatArray]) -> FloatArray:
        values[0] *= self.factor
        return values[0]

    def feature_map(self, X: Any) -> Any:
        return np.sqrt(self.factor) * self.kernel.feature_map(X)


@dataclass
class Power(Composed):
    """k(x, y)^power, which `k ** power` makes, for a whole power >= 1.

    Parameters
    ----------
    kernel : Kernel
    power : int

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> ((Linear() + 2) ** 2)([[1.0, 2.0]], [[3.0, -1.0]])
    array([[9.]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"kernel": Instance(Kernel), "power": Integer(1)}
    kernel: Kernel
    power: int

    def _combine(self, values: list[FloatArray]) -> FloatArray:
        return np.power(values[0], self.power, out=values[0])

    def feature_map(self, X: Any) -> Any:
        once = dense(self.kernel.feature_map(X))
        features = once
        for _ in range(self.power - 1):
            features = _tensor(features, once)
        return features


@dataclass
class Normalized(Composed):
    """k(x, y) / sqrt(k(x, x) k(y, y)), which `k.normalized()` makes: the cosine of x and y in the space of the features.

    Parameters
    ----------
    kernel : Kernel
        One whose diagonal is not negative. A row of no length has the value zero with every row.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().normalized()([[3.0, 4.0]], [[4.0, 3.0]])
    array([[0.96]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"kernel": Instance(Kernel)}
    kernel: Kernel

    def _combine(self, values: list[FloatArray]) -> FloatArray:
        raise NotImplementedError  # not pair by pair: the diagonals take part

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        left = self.kernel.diagonal(X)
        return self._cosines(self.kernel(X, Y), left, left if Y is None else self.kernel.diagonal(Y))

    @staticmethod
    def _cosines(values: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        for diagonal in (left, right):
            if (diagonal < 0).any():
                raise ValueError(
                    f"Normalized: k(x, x) = {diagonal.min():.3g} for a row; a kernel with a length has none below 0."
                )
        over = [np.divide(1, np.sqrt(d), out=np.zeros(len(d)), where=d > 0).astype(values.dtype) for d in (left, right)]
        values *= over[0][:, None]
        values *= over[1]
        return values

    def diagonal(self, X: Any) -> FloatArray:
        return np.where(self.kernel.diagonal(X) > 0, 1.0, 0.0)

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        kernel = self.kernel.resolved(X)
        return NormalizedMatrix(kernel.on(X, n_threads), kernel.diagonal, self._cosines)

    def feature_map(self, X: Any) -> Any:
        features = dense(self.kernel.feature_map(X))
        lengths = np.sqrt(self.kernel.diagonal(X))
        return features / np.where(lengths > 0, lengths, 1).astype(features.dtype)[:, None]


@dataclass
class OnFeatures(Composed):
    """A kernel of some columns, which `k.on_features(features)` makes.

    Parameters
    ----------
    kernel : Kernel
    features : sequence of int or of str
        The columns, by number, or by name where rows come in a table.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().on_features([0, 2])([[1.0, 2.0, 3.0]], [[3.0, -1.0, 1.0]])
    array([[6.]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"kernel": Instance(Kernel)}
    kernel: Kernel
    features: Any

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, _check_features(value) if name == "features" else value)

    def _combine(self, values: list[FloatArray]) -> FloatArray:
        return values[0]

    def _pick(self, X: Any) -> Any:
        """The columns of a table or of an array."""
        if isinstance(self.features[0], str):
            if not hasattr(X, "columns"):
                raise ValueError(f"OnFeatures: columns {list(self.features)} are named, and X is no table with names.")
            if missing := [name for name in self.features if name not in X.columns]:
                raise ValueError(f"OnFeatures: X has no column {missing[0]!r}; it has {list(X.columns)}.")
            return X[list(self.features)]
        X = X if hasattr(X, "shape") else np.asarray(X)
        if not -X.shape[1] <= min(self.features) <= max(self.features) < X.shape[1]:
            raise ValueError(f"OnFeatures: X has {X.shape[1]} columns; features={list(self.features)} asks for others.")
        return X.iloc[:, list(self.features)] if hasattr(X, "iloc") else X[:, list(self.features)]

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        return self.kernel(self._pick(X), None if Y is None else self._pick(Y))

    def diagonal(self, X: Any) -> FloatArray:
        return self.kernel.diagonal(self._pick(X))

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        return FeatureMatrix(self.kernel.on(self._pick(X), n_threads), self._pick)

    def resolved(self, X: Any) -> Kernel:
        return OnFeatures(self.kernel.resolved(self._pick(X)), self.features)

    def by_number(self, names: Any) -> Kernel:
        if not isinstance(self.features[0], str):
            return self
        known = [] if names is None else list(names)
        if missing := [name for name in self.features if name not in known]:
            raise ValueError(f"OnFeatures: X has no column named {missing[0]!r}; it has {known if known else 'no names'}.")
        return OnFeatures(self.kernel, [known.index(name) for name in self.features])

    def feature_map(self, X: Any) -> Any:
        return self.kernel.feature_map(self._pick(X))


def _check_features(features: Any) -> tuple[Any, ...]:
    """Columns as a tuple, or an error that says what would do."""
    given = features if isinstance(features, (str, bytes)) or not hasattr(features, "__iter__") else tuple(features)
    if isinstance(given, tuple) and given:
        if all(isinstance(name, str) for name in given):
            return given if type(features) is tuple else tuple(map(str, given))
        if all(isinstance(place, (int, np.integer)) and not isinstance(place, bool) for place in given):
            return given if all(type(place) is int for place in given) else tuple(map(int, given))
    raise InvalidParameterError(
        f"OnFeatures: features={features!r} is not valid; it must be a sequence of column numbers or of column names, one at "
        "least."
    )


def _tensor(left: FloatArray, right: FloatArray) -> FloatArray:
    """The products of one column of each, row by row."""
    return np.einsum("ij,ik->ijk", left, right).reshape(len(left), -1)

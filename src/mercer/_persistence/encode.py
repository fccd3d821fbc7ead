"""Models to data: a list of JSON objects, each of which refers to earlier ones only, and tensors."""

from __future__ import annotations

import math
from enum import Enum
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._persistence.arrays import Array, check_dtype, to_tensor
from mercer._persistence.errors import FileFormatError
from mercer._persistence.foreign import find_part, has_own_state, maker_of
from mercer._persistence.limits import MAX_DEPTH, METHODS, SAFE_INTEGER, TRANSIENT
from mercer._persistence.registry import constructor_fields, registry
from mercer._persistence.rules import Extents, check_attributes, check_estimator, check_keys

Json = Any
Path = tuple[Any, ...]  # (the path of the owner, what to write after it); empty for the model

_FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type(np.mean))
_SPARSE = {sp.csr_matrix: "csr_matrix", sp.csc_matrix: "csc_matrix", sp.csr_array: "csr_array", sp.csc_array: "csc_array"}


class Encoder:
    """Collects the objects and tensors of one model. What occurs twice is stored once."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Json]] = []
        self.tensors: dict[str, Array] = {}
        self._places: dict[int, int] = {}
        self._open: set[int] = set()
        self._kept: list[Any] = []  # so that no two objects have the same id
        self._extents = Extents()
        self._extent = (1, 1)  # of the object that is added
        self._owners: list[type[BaseEstimator]] = []  # classes of the estimators that hold the value that is added

    def add(self, value: Any, path: Path = (), depth: int = 0) -> Json:
        """The JSON value that stands for a value; its objects are added on the way."""
        if depth > MAX_DEPTH:
            raise TypeError(f"{show(path)}: nested more than {MAX_DEPTH} deep, which cannot be stored.")
        kind = type(value)
        if kind in _VALUES:
            return _VALUES[kind](self, value, path, depth)
        if isinstance(value, np.generic):
            return {"scalar": self._scalar(value, path, depth)}
        if isinstance(value, Enum):
            name = registry().enums.name_of(kind)
            return {"enum": [name, value.name]} if name is not None else self._refuse(value, path)
        if isinstance(value, _FUNCTIONS):
            name = registry().functions.name_of(value)
            return {"function": name} if name is not None else self._refuse(value, path)
        if isinstance(value, type):
            name = registry().types.name_of(value)
            return {"type": name} if name is not None else self._refuse(value, path)
        if isinstance(value, np.dtype):
            return {"dtype": self._dtype(value, path)}
        return {"object": self._object(value, path, depth)}

    # ---- values

    def _plain(self, value: Any, path: Path, depth: int) -> Json:
        return value

    def _integer(self, value: int, path: Path, depth: int) -> Json:
        return value if -SAFE_INTEGER <= value <= SAFE_INTEGER else {"int": hex(value)}

    def _float(self, value: float, path: Path, depth: int) -> Json:
        return value if math.isfinite(value) else {"float": str(value)}

    def _list(self, value: list[Any], path: Path, depth: int) -> Json:
        return [self.add(item, (path, place), depth + 1) for place, item in enumerate(value)]

    def _tuple(self, value: tuple[Any, ...], path: Path, depth: int) -> Json:
        return {"tuple": self._list(list(value), path, depth)}

    def _set(self, value: set[Any] | frozenset[Any], path: Path, depth: int) -> Json:
        # In the order of what stands for the items, so that the same model gives the same file.
        _obey(path, check_keys, list(value))
        items = sorted((self.add(item, path, depth + 1) for item in value), key=repr)
        return {"set" if type(value) is set else "frozenset": items}

    def _dict(self, value: dict[Any, Any], path: Path, depth: int) -> Json:
        if all(type(key) is str for key in value):
            return {"dict": self._named(value, path, depth)}
        _obey(path, check_keys, list(value))
        items = [
            [self.add(key, (path, "key"), depth + 1), self.add(item, (path, key), depth + 1)] for key, item in value.items()
        ]
        return {"pairs": items}

    def _bunch(self, value: Bunch, path: Path, depth: int) -> Json:
        return {"bunch": self._named(value, path, depth)}

    def _named(self, value: dict[str, Any], path: Path, depth: int) -> dict[str, Json]:
        return {key: self.add(item, (path, key), depth + 1) for key, item in value.items()}

    def _slice(self, value: slice, path: Path, depth: int) -> Json:
        return {"slice": self._list([value.start, value.stop, value.step], path, depth)}

    def _bytes(self, value: bytes, path: Path, depth: int) -> Json:
        return {"bytes": value.hex()}

    def _complex(self, value: complex, path: Path, depth: int) -> Json:
        return {"complex": self._list([value.real, value.imag], path, depth)}

    def _scalar(self, value: np.generic, path: Path, depth: int) -> Json:
        """A number, text or time of NumPy's: its type, and what it is as an object of Python's."""
        dtype = np.dtype(f"{value.dtype.kind}1") if value.dtype.kind in "US" else value.dtype  # texts are as long as they are
        if value.dtype.kind in "mM":
            plain: Any = int(value.astype(np.int64))
        elif isinstance(value, (str, bytes)):
            plain = value[:]  # `item` would leave out zeros at the end
        else:
            plain = value.item()
        return [self._dtype(dtype, path), self.add(plain, path, depth + 1)]

    def _dtype(self, value: np.dtype[Any], path: Path) -> str:
        text = value.newbyteorder("<").str
        try:
            check_dtype(text)
        except FileFormatError:
            self._refuse(value, path)
        return text

    # ---- objects

    def _object(self, value: Any, path: Path, depth: int) -> int:
        """The place of an object in the list, where it is put unless it is there."""
        if (place := self._places.get(id(value))) is None:
            place = self._add_object(value, path, depth)
        self._extent = _obey(path, self._extents.refer, self._extent, place)
        return place

    def _add_object(self, value: Any, path: Path, depth: int) -> int:
        if id(value) in self._open:
            raise TypeError(f"{show(path)}: an object that holds itself cannot be stored.")
        self._open.add(id(value))
        outer, self._extent = self._extent, (1, 1)
        entry = self._entry(value, path, depth + 1)
        self._extents.append(self._extent)
        self._extent = outer
        self._open.remove(id(value))
        self.objects.append(entry)
        self._kept.append(value)
        self._places[id(value)] = len(self.objects) - 1
        return len(self.objects) - 1

    def _entry(self, value: Any, path: Path, depth: int) -> dict[str, Json]:
        kind = type(value)
        if kind in (np.ndarray, np.memmap):
            return {"kind": "array", **self._array(value, path, depth)}
        if kind is kernels.Trees:
            return {"kind": "trees", **self._trees(value, path, depth)}
        if kind is np.random.RandomState:
            return {"kind": "random_state", **self._random_state(value, path, depth)}
        if kind in _SPARSE:
            return {"kind": "sparse", **self._sparse(value, path, depth)}
        if kind is np.ma.MaskedArray:
            return {"kind": "masked", **self._masked(value, path, depth)}
        if (name := registry().estimators.name_of(kind)) is not None:
            return {"kind": "estimator", "class": name, **self._estimator(value, path, depth)}
        if (name := registry().records.name_of(kind)) is not None:
            return {"kind": "record", "class": name, "fields": self._fields(value, path, depth)}
        if (made := maker_of(value)) is not None:
            return {"kind": "made", "by": made[0], "arguments": self._named(made[1], path, depth)}
        if self._owners and find_part(self._owners[-1], kind.__name__) is kind:
            return {"kind": "part", **self._part(value, path, depth)}
        self._refuse(value, path)

    def _array(self, value: Array, path: Path, depth: int) -> dict[str, Json]:
        if value.dtype == object:
            items = self._list(value.ravel().tolist(), path, depth)
            return {"items": items, "shape": list(value.shape)}
        try:
            tensor, description = to_tensor(value)
        except TypeError as error:
            raise TypeError(f"{show(path)}: {error}.") from None
        name = str(len(self.tensors))
        self.tensors[name] = tensor
        return {"tensor": name, **description}

    def _trees(self, value: Any, path: Path, depth: int) -> dict[str, Json]:
        parts = {
            "nodes": value.nodes,
            "words": value.words,
            "node_counts": np.diff(np.asarray(value.node_starts, dtype=np.int64)),
            "word_counts": np.diff(np.asarray(value.word_starts, dtype=np.int64)),
            "n_features": value.n_features,
        }
        return self._named(parts, path, depth)

    def _random_state(self, value: np.random.RandomState, path: Path, depth: int) -> dict[str, Json]:
        state: Any = value.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":
            raise TypeError(f"{show(path)}: a random generator of kind {state['bit_generator']} cannot be stored; use MT19937.")
        parts = {**state["state"], "has_gauss": state["has_gauss"], "gauss": state["gauss"]}
        return self._named(parts, path, depth)

    def _sparse(self, value: Any, path: Path, depth: int) -> dict[str, Json]:
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        return {"class": _SPARSE[type(value)], "shape": list(value.shape), **self._named(parts, path, depth)}

    def _masked(self, value: Any, path: Path, depth: int) -> dict[str, Json]:
        parts = {"data": np.asarray(value.data), "mask": np.ma.getmaskarray(value), "fill_value": value.fill_value}
        return self._named(parts, path, depth)

    def _estimator(self, value: BaseEstimator, path: Path, depth: int) -> dict[str, Json]:
        kind: Any = type(value)
        self._owners.append(kind)
        params = _params_of(value)
        left_out = {*params, *TRANSIENT, *lazy_names(kind)}
        attributes = {name: item for name, item in state_of(value).items() if name not in left_out}
        _obey(path, check_estimator, value, attributes)
        entry = {"params": self._named(params, path, depth), "attributes": self._named(attributes, path, depth)}
        if (request := vars(value).get("_metadata_request")) is not None:
            requests = {method: dict(getattr(request, method).requests) for method in METHODS if hasattr(request, method)}
            entry["requests"] = self._named({method: asked for method, asked in requests.items() if asked}, path, depth)
        self._owners.pop()
        return entry

    def _part(self, value: Any, path: Path, depth: int) -> dict[str, Json]:
        kind = type(value)
        attributes = {name: item for name, item in vars(value).items() if name not in TRANSIENT}
        _obey(path, check_attributes, kind, attributes)
        owner = registry().estimators.name_of(self._owners[-1])
        return {"of": owner, "class": kind.__name__, "attributes": self._named(attributes, path, depth)}

    def _fields(self, value: Any, path: Path, depth: int) -> dict[str, Json]:
        kind: Any = type(value)
        fields = {name: _field(value, name) for name in constructor_fields(kind)}
        _obey(path, kind, **fields)  # as the reader will make it
        return self._named(fields, path, depth)

    def _refuse(self, value: Any, path: Path) -> NoReturn:
        kind = type(value)
        if isinstance(value, BaseEstimator):
            reason = f"the class {_full_name(kind)} is not one that Mercer's files hold"
        elif isinstance(value, type):
            reason = f"the class {_full_name(value)} cannot be stored"
        elif callable(value) and hasattr(value, "__name__"):
            reason = f"a Python function ({value.__name__}) cannot be stored, but for those that docs/format.md lists"
        else:
            reason = f"an object of the class {_full_name(kind)} cannot be stored"
        raise TypeError(f"{show(path)}: {reason}{self._counterpart()}.")

    def _counterpart(self) -> str:
        """Mercer's class of the name of the one that holds what cannot be stored, if that is scikit-learn's."""
        name = registry().estimators.name_of(self._owners[-1]) if self._owners else None
        own = (name or "").replace("sklearn.", "mercer.", 1)
        return f"; {own} can" if own != name and own in registry().estimators else ""


_VALUES: dict[type, Any] = {
    type(None): Encoder._plain,
    bool: Encoder._plain,
    str: Encoder._plain,
    int: Encoder._integer,
    float: Encoder._float,
    complex: Encoder._complex,
    bytes: Encoder._bytes,
    list: Encoder._list,
    tuple: Encoder._tuple,
    set: Encoder._set,
    frozenset: Encoder._set,
    dict: Encoder._dict,
    Bunch: Encoder._bunch,
    slice: Encoder._slice,
}


def _params_of(estimator: BaseEstimator) -> dict[str, Any]:
    """As `get_params` gives them; an ensemble may have hundreds of members of a class, whose signature is read once."""
    kind: Any = type(estimator)
    if kind.get_params is not BaseEstimator.get_params:
        given: dict[str, Any] = estimator.get_params(deep=False)
        return given
    return {name: getattr(estimator, name) for name in sorted(constructor_fields(kind))}


def _field(record: Any, name: str) -> Any:
    """What a record was given: its attribute of the name, with an underscore before, or among arguments that it passes on."""
    if hasattr(record, name):
        return getattr(record, name)
    passed_on = getattr(record, "cvargs", {})  # of scikit-learn's repeated splitters
    return passed_on[name] if name in passed_on else getattr(record, f"_{name}")


def state_of(estimator: BaseEstimator) -> dict[str, Any]:
    """The attributes of an estimator; of a class that says itself what its state is, the state."""
    kind: Any = type(estimator)
    state: dict[str, Any] = estimator.__getstate__() if has_own_state(kind) else vars(estimator)
    return {name: value for name, value in state.items() if name != "_sklearn_version"}


def _obey(path: Path, rule: Any, *args: Any, **kwargs: Any) -> Any:
    """What a rule of the reader gives; what it refuses is refused by the writer, with the place where it is."""
    try:
        return rule(*args, **kwargs)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{show(path)}: {error}") from error


@cache
def lazy_names(kind: type) -> frozenset[str]:
    """Attributes of a class that are computed when first asked for: they are computed again, not stored."""
    return frozenset(name for base in kind.__mro__ for name, found in vars(base).items() if isinstance(found, lazy_property))


def show(path: Path) -> str:
    """A path as a user would write it, such as model.steps[1][1].loss."""
    text = ""
    while path:
        path, last = path
        text = (f".{last}" if isinstance(last, str) and last.isidentifier() else f"[{last!r}]") + text
    return f"model{text}"


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"

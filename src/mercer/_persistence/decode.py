"""Data to models. Nothing that a file says is believed: every name, length, place and kind is checked before use."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from reprlib import repr as short  # what a file says may be as long as the file
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

from mercer._native import kernels
from mercer._persistence.arrays import Array, check_dtype, from_tensor
from mercer._persistence.errors import FileFormatError
from mercer._persistence.foreign import find_part, has_own_state, makers
from mercer._persistence.limits import MAX_DEPTH, METHODS, SAFE_INTEGER
from mercer._persistence.registry import Names, constructor_fields, registry
from mercer._persistence.rules import Extents, check_attributes, check_estimator, check_keys
from mercer._rows import check_structure
from mercer._saved import may_be_alone

Json = Any

_AS_THEY_ARE = (str, bool, type(None))
_HEX = re.compile(r"-?0x[0-9a-f]+")
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_SCALARS = {"b": bool, "i": int, "u": int, "f": float, "c": complex, "U": str, "S": bytes}
_SPARSE = {"csr_matrix": sp.csr_matrix, "csc_matrix": sp.csc_matrix, "csr_array": sp.csr_array, "csc_array": sp.csc_array}


class Tensors(Protocol):
    """What holds the tensors: a file, or what is about to be written to one."""

    @property
    def names(self) -> Iterable[str]: ...

    def tensor(self, name: str) -> Array: ...


class Decoder:
    """Builds the objects of a file in their order, each from values and from objects built before it."""

    def __init__(self, file: Tensors) -> None:
        self._file = file
        self._built: list[Any] = []
        self._extents = Extents()
        self._extent = (1, 1)  # of the object being built
        self._unused = set(file.names)

    def build(self, objects: Json) -> Any:
        """The last of the objects, which is the model."""
        if not isinstance(objects, list) or not objects:
            raise FileFormatError("the structure holds no objects.")
        for place, entry in enumerate(objects):
            self._extent = (1, 1)
            try:
                self._built.append(self._entry(entry))
            except FileFormatError as error:
                raise FileFormatError(f"object {place}{_called(entry)}: {error}") from error
            except Exception as error:  # of a constructor that was handed what it cannot take
                raise FileFormatError(f"object {place}{_called(entry)}: {type(error).__name__}: {error}") from error
            self._extents.append(self._extent)
        if self._unused:
            raise FileFormatError(f"the tensor {min(self._unused)!r} belongs to no object.")
        if not isinstance(self._built[-1], BaseEstimator) and not may_be_alone(self._built[-1]):
            raise FileFormatError(f"the last object is a {type(self._built[-1]).__name__}, not a model.")
        return self._built[-1]

    # ---- values

    def _value(self, json: Json, depth: int = 0) -> Any:
        if depth > MAX_DEPTH:
            raise FileFormatError(f"values are nested more than {MAX_DEPTH} deep.")
        if type(json) in _AS_THEY_ARE:
            return json
        if isinstance(json, int):
            return json if -SAFE_INTEGER <= json <= SAFE_INTEGER else _fail("an integer is too large to be written like this")
        if isinstance(json, float):
            return json if math.isfinite(json) else _fail("a number is out of range")
        if isinstance(json, list):
            return [self._value(item, depth + 1) for item in json]
        kind, content = _only_item(json)
        if kind not in _VALUES:
            raise FileFormatError(f"a value of kind {short(kind)} is not known.")
        return _VALUES[kind](self, content, depth)

    def _integer(self, content: Json, depth: int) -> int:
        return int(_text(content, _HEX), 16)

    def _float(self, content: Json, depth: int) -> float:
        return (
            _FLOATS[content] if isinstance(content, str) and content in _FLOATS else _fail(f"{short(content)} is not a number")
        )

    def _complex(self, content: Json, depth: int) -> complex:
        real, imaginary = (_of_kind(self._value(part, depth + 1), float) for part in _list(content, 2))
        return complex(real, imaginary)

    def _bytes(self, content: Json, depth: int) -> bytes:
        return bytes.fromhex(_of_kind(content, str))

    def _tuple(self, content: Json, depth: int) -> tuple[Any, ...]:
        return tuple(self._value(item, depth + 1) for item in _list(content))

    def _set(self, content: Json, depth: int) -> set[Any]:
        return set(check_keys(self._tuple(content, depth)))

    def _frozenset(self, content: Json, depth: int) -> frozenset[Any]:
        return frozenset(self._set(content, depth))

    def _dict(self, content: Json, depth: int) -> dict[str, Any]:
        return {key: self._value(item, depth + 1) for key, item in _of_kind(content, dict).items()}

    def _pairs(self, content: Json, depth: int) -> dict[Any, Any]:
        pairs = [_list(pair, 2) for pair in _list(content)]
        keys = check_keys([self._value(key, depth + 1) for key, _ in pairs])
        return {key: self._value(item, depth + 1) for key, (_, item) in zip(keys, pairs, strict=True)}

    def _bunch(self, content: Json, depth: int) -> Bunch:
        return Bunch(**self._dict(content, depth))

    def _slice(self, content: Json, depth: int) -> slice:
        return slice(*(self._value(part, depth + 1) for part in _list(content, 3)))

    def _scalar(self, content: Json, depth: int) -> Any:
        text, json = _list(content, 2)
        dtype, value = check_dtype(text), self._value(json, depth + 1)
        if dtype.kind in "mM":
            return np.array(_of_kind(value, int), dtype=np.int64).view(dtype)[()]
        if dtype.kind not in _SCALARS:
            raise FileFormatError(f"one value by itself has no type {short(text)}.")
        return dtype.type(_of_kind(value, _SCALARS[dtype.kind]))

    def _enum(self, content: Json, depth: int) -> Any:
        name, member = _list(content, 2)
        members = _look_up(registry().enums, name, "class").__members__
        return members[member] if isinstance(member, str) and member in members else _fail(f"{name} has no {short(member)}")

    def _function(self, content: Json, depth: int) -> Any:
        return _look_up(registry().functions, content, "function")

    def _type(self, content: Json, depth: int) -> Any:
        return _look_up(registry().types, content, "type")

    def _dtype(self, content: Json, depth: int) -> Any:
        return check_dtype(content)

    def _reference(self, content: Json, depth: int) -> Any:
        if not _is_count(content) or content >= len(self._built):
            raise FileFormatError(f"it refers to object {short(content)}, which does not come before it.")
        self._extent = self._extents.refer(self._extent, content)
        return self._built[content]

    # ---- objects

    def _entry(self, entry: Json) -> Any:
        kind = _of_kind(entry, dict).get("kind")
        if not isinstance(kind, str) or kind not in _OBJECTS:
            raise FileFormatError(f"an object of kind {short(kind)} is not known.")
        return _OBJECTS[kind](self, {name: content for name, content in entry.items() if name != "kind"})

    def _array(self, entry: dict[str, Json]) -> Array:
        if "items" in entry:
            return self._object_array(*_take(entry, "items", "shape"))
        name, dtype, order = _take(entry, "tensor", optional=("dtype", "order"))
        if not isinstance(name, str) or name not in self._unused:
            raise FileFormatError(f"the tensor {short(name)} is not in the file, or belongs to another object.")
        self._unused.remove(name)
        return from_tensor(self._file.tensor(name), dtype, order)

    def _object_array(self, items: Json, shape: Json) -> Array:
        lengths = _shape(shape)
        values = [self._value(item) for item in _list(items)]
        if math.prod(lengths) != len(values):
            raise FileFormatError(f"an array of shape {short(shape)} does not hold {len(values)} items.")
        array = np.empty(len(values), dtype=object)
        for place, value in enumerate(values):  # a list of lists must not become a matrix
            array[place] = value
        return array.reshape(lengths)

    def _trees(self, entry: dict[str, Json]) -> Any:
        parts = [self._value(part) for part in _take(entry, "nodes", "words", "node_counts", "word_counts", "n_features")]
        return kernels.Trees(*parts)  # which checks that these are trees

    def _random_state(self, entry: dict[str, Json]) -> np.random.RandomState:
        key, pos, has_gauss, gauss = (self._value(part) for part in _take(entry, "key", "pos", "has_gauss", "gauss"))
        is_key = isinstance(key, np.ndarray) and key.shape == (624,) and key.dtype == np.uint32
        # NumPy takes any position, and would read beyond the key.
        if not is_key or not _is_count(pos) or pos > 624 or has_gauss not in (0, 1):
            raise FileFormatError("the state of a random generator is out of range.")
        random = np.random.RandomState()
        state = {"bit_generator": "MT19937", "state": {"key": key, "pos": pos}}
        random.set_state({**state, "has_gauss": int(has_gauss), "gauss": _of_kind(gauss, float)})
        return random

    def _sparse(self, entry: dict[str, Json]) -> Any:
        name, shape, *parts = _take(entry, "class", "shape", "data", "indices", "indptr")
        if not isinstance(name, str) or name not in _SPARSE:
            raise FileFormatError(f"the sparse format {short(name)} is not known.")
        arrays = tuple(_of_kind(self._value(part), np.ndarray) for part in parts)
        matrix = _SPARSE[name](arrays, shape=_shape(shape))
        check_structure(matrix)
        return matrix

    def _masked(self, entry: dict[str, Json]) -> Any:
        data, mask, fill_value = (self._value(part) for part in _take(entry, "data", "mask", "fill_value"))
        if type(data) is not np.ndarray or type(mask) is not np.ndarray or mask.dtype != bool or mask.shape != data.shape:
            raise FileFormatError("the mask of an array does not fit it.")
        return np.ma.MaskedArray(data, mask=mask, fill_value=fill_value)

    def _made(self, entry: dict[str, Json]) -> Any:
        name, content = _take(entry, "by", "arguments")
        if not isinstance(name, str) or name not in makers():
            raise FileFormatError(f"nothing is made by {short(name)}.")
        value = makers()[name].make(**self._dict(content, 0))
        return value if makers()[name].is_result(value) else _fail(f"the arguments of {name} do not make one")

    def _part(self, entry: dict[str, Json]) -> Any:
        owner, name, content = _take(entry, "of", "class", "attributes")
        kind = find_part(_look_up(registry().estimators, owner, "class"), _of_kind(name, str))
        if kind is None:
            raise FileFormatError(f"{owner} has no parts of a class {short(name)}; another version of scikit-learn may.")
        attributes = self._dict(content, 0)
        check_attributes(kind, attributes)
        part: Any = object.__new__(kind)
        vars(part).update(attributes)
        return part

    def _record(self, entry: dict[str, Json]) -> Any:
        name, content = _take(entry, "class", "fields")
        record = _look_up(registry().records, name, "class")
        fields = self._dict(content, 0)
        if unknown := fields.keys() - set(constructor_fields(record)):
            raise FileFormatError(f"{name} has no field {short(min(unknown))}.")
        return record(**fields)

    def _estimator(self, entry: dict[str, Json]) -> BaseEstimator:
        name, params, attributes, requests = _take(entry, "class", "params", "attributes", optional=("requests",))
        kind = _look_up(registry().estimators, name, "class")
        params, attributes = self._dict(params, 0), self._dict(attributes, 0)
        if unknown := params.keys() - set(constructor_fields(kind)):
            raise FileFormatError(f"{name} has no parameter {short(min(unknown))}.")
        estimator = kind(**params)
        check_estimator(estimator, attributes)
        if has_own_state(kind):
            estimator.__setstate__({**vars(estimator), **attributes, "_sklearn_version": sklearn.__version__})
        else:
            vars(estimator).update(attributes)
        return estimator if requests is None else _with_requests(estimator, self._dict(requests, 0))


_VALUES: dict[str, Callable[[Decoder, Json, int], Any]] = {
    "int": Decoder._integer,
    "float": Decoder._float,
    "complex": Decoder._complex,
    "bytes": Decoder._bytes,
    "tuple": Decoder._tuple,
    "set": Decoder._set,
    "frozenset": Decoder._frozenset,
    "dict": Decoder._dict,
    "pairs": Decoder._pairs,
    "bunch": Decoder._bunch,
    "slice": Decoder._slice,
    "scalar": Decoder._scalar,
    "enum": Decoder._enum,
    "function": Decoder._function,
    "type": Decoder._type,
    "dtype": Decoder._dtype,
    "object": Decoder._reference,
}
_OBJECTS: dict[str, Callable[[Decoder, dict[str, Json]], Any]] = {
    "array": Decoder._array,
    "trees": Decoder._trees,
    "random_state": Decoder._random_state,
    "sparse": Decoder._sparse,
    "masked": Decoder._masked,
    "made": Decoder._made,
    "part": Decoder._part,
    "record": Decoder._record,
    "estimator": Decoder._estimator,
}


def _with_requests(estimator: BaseEstimator, requests: dict[str, Any]) -> BaseEstimator:
    """The estimator, with what its methods ask of scikit-learn's metadata routing."""
    for method, asked in requests.items():
        if method not in METHODS:
            raise FileFormatError(f"no metadata is routed to a method {short(method)}.")
        with sklearn.config_context(enable_metadata_routing=True):
            getattr(estimator, f"set_{method}_request")(**_of_kind(asked, dict))
    return estimator


def _look_up(names: Names[Any], name: Json, what: str) -> Any:
    if not isinstance(name, str) or name not in names:
        raise FileFormatError(
            f"the {what} {short(name)} is not one that files may hold; a later version of Mercer may know it."
        )
    return names[name]


def _take(entry: dict[str, Json], *names: str, optional: tuple[str, ...] = ()) -> list[Json]:
    """The parts of an object of these names, and of no others."""
    if missing := set(names) - entry.keys():
        raise FileFormatError(f"the part {min(missing)!r} is missing.")
    if unknown := entry.keys() - {*names, *optional}:
        raise FileFormatError(f"the part {short(min(unknown))} is not known.")
    return [entry.get(name) for name in (*names, *optional)]


def _only_item(json: Json) -> tuple[str, Json]:
    items: list[tuple[str, Json]] = list(_of_kind(json, dict).items())
    if len(items) != 1:
        raise FileFormatError(f"a value has {len(items)} kinds, not one.")
    return items[0]


def _list(json: Json, length: int | None = None) -> list[Json]:
    if length is not None and len(_of_kind(json, list)) != length:
        raise FileFormatError(f"a list holds {len(json)} items, not {length}.")
    return list(_of_kind(json, list))


def _shape(json: Json) -> tuple[int, ...]:
    return tuple(length if _is_count(length) else _fail(f"{short(length)} is not a length") for length in _list(json))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _text(json: Json, pattern: re.Pattern[str]) -> str:
    return json if isinstance(json, str) and pattern.fullmatch(json) else _fail(f"{short(json)} is not written as it should be")


def _of_kind(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise FileFormatError(f"there is a {type(value).__name__} where a {kind.__name__} has to be.")
    return value


def _fail(reason: str) -> Any:
    raise FileFormatError(f"{reason}.")


def _called(entry: Json) -> str:
    name = entry.get("class", entry.get("kind")) if isinstance(entry, dict) else None
    return f" ({name})" if isinstance(name, str) and len(name) < 100 else ""

"""Arrays as tensors of a file: those that safetensors has as they are, others as numbers that carry their bytes.

| array | tensor |
|---|---|
| bool, integers, floats of 16 to 64 bits, complex64 | the same |
| text `<Un` | uint32, one more axis of length n: code points, zeros at the end |
| bytes `|Sn` | uint8, one more axis of length n |
| `<M8[unit]`, `<m8[unit]` | int64 |
| `<c16` | float64, one more axis of length 2 |

An array in Fortran's order is stored as its transpose.
"""

from __future__ import annotations

import re
from reprlib import repr as short
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._persistence.errors import FileFormatError

Array = npt.NDArray[Any]

# safetensors' names of the types that need no description.
PLAIN = {
    "BOOL": np.dtype("?"), "I8": np.dtype("i1"), "U8": np.dtype("u1"), "I16": np.dtype("<i2"), "U16": np.dtype("<u2"),
    "I32": np.dtype("<i4"), "U32": np.dtype("<u4"), "I64": np.dtype("<i8"), "U64": np.dtype("<u8"), "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"), "F64": np.dtype("<f8"), "C64": np.dtype("<c8"),
}  # fmt: skip
_FIXED = {*(dtype.str for dtype in PLAIN.values()), "<c16", "|O"}
_TIMES = re.compile(r"<[mM]8\[(?:[1-9][0-9]{0,8})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]")
_TEXT = re.compile(r"(?:<U|\|S)[1-9][0-9]{0,8}")
_LAST_CODE_POINT = 0x10FFFF


def check_dtype(text: Any) -> np.dtype[Any]:
    """The dtype that a file's text stands for: a known one, in little-endian order, of a size that is not zero."""
    is_known = isinstance(text, str) and (text in _FIXED or _TIMES.fullmatch(text) or _TEXT.fullmatch(text))
    if not is_known:
        raise FileFormatError(f"the type {short(text)} is not one that an array can have.")
    dtype: np.dtype[Any] = np.dtype(text)
    return dtype


def to_tensor(array: Array) -> tuple[Array, dict[str, str]]:
    """The tensor that stands for an array, contiguous, and what has to be said beside it. Raises TypeError where none does."""
    description: dict[str, str] = {}
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        array, description["order"] = array.T, "F"
    dtype = array.dtype.newbyteorder("<")
    if dtype.kind in "US" and not dtype.itemsize:  # nothing but empty texts
        dtype = np.dtype(f"{dtype.kind}1")
    shape, array = array.shape, np.ascontiguousarray(array, dtype=dtype)  # which gives a number one axis
    if dtype in PLAIN.values():
        return array.reshape(shape), description
    description["dtype"] = dtype.str
    if dtype.kind in "US":
        return array.view("<u4" if dtype.kind == "U" else "u1").reshape(*shape, _width(dtype)), description
    if _TIMES.fullmatch(dtype.str):
        return array.view("<i8").reshape(shape), description
    if dtype.str == "<c16":
        return array.view("<f8").reshape(*shape, 2), description
    raise TypeError(f"an array of dtype {array.dtype} cannot be stored")


def from_tensor(tensor: Array, dtype_text: Any, order: Any) -> Array:
    """The array that a tensor stands for; raises FileFormatError where it stands for none."""
    array = tensor if dtype_text is None else _with_dtype(tensor, check_dtype(dtype_text))
    if array.dtype == bool and tensor.view(np.uint8).max(initial=0) > 1:
        raise FileFormatError("a boolean is neither 0 nor 1.")
    if order not in (None, "F"):
        raise FileFormatError(f"the order {short(order)} of an array is neither 'F' nor left out.")
    return array.T if order == "F" else array


def _with_dtype(tensor: Array, dtype: np.dtype[Any]) -> Array:
    carrier = {"U": "<u4", "S": "u1", "m": "<i8", "M": "<i8", "c": "<f8"}.get(dtype.kind)
    if carrier is None or tensor.dtype != carrier or dtype in PLAIN.values():
        raise FileFormatError(f"a tensor of type {tensor.dtype} does not carry an array of type {dtype}.")
    if dtype.kind in "mM":
        return tensor.view(dtype)
    width = _width(dtype) if dtype.kind in "US" else 2
    if tensor.ndim == 0 or tensor.shape[-1] != width:
        raise FileFormatError(f"the last axis of a tensor that carries an array of type {dtype} has not the length {width}.")
    if dtype.kind == "U" and tensor.max(initial=0) > _LAST_CODE_POINT:
        raise FileFormatError("a text holds a number that is no character.")
    return tensor.view(dtype)[..., 0] if tensor.size else np.empty(tensor.shape[:-1], dtype)


def _width(dtype: np.dtype[Any]) -> int:
    return dtype.itemsize // (4 if dtype.kind == "U" else 1)

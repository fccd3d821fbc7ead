"""Tensors with a text in their header, in the format of the safetensors package: in a file, or in bytes.

Files are written whole or not at all. What is read is believed in nothing: the header is checked here.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from reprlib import repr as short
from typing import Any, BinaryIO, Protocol, TypeAlias, cast

import numpy as np
from safetensors.numpy import save, save_file

from mercer._persistence import json_text
from mercer._persistence.arrays import PLAIN, Array
from mercer._persistence.errors import FileFormatError
from mercer._persistence.limits import MAX_HEADER

PathLike: TypeAlias = str | os.PathLike[str]
Source: TypeAlias = PathLike | bytes | bytearray | memoryview | BinaryIO

# How files of other programs begin.
_OTHERS = {
    b"PK\x03\x04": "a zip archive (as of skops, NumPy's npz or PyTorch)",
    b"\x1f\x8b": "compressed by gzip (a pickle of joblib's, perhaps)",
    b"x\x01": "compressed by zlib (a pickle of joblib's, perhaps)",
    b"x\x5e": "compressed by zlib (a pickle of joblib's, perhaps)",
    b"x\x9c": "compressed by zlib (a pickle of joblib's, perhaps)",
    b"x\xda": "compressed by zlib (a pickle of joblib's, perhaps)",
    b"BZh": "compressed by bzip2 (a pickle of joblib's, perhaps)",
    b"\xfd7zXZ": "compressed by xz (a pickle of joblib's, perhaps)",
    b"\x04\x22\x4d\x18": "compressed by lz4 (a pickle of joblib's, perhaps)",
    b"\x28\xb5\x2f\xfd": "compressed by zstandard",
    b"\x93NUMPY": "an array of NumPy's (npy)",
    b"\x89HDF": "HDF5",
    b"PAR1": "Parquet",
    **{bytes([0x80, protocol]): "a pickle, as pickle and joblib write it; load it with the one that wrote it, "
       "if you trust who did" for protocol in range(2, 6)},
}  # fmt: skip


class Content(Protocol):
    """Bytes that are read from any place."""

    n_bytes: int

    def part(self, begin: int, end: int) -> Array:
        """As uint8: an array of its own, or a view of what is mapped."""
        ...


class FileContent:
    """Bytes of an open file, mapped or read."""

    def __init__(self, file: io.FileIO, is_mapped: bool) -> None:
        self.n_bytes = os.fstat(file.fileno()).st_size
        self._file = file
        self._map = np.memmap(file, dtype=np.uint8, mode="r") if is_mapped and self.n_bytes else None

    def part(self, begin: int, end: int) -> Array:
        if self._map is not None:
            return np.asarray(self._map[begin:end])
        self._file.seek(begin)
        out = np.empty(end - begin, dtype=np.uint8)
        bytes_left = out.data
        while bytes_left:  # one reading gives two gigabytes at most
            if not (n_read := self._file.readinto(bytes_left)):
                raise FileFormatError("the file became shorter while it was read.")
            bytes_left = bytes_left[n_read:]
        return out


class BytesContent:
    """Bytes in memory; "mapped" means that arrays are read only views of them."""

    def __init__(self, content: bytes | bytearray | memoryview, is_mapped: bool) -> None:
        self._bytes = np.frombuffer(memoryview(content).toreadonly(), dtype=np.uint8)
        self.n_bytes, self._is_mapped = len(self._bytes), is_mapped

    def part(self, begin: int, end: int) -> Array:
        part = self._bytes[begin:end]
        return part if self._is_mapped else part.copy()


class ModelFile:
    """The metadata of a file, and its tensors, each read when it is asked for."""

    def __init__(self, content: Content) -> None:
        self._content = content
        header, self._start = _header(content)
        self.metadata: dict[str, Any] = header.pop("__metadata__", None) or {}
        self._entries = {name: _entry(name, entry) for name, entry in header.items()}
        self._check_places()

    @property
    def names(self) -> list[str]:
        return list(self._entries)

    def tensor(self, name: str) -> Array:
        """An array of one of the types that safetensors has."""
        dtype, shape, begin, end = self._entries[name]
        part = self._content.part(self._start + begin, self._start + end)
        # A file by another writer may have tensors at any place; arithmetic on them needs a copy.
        is_aligned = part.ctypes.data % dtype.alignment == 0
        return (part if is_aligned else part.copy()).view(dtype).reshape(shape)

    def _check_places(self) -> None:
        """Tensors lie one after another and fill what follows the header: so memory is bounded by the size of the file."""
        place = 0
        for begin, end in sorted((begin, end) for _, _, begin, end in self._entries.values()):
            if begin != place:
                raise FileFormatError("its tensors do not lie one after another.")
            place = end
        n_bytes = self._content.n_bytes - self._start
        if place > n_bytes:
            raise FileFormatError(f"it is cut short: {place - n_bytes} bytes of its tensors are missing.")
        if place < n_bytes:
            raise FileFormatError(f"{n_bytes - place} bytes follow its last tensor.")


@contextlib.contextmanager
def open_source(source: Source, *, is_mapped: bool) -> Iterator[ModelFile]:
    """Open a file, bytes or what can be read; FileFormatError where these are no tensors, OSError where reading fails."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        yield ModelFile(BytesContent(source, is_mapped))
    elif hasattr(source, "read"):
        content = source.read()
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise TypeError(f"{source!r} gives {type(content).__name__}; it must be open for reading bytes (mode 'rb').")
        yield ModelFile(BytesContent(content, is_mapped))
    else:
        name = _checked(source)
        if not stat.S_ISREG(os.stat(name).st_mode):  # to open a pipe would be to wait for a writer
            raise FileFormatError("not a regular file.")
        with open(name, "rb", buffering=0) as file:
            yield ModelFile(FileContent(file, is_mapped))


def called(source: Source) -> str:
    """What messages call a source."""
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else f"<{type(source).__name__}>"


def write_target(
    target: PathLike | BinaryIO, tensors: Mapping[str, Array], metadata: Mapping[str, str], *, overwrite: bool
) -> None:
    """Write to a file or to what can be written."""
    if isinstance(target, (str, os.PathLike)) or not hasattr(target, "write"):
        _write_file(cast("PathLike", target), tensors, metadata, overwrite=overwrite)  # which refuses what is no path
        return
    content = save(dict(tensors), metadata=dict(metadata))
    _check_header_length(content[:8])
    _write_all(target, content)


def _write_file(path: PathLike, tensors: Mapping[str, Array], metadata: Mapping[str, str], *, overwrite: bool) -> None:
    """Write a file beside the place where it goes and move it there when it is whole: readers see the old or the new one."""
    target = os.path.realpath(_checked(path))
    if os.path.isdir(target):
        raise IsADirectoryError(f"{target} is a folder; a model is saved to a file.")
    if os.path.lexists(target) and not overwrite:
        raise FileExistsError(f"{target} exists; give overwrite=True to replace it.")
    mode = _mode_for(target)
    # In a folder of its own, as a new file: a file system may write at once what is renamed to the place of another file.
    with tempfile.TemporaryDirectory(prefix=".mercer-", dir=os.path.dirname(target)) as folder:
        whole = os.path.join(folder, "model")
        save_file(dict(tensors), whole, metadata=dict(metadata))
        with open(whole, "rb") as file:
            _check_header_length(file.read(8))
            if os.path.exists(target):  # after a loss of power there is the old file or the new one
                os.fsync(file.fileno())
        os.chmod(whole, mode)
        os.replace(whole, target)


def _write_all(file: BinaryIO, content: bytes) -> None:
    n_written = file.write(content)
    while n_written is not None and n_written < len(content):  # a file without a buffer may take a part
        content = content[n_written:]
        n_written = file.write(content)


def _check_header_length(first: bytes) -> None:
    if (n_header := int.from_bytes(first, "little")) > MAX_HEADER:
        raise ValueError(f"the structure of the model takes {n_header} bytes; a file can hold {MAX_HEADER}.")


def _header(content: Content) -> tuple[dict[str, Any], int]:
    """The JSON of the header, and where the tensors begin."""
    first = content.part(0, min(16, content.n_bytes)).tobytes()
    n_header = int.from_bytes(first[:8], "little")
    is_header = content.n_bytes > 8 and first[8:9] == b"{" and n_header <= MAX_HEADER
    if not is_header:
        raise FileFormatError(f"not a file of a model of Mercer's: {_what(first)}.")
    if 8 + n_header > content.n_bytes:
        raise FileFormatError("it is cut short: the header ends after the file.")
    header = json_text.parse(content.part(8, 8 + n_header).tobytes(), "its header")
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise FileFormatError("its header does not describe tensors.")
    return header, 8 + n_header


def _what(first: bytes) -> str:
    """What the first bytes say of a file that is no model."""
    if not first:
        return "it is empty"
    known = next((what for start, what in _OTHERS.items() if first.startswith(start)), None)
    if known is not None:
        return f"it is {known}"
    return "it is a text" if first.isascii() and first.decode().isprintable() else "it is damaged, or of another program"


def _entry(name: str, entry: Any) -> tuple[np.dtype[Any], list[int], int, int]:
    """The type, shape and place of a tensor, which agree."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise FileFormatError(f"the tensor {short(name)} is not described as it should be.")
    if not isinstance(entry["dtype"], str) or (dtype := PLAIN.get(entry["dtype"])) is None:
        raise FileFormatError(f"the tensor {short(name)} has the type {short(entry['dtype'])}, which no array of a model has.")
    shape, offsets = _lengths(entry["shape"]), _lengths(entry["data_offsets"])
    if len(offsets) != 2 or offsets[1] - offsets[0] != math.prod(shape) * dtype.itemsize:
        raise FileFormatError(f"the tensor {short(name)} does not lie in the file.")
    return dtype, shape, offsets[0], offsets[1]


def _lengths(json: Any) -> list[int]:
    if not isinstance(json, list) or len(json) > 64 or not all(type(length) is int and length >= 0 for length in json):
        raise FileFormatError(f"{short(json)} are not lengths.")
    return json


def _checked(path: PathLike) -> str:
    name = os.fspath(path)
    if not isinstance(name, str) or not name or "\0" in name:
        raise ValueError(f"path={path!r} is not valid; it must be the name of a file.")
    return name


def _mode_for(target: str) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    if os.path.exists(target):
        return stat.S_IMODE(os.stat(target).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

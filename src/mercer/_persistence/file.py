"""Files of tensors with a text in their header, as the safetensors package writes them: whole or not at all."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from mercer._persistence.arrays import PLAIN, Array
from mercer._persistence.errors import FileFormatError
from mercer._persistence.limits import MAX_HEADER

PathLike = str | os.PathLike[str]


class ModelFile:
    """An open file: its metadata, and its tensors, each read when it is asked for.

    Parameters
    ----------
    file : binary file
        One whose header the safetensors package has checked. What is used of it is checked again, as it was opened again.
    is_mapped : bool
        Whether arrays are views of the file, read only.
    """

    def __init__(self, file: io.FileIO, is_mapped: bool) -> None:
        n_bytes = os.fstat(file.fileno()).st_size
        n_header = int.from_bytes(file.read(8), "little")
        if n_header > min(MAX_HEADER, n_bytes):
            raise FileFormatError("the header is longer than it can be.")
        header = json.loads(file.read(n_header))
        self.metadata: dict[str, str] = header.pop("__metadata__", {})
        self.names = list(header)
        self._entries, self._start, self._n_bytes = header, 8 + n_header, n_bytes
        self._file = file
        self._map = np.memmap(file, dtype=np.uint8, mode="r") if is_mapped else None

    def tensor(self, name: str) -> Array:
        """An array of one of the types that safetensors has."""
        entry = self._entries[name]
        shape, (begin, end) = entry["shape"], entry["data_offsets"]
        if (dtype := PLAIN.get(entry["dtype"])) is None:
            raise FileFormatError(f"the tensor {name!r} has the type {entry['dtype']}, which no array of a model has.")
        begin, end = self._start + begin, self._start + end
        if end - begin != math.prod(shape) * dtype.itemsize or not 0 <= begin <= end <= self._n_bytes:
            raise FileFormatError(f"the tensor {name!r} does not lie in the file.")
        if self._map is None:
            return self._read(begin, np.empty(shape, dtype))
        part = np.asarray(self._map[begin:end])
        # A file by another writer may have tensors at any place; arithmetic on them needs a copy.
        is_aligned = part.ctypes.data % dtype.alignment == 0
        return (part if is_aligned else part.copy()).view(dtype).reshape(shape)

    def _read(self, begin: int, out: Array) -> Array:
        self._file.seek(begin)
        bytes_left = out.reshape(-1).view(np.uint8).data
        while bytes_left:  # one reading gives two gigabytes at most
            if not (n_read := self._file.readinto(bytes_left)):
                raise FileFormatError("the file became shorter while it was read.")
            bytes_left = bytes_left[n_read:]
        return out


@contextlib.contextmanager
def open_file(path: PathLike, *, is_mapped: bool) -> Iterator[ModelFile]:
    """Open a file of tensors; raises FileFormatError where it is none, and OSError where it cannot be read."""
    name = _checked(path)
    if not stat.S_ISREG(os.stat(name).st_mode):  # to open a pipe would be to wait for a writer
        raise FileFormatError(f"{name}: not a regular file.")
    with open(name, "rb", buffering=0) as file:
        try:
            with safe_open(name, framework="np"):
                pass  # the header is as it should be, and tensors lie in the file one after another
        except SafetensorError as error:
            raise FileFormatError(f"{name}: not a file of a model, or a damaged one: {error}.") from error
        yield ModelFile(file, is_mapped)


def write_file(path: PathLike, tensors: Mapping[str, Array], metadata: Mapping[str, str], *, overwrite: bool) -> None:
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
            if (n_header := int.from_bytes(file.read(8), "little")) > MAX_HEADER:
                raise ValueError(f"the structure of the model takes {n_header} bytes; a file can hold {MAX_HEADER}.")
            if os.path.exists(target):  # after a loss of power there is the old file or the new one
                os.fsync(file.fileno())
        os.chmod(whole, mode)
        os.replace(whole, target)


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

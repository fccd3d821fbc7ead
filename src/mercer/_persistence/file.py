"""Files of tensors with a text in their header, as the safetensors package writes them: whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from mercer._persistence.arrays import PLAIN, Array
from mercer._persistence.errors import FileFormatError
from mercer._persistence.limits import MAX_HEADER

PathLike = str | os.PathLike[str]


class ModelFile:
    """A file that has been opened: its metadata, and its tensors, each read when it is asked for.

    Parameters
    ----------
    path : str
    handle
        What `safetensors.safe_open` gave. The package has checked that the tensors lie in the file, one after another.
    is_mapped : bool
        Whether arrays are views of the file, read only.
    """

    def __init__(self, path: str, handle: Any, is_mapped: bool) -> None:
        self._handle = handle
        self.metadata: dict[str, str] = handle.metadata() or {}
        self.names: list[str] = list(handle.keys())
        self._map = _Map(path) if is_mapped else None

    def tensor(self, name: str) -> Array:
        part = self._handle.get_slice(name)
        kind, shape = part.get_dtype(), tuple(part.get_shape())
        if kind not in PLAIN:
            raise FileFormatError(f"the tensor {name!r} has the type {kind}, which no array of a model has.")
        if self._map is not None:
            return self._map.array(name, PLAIN[kind], shape)
        tensor: Array = self._handle.get_tensor(name)
        return tensor if tensor.flags.aligned else tensor.copy()


class _Map:
    """The bytes of a file, mapped read only, and where each tensor begins."""

    def __init__(self, path: str) -> None:
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        n_header = int(self._bytes[:8].view("<u8")[0])
        header = json.loads(self._bytes[8 : 8 + n_header].tobytes())
        self._places = {name: entry["data_offsets"] for name, entry in header.items() if name != "__metadata__"}
        self._start = 8 + n_header

    def array(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        begin, end = self._places[name]
        part = np.asarray(self._bytes[self._start + begin : self._start + end])
        # A file by another writer may have tensors at any place; arithmetic on them needs a copy.
        is_aligned = (part.ctypes.data % dtype.itemsize) == 0
        return (part if is_aligned else part.copy()).view(dtype).reshape(shape)


@contextlib.contextmanager
def open_file(path: PathLike, *, is_mapped: bool) -> Iterator[ModelFile]:
    """Open a file of tensors; raises FileFormatError where it is none, and OSError where it cannot be read."""
    name = _checked(path)
    if not stat.S_ISREG(os.stat(name).st_mode):  # a pipe would be waited for
        raise FileFormatError(f"{name}: not a regular file.")
    with open(name, "rb"):
        pass  # raises what open raises, where safetensors has an error of its own
    try:
        with safe_open(name, framework="np") as handle:
            yield ModelFile(name, handle, is_mapped)
    except SafetensorError as error:
        raise FileFormatError(f"{name}: not a file of a model, or a damaged one: {error}.") from error


def write_file(path: PathLike, tensors: Mapping[str, Array], metadata: Mapping[str, str], *, overwrite: bool) -> None:
    """Write a file beside the place where it goes and move it there when it is whole: readers see the old or the new one."""
    target = os.path.realpath(_checked(path))
    if os.path.isdir(target):
        raise IsADirectoryError(f"{target} is a folder; a model is saved to a file.")
    if os.path.lexists(target) and not overwrite:
        raise FileExistsError(f"{target} exists; give overwrite=True to replace it.")
    mode = _mode_for(target)
    number, temporary = tempfile.mkstemp(prefix=".mercer-", suffix=".tmp", dir=os.path.dirname(target))
    os.close(number)
    try:
        save_file(dict(tensors), temporary, metadata=dict(metadata))
        with open(temporary, "rb") as file:
            if (n_header := int.from_bytes(file.read(8), "little")) > MAX_HEADER:
                raise ValueError(f"the structure of the model takes {n_header} bytes; a file can hold {MAX_HEADER}.")
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(os.path.dirname(target))


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


def _sync_folder(folder: str) -> None:
    """Have the new name itself reach the disk, where folders can be opened."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)

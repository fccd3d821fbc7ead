"""save and load."""

from __future__ import annotations

import json
from reprlib import repr as short
from typing import Any

import sklearn
from sklearn.base import BaseEstimator

import mercer
from mercer._persistence.decode import Decoder
from mercer._persistence.encode import Encoder
from mercer._persistence.errors import FileFormatError
from mercer._persistence.file import ModelFile, PathLike, open_file, write_file
from mercer._persistence.limits import SAFE_INTEGER

KEY = "mercer"  # of the structure among the metadata
FORMAT = "mercer-model"
VERSION = 1


def save(model: BaseEstimator, path: PathLike, *, overwrite: bool = True) -> None:
    """Save a model to one file that holds data alone: arrays as safetensors, structure as JSON.

    The file is written beside `path`, brought to disk and then renamed: a reader sees the old file or the new one, whole, and
    an error leaves nothing behind.

    Parameters
    ----------
    model : estimator
        An estimator of Mercer's, fitted or not, or scikit-learn's `Pipeline`, `ColumnTransformer`, `FeatureUnion` or
        `TransformedTargetRegressor` of such, with scikit-learn's encoders and imputers among them.
    path : str or os.PathLike
        The file. A link is followed.
    overwrite : bool, default=True
        Whether an existing file is replaced; FileExistsError otherwise.

    Raises
    ------
    TypeError
        Something in the model is not data, such as a function of the user's; the message says where it is.

    Notes
    -----
    The format is in `docs/format.md`. Callbacks are not stored. What several parts of a model share is stored once and shared
    again after loading. Values that are computed when first asked for are not stored.

    Examples
    --------
    >>> import os, tempfile
    >>> import mercer
    >>> from mercer.linear_model import Ridge
    >>> model = Ridge(alpha=0.5).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mercer")
    >>> mercer.save(model, path)
    >>> mercer.load(path)
    Ridge(alpha=0.5)
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"model={model!r} cannot be saved; it must be an estimator (an instance).")
    encoder = Encoder()
    encoder.add(model)
    structure = {
        "format": FORMAT,
        "version": VERSION,
        "mercer": mercer.__version__,
        "scikit-learn": sklearn.__version__,
        "objects": encoder.objects,
    }
    # One entry: safetensors writes several in any order, and the same model is to give the same file.
    metadata = {KEY: json.dumps(structure, allow_nan=False, separators=(",", ":"))}
    write_file(path, encoder.tensors, metadata, overwrite=overwrite)


def load(path: PathLike, *, mmap: bool = False) -> Any:
    """Load a model that `save` wrote. Nothing in the file is executed, and nothing is imported by a name from it.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    mmap : bool, default=False
        Whether arrays are mapped from the file rather than read: loading takes no time and processes share the memory. The
        arrays are read only, so that `partial_fit` and warm starts may refuse them, and the file must not be changed in place
        (`save` never does; it makes a new one).

    Returns
    -------
    model : estimator
        It predicts what the saved one did, bit for bit.

    Raises
    ------
    mercer.FileFormatError
        The file is damaged, is no model, was written by a later version with another format, or holds what it may not. It is
        a ValueError.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import os, tempfile
    >>> import mercer
    >>> from mercer.cluster import KMeans
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mercer")
    >>> mercer.save(KMeans(2, random_state=0).fit([[0.0], [0.1], [5.0]]), path)
    >>> mercer.load(path, mmap=True).predict([[4.0]])
    array([1], dtype=int32)
    """
    with open_file(path, is_mapped=mmap) as file:
        try:
            return Decoder(file).build(_objects(file))
        except FileFormatError as error:
            raise FileFormatError(f"{path}: {error}") from error


def _objects(file: ModelFile) -> Any:
    """The objects of a file of ours and of a version that is known."""
    if not isinstance(text := file.metadata.get(KEY), str):
        raise FileFormatError("it holds tensors, but no model of Mercer's.")
    try:
        structure = json.loads(text, object_pairs_hook=_without_repeats, parse_int=_small, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"its structure is not JSON as it should be: {error}.") from error
    if not isinstance(structure, dict) or structure.get("format") != FORMAT:
        raise FileFormatError("it holds tensors, but no model of Mercer's.")
    if (version := structure.get("version")) is True or version != VERSION:
        raise FileFormatError(
            f"it has the format version {short(version)}, written by Mercer {short(structure.get('mercer'))}; this is Mercer "
            f"{mercer.__version__}, which reads version {VERSION}. Install the version of Mercer that wrote it, or a later one."
        )
    if unknown := structure.keys() - {"format", "version", "mercer", "scikit-learn", "objects"}:
        raise FileFormatError(f"the part {short(min(unknown))} of its structure is not known.")
    return structure.get("objects")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _small(digits: str) -> int:
    if len(digits) > len(str(SAFE_INTEGER)) + 1:  # before time is spent on it
        raise ValueError("an integer has too many digits")
    return int(digits)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON's")

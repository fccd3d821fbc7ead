"""save and load."""

from __future__ import annotations

import contextlib
import json
from reprlib import repr as short
from typing import Any, BinaryIO

import sklearn
from sklearn.base import BaseEstimator

import mercer
from mercer._persistence import json_text
from mercer._persistence.decode import Decoder
from mercer._persistence.encode import Encoder
from mercer._persistence.errors import FileFormatError
from mercer._persistence.file import ModelFile, PathLike, Source, called, open_source, write_target
from mercer._saved import may_be_alone
from mercer._versions import warn_of_other_versions

KEY = "mercer"  # of the structure among the metadata
FORMAT = "mercer-model"
VERSION = 1


def save(model: BaseEstimator, path: PathLike | BinaryIO, *, overwrite: bool = True) -> None:
    """Save a model to one file that holds data alone: arrays as safetensors, structure as JSON.

    The file is written beside `path`, brought to disk and then renamed: a reader sees the old file or the new one, whole, and
    an error leaves nothing behind.

    Parameters
    ----------
    model : estimator
        An estimator of Mercer's, fitted or not, or one of scikit-learn's whose state is data: pipelines, searches,
        vectorisers, encoders, decompositions, selectors, wrappers. Attributes of your own are stored with it if they are data.
        Search trees (`mercer.neighbors.KDTree`, `BallTree`) are stored too.
    path : str, os.PathLike or binary file
        The file; a link is followed. To an open file (anything with `write`) the bytes are written as they are.
    overwrite : bool, default=True
        Whether an existing file is replaced; FileExistsError otherwise.

    Raises
    ------
    TypeError
        Something in the model is not data, such as a function of the user's; the message says where it is and what else can
        be done. So does something that a reader would refuse, such as a parameter that is not valid.

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
    if not isinstance(model, BaseEstimator) and not may_be_alone(model):
        raise TypeError(f"model={model!r} cannot be saved; it must be an estimator (an instance).")
    encoder = _encoded(model)
    structure = {
        "format": FORMAT,
        "version": VERSION,
        "mercer": mercer.__version__,
        "scikit-learn": sklearn.__version__,
        "objects": encoder.objects,
    }
    # One entry: safetensors writes several in any order, and the same model is to give the same file.
    metadata = {KEY: json.dumps(structure, allow_nan=False, separators=(",", ":"))}
    write_target(path, encoder.tensors, metadata, overwrite=overwrite)


def load(path: Source, *, mmap: bool = False) -> Any:
    """Load a model that `save` wrote. Nothing in the file is executed, and nothing is imported by a name from it.

    Parameters
    ----------
    path : str, os.PathLike, bytes or binary file
        The file, its content, or an open file (anything with `read`), which is read to its end.
    mmap : bool, default=False
        Whether arrays are mapped from the file rather than read: loading takes no time and processes share the memory. The
        arrays are read only, so that `partial_fit` and warm starts may refuse them, and the file must not be changed in place
        (`save` never does; it makes a new one). Of bytes and open files, arrays are then views of the bytes.

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

    Warns
    -----
    mercer.VersionWarning
        Another version of Mercer or scikit-learn wrote the file.

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
    try:
        with open_source(path, is_mapped=mmap) as file:
            structure = _structure(file)
            model = Decoder(file).build(structure.get("objects"))
    except FileFormatError as error:
        raise FileFormatError(f"{called(path)}: {error}") from error
    versions = {name: structure.get(name) for name in ("mercer", "scikit-learn")}
    warn_of_other_versions(f"{called(path)} ({type(model).__name__})", versions)
    return model


def _encoded(model: BaseEstimator) -> Encoder:
    """The model as data, by the rules that a reader has: what would not load is not written."""
    encoder = Encoder()
    try:
        encoder.add(model)
    except TypeError as error:
        raise TypeError(f"{error} {_remedy(model)}") from error.__cause__
    return encoder


def _remedy(model: BaseEstimator) -> str:
    """What else can be done with a model that cannot be stored."""
    joblib = "joblib.dump stores any model, in a file that executes what is in it when it is loaded."
    best = getattr(model, "best_estimator_", None)
    if isinstance(best, BaseEstimator):
        with contextlib.suppress(TypeError):
            Encoder().add(best)
            return f"model.best_estimator_ can be stored by itself; {joblib}"
    return joblib


def _structure(file: ModelFile) -> dict[str, Any]:
    """What a file of ours and of a format version that is known says of its model."""
    if not isinstance(text := file.metadata.get(KEY), str):
        raise FileFormatError("it holds tensors (safetensors), but no model of Mercer's.")
    structure = json_text.parse(text, "its structure")
    if not isinstance(structure, dict) or structure.get("format") != FORMAT:
        raise FileFormatError("it holds tensors (safetensors), but no model of Mercer's.")
    if (version := structure.get("version")) is True or version != VERSION:
        raise FileFormatError(
            f"it has the format version {short(version)}, written by Mercer {short(structure.get('mercer'))}; this is Mercer "
            f"{mercer.__version__}, which reads version {VERSION}. Install the version of Mercer that wrote it, or a later one."
        )
    if unknown := structure.keys() - {"format", "version", "mercer", "scikit-learn", "objects"}:
        raise FileFormatError(f"the part {short(min(unknown))} of its structure is not known.")
    for name in ("mercer", "scikit-learn"):
        if not isinstance(structure.get(name), (str, type(None))) or len(structure.get(name) or "") > 100:
            raise FileFormatError(f"the version {short(structure[name])} of {name} is not the name of one.")
    return structure

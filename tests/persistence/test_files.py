"""Writing is whole or not at all, mapping maps, and names that are no files are refused."""

from __future__ import annotations

import bz2
import copy
import doctest
import gc
import gzip
import io
import lzma
import os
import pickle
import stat
import warnings
import zipfile
import zlib
from pathlib import Path

import joblib
import numpy as np
import pytest
import safetensors.numpy
from sklearn.exceptions import InconsistentVersionWarning

import mercer
import mercer._persistence.file as file_module
import mercer._persistence.models as models_module
from mercer.ensemble import RandomForestRegressor
from mercer.linear_model import Ridge
from mercer.neighbors import NearestNeighbors
from tests.common.cases import make_data
from tests.persistence.forging import forge, read


@pytest.fixture(scope="module")
def model():
    data = make_data(Ridge)
    return Ridge().fit(*data.args)


def only_file(folder):
    names = os.listdir(folder)
    assert len(names) == 1, names
    return names[0]


def test_an_existing_file_is_replaced_unless_told_otherwise(model, tmp_path):
    path = tmp_path / "model.mercer"
    mercer.save(Ridge(alpha=5.0), path)
    with pytest.raises(FileExistsError, match="give overwrite=True"):
        mercer.save(model, path, overwrite=False)
    assert mercer.load(path).alpha == 5.0
    mercer.save(model, path)
    assert mercer.load(path).alpha == 1.0
    assert only_file(tmp_path) == "model.mercer"


def test_a_new_file_may_be_asked_for(model, tmp_path):
    mercer.save(model, str(tmp_path / "model"), overwrite=False)
    assert mercer.load(str(tmp_path / "model")).alpha == 1.0


@pytest.mark.parametrize("step", ["save_file", "os.fsync", "os.replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "interrupted"])
def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(model, tmp_path, monkeypatch, step, error):
    path = tmp_path / "model.mercer"
    mercer.save(Ridge(alpha=5.0), path)

    def fail(*args, **kwargs):
        raise error

    owner = os if step.startswith("os.") else file_module
    with monkeypatch.context() as patch:
        patch.setattr(owner, step.removeprefix("os."), fail)
        with pytest.raises(type(error)):
            mercer.save(model, path)
    assert only_file(tmp_path) == "model.mercer"
    assert mercer.load(path).alpha == 5.0


def test_a_structure_that_no_reader_would_take_is_not_written(model, tmp_path, monkeypatch):
    monkeypatch.setattr(file_module, "MAX_HEADER", 100)
    with pytest.raises(ValueError, match="a file can hold 100"):
        mercer.save(model, tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_permissions_are_those_of_a_new_file_or_of_the_one_replaced(model, tmp_path):
    mask = os.umask(0o027)
    try:
        mercer.save(model, tmp_path / "model")
        assert stat.S_IMODE(os.stat(tmp_path / "model").st_mode) == 0o640
        os.chmod(tmp_path / "model", 0o600)
        mercer.save(model, tmp_path / "model")
        assert stat.S_IMODE(os.stat(tmp_path / "model").st_mode) == 0o600
    finally:
        os.umask(mask)


def test_a_link_is_followed(model, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "model")
    mercer.save(model, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert only_file(tmp_path / "folder") == "model"
    assert mercer.load(tmp_path / "link").alpha == 1.0


@pytest.mark.parametrize("path", ["", "a\0b"], ids=repr)
def test_what_names_no_file_is_refused(model, path):
    for action in (lambda: mercer.save(model, path), lambda: mercer.load(path)):
        with pytest.raises(ValueError, match="must be the name of a file"):
            action()


@pytest.mark.parametrize("path", [None, 3, 1.5], ids=repr)
def test_what_is_no_path_is_a_type_error(model, path):
    for action in (lambda: mercer.save(model, path), lambda: mercer.load(path)):
        with pytest.raises(TypeError):
            action()


def test_folders_pipes_and_missing_files_are_refused(model, tmp_path):
    with pytest.raises(IsADirectoryError):
        mercer.save(model, tmp_path)
    with pytest.raises(mercer.FileFormatError, match="not a regular file"):
        mercer.load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(mercer.FileFormatError, match="not a regular file"):
        mercer.load(tmp_path / "pipe")
    for missing in (tmp_path / "missing", tmp_path / "no" / "folder", "file:///etc/passwd", "https://example.org/model"):
        with pytest.raises(FileNotFoundError):
            mercer.load(missing)
    with pytest.raises(FileNotFoundError):
        mercer.save(model, tmp_path / "no" / "folder")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="loop"):
        mercer.load(tmp_path / "loop")


def test_the_examples_in_the_documentation_run():
    results = doctest.testmod(models_module)
    assert results.attempted >= 10
    assert results.failed == 0


# ---- open files and bytes


def content_of(model):
    file = io.BytesIO()
    mercer.save(model, file)
    return file.getvalue()


def test_an_open_file_gets_and_gives_the_same_bytes_as_a_path(model, tmp_path):
    mercer.save(model, tmp_path / "model")
    assert content_of(model) == (tmp_path / "model").read_bytes()
    for buffering in (0, -1):
        with open(tmp_path / "other", "wb", buffering=buffering) as file:
            file.write(b"before")
            mercer.save(model, file)
        with open(tmp_path / "other", "rb", buffering=buffering) as file:
            assert file.read(6) == b"before"
            np.testing.assert_array_equal(mercer.load(file).coef_, model.coef_)
    with gzip.open(tmp_path / "packed", "wb") as file:
        mercer.save(model, file)
    with gzip.open(tmp_path / "packed", "rb") as file:
        np.testing.assert_array_equal(mercer.load(file).coef_, model.coef_)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_are_loaded_and_mapped(model, kind):
    content = kind(content_of(model))
    loaded = mercer.load(content)
    loaded.coef_[...] = 0  # its own
    mapped = mercer.load(content, mmap=True)
    np.testing.assert_array_equal(mapped.coef_, model.coef_)
    assert not mapped.coef_.flags.writeable


def test_a_file_that_is_open_for_text_is_refused(model, tmp_path):
    with open(tmp_path / "model", "w") as file, pytest.raises(TypeError):
        mercer.save(model, file)
    with open(tmp_path / "model") as file, pytest.raises(TypeError, match="mode 'rb'"):
        mercer.load(file)


class Slow(io.RawIOBase):
    """Takes a few bytes at a time."""

    def __init__(self):
        self.content = b""

    def write(self, content):
        self.content += bytes(content[:100])
        return min(100, len(content))


def test_a_file_that_takes_a_part_gets_the_rest(model):
    file = Slow()
    mercer.save(model, file)
    assert file.content == content_of(model)


# ---- other formats


def compressed(module):
    return lambda model: module.compress(pickle.dumps(model))


def zipped(model):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("schema.json", "{}")
    return file.getvalue()


def dumped(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    return file.getvalue()


def array(model):
    file = io.BytesIO()
    np.save(file, model.coef_)
    return file.getvalue()


@pytest.mark.parametrize(
    ("write", "message"),
    [
        *((lambda model, protocol=protocol: pickle.dumps(model, protocol), "it is a pickle") for protocol in range(2, 6)),
        (dumped, "it is a pickle.*joblib"),
        *((compressed(module), "compressed by.*joblib") for module in (gzip, zlib, bz2, lzma)),
        (zipped, "it is a zip archive.*skops"),
        (array, "array of NumPy's"),
        (lambda model: safetensors.numpy.save({"a": np.zeros(3)}), "holds tensors .safetensors., but no model of Mercer's"),
        (lambda model: b'{"model": 1}', "it is a text"),
        (lambda model: b"", "it is empty"),
        (lambda model: content_of(model)[:-1], "cut short: 1 bytes of its tensors are missing"),
        (lambda model: content_of(model)[:50], "cut short: the header"),
        (lambda model: content_of(model) + b"x", "1 bytes follow"),
    ],
)
def test_a_file_of_another_format_is_named(model, write, message, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(write(model))
    for source in (path, path.read_bytes()):
        with pytest.raises(mercer.FileFormatError, match=message):
            mercer.load(source)


# ---- other versions


@pytest.mark.parametrize("name", ["mercer", "scikit-learn"])
def test_a_file_of_another_version_warns(model, name, tmp_path):
    mercer.save(model, tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mercer.load(tmp_path / "model")
    structure, tensors = read(tmp_path / "model")
    path = forge(tmp_path / "other", {**structure, name: "0.0.7"}, tensors)
    with pytest.warns(mercer.VersionWarning, match=rf"Ridge.*stored by {name} 0\.0\.7, and this is {name}") as caught:
        loaded = mercer.load(path)
    assert caught[0].filename == __file__
    assert issubclass(mercer.VersionWarning, InconsistentVersionWarning)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


def test_a_pickle_of_another_version_warns(model, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(mercer, "__version__", "0.0.7")
        content = pickle.dumps(model)
    with pytest.warns(mercer.VersionWarning, match=r"this Ridge was stored by mercer 0\.0\.7, and this is mercer"):
        loaded = pickle.loads(content)
    assert vars(loaded).keys() == vars(model).keys()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert vars(copied).keys() == vars(model).keys()


# ---- mapping


def mapped_ranges(path):
    lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(str(path))]
    return [tuple(int(end, 16) for end in line[0].split("-")) for line in lines]


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc to see what is mapped")
def test_mapped_arrays_lie_in_the_file_and_are_read_only(tmp_path):
    data = make_data(RandomForestRegressor, n_rows=500)
    model = RandomForestRegressor(10, random_state=0).fit(*data.args)
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model", mmap=True)
    ranges = mapped_ranges(tmp_path / "model")
    for array in (loaded._trees.values, loaded._trees.impurity, loaded._leaf_rows.rows):
        assert any(begin <= array.ctypes.data < end for begin, end in ranges)
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    np.testing.assert_array_equal(loaded.predict(data.X), model.predict(data.X))


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc to see what is mapped")
@pytest.mark.parametrize(
    ("algorithm", "names"), [("kd_tree", ("points", "boxes")), ("ball_tree", ("points", "centres", "radii"))]
)
def test_mapped_search_trees_lie_in_the_file_as_long_as_they_are_needed(algorithm, names, tmp_path):
    X = make_data(NearestNeighbors, n_rows=500).X
    model = NearestNeighbors(algorithm=algorithm).fit(X)
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model", mmap=True)
    tree, ranges = loaded._search.index, mapped_ranges(tmp_path / "model")
    for name in names:
        assert any(begin <= getattr(tree, name).ctypes.data < end for begin, end in ranges), name
    copy = pickle.loads(pickle.dumps(loaded))
    del tree, loaded
    gc.collect()
    assert mapped_ranges(tmp_path / "model") == []
    for distances, wanted in zip(copy.kneighbors(X), model.kneighbors(X), strict=True):
        np.testing.assert_array_equal(distances, wanted)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc to see what is mapped")
def test_arrays_that_are_read_do_not_depend_on_the_file(model, tmp_path):
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    assert mapped_ranges(tmp_path / "model") == []
    loaded.coef_[...] = 0  # writeable, and the file keeps what it has
    np.testing.assert_array_equal(mercer.load(tmp_path / "model").coef_, model.coef_)


def test_a_mapped_model_survives_the_file_it_came_from_and_can_be_saved_over_it(tmp_path):
    data = make_data(Ridge)
    model = Ridge().fit(*data.args)
    path = tmp_path / "model"
    mercer.save(model, path)
    loaded = mercer.load(path, mmap=True)
    mercer.save(loaded, path)
    path.unlink()
    np.testing.assert_array_equal(loaded.predict(data.X), model.predict(data.X))
    assert loaded.fit(*data.args).coef_.flags.writeable

"""Writing is whole or not at all, mapping maps, and names that are no files are refused."""

from __future__ import annotations

import doctest
import os
import stat
from pathlib import Path

import numpy as np
import pytest

import mercer
import mercer._persistence.file as file_module
import mercer._persistence.models as models_module
from mercer.ensemble import RandomForestRegressor
from mercer.linear_model import Ridge
from tests.common.cases import make_data


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


@pytest.mark.parametrize("path", ["", "a\0b", b"bytes"], ids=repr)
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

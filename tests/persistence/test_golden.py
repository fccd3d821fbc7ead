"""Files of every release load in this version, and the models say what they said."""

from __future__ import annotations

import numpy as np
import pytest

import mercer
from tests.common.state import outputs
from tests.persistence.make_golden import FOLDER, main, models

FILES = sorted(FOLDER.glob("*/*.mercer"))


@pytest.mark.parametrize("mmap", [False, True], ids=["read", "mapped"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_a_release_loads_and_predicts_what_it_did(path, mmap):
    model = mercer.load(path, mmap=mmap)
    with np.load(path.with_suffix(".npz")) as expected:
        answers = outputs(model, expected["X"])
        assert answers.keys() == set(expected) - {"X"}
        for name, answer in answers.items():
            if np.asarray(answer).dtype.kind == "f":  # another processor may round in another way
                np.testing.assert_allclose(answer, expected[name], rtol=1e-9, atol=1e-12)
            else:
                np.testing.assert_array_equal(answer, expected[name])


def test_there_are_files_of_many_models_and_they_are_small():
    assert len(FILES) >= 12
    for folder in {path.parent for path in FILES}:
        assert sum(path.stat().st_size for path in folder.iterdir()) < 300_000


def test_files_of_a_release_are_not_made_again():
    assert set(models()) >= {path.stem for path in FILES if path.parent.name == mercer.__version__}
    if (FOLDER / mercer.__version__).exists():
        with pytest.raises(SystemExit, match="never made again"):
            main()

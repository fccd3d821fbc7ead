"""Programs written for scikit-learn, of many kinds, print the same scores on Mercer."""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

import mercer
from tests.versions import against_scikit_learn_1_9

SCRIPTS = sorted((Path(__file__).parent / "gallery").glob("*.py"))

# Where draws are Mercer's own (forests), or bins (histogram boosting): as good, and not the same digits.
AS_GOOD = {"forest_importances": 0.03, "boosting_regression": 0.03}
ROUNDING = 2e-3  # a unit of the last digit that is printed

pytestmark = [against_scikit_learn_1_9, pytest.mark.filterwarnings("ignore")]


def _said(script):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), threadpool_limits(1):
        names = runpy.run_path(str(script))
    return out.getvalue().split(), names


def _number(word):
    try:
        return float(word)
    except ValueError:
        return None


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_program_prints_the_same_scores_under_the_patch(script):
    expected, before = _said(script)
    with mercer.patch_sklearn():
        found, after = _said(script)
    assert not any(getattr(thing, "__module__", "").startswith("mercer.") for thing in before.values())
    assert sum(getattr(thing, "__module__", "").startswith("mercer.") for thing in after.values())
    tolerance = AS_GOOD.get(script.stem, ROUNDING)
    assert len(found) == len(expected), (expected, found)
    for theirs, ours in zip(expected, found, strict=True):
        if (number := _number(theirs)) is None:
            assert ours == theirs
        else:
            assert _number(ours) == pytest.approx(number, abs=tolerance, rel=tolerance / 10), (expected, found)


def test_the_gallery_has_a_dozen_kinds():
    assert len(SCRIPTS) >= 12

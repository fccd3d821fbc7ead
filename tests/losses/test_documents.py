"""The table of losses and penalties says what the objects say, and its examples run."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import mercer.losses
import mercer.penalties
from mercer.losses import LOSSES
from mercer.penalties import PENALTIES

DOCUMENT = Path(__file__).parents[2] / "docs" / "losses.md"
MODULES = [
    f"mercer.{module}"
    for module in (
        *("losses", "losses._base", "losses._margin", "losses._residual", "losses._positive", "losses._multiclass"),
        *("penalties", "penalties._base", "penalties._elastic", "penalties._lp", "penalties._box", "penalties._group"),
    )
]


def row_of(cls):
    """The cells of a class's row in the document."""
    row = re.search(rf"^\| `{cls.__name__}` \| (.*) \|$", DOCUMENT.read_text(), flags=re.MULTILINE)
    assert row is not None, cls.__name__
    return [cell.strip() for cell in row.group(1).split("|")]


def is_yes(cell):
    assert cell in ("yes", "no")
    return cell == "yes"


def test_examples_of_the_document_give_what_they_show():
    results = doctest.testfile(str(DOCUMENT), module_relative=False)
    assert results.attempted >= 10
    assert results.failed == 0


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_the_docstrings_give_what_they_show(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.parametrize("cls", [*LOSSES.values(), *PENALTIES.values()], ids=lambda cls: cls.__name__)
def test_every_class_has_an_example_and_is_public(cls):
    assert any(test.examples for test in doctest.DocTestFinder(recurse=False).find(cls))
    assert cls.__name__ in (*mercer.losses.__all__, *mercer.penalties.__all__)
    assert all(field.name in cls.__doc__ for field in dataclasses.fields(cls))


@pytest.mark.parametrize("cls", LOSSES.values(), ids=lambda cls: cls.__name__)
def test_the_table_says_what_a_loss_says(cls):
    loss = cls()
    names, _, convex, smooth, robust, lipschitz, derivative, _, estimates = row_of(cls)
    assert names == ", ".join(f'`"{name}"`' for name in (loss.name, *loss.aliases))
    if cls.__name__ == "Tweedie":
        assert convex == "1 <= p <= 2"
    else:
        assert is_yes(convex) == loss.is_convex
    assert (is_yes(smooth), is_yes(robust)) == (loss.is_smooth, loss.is_robust)
    known = {"inf": np.inf, "sqrt": np.sqrt, "log": np.log, "max": max, **dataclasses.asdict(loss)}
    assert eval(lipschitz, known) == pytest.approx(loss.lipschitz)
    assert eval(derivative, known) == pytest.approx(loss.derivative_lipschitz)
    assert estimates == loss.estimates


@pytest.mark.parametrize("cls", LOSSES.values(), ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("raw", [-2.6, -0.4, 0.05, 0.8, 3.1])
def test_the_formula_in_the_table_is_the_loss(cls, raw):
    loss, y = cls(), 1
    if loss.kind == "multiclass":
        raw = np.array([0.3, raw, -1.0])
    known = {"m": y * raw, "r": raw - y, "y": y, "raw": raw, "p": getattr(loss, "power", None), **dataclasses.asdict(loss)}
    known |= {"exp": np.exp, "log": np.log, "cosh": np.cosh}
    assert loss.value(y, raw) == pytest.approx(eval(row_of(cls)[1].strip("`"), known))


@pytest.mark.parametrize("cls", PENALTIES.values(), ids=lambda cls: cls.__name__)
def test_the_table_says_what_a_penalty_says(cls):
    penalty = cls()
    names, _, convex, smooth, _, _ = row_of(cls)
    assert names == ", ".join(f'`"{name}"`' for name in (penalty.name, *penalty.aliases))
    assert (is_yes(convex), is_yes(smooth)) == (penalty.is_convex, penalty.is_smooth)

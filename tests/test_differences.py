"""`docs/differences.md` lists every difference from scikit-learn's signatures, and none that is gone."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mercer._patching._agreement import Difference, difference, has_signature
from tests.common.discovery import public_objects
from tests.versions import against_scikit_learn_1_9

PAGE = Path(__file__).parent.parent / "docs" / "differences.md"
pytestmark = against_scikit_learn_1_9


def peers() -> Iterator[tuple[str, Any, Any]]:
    """Mercer's classes and functions with those of scikit-learn that have the same name in the same module."""
    for full_name, own in public_objects().items():
        module, _, name = full_name.rpartition(".")
        try:
            peer = getattr(importlib.import_module(module.replace("mercer", "sklearn", 1)), name, None)
        except ModuleNotFoundError:
            continue
        if peer is not None and has_signature(peer):
            yield full_name, own, peer


def signature_differences() -> dict[str, Difference]:
    found = {name: difference(own, peer) for name, own, peer in peers()}
    return {name: each for name, each in found.items() if any(each)}


def listed() -> dict[str, Difference]:
    """The table of parameters on the page, by the last part of a name."""
    section = PAGE.read_text().partition("\n## Parameters\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    named = lambda cell: re.findall(r"`(\w+)`", cell)  # noqa: E731
    return {name: Difference(*(frozenset(named(cell)) for cell in cells)) for names, *cells in rows for name in named(names)}


def test_the_page_lists_every_difference_of_a_signature():
    page, found = listed(), signature_differences()
    for full_name, each in found.items():
        name = full_name.rpartition(".")[2]
        assert name in page, f"docs/differences.md, Parameters: no row for {full_name}: {each}"
        assert page[name] == each, f"docs/differences.md, Parameters: {full_name} differs by {each}"
    known = {full_name.rpartition(".")[2] for full_name in found}
    assert set(page) <= known, f"docs/differences.md, Parameters: no difference is left of {set(page) - known}"


def test_every_name_on_the_page_is_one_of_mercer():
    first_cells = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    public = {name.rpartition(".")[2] for name in public_objects()}
    classes = {name for cell in first_cells for name in re.findall(r"`([A-Z]\w+)[`(]", cell)}
    assert classes
    assert classes <= public

"""The code in the documents runs and says what they claim."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.common.discovery import public_modules

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("document", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.stem)
def test_examples_of_the_documents_give_what_they_show(document):
    results = doctest.testfile(str(document), module_relative=False)
    assert results.attempted >= 5
    assert results.failed == 0


def test_example_of_the_readme_runs(capsys):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert example is not None
    exec(compile(example.group(1), "README.md", "exec"), {})
    assert "Certificate: converged" in capsys.readouterr().out


def test_every_public_name_has_a_row_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    for module in public_modules():
        for name in module.__all__:
            if not getattr(getattr(module, name), "__module__", "mercer").startswith("mercer"):
                continue  # passed on from scikit-learn, as a row says
            assert re.search(rf"\b{name}\b", readme) or name == "ElbowCurve", f"{module.__name__}.{name}"

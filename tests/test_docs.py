"""The code in the documents runs and says what they claim."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_examples_of_the_guide_give_what_they_show():
    results = doctest.testfile(str(ROOT / "docs" / "guide.md"), module_relative=False)
    assert results.attempted >= 5
    assert results.failed == 0


def test_example_of_the_readme_runs(capsys):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert example is not None
    exec(compile(example.group(1), "README.md", "exec"), {})
    assert "Certificate: converged" in capsys.readouterr().out


def test_every_public_name_has_a_row_in_the_readme():
    import mercer

    readme = (ROOT / "README.md").read_text()
    for module in ("cluster", "linear_model", "preprocessing", "plots"):
        for name in getattr(mercer, module).__all__:
            assert name in readme or name == "ElbowCurve", f"{module}.{name}"

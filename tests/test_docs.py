"""The code in the documents runs and says what they claim."""

from __future__ import annotations

import doctest
import io
import json
import multiprocessing
import re
import runpy
from pathlib import Path

import pytest

from mercer._exports import own_names
from tests.common.discovery import public_modules

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("document", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.stem)
def test_examples_of_the_documents_give_what_they_show(document):
    results = doctest.testfile(str(document), module_relative=False)
    assert results.attempted >= 5
    assert results.failed == 0


def write_scripts(document: Path, folder: Path) -> None:
    """The scripts of a document: blocks of code whose first line is a comment with their name."""
    for name, code in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", document.read_text(), flags=re.DOTALL):
        (folder / name).write_text(code)


@pytest.fixture
def production(tmp_path, monkeypatch):
    write_scripts(ROOT / "docs" / "production.md", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def post(app, rows):
    """What the server answers."""
    body = json.dumps(rows).encode()
    statuses = []
    answer = app({"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}, lambda status, _: statuses.append(status))
    return statuses[0], json.loads(b"".join(answer))


def test_the_nightly_job_replaces_a_model_that_is_good_enough_and_no_other(production, monkeypatch, capsys):
    monkeypatch.setenv("LEAST_ACCURACY", "1.01")
    with pytest.raises(SystemExit, match=r"not replaced: the accuracy 0\.9\d\d is below 1\.01"):
        runpy.run_path("retrain.py")
    assert not (production / "model.mercer").exists()
    monkeypatch.delenv("LEAST_ACCURACY")
    for _ in range(3):
        runpy.run_path("retrain.py")
        assert capsys.readouterr().out.startswith("replaced: accuracy 0.9")
    assert sorted(path.name for path in production.glob("model*")) == ["model.mercer", "model.mercer.previous"]


def test_the_server_answers_before_and_after_a_fork_and_takes_a_new_model(production):
    import mercer
    from mercer.linear_model import Ridge

    mercer.save(Ridge(alpha=1e-9).fit([[0.0], [1.0]], [0.0, 1.0]), "model.mercer")
    app = runpy.run_path("serve.py")["app"]
    assert post(app, [[2.0]]) == ("200 OK", [pytest.approx(2.0)])
    status, answer = post(app, [[1.0, 2.0]])
    assert status == "400 Bad Request"
    assert "2 features" in answer["error"]
    fork = multiprocessing.get_context("fork")
    answers = fork.SimpleQueue()
    worker = fork.Process(target=lambda: answers.put(post(app, [[3.0]])))
    worker.start()
    worker.join(60)
    assert worker.exitcode == 0
    assert answers.get() == ("200 OK", [pytest.approx(3.0)])
    mercer.save(Ridge(alpha=1e-9).fit([[0.0], [1.0]], [1.0, 0.0]), "model.mercer")
    assert post(app, [[2.0]]) == ("200 OK", [pytest.approx(-1.0)])


def test_example_of_the_readme_runs(capsys):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert example is not None
    exec(compile(example.group(1), "README.md", "exec"), {})
    assert "Certificate: converged" in capsys.readouterr().out


def test_every_public_name_has_a_row_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    for module in public_modules():
        for name in own_names(module):
            assert re.search(rf"\b{name}\b", readme) or name == "ElbowCurve", f"{module.__name__}.{name}"

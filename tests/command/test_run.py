"""`mercer run`: a program as Python runs it, on Mercer."""

from __future__ import annotations

import signal
import time

import pytest

from tests.command.driver import run, start

SCRIPT = """\
import pickle, sys
from sklearn.linear_model import Ridge
import helper

class Mine(Ridge):
    pass

def fail():
    raise ValueError("boom")

if __name__ == "__main__":
    print(Ridge.__module__.partition(".")[0], __file__, sys.argv, helper.WORD, sep="|")
    assert type(pickle.loads(pickle.dumps(Mine()))) is Mine
    assert sys.modules["__main__"].fail is fail
    if "fail" in sys.argv:
        fail()
    if "exit" in sys.argv:
        sys.exit(7)
    if "word" in sys.argv:
        sys.exit("gave up")
"""


LONG = """\
import atexit, time
word = "goodbye"
atexit.register(lambda: print(word))
print("here", flush=True)
time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path):
    """A script, a package with the same as a module and as its main part, and what they import."""
    (tmp_path / "inner").mkdir()
    for path in ("script.py", "package/module.py", "package/__main__.py", "inner/script.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(SCRIPT)
    (tmp_path / "package/__init__.py").write_text("")
    for path in ("helper.py", "inner/helper.py", "package/helper.py"):
        (tmp_path / path).write_text(f"WORD = {path!r}")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "file", "helper"),
    [
        (("script.py",), "script.py", "helper.py"),
        (("inner/script.py",), "inner/script.py", "inner/helper.py"),
        (("-m", "package.module"), "package/module.py", "helper.py"),
        (("-mpackage",), "package/__main__.py", "helper.py"),
    ],
)
def test_a_program_sees_what_it_would_see_and_mercers_classes(folder, words, file, helper):
    said = run("run", *words, "a", "--help", "--", "-m", "b", cwd=folder)
    assert said.returncode == 0, said.stderr
    library, path, arguments, word = said.stdout.rstrip().split("|")
    name = str(folder / file) if words[0].startswith("-m") else words[0]
    assert (library, path, word) == ("mercer", str(folder / file), helper)
    assert arguments == str([name, "a", "--help", "--", "-m", "b"])


def test_a_folder_with_a_main_part_is_a_program(folder):
    said = run("run", "package", "x", cwd=folder)
    assert said.returncode == 0, said.stderr
    assert said.stdout.split("|")[2:] == ["['package', 'x']", "package/helper.py\n"]


@pytest.mark.parametrize("words", [("script.py",), ("-m", "package.module")])
def test_a_traceback_begins_in_the_program(folder, words):
    said = run("run", *words, "fail", cwd=folder)
    assert said.returncode == 1
    lines = said.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert str(folder) in lines[1]
    assert lines[-1] == "ValueError: boom"
    assert "mercer/_command" not in said.stderr
    assert "runpy" not in said.stderr


def test_exit_codes_are_those_of_the_program(folder):
    assert run("run", "script.py", "exit", cwd=folder).returncode == 7
    said = run("run", "script.py", "word", cwd=folder)
    assert (said.returncode, said.stderr) == (1, "gave up\n")
    (folder / "wrong.py").write_text("def f(:\n")
    said = run("run", "wrong.py", cwd=folder)
    assert said.returncode == 1
    assert said.stderr.startswith(f'  File "{folder / "wrong.py"}", line 1')
    (folder / "hook.py").write_text("import sys\nsys.excepthook = lambda kind, *_: print(kind.__name__)\n1 / 0\n")
    assert run("run", "hook.py", cwd=folder).stdout == "ZeroDivisionError\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("missing.py",), "missing.py: there is no such file."),
        (("-m", "missing.module"), "there is no module named missing.module."),
        (("-m",), "-m: the name of a module is missing."),
        (("-u", "script.py"), "python -u -m mercer run"),
        (("inner",), "can't find '__main__' module in 'inner'"),
    ],
)
def test_what_cannot_be_run_is_said(folder, words, message):
    said = run("run", *words, cwd=folder)
    assert said.returncode in (1, 2)
    assert message in said.stderr
    assert "mercer/_command" not in said.stderr


def test_help_names_the_script_and_no_program_is_an_error(folder):
    assert "SCRIPT|-m MODULE" in run("run", "--help", cwd=folder).stdout
    assert run("run", cwd=folder).returncode == 2


def test_an_import_error_inside_a_module_is_the_modules_own(folder):
    (folder / "package/broken.py").write_text("import nothing_of_the_kind")
    said = run("run", "-m", "package.broken", cwd=folder)
    assert said.returncode == 1
    assert said.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'nothing_of_the_kind'"


def test_installed_packages_are_named_to_run_on_mercer_too(folder):
    assert run("run", "--also", "somebody", "script.py", cwd=folder).returncode == 0
    said = run("run", "--also", "some.body", "script.py", cwd=folder)
    assert (said.returncode, said.stderr) == (2, "mercer: --also some.body: it must be the name of a package.\n")


def test_ctrl_c_ends_the_program_as_python_would(folder):
    (folder / "long.py").write_text(LONG)
    process = start("run", "long.py", cwd=folder)
    assert process.stdout.readline() == "here\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    last, errors = process.communicate(timeout=60)
    assert last == "goodbye\n"  # what is left to run at exit finds the names of the program
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert "_command" not in errors


def test_processes_of_a_program_start_again_from_its_script(folder):
    (folder / "spawn.py").write_text("""\
import multiprocessing
from sklearn.linear_model import Ridge

def fit(model):
    return type(model.fit([[0.0], [1.0]], [0.0, 1.0])).__module__

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(*pool.map(fit, [Ridge()]))
""")
    said = run("run", "spawn.py", cwd=folder)
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("mercer.linear_model.")

"""The package as a whole: what importing it costs, what it may import, and that its parameters are the peer's."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mercer
from mercer._exports import own_names
from tests.common.cases import ESTIMATORS
from tests.common.discovery import peer_of, public_modules

SOURCE = Path(mercer.__file__).parent
NATIVE = Path(__file__).parents[1] / "native"


def _modules_after(code):
    """The names of the modules that are loaded after some code in a fresh interpreter."""
    command = [sys.executable, "-c", f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"]
    return set(json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout))


# Reads statements, and says what is loaded after each alone. What every one of them loads is there before it forks for each.
EACH_ALONE = """
import json, os, sys
import sklearn.base
for statement in json.loads(sys.argv[1]):
    if (child := os.fork()) == 0:
        exec(statement)
        print(json.dumps(sorted(sys.modules)), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, statement
"""


@functools.cache
def _modules_after_first_of_families():
    """{(package, family): names of modules that are loaded after the first estimator of the family}."""
    wanted = {
        (package, family): f"from {package}.{family} import {name}"
        for family, name in FIRST_OF_FAMILY.items()
        for package in ("mercer", "sklearn")
    }
    command = [sys.executable, "-c", EACH_ALONE, json.dumps(list(wanted.values()))]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    return dict(zip(wanted, map(set, map(json.loads, said.splitlines())), strict=True))


def test_import_mercer_imports_nothing_heavy():
    loaded = _modules_after("import mercer") - _modules_after("import importlib, typing")
    assert {name for name in loaded if name.startswith("mercer")} == {"mercer", "mercer._exports"}
    assert not {name.partition(".")[0] for name in loaded} & {"numpy", "scipy", "sklearn", "threadpoolctl", "joblib"}


def test_import_mercer_costs_no_more_than_sklearn_base():
    assert _modules_after("import mercer") - {"mercer", "mercer._exports"} <= _modules_after("import sklearn.base")


def test_no_estimator_loads_a_plotting_or_data_frame_library():
    loaded = _modules_after("import mercer.cluster") - _modules_after("import sklearn.cluster")
    assert not {name.partition(".")[0] for name in loaded} & {"matplotlib", "pandas", "polars", "pytest"}


def test_public_names_are_listed_and_load_when_first_used():
    assert set(dir(mercer)) == set(mercer.__all__)
    for module in public_modules():
        assert sys.modules[module.__name__] is module
        name = module.__name__.split(".")[1]
        assert name in mercer.__all__, f"mercer/__init__.py does not list {name}"
        assert getattr(mercer, name) is sys.modules[f"mercer.{name}"]
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = mercer.nonsense


def test_public_modules_list_what_they_have():
    for module in public_modules():
        assert module.__doc__, module.__name__
        assert list(module.__all__) == sorted(module.__all__), module.__name__
        assert set(own_names(module)) <= set(module.__all__)
        for name in own_names(module):
            assert getattr(module, name).__doc__, f"{module.__name__}.{name}"


FIRST_OF_FAMILY = {
    "calibration": "CalibratedClassifierCV",
    "cluster": "KMeans",
    "ensemble": "HistGradientBoostingClassifier",
    "linear_model": "LogisticRegressionCV",
    "metrics": "accuracy_score",
    "preprocessing": "StandardScaler",
    "svm": "LinearSVC",
    "tree": "DecisionTreeClassifier",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("family", FIRST_OF_FAMILY)
def test_a_family_loads_less_of_scikit_learn_than_its_peer(family):
    """The bulk of an import is what it loads of other packages; `sklearn.base` is what any estimator needs."""
    loaded = _modules_after_first_of_families()
    ours, theirs = loaded["mercer", family], loaded["sklearn", family]
    extra = {module for module in ours - theirs if not module.startswith("mercer")}
    assert not extra
    heavy = {"sklearn.metrics", "sklearn.model_selection", "sklearn.callback", "sklearn.linear_model", "sklearn.preprocessing"}
    assert not heavy & ours


# ---- the source


@functools.cache
def _nodes(path):
    """The statements and calls of a file."""
    kinds = (ast.Import, ast.ImportFrom, ast.Call)
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)]


def _imports(path):
    """Every dotted name that a file imports, with its line."""
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def _python_files():
    return sorted(SOURCE.rglob("*.py"))


def test_there_is_source_to_read():
    assert SOURCE / "_trace.py" in _python_files()
    assert ("sklearn.exceptions.ConvergenceWarning", 14) not in list(_imports(SOURCE / "_params.py"))
    assert any(name == "sklearn.exceptions.ConvergenceWarning" for name, _ in _imports(SOURCE / "_base.py"))


def _place(path, line):
    return f"{path.relative_to(SOURCE)}:{line}"


def test_no_private_name_of_another_package_is_imported():
    private = [
        f"{_place(path, line)}: {name}"
        for path in _python_files()
        for name, line in _imports(path)
        if name.partition(".")[0] not in ("mercer", "__future__") and any(part.startswith("_") for part in name.split("."))
    ]
    assert not private


# What every family asks for neighbours, and by which way they are found.
SEARCH_ENGINE = ("mercer.neighbors._search.", "mercer.neighbors._measures.", "mercer.neighbors._algorithm.")


def _crosses(path, name):
    """Whether a file imports a private module of another family than its own."""
    package, *inside = name.split(".")
    parts = path.relative_to(SOURCE).parts
    family = parts[0] if len(parts) > 1 else None
    if package != "mercer" or len(inside) < 2 or inside[0].startswith("_") or inside[0] == family:
        return False
    return any(part.startswith("_") for part in inside[1:]) and not name.startswith(SEARCH_ENGINE)


def test_no_family_imports_a_private_module_of_another():
    files = [path for path in _python_files() if path.name != "__init__.py"]
    assert not [f"{_place(path, line)}: {name}" for path in files for name, line in _imports(path) if _crosses(path, name)]


def test_only_one_place_warns_and_nothing_prints():
    for path in _python_files():
        for node in _nodes(path):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called != "warnings.warn" or path.name == "_trace.py", _place(path, node.lineno)
                prints = path.name == "_show_versions.py" or "_command" in path.parts
                assert called != "print" or prints, _place(path, node.lineno)


needs_native_source = pytest.mark.skipif(not NATIVE.is_dir(), reason="the native source is not here")


def _native_files():
    return sorted([*NATIVE.rglob("*.hpp"), *NATIVE.rglob("*.cpp")])


def _code(path):
    """The text of a C++ file without its comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)


@needs_native_source
def test_nanobind_and_python_stay_in_the_bindings():
    outside = [path.name for path in _native_files() if path.parent.name != "bindings"]
    assert outside
    for path in _native_files():
        if path.parent.name != "bindings":
            assert not re.search(r"nanobind|\bnb::|Python\.h|\bPy[A-Z]\w+", _code(path)), path.name


def test_the_number_of_threads_is_asked_for_in_one_place():
    # `effective_threads` knows the share of a thread that works beside others; the kernels' own limit does not.
    users = [path.name for path in _python_files() if "kernels.get_num_threads(" in path.read_text()]
    assert users == ["_parallel.py"]


@needs_native_source
def test_there_is_no_openmp_and_threads_live_in_the_pool():
    cmake = NATIVE.parent / "CMakeLists.txt"
    assert "openmp" not in cmake.read_text().lower()
    for path in _native_files():
        assert not re.search(r"#\s*pragma\s+omp|omp\.h", _code(path)), path.name
        if path.stem != "parallel":
            assert not re.search(r"std::(thread|jthread|async|mutex|condition_variable)\b(?!_)", _code(path)), path.name


# ---- parameters


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_parameters_begin_with_the_peers_with_the_same_defaults(estimator):
    peer = peer_of(estimator)
    if peer is None:
        pytest.skip("scikit-learn has no class of this name")

    def parameters(cls, method):
        return {
            name: (parameter.kind, getattr(parameter.default, "__name__", parameter.default))  # functions are each one's own
            for name, parameter in inspect.signature(getattr(cls, method)).parameters.items()
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        }

    mine, theirs = parameters(estimator, "__init__"), parameters(peer, "__init__")
    theirs = {name: value for name, value in theirs.items() if value[1] != "deprecated" or name in mine}
    assert list(mine)[: len(theirs)] == list(theirs)
    assert {name: mine[name] for name in theirs} == theirs
    extra = list(mine)[len(theirs) :]
    assert all(mine[name][0] is inspect.Parameter.KEYWORD_ONLY for name in extra), f"{extra} must be keyword-only"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_public_methods_of_the_peer_exist_with_the_same_arguments(estimator):
    peer = peer_of(estimator)
    if peer is None:
        pytest.skip("scikit-learn has no class of this name")
    for name, method in inspect.getmembers(peer, callable):
        if name.startswith("_") or name == "set_callbacks" or name.endswith("_request"):  # requests follow from arguments
            continue
        assert hasattr(estimator, name), name
        if not inspect.isfunction(method) or name.startswith(("set_", "get_")):
            continue
        mine = {
            key: value
            for key, value in inspect.signature(getattr(estimator, name)).parameters.items()
            if value.kind is not inspect.Parameter.VAR_KEYWORD
        }
        # Arguments that the peer is about to drop may be missing, and those that it only hands on are.
        theirs = [
            key
            for key, value in inspect.signature(method).parameters.items()
            if key in mine or not isinstance(value.default, str) or value.default != "deprecated"
            if value.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        assert list(mine)[: len(theirs)] == theirs, name
        extra = list(mine)[len(theirs) :]
        is_added = [mine[key].kind is inspect.Parameter.KEYWORD_ONLY or mine[key].default is None for key in extra]
        assert all(is_added), f"{name}: {extra} must be keyword-only or optional"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_parameter_has_a_rule_and_every_rule_a_parameter(estimator):
    assert set(estimator._parameter_rules) == set(inspect.signature(estimator.__init__).parameters) - {"self"}


def test_a_module_gives_every_name_that_it_lists():
    # In a child: what is experimental in scikit-learn may have been enabled here, and is not given or listed before.
    code = (
        "from mercer import _discovery\n"
        "for module in _discovery.public_modules():\n"
        "    for name in module.__all__:\n"
        "        getattr(module, name)\n"
        "from mercer import model_selection\n"
        "assert 'HalvingGridSearchCV' not in dir(model_selection)\n"
        "import mercer.experimental.enable_halving_search_cv\n"
        "assert 'HalvingGridSearchCV' in dir(model_selection)\n"
        "model_selection.HalvingGridSearchCV\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)

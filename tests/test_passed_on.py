"""One word of an import: every public name of scikit-learn is Mercer's, passed on, or refused with the reason."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import pickle
import pkgutil
import subprocess
import sys
import types
import warnings
from pathlib import Path

import pytest
import sklearn

import mercer
from mercer import _discovery
from mercer._exports import NOT_PASSED_ON, _homes, own_names

SOURCE = Path(mercer.__file__).parent


def _modules_of_scikit_learn():
    """The path of every module of scikit-learn without an underscore, apart from those that are no part of its interface."""

    def walk(paths, prefix):
        for found in pkgutil.iter_modules(paths, prefix):
            if found.name.rpartition(".")[2].startswith("_") or found.name in NOT_PASSED_ON or found.name.endswith(".tests"):
                continue
            yield found.name.removeprefix("sklearn.")
            if found.ispkg:
                package = importlib.import_module(found.name)
                yield from walk(package.__path__, f"{found.name}.")

    return list(walk(sklearn.__path__, "sklearn."))


MODULES = [name for name in _modules_of_scikit_learn() if not name.startswith("experimental.")]


def _public_names(module):
    """What a module of scikit-learn lists, or all that it defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return listed
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", module.__name__).startswith("sklearn.")
        if not isinstance(value, types.ModuleType)
    ]


def test_there_are_modules_to_pass_on():
    assert {"pipeline", "base", "utils.validation", "feature_extraction.text", "metrics.pairwise"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_of_scikit_learn_is_here(name):
    ours, theirs = importlib.import_module(f"mercer.{name}"), importlib.import_module(f"sklearn.{name}")
    for public in _public_names(theirs):
        if public.startswith("_"):  # in a list of public names, and yet private
            with pytest.raises(AttributeError, match="private names of scikit-learn are not passed on"):
                getattr(ours, public)
            continue
        try:
            expected = getattr(theirs, public)
        except ImportError:  # experimental, and not enabled
            assert public not in dir(ours)
            with pytest.raises(ImportError, match="is experimental"):
                getattr(ours, public)
            continue
        if isinstance(expected, types.ModuleType):
            assert getattr(ours, public) is importlib.import_module(f"mercer.{name}.{public}")
        elif public in own_names(ours):
            assert getattr(ours, public).__module__.startswith("mercer."), public
        else:
            assert getattr(ours, public) is expected, public
        assert public in dir(ours) or not hasattr(theirs, "__all__"), public
    assert dir(ours) == sorted(ours.__all__)


def test_names_of_the_package_itself_are_here():
    for name in ("clone", "config_context", "get_config", "set_config"):
        assert getattr(mercer, name) is getattr(sklearn, name)
    assert mercer.show_versions.__module__.startswith("mercer.")
    assert {name.partition(".")[0] for name in MODULES} <= set(dir(mercer))


def test_statements_of_every_kind_work():
    code = """
import mercer.pipeline
from mercer.pipeline import Pipeline, make_pipeline
from mercer.feature_extraction.text import TfidfVectorizer
from mercer.utils import validation
from mercer.naive_bayes import *
import mercer.feature_extraction
assert mercer.feature_extraction.text.TfidfVectorizer is TfidfVectorizer
assert validation.check_array is mercer.utils.check_array
assert GaussianNB().fit([[0.0], [1.0]], [0, 1]).predict([[0.9]]) == 1
from mercer.linear_model import LogisticRegression, BayesianRidge
assert LogisticRegression.__module__.startswith("mercer.") and BayesianRidge.__module__.startswith("sklearn.")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_experimental_names_are_enabled_as_in_scikit_learn():
    code = """
for module, name in (("model_selection", "HalvingGridSearchCV"), ("impute", "IterativeImputer")):
    try:
        exec(f"from mercer.{module} import {name}")
    except ImportError as error:
        assert "is experimental" in str(error), error
    else:
        raise AssertionError(name)
import mercer.model_selection
assert "HalvingGridSearchCV" not in dir(mercer.model_selection)
from mercer.experimental import enable_halving_search_cv
import mercer.experimental.enable_iterative_imputer
from mercer.model_selection import HalvingGridSearchCV
from mercer.impute import IterativeImputer
assert "HalvingGridSearchCV" in dir(mercer.model_selection)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize(
    ("module", "name", "reason"),
    [
        ("utils", "_safe_indexing", "private names of scikit-learn are not passed on"),
        ("base", "np", "sklearn.base has a module of that name for its own use"),
        ("", "externals", "copies of other packages"),
        ("", "conftest", "own tests"),
        ("pipeline", "Nonsense", "no attribute 'Nonsense'"),
        ("linear_model", "__nonsense__", "no attribute '__nonsense__'"),
    ],
)
def test_what_is_refused_says_why(module, name, reason):
    path = f"mercer.{module}".rstrip(".")
    with pytest.raises(AttributeError, match=reason):
        getattr(importlib.import_module(path), name)


def test_a_module_that_this_scikit_learn_lacks_says_so(monkeypatch):
    from mercer._exports import exports

    monkeypatch.setitem(_homes, "mercer.absent", {})
    monkeypatch.setitem(sys.modules, "mercer.absent", types.ModuleType("mercer.absent"))
    get, names = exports("mercer.absent")
    with pytest.raises(ImportError, match=f"scikit-learn {sklearn.__version__} does not have it"):
        get("Thing")
    assert names() == []


def test_what_is_passed_on_pickles_and_shows_help():
    from mercer.pipeline import make_pipeline
    from mercer.preprocessing import StandardScaler

    model = pickle.loads(pickle.dumps(make_pipeline(StandardScaler())))
    assert isinstance(model.steps[0][1], StandardScaler)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        help(mercer.isotonic)
    assert "IsotonicRegression" in shown.getvalue()


def test_what_is_passed_on_is_not_taken_for_mercers_own():
    found = _discovery.public_estimators()
    assert "mercer.linear_model.Lasso" in found
    assert not [name for name, cls in found.items() if not cls.__module__.startswith("mercer.")]
    assert "mercer.linear_model.BayesianRidge" not in found
    code = """
from mercer._discovery import public_estimators
public_estimators()
import sklearn.model_selection
try:
    sklearn.model_selection.HalvingGridSearchCV
except ImportError:
    pass
else:
    raise AssertionError("looking for estimators has enabled experimental ones")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def _typed_imports(path):
    """What a module imports for type checkers: {name: module} of Mercer's own, and the modules that are passed on whole."""
    own, whole = {}, set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                for alias in statement.names:
                    if alias.name == "*":
                        whole.add(statement.module)
                    elif statement.module.startswith("mercer."):
                        own[alias.name] = statement.module
                        assert alias.asname == alias.name, f"{path}: {alias.name} is not exported"
    return own, whole


@pytest.mark.parametrize("path", MODULES)
def test_type_checkers_see_the_names_that_are_there(path):
    name = f"mercer.{path}"
    module = importlib.import_module(name)
    own, whole = _typed_imports(Path(module.__file__))
    homes = {public: importlib.util.resolve_name(home, name) for public, home in _homes[name].items()}
    assert own == homes
    assert f"sklearn.{path}" in whole
    assert module.__doc__


def test_type_checkers_see_the_modules_that_are_there():
    own, _ = _typed_imports(SOURCE / "__init__.py")
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "mercer"
        for alias in node.names
    }
    assert imported == {name.split(".")[1] for name in _discovery.public_module_names()}
    assert set(own) == set(_homes["mercer"])
    assert inspect.ismodule(mercer.pipeline)

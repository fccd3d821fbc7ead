"""scikit-learn's names under the patch: who is given what, and what stays as it is."""

from __future__ import annotations

import ast
import copy
import doctest
import importlib
import inspect
import io
import pickle
import subprocess
import sys
import sysconfig
import threading
import types
from pathlib import Path
from unittest import mock

import joblib
import numpy as np
import pytest
import sklearn
import sklearn.discriminant_analysis
import sklearn.ensemble
import sklearn.linear_model
import sklearn.metrics.pairwise
import sklearn.naive_bayes
import sklearn.pipeline
import sklearn.svm
import sklearn.utils
from sklearn.linear_model import Ridge as RidgeFromBefore

import mercer
from mercer._patching import _switch
from mercer._patching._agreement import KEPT, reason_to_keep
from mercer._patching._replacements import REPLACEMENTS

SOURCE = Path(mercer.__file__).parent
X, Y = np.arange(20.0).reshape(10, 2) % 7, np.arange(10) % 2


@pytest.fixture
def patch():
    yield mercer.patch_sklearn()
    mercer.unpatch_sklearn()


@pytest.fixture(autouse=True)
def the_patch_is_off_before_and_after():
    assert not _switch.is_on()
    yield
    assert not _switch.is_on()


def is_mercers(found):
    return found.__module__.startswith("mercer.")


# ---- who is given what


def test_every_way_to_write_a_name_gives_mercers_object(patch):
    import sklearn.metrics.pairwise as pairwise
    from sklearn import naive_bayes
    from sklearn.cluster import KMeans
    from sklearn.naive_bayes import GaussianNB

    names = {}
    exec("from sklearn.discriminant_analysis import *", names)
    found = [KMeans, GaussianNB, naive_bayes.BernoulliNB, pairwise.rbf_kernel, sklearn.linear_model.Ridge]
    found += [names["LinearDiscriminantAnalysis"], getattr(sklearn.svm, "SVC")]  # noqa: B009
    assert all(map(is_mercers, found)), found
    assert sklearn.linear_model.Ridge is mercer.linear_model.Ridge


def test_without_the_patch_all_names_are_scikit_learns_again():
    before = {module: type(importlib.import_module(module)) for module in ("sklearn.svm", "sklearn.naive_bayes")}
    mercer.patch_sklearn()
    mercer.unpatch_sklearn()
    for module, name in REPLACEMENTS:
        assert not is_mercers(getattr(importlib.import_module(module), name)), name
    assert before == {module: type(importlib.import_module(module)) for module in before}
    assert set(before.values()) == {types.ModuleType}


def test_what_was_imported_before_stays_and_private_modules_stay(patch):
    from sklearn.linear_model._ridge import Ridge

    assert Ridge is RidgeFromBefore
    assert not is_mercers(Ridge)
    assert not isinstance(RidgeFromBefore(), sklearn.linear_model.Ridge)
    assert isinstance(sklearn.linear_model.Ridge(), sklearn.linear_model.Ridge)


def test_what_somebody_else_has_put_in_a_module_is_given(patch, monkeypatch):
    monkeypatch.setattr(sklearn.linear_model, "Ridge", "mine")
    assert sklearn.linear_model.Ridge == "mine"
    monkeypatch.undo()
    with mock.patch("sklearn.linear_model.Lasso", "theirs"):
        assert sklearn.linear_model.Lasso == "theirs"
    assert is_mercers(sklearn.linear_model.Lasso)


def test_names_that_mercer_does_not_have_stay(patch):
    assert not is_mercers(sklearn.linear_model.BayesianRidge)
    assert sklearn.linear_model.__name__ == "sklearn.linear_model"
    with pytest.raises(AttributeError, match=r"module 'sklearn\.linear_model' has no attribute 'Rigde'"):
        sklearn.linear_model.Rigde  # noqa: B018


def _imports_of_scikit_learn():
    """Every import of a name from scikit-learn in Mercer's source, in functions too, by the module where it stands."""
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "import sklearn" in text or "from sklearn" in text else ():
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sklearn":
                for alias in node.names:
                    yield module, node.module, alias.name


def test_what_mercer_imports_from_scikit_learn_is_scikit_learns_wherever_the_import_stands(patch):
    n_seen = 0
    for module, source, name in _imports_of_scikit_learn():
        if name == "*" or (source, name) not in REPLACEMENTS:
            continue
        names = {"__name__": module}
        exec(f"from {source} import {name}\nimport {source}\nattribute = {source}.{name}", names)
        assert not is_mercers(names[name]), f"{module}: {source}.{name}"
        assert names["attribute"] is names[name]
        n_seen += 1
    assert n_seen > 10
    names = {"__name__": "somebody.else"}
    exec("from sklearn.metrics import accuracy_score", names)
    assert is_mercers(names["accuracy_score"])


def test_mercer_that_is_imported_under_the_patch_is_the_same_mercer():
    code = """
import mercer
mercer.patch_sklearn()
import importlib, sys
from mercer import _discovery
from mercer._exports import own_names
names = [name for name in _discovery.public_module_names() if "experimental" not in name]
for module in map(importlib.import_module, names):
    peer = sys.modules.get("sklearn" + module.__name__.removeprefix("mercer"))
    for name in (set(module.__all__) & set(vars(peer) if peer else ())) - set(own_names(module)):
        found = getattr(module, name)
        assert found is vars(peer)[name] or found.__name__ == f"{module.__name__}.{name}", name
from mercer._patching._replacements import REPLACEMENTS
originals = {id(each.peer): each for each in REPLACEMENTS.values()}
own = {id(each.own): each for each in REPLACEMENTS.values() if each.own is not each.peer}
for name, module in list(sys.modules.items()):
    if name.partition(".")[0] == "sklearn" and ".tests" not in name:
        for key, value in list(vars(module).items()):
            assert id(value) not in own, f"{name}.{key} is Mercer's"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_scikit_learns_own_parts_are_its_own_under_the_patch(patch):
    from sklearn.ensemble._weight_boosting import AdaBoostClassifier

    names = {"__name__": "sklearn.ensemble._later"}
    exec("from sklearn.tree import DecisionTreeClassifier", names)
    assert not is_mercers(names["DecisionTreeClassifier"])
    ensemble = AdaBoostClassifier(n_estimators=2).fit(X, Y)
    assert type(ensemble.estimators_[0]).__module__ == "sklearn.tree._classes"
    assert sklearn.metrics.get_scorer("accuracy")(sklearn.linear_model.LogisticRegression().fit(X, Y), X, Y) <= 1


def test_the_list_of_all_estimators_has_those_that_the_names_stand_for(patch):
    found = dict(sklearn.utils.all_estimators())
    assert found["KMeans"] is mercer.cluster.KMeans
    assert found["GaussianNB"] is mercer.naive_bayes.GaussianNB
    assert not is_mercers(found["BayesianRidge"])
    mercer.unpatch_sklearn()
    theirs = dict(sklearn.utils.all_estimators())
    assert list(theirs) == list(found)
    assert not [name for name, cls in theirs.items() if is_mercers(cls)]


def test_clone_search_and_output_as_frames_work(patch):
    from sklearn.base import clone
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), Ridge())
    search = GridSearchCV(clone(model), {"ridge__alpha": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert is_mercers(type(search.best_estimator_))
    with sklearn.config_context(transform_output="pandas"):
        assert list(StandardScaler().fit_transform(X).columns) == ["x0", "x1"]


def _imported_by(file, package):
    """What code in a file of a package is given for a name."""
    names = {"__name__": f"{package}.part"}
    exec(
        compile("from sklearn.linear_model import Ridge\nfrom sklearn.naive_bayes import GaussianNB", str(file), "exec"), names
    )
    assert is_mercers(names["Ridge"]) is is_mercers(names["GaussianNB"])
    return names["Ridge"]


def test_installed_packages_and_python_itself_keep_scikit_learns_but_for_those_that_are_named(patch, tmp_path):
    installed = Path(sysconfig.get_path("purelib")) / "somebody" / "part.py"
    python = Path(sysconfig.get_path("stdlib")) / "statistics.py"
    assert is_mercers(_imported_by(tmp_path / "part.py", "mine"))
    assert is_mercers(_imported_by("<ipython-input-1>", "mine"))
    assert not is_mercers(_imported_by(installed, "somebody"))
    assert not is_mercers(_imported_by(python, "statistics"))
    with mercer.patch_sklearn("somebody", "else"):
        assert is_mercers(_imported_by(installed, "somebody"))
        assert not is_mercers(_imported_by(python, "statistics"))
    assert not is_mercers(_imported_by(installed, "somebody"))
    with pytest.raises(ValueError, match=r"packages='some\.body' is not valid"):
        mercer.patch_sklearn("some.body")


def test_a_package_that_inherits_from_private_parts_works():
    code = """
import mercer
mercer.patch_sklearn()
from imblearn.ensemble import BalancedRandomForestClassifier
from imblearn.over_sampling import SMOTE
from sklearn.datasets import make_classification
X, y = make_classification(80, weights=[0.8], random_state=0)
BalancedRandomForestClassifier(3).fit(X, y).predict(X)
SMOTE().fit_resample(X, y)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# ---- on and off


def test_contexts_nest_and_end_with_their_block():
    with mercer.patch_sklearn():
        with mercer.patch_sklearn():
            assert is_mercers(sklearn.linear_model.Ridge)
        assert is_mercers(sklearn.linear_model.Ridge)
    assert not is_mercers(sklearn.linear_model.Ridge)


def test_an_error_in_the_block_ends_the_patch_and_goes_on():
    with pytest.raises(ZeroDivisionError), mercer.patch_sklearn():
        _ = 1 / 0
    assert not _switch.is_on()


def test_a_block_does_not_end_what_was_on_before():
    mercer.patch_sklearn()
    mercer.patch_sklearn()
    with mercer.patch_sklearn() as patch:
        assert "are Mercer's" in repr(patch)
    assert is_mercers(sklearn.linear_model.Ridge)
    mercer.unpatch_sklearn()
    mercer.unpatch_sklearn()
    assert "are scikit-learn's" in repr(patch)


def test_to_switch_off_inside_a_block_is_final():
    with mercer.patch_sklearn():
        mercer.unpatch_sklearn()
        assert not is_mercers(sklearn.linear_model.Ridge)
    assert not _switch.is_on()


def test_blocks_of_two_threads_may_overlap():
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with mercer.patch_sklearn():
            inside.set()
            assert leave.wait(60)

    thread = threading.Thread(target=hold)
    with mercer.patch_sklearn():
        thread.start()
        assert inside.wait(60)
    assert is_mercers(sklearn.linear_model.Ridge)
    leave.set()
    thread.join()
    assert not _switch.is_on()


def test_threads_that_switch_and_look_at_once_see_one_library_or_the_other():
    seen, errors = set(), []

    def work():
        try:
            for _ in range(20):
                with mercer.patch_sklearn():
                    assert is_mercers(sklearn.linear_model.Ridge)
                seen.add(sklearn.linear_model.Ridge.__module__.partition(".")[0])
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert seen <= {"mercer", "sklearn"}


def test_an_error_while_switching_on_leaves_everything_off(monkeypatch):
    monkeypatch.setattr(_switch, "patched_class", mock.Mock(side_effect=[type("Odd", (types.ModuleType,), {}), MemoryError]))
    with pytest.raises(MemoryError):
        mercer.patch_sklearn()
    assert not _switch.is_on()
    assert {type(sys.modules[module]) for module, _ in REPLACEMENTS} == {types.ModuleType}


def test_a_module_whose_class_another_package_has_set_keeps_it_beneath(monkeypatch):
    other = type("Other", (types.ModuleType,), {"mark": "theirs"})
    sklearn.svm.__class__ = other
    try:
        with mercer.patch_sklearn():
            assert is_mercers(sklearn.svm.SVC)
            assert sklearn.svm.mark == "theirs"
        assert type(sklearn.svm) is other
    finally:
        sklearn.svm.__class__ = types.ModuleType


# ---- what agrees


def test_names_that_are_kept_are_shared_and_stay_scikit_learns(patch):
    for path, reason in KEPT.items():
        module, _, name = path.rpartition(".")
        assert (module, name) in REPLACEMENTS, path
        assert not is_mercers(getattr(importlib.import_module(module), name))
        assert mercer.patched().kept[path] == reason


def test_what_takes_less_or_otherwise_than_scikit_learns_is_not_given():
    def own(a, b=1, *, c=2): ...

    def same(a, b=1, *, c=2): ...

    own.__module__ = "mercer.x"
    assert reason_to_keep("sklearn.x.f", own, same) is None
    assert reason_to_keep("sklearn.x.f", own, lambda a, b=1: None) is None
    for other in (lambda a, b=1, *, c=2, d=3: None, lambda a, b=2: None, lambda b, a: None, lambda a, *, b=1: None):
        assert "signature differs" in reason_to_keep("sklearn.x.f", own, other)

    class Peer:
        def predict(self): ...

    class Own:
        __module__ = "mercer.x"

    assert reason_to_keep("sklearn.x.C", Own, Peer) == "Mercer's lacks predict"


# What scikit-learn's classes say that they take, and then fail with, or take for what no data can be.
TAKEN_IN_VAIN = {
    "metric='wminkowski'": "SciPy has no such distance any more",
    "metric='nan_euclidean'": "rows with NaN are refused, and of others it is the Euclidean distance",
    "max_iter=None": "the fit fails",
    "metric='pyfunc'": "it needs a function",
    "n_neighbors=None": "queries without a number fail",
    "radius=None": "queries without a radius fail",
}


def _named_values(constraints):
    """The single values that scikit-learn's declaration of a parameter has."""
    for each in constraints if isinstance(constraints, list) else ():
        options = getattr(each, "options", None)
        yield from sorted(options - getattr(each, "deprecated", set()), key=repr) if options else ()
        yield from [None] if each is None else [True, False] if isinstance(each, str) and each == "boolean" else []


def test_every_value_that_scikit_learns_parameters_name_is_taken():
    from mercer._params import _REFUSED

    mercer.patched()
    n_values = 0
    for replacement in REPLACEMENTS.values():
        rules = getattr(replacement.own, "_parameter_rules", {})
        if replacement.reason is None:
            for name, constraints in getattr(replacement.peer, "_parameter_constraints", {}).items():
                for value in _named_values(constraints) if name in rules else ():
                    is_taken = rules[name].accept(value) is not _REFUSED
                    assert is_taken or f"{name}={value!r}" in TAKEN_IN_VAIN, f"{replacement.path}({name}={value!r})"
                    n_values += 1
    assert n_values > 500


# ---- models in files and in other processes

PICKLERS = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "pickle in Python": lambda thing: pickle.loads(_by_python(thing)),
    "copy": copy.deepcopy,
}


def _by_python(thing):
    file = io.BytesIO()
    pickle._Pickler(file).dump(thing)
    return file.getvalue()


def _by_joblib(thing, folder):
    joblib.dump(thing, folder / "thing")
    return joblib.load(folder / "thing")


@pytest.mark.parametrize("copied", PICKLERS.values(), ids=PICKLERS)
def test_scikit_learns_own_objects_are_pickled_and_found_under_the_patch(copied, patch):
    mercer.patched()
    peers = [each.peer for each in REPLACEMENTS.values() if each.is_pickled_here]
    assert len(peers) > 30
    for peer in peers:
        assert copied(peer) is peer, peer
    theirs = sklearn.naive_bayes.__dict__["GaussianNB"]
    mine = sklearn.naive_bayes.GaussianNB
    for cls in (theirs, mine):
        assert type(copied(cls().fit(X, Y))) is cls


def test_files_of_joblib_hold_what_was_put_in(patch, tmp_path):
    theirs, mine = sklearn.naive_bayes.__dict__["GaussianNB"], sklearn.naive_bayes.GaussianNB
    for cls in (theirs, mine):
        assert type(_by_joblib(cls().fit(X, Y), tmp_path)) is cls


def test_a_model_of_the_patch_is_loaded_without_it(tmp_path):
    with mercer.patch_sklearn():
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    code = f"""
import pickle, sys
model = pickle.load(open({str(tmp_path / "model.pkl")!r}, "rb"))
print(type(model).__module__.partition(".")[0], *model.predict([[0.0, 1.0], [6.0, 6.0]]))
sys.modules.clear()
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True).stdout
    assert said.split() == ["mercer", *map(str, model.predict([[0.0, 1.0], [6.0, 6.0]]))]


def test_where_mercer_is_missing_the_error_names_it(tmp_path):
    with mercer.patch_sklearn():
        (tmp_path / "model.pkl").write_bytes(pickle.dumps(sklearn.linear_model.Ridge().fit(X, Y)))
    code = f"""
import pickle, sys
sys.modules["mercer"] = None
pickle.load(open({str(tmp_path / "model.pkl")!r}, "rb"))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert "ModuleNotFoundError" in run.stderr
    assert "mercer" in run.stderr.splitlines()[-1]


def _fitted(model):
    import sklearn.linear_model

    return model.fit(X, Y), sklearn.linear_model.Ridge.__module__


def test_workers_are_not_patched_and_fit_what_they_are_given(patch):
    models = joblib.Parallel(n_jobs=2)(joblib.delayed(_fitted)(sklearn.linear_model.Ridge(alpha)) for alpha in (0.1, 1.0))
    for model, module_there in models:
        assert type(model) is mercer.linear_model.Ridge
        assert module_there.startswith("sklearn.")
    expected = mercer.linear_model.Ridge(1.0).fit(X, Y).coef_
    np.testing.assert_array_equal(models[1][0].coef_, expected)


def test_the_example_in_the_docstring_runs():
    for function in (mercer.patch_sklearn, mercer.patched):
        runner = doctest.DocTestRunner()
        (test,) = doctest.DocTestFinder(recurse=False).find(function, globs={"__name__": "__main__"})
        runner.run(test)
        assert runner.failures == 0
    assert inspect.getdoc(mercer.unpatch_sklearn)

"""The names that files hold stay, each class says its own, and no two may be alike."""

from __future__ import annotations

import importlib
import subprocess
import sys
from enum import Enum

import pytest

from mercer._persistence.registry import registry
from mercer._saved import CLASSES, NAMES, saved

# As files of the first version have them. The right side changes where a class moves; the left side never does.
OF_FIRST_FILES = {
    "Certificate": "mercer._trace:Certificate",
    "Status": "mercer._trace:Status",
    "TreeStore": "mercer._trees.store:TreeStore",
    "Tree": "mercer._trees.store:Tree",
    "CategoryCoder": "mercer._trees.categories:CategoryCoder",
    "MultiwayTree": "mercer.tree._multiway:MultiwayTree",
    "Bags": "mercer.ensemble._forest.bags:Bags",
    "BagDraws": "mercer.ensemble._bagging.draws:BagDraws",
    "BagMembers": "mercer.ensemble._bagging.members:BagMembers",
    "BaggedTrees": "mercer.ensemble._bagging.trees:BaggedTrees",
    "IsolationDraw": "mercer.ensemble._forest.isolation_forest:_Draw",
    "LeafRows": "mercer.ensemble._forest.leaf_rows:LeafRows",
    "Risk": "mercer.ensemble._combination.risk:Risk",
    "boosting.Start": "mercer.ensemble._gradient_boosting.start:Start",
    "boosting.Objective": "mercer.ensemble._gradient_boosting.objectives:Objective",
    "boosting.SquaredObjective": "mercer.ensemble._gradient_boosting.objectives:SquaredObjective",
    "boosting.QuantileObjective": "mercer.ensemble._gradient_boosting.objectives:QuantileObjective",
    "boosting.AdaptiveHuber": "mercer.ensemble._gradient_boosting.objectives:AdaptiveHuber",
    "boosting.NewtonObjective": "mercer.ensemble._gradient_boosting.objectives:NewtonObjective",
    "boosting.SoftmaxObjective": "mercer.ensemble._gradient_boosting.objectives:SoftmaxObjective",
    "family.Normal": "mercer.linear_model._glm.families:Normal",
    "family.Bernoulli": "mercer.linear_model._glm.families:Bernoulli",
    "family.Tweedie": "mercer.linear_model._glm.families:Tweedie",
    "family.Poisson": "mercer.linear_model._glm.families:Poisson",
    "family.Gamma": "mercer.linear_model._glm.families:Gamma",
    "family.InverseGaussian": "mercer.linear_model._glm.families:InverseGaussian",
    "link.Identity": "mercer.linear_model._glm.links:Identity",
    "link.Log": "mercer.linear_model._glm.links:Log",
    "link.Logit": "mercer.linear_model._glm.links:Logit",
    "link.Probit": "mercer.linear_model._glm.links:Probit",
    "link.ComplementaryLogLog": "mercer.linear_model._glm.links:ComplementaryLogLog",
    "link.Inverse": "mercer.linear_model._glm.links:Inverse",
    "link.Sqrt": "mercer.linear_model._glm.links:Sqrt",
    "OnlineIterate": "mercer.linear_model._online.stochastic:Iterate",
    "GlmStatistics": "mercer.linear_model._glm.inference:GlmStatistics",
    "Likelihood": "mercer.linear_model._inference.wald:Likelihood",
    "LikelihoodSums": "mercer.linear_model._logistic.fit:LikelihoodSums",
    "LogisticStatistics": "mercer.linear_model._logistic.summary:Statistics",
    "RegressionStatistics": "mercer.linear_model._inference.summary:Statistics",
    "LeastSquaresSolution": "mercer.linear_model._least_squares.solvers:Solution",
    "mercer.calibration.CalibratedClassifier": "mercer.calibration._pairs:CalibratedClassifier",
    "mercer.calibration.IsotonicMap": "mercer._score_maps:IsotonicMap",
    "mercer.calibration.SigmoidMap": "mercer._score_maps:SigmoidMap",
    "mercer.calibration.TemperatureMap": "mercer._score_maps:TemperatureMap",
    "mercer.preprocessing.CategoryTreatment": "mercer.preprocessing._table.treatments:CategoryTreatment",
    "mercer.preprocessing.NumberTreatment": "mercer.preprocessing._table.treatments:NumberTreatment",
    "mercer.preprocessing.DateTreatment": "mercer.preprocessing._table.dates:DateTreatment",
    "mercer.preprocessing.TextTreatment": "mercer.preprocessing._table.text:TextTreatment",
    "mercer.preprocessing.Scale": "mercer.preprocessing._table.scale:Scale",
}


@pytest.mark.parametrize(("name", "place"), OF_FIRST_FILES.items(), ids=OF_FIRST_FILES)
def test_a_name_of_the_first_files_still_stands_for_its_class(name, place):
    module, _, attribute = place.partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    names = registry().enums if issubclass(kind, Enum) else registry().records
    assert name in names
    assert names[name] is kind
    assert names.name_of(kind) == name


def test_every_class_that_is_saved_was_named_on_purpose():
    """A new one is listed above once files of a release hold it."""
    assert set(OF_FIRST_FILES) <= {*registry().records, *registry().enums}
    assert {
        name: f"{kind.__module__}:{kind.__qualname__}" for name, kind in CLASSES.items() if name in OF_FIRST_FILES
    } == OF_FIRST_FILES
    assert all(NAMES[kind] == name for name, kind in CLASSES.items() if name in OF_FIRST_FILES)


def test_a_dataclass_that_does_not_name_itself_is_not_saved():
    from mercer.cluster._lloyd import Problem

    assert registry().records.name_of(Problem) is None
    assert "mercer.cluster.Problem" not in registry().records


def test_two_classes_of_one_name_are_an_error_and_one_that_is_imported_again_is_not(monkeypatch):
    monkeypatch.setattr("mercer._saved._classes", {})
    monkeypatch.setattr("mercer._saved._names", {})
    first = type("First", (), {"__module__": "mercer.somewhere"})
    assert saved("mercer.somewhere.Twin")(first) is first
    again = type("First", (), {"__module__": "mercer.somewhere"})
    assert saved("mercer.somewhere.Twin")(again) is again
    with pytest.raises(TypeError, match=r"mercer\.elsewhere\.Second is to be saved as 'mercer\.somewhere\.Twin', as"):
        saved("mercer.somewhere.Twin")(type("Second", (), {"__module__": "mercer.elsewhere"}))


def test_to_look_up_a_name_imports_no_other_family():
    program = (
        "import sys; from mercer._persistence.registry import registry; registry().records['mercer.calibration.SigmoidMap'];"
        "registry().records['family.Normal']; print([name for name in sys.modules if name.startswith('mercer.cluster.')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

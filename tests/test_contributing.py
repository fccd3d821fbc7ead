"""The estimator that CONTRIBUTING.md shows from start to end is one that works."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimators_overwrite_params, check_fit_idempotent, check_n_features_in

from mercer._params import InvalidParameterError

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text()


@pytest.fixture(scope="module")
def shown():
    (program,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    module = types.ModuleType("mercer_contributing")
    sys.modules[module.__name__] = module  # annotations and pickles look there
    exec(compile(program, "CONTRIBUTING.md", "exec"), vars(module))
    yield module
    del sys.modules[module.__name__]


def test_it_fits_predicts_and_says_what_it_reached(shown):
    random = np.random.RandomState(0)
    y = np.repeat(["a", "b", "c"], 30)
    X = random.randn(90, 2) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[np.repeat([0, 1, 2], 30)]
    model = shown.NearestMedian().fit(X, y)
    assert (model.predict(X) == y).mean() > 0.9
    assert model.certificate_.converged
    assert model.n_iter_ == len(model.history_)
    slopes = (X[:30] - model.medians_[0]) / np.linalg.norm(X[:30] - model.medians_[0], axis=1, keepdims=True)
    np.testing.assert_allclose(slopes.sum(axis=0), 0, atol=1e-3)  # the condition of the geometric median


def test_it_warns_once_refuses_wrong_parameters_and_passes_checks(shown):
    X, y = np.random.RandomState(0).randn(20, 2), np.arange(20) % 2
    with pytest.warns(ConvergenceWarning, match="NearestMedian: after max_iter=1 steps") as caught:
        shown.NearestMedian(max_iter=1).fit(X, y)
    assert len(caught) == 1
    with pytest.raises(InvalidParameterError, match="NearestMedian: tol=-1 is not valid"):
        shown.NearestMedian(tol=-1).fit(X, y)
    for check in (check_estimators_overwrite_params, check_fit_idempotent, check_n_features_in):
        check("NearestMedian", shown.NearestMedian())


def test_what_it_names_is_there():
    for name in re.findall(r"`(_\w+(?:/\w+)?\.py)`", TEXT):
        assert (Path(__file__).parent.parent / "src" / "mercer" / name).exists(), name

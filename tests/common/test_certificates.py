"""A certificate that says "converged" has reached its tolerance, whatever the data and wherever a fit is cut short."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier

from mercer._trace import Status
from tests.common.cases import make, make_data
from tests.common.discovery import all_estimators

N_ROWS = 60
SETTINGS = {
    "as it comes": {},
    "cut short": {"max_iter": 2},
    "strict": {"tol": 1e-14, "max_iter": 20},
    "lax": {"tol": 0.05},
}


def _table(kind, X, y, *, has_classes):
    """Other data than the suites': with noise, separable, large or small columns, repeated rows, or one informative column."""
    random = np.random.RandomState(1)
    if kind == "noise":
        return random.randn(*X.shape), y
    if kind == "separable" and has_classes:
        return X + 5 * np.asarray(y == np.asarray(y)[0], dtype=float)[:, None], y
    if kind == "scales":
        return X * 10.0 ** np.linspace(-4, 4, X.shape[1]), y
    return np.round(X), y


def _fitted(estimator, kind, params):
    data = make_data(estimator, N_ROWS)
    model = make(estimator)
    known = model.get_params(deep=False)
    model.set_params(**{name: value for name, value in params.items() if name in known})
    X = np.asarray(data.args[0])
    if not np.issubdtype(X.dtype, np.floating):
        return model.fit(*data.args)
    if len(data.args) == 1:
        return model.fit(_table(kind, X, None, has_classes=False)[0])
    return model.fit(*_table(kind, X, data.args[1], has_classes=is_classifier(model)), *data.args[2:])


CERTIFIED = [estimator for estimator in all_estimators() if "certificate_ :" in (estimator.__doc__ or "")]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("params", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("estimator", CERTIFIED, ids=lambda estimator: estimator.__name__)
def test_a_fit_that_says_converged_has_reached_its_tolerance(estimator, params):
    for kind in ("noise", "separable", "scales", "repeats"):
        certificate = _fitted(estimator, kind, params).certificate_
        if certificate.converged:
            assert certificate.residual <= certificate.tol, (kind, certificate)
            assert " > " not in repr(certificate)
        else:
            assert certificate.status is not Status.CONVERGED
        if certificate.gap is not None:
            assert certificate.gap >= 0, (kind, certificate)
            if certificate.converged:
                assert certificate.gap <= max(certificate.tol, 0.1 * abs(certificate.primal)), (kind, certificate)

"""The excess risk of a learner as estimation and approximation error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._jobs import run_jobs
from mercer._params import Integer, Null, NumberOfJobs, RandomState, check_value
from mercer._random import as_random_state
from mercer.theory._laws import ClassificationLaw, RegressionLaw


@dataclass(frozen=True)
class ExcessRisk:
    """R(h_S) - R* = (R(h_S) - R_H) + (R_H - R*).

    Attributes
    ----------
    risk : float
        The mean risk of fits to training sets.
    standard_error : float
        Of it, over training sets.
    best_in_class : float
        R_H: the risk of a fit to very many rows.
    bayes : float
        R*: the smallest risk of all.
    estimation, approximation : float
        The two parts of the excess.
    """

    risk: float
    standard_error: float
    best_in_class: float
    bayes: float

    @property
    def estimation(self) -> float:
        return self.risk - self.best_in_class

    @property
    def approximation(self) -> float:
        return self.best_in_class - self.bayes


def excess_risk(
    estimator: Any,
    law: RegressionLaw | ClassificationLaw,
    n_samples: int,
    *,
    n_rounds: int = 50,
    n_large: int = 20_000,
    n_test: int = 20_000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ExcessRisk:
    """Estimation and approximation error of a class of models under a known law.

    Parameters
    ----------
    estimator : estimator
        What it finds on `n_large` rows stands for the best of its class, which presumes that it finds that in the limit.
    law : RegressionLaw or ClassificationLaw
        With the squared loss, or the 0-1 loss.
    n_samples : int
        Rows of a training set.
    n_rounds : int, default=50
        How many training sets.
    n_large : int, default=20000
    n_test : int, default=20000
        Rows over which risks are averaged; given x, risks are the law's.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    ExcessRisk

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import LinearRegression
    >>> from mercer.theory import RegressionLaw, excess_risk
    >>> law = RegressionLaw(lambda random, n: random.uniform(-1, 1, size=(n, 1)), lambda X: X[:, 0] ** 2, noise=0.5)
    >>> found = excess_risk(LinearRegression(), law, 20, random_state=0)
    >>> round(found.bayes, 2), round(found.approximation, 2), found.estimation > 0  # 1/5 - 1/9 is 0.089
    (0.25, 0.09, True)

    References
    ----------
    S. Shalev-Shwartz and S. Ben-David, Understanding Machine Learning, Cambridge 2014, section 5.2.
    """
    owner = "excess_risk"
    n_samples, n_large, n_test = (
        check_value(owner, name, value, Integer(1))
        for name, value in (("n_samples", n_samples), ("n_large", n_large), ("n_test", n_test))
    )
    n_rounds = check_value(owner, "n_rounds", n_rounds, Integer(2))
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs() | Null())
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    X_test = law.draw_X(random, n_test)
    large = law.draw(n_large, random)
    samples = [law.draw(n_samples, random) for _ in range(n_rounds)]
    jobs = [partial(_risk, estimator, X, y, law, X_test) for X, y in (large, *samples)]
    with run_jobs(jobs, n_jobs) as results:
        best, *risks = results
    error = float(np.std(risks, ddof=1) / np.sqrt(n_rounds))
    return ExcessRisk(float(np.mean(risks)), error, best, _bayes_risk(law, X_test))


def _risk(estimator: Any, X: Any, y: Any, law: RegressionLaw | ClassificationLaw, X_test: Any) -> float:
    predictions = np.asarray(clone(estimator).fit(X, y).predict(X_test))
    if isinstance(law, RegressionLaw):
        return float(((predictions - law.mean(X_test)) ** 2 + law.noise_at(X_test) ** 2).mean())
    places = np.searchsorted(law.classes, predictions)
    return float((1 - law.shares(X_test)[np.arange(len(places)), places]).mean())


def _bayes_risk(law: RegressionLaw | ClassificationLaw, X_test: Any) -> float:
    return float((law.noise_at(X_test) ** 2).mean()) if isinstance(law, RegressionLaw) else law.bayes_error(X_test)

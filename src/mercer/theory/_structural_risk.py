"""Structural risk minimisation: of nested classes the one with the least empirical risk plus penalty."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils import column_or_1d

from mercer._params import Fittable, Function, Integer, InvalidParameterError, OneOf, RandomState, check_value, check_values
from mercer.theory._bound import CHANCE
from mercer.theory._classes import VC
from mercer.theory._complexities import EmpiricalRademacher
from mercer.theory._rademacher import rademacher_complexity
from mercer.theory._read_classes import dimension_of, tree_size
from mercer.theory._sample import DoesNotApply

Values = npt.NDArray[np.float64]
Penalty = Callable[[Any, Any, Any], float]  # of a fitted model, X and y


@dataclass(frozen=True, repr=False)
class StructuralRisk:
    """The whole curve of :func:`structural_risk_minimization`, and its choice.

    Attributes
    ----------
    labels : tuple of str
        The classes.
    risks : array of shape (n_classes,)
        Empirical risks.
    penalties : array of shape (n_classes,)
    totals : array of shape (n_classes,)
        Their sums.
    best_index : int
    best_estimator : fitted estimator
    penalty : str
    """

    labels: tuple[str, ...]
    risks: Values
    penalties: Values
    best_index: int
    best_estimator: Any
    penalty: str

    @property
    def totals(self) -> Values:
        return np.asarray(self.risks + self.penalties)

    def __repr__(self) -> str:
        lines = [f"StructuralRisk ({self.penalty}): risk + penalty"]
        for k, (label, risk, penalty) in enumerate(zip(self.labels, self.risks, self.penalties, strict=True)):
            lines.append(
                f"  {label}: {risk:.4g} + {penalty:.4g} = {risk + penalty:.4g}{'  <-' if k == self.best_index else ''}"
            )
        return "\n".join(lines)


def structural_risk_minimization(
    family: Sequence[Any],
    X: Any,
    y: Any,
    *,
    penalty: str | Penalty = "vc",
    sizes: Sequence[int] | None = None,
    labels: Sequence[str] | None = None,
    delta: float = 0.05,
    n_draws: int = 30,
    random_state: Any = None,
) -> StructuralRisk:
    r"""Choose among nested classes of models by the empirical risk plus a penalty for the size of the class.

    .. math:: \hat h = \arg\min_{h \in H_n, n} \hat R(h) + \mathrm{pen}(n, m)

    Parameters
    ----------
    family : sequence of estimators
        The smallest class first.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    penalty : {"vc", "rademacher", "aic", "bic", "mdl"} or callable, default="vc"
        - "vc" and "rademacher": classifiers of two classes. The risk is the share of errors, and the penalty the gap of `VC` or
          of `EmpiricalRademacher`, the n-th class having a share delta / (n (n + 1)): the total then bounds the risk of the
          choice with probability 1 - delta. Rademacher complexities are by fits to random signs.
        - "aic", "bic": the risk is minus twice the mean log-likelihood (of probabilities, or of normal errors), the penalty
          2 k / m or k ln(m) / m for k parameters.
        - "mdl": the same in bits a row, with k log2(m) / (2 m).
        - ``penalty(model, X, y)`` of a fitted model, beside the share of errors or the mean squared error.
    sizes : sequence of int or None, default=None
        VC dimensions, or numbers of parameters; None reads them off the fitted models (coefficients, splits of trees).
    labels : sequence of str or None, default=None
        Names of the classes.
    delta : float, default=0.05
    n_draws : int, default=30
        Of random signs.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    StructuralRisk
        :func:`mercer.plots.plot_structural_risk` draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import LinearRegression
    >>> from mercer.pipeline import make_pipeline
    >>> from mercer.preprocessing import PolynomialFeatures
    >>> from mercer.theory import structural_risk_minimization
    >>> random = np.random.RandomState(0)
    >>> X = random.uniform(-1, 1, size=(60, 1))
    >>> y = X[:, 0] ** 3 - X[:, 0] + 0.05 * random.normal(size=60)
    >>> family = [make_pipeline(PolynomialFeatures(d, include_bias=False), LinearRegression()) for d in range(1, 9)]
    >>> found = structural_risk_minimization(family, X, y, penalty="bic")
    >>> found.best_index + 1
    3

    References
    ----------
    V. Vapnik, The Nature of Statistical Learning Theory, Springer 1995, section 4.1.
    """
    owner = "structural_risk_minimization"
    family = check_values(owner, "family", list(family), Fittable())
    rule = OneOf("vc", "rademacher", "aic", "bic", "mdl") | Function()
    penalty = check_value(owner, "penalty", penalty, rule)
    delta = check_value(owner, "delta", delta, CHANCE)
    n_draws = check_value(owner, "n_draws", n_draws, Integer(2))
    random_state = check_value(owner, "random_state", random_state, RandomState())
    for name, given in (("sizes", sizes), ("labels", labels)):
        if given is not None and len(given) != len(family):
            raise InvalidParameterError(f"{owner}: {name} has {len(given)} entries for {len(family)} classes of models.")
    if sizes is not None:
        sizes = check_values(owner, "sizes", sizes, Integer(1))
    y = column_or_1d(y, warn=True)
    models = [clone(each).fit(X, y) for each in family]
    judge = _Judge(X, y, delta, n_draws, random_state)
    found = [judge(penalty, model, k, None if sizes is None else sizes[k]) for k, model in enumerate(models)]
    risks, penalties = np.array(found).T
    best = int((risks + penalties).argmin())
    names = tuple(labels) if labels is not None else tuple(str(k + 1) for k in range(len(family)))
    return StructuralRisk(names, risks, penalties, best, models[best], penalty if isinstance(penalty, str) else "own penalty")


@dataclass(frozen=True)
class _Judge:
    """Gives the risk and the penalty of a fitted model, the k-th of its family."""

    X: Any
    y: npt.NDArray[Any]
    delta: float
    n_draws: int
    random_state: Any

    def __call__(self, penalty: str | Penalty, model: Any, k: int, size: int | None) -> tuple[float, float]:
        if not isinstance(penalty, str):
            return self._plain_risk(model), float(penalty(model, self.X, self.y))
        if penalty in ("vc", "rademacher"):
            return self._bounded(penalty, model, k, size)
        m, n_parameters = len(self.y), _count_parameters(model) if size is None else size
        fit = -2 * self._log_likelihood(model)
        if penalty == "mdl":
            return fit / (2 * math.log(2)), n_parameters * math.log2(m) / (2 * m)
        return fit, n_parameters * (2 if penalty == "aic" else math.log(m)) / m

    def _plain_risk(self, model: Any) -> float:
        predicted = np.asarray(model.predict(self.X))
        return float((predicted != self.y).mean() if is_classifier(model) else ((predicted - self.y) ** 2).mean())

    def _bounded(self, penalty: str, model: Any, k: int, size: int | None) -> tuple[float, float]:
        if not is_classifier(model) or len(np.unique(self.y)) != 2:
            raise InvalidParameterError(
                f"structural_risk_minimization: penalty={penalty!r} is for classifiers of two classes; 'bic' is for others too."
            )
        risk, delta, m = self._plain_risk(model), self.delta / ((k + 1) * (k + 2)), len(self.y)
        if penalty == "vc":
            return risk, VC(m=m, delta=delta, risk=risk, dimension=_read_dimension(model) if size is None else size).gap
        of_models = rademacher_complexity(clone(model), self.X, n_draws=self.n_draws, random_state=self.random_state).value
        return risk, EmpiricalRademacher(m=m, delta=delta, risk=risk, complexity=max(of_models, 0.0) / 2).gap

    def _log_likelihood(self, model: Any) -> float:
        """The mean over rows; of normal errors with the variance that makes it largest."""
        if is_classifier(model):
            if not hasattr(model, "predict_proba"):
                raise InvalidParameterError(
                    f"structural_risk_minimization: {type(model).__name__} has no predict_proba, and so no likelihood."
                )
            places = np.searchsorted(model.classes_, self.y)
            shares = np.asarray(model.predict_proba(self.X))[np.arange(len(self.y)), places]
            return float(np.log(np.maximum(shares, np.finfo(np.float64).tiny)).mean())
        variance = max(self._plain_risk(model), np.finfo(np.float64).tiny)
        return -0.5 * (math.log(2 * math.pi * variance) + 1)


def _last(model: Any) -> Any:
    """The last step of a pipeline, whose other steps are taken to be fixed maps."""
    return model[-1] if hasattr(model, "steps") else model


def _read_dimension(model: Any) -> int:
    try:
        last = _last(model)
        return dimension_of(last, int(getattr(last, "n_features_in_", 0)))[0]
    except DoesNotApply as reason:
        raise InvalidParameterError(
            f"structural_risk_minimization: a VC dimension is not known ({reason}); give sizes."
        ) from None


def _count_parameters(model: Any) -> int:
    last = _last(model)
    if getattr(last, "coef_", None) is not None:
        return int(np.size(last.coef_)) + (int(np.size(last.intercept_)) if getattr(last, "fit_intercept", True) else 0)
    try:
        splits = tree_size(last)
    except DoesNotApply:
        raise InvalidParameterError(
            f"structural_risk_minimization: how many parameters {type(last).__name__} has is not known; give sizes."
        ) from None
    return 2 * splits + 1  # thresholds, and values of leaves

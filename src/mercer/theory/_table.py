"""`bound`: every bound that applies to a fitted model, and for the others why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from mercer._aligned import aligned, as_frame
from mercer._params import InvalidParameterError, Null, Real, check_value
from mercer.theory._bound import CHANCE, Bound
from mercer.theory._read_classes import read_growth, read_occam, read_realizable_vc, read_vc
from mercer.theory._read_learners import (
    read_compression,
    read_neighbors,
    read_regularized_loss,
    read_test_set,
    read_uniform_stability,
)
from mercer.theory._read_margins import read_boosting, read_margin, read_pac_bayes
from mercer.theory._sample import DoesNotApply, Reading, Sample

_READERS: dict[str, Callable[[Any, Sample], Reading]] = {
    "VC": read_vc,
    "VC, no error": read_realizable_vc,
    "growth of trees": read_growth,
    "Occam": read_occam,
    "margin": read_margin,
    "PAC-Bayes": read_pac_bayes,
    "boosting margin": read_boosting,
    "compression": read_compression,
    "neighbours": read_neighbors,
    "uniform stability": read_uniform_stability,
    "regularised loss": read_regularized_loss,
}

# What no fitted model tells of itself.
_NOT_TOLD = {
    "finite class": "how many models were chosen among is not told by the model; see FiniteClass(size=...)",
    "Rademacher": "it needs the complexity of the class; see rademacher_complexity and EmpiricalRademacher(complexity=...)",
}


@dataclass(frozen=True)
class BoundEntry:
    """One line of a `BoundTable`.

    Attributes
    ----------
    name : str
    value : float
        The bound on the risk.
    bound : Bound
        With its formula and the inputs that were read off the model.
    is_vacuous : bool
        Whether no loss is larger anyhow.
    note : str
        Where the inputs come from.
    """

    name: str
    value: float
    bound: Bound
    is_vacuous: bool
    note: str


class BoundTable:
    """Bounds on the risk of a fitted model, the tightest first.

    Attributes
    ----------
    entries : tuple of BoundEntry
        Those that apply.
    why_not : dict of str to str
        For the others the reason.
    risk : float
        The mean loss on the rows of the fit.
    delta : float
        How often each of the bounds, taken by itself, may fail. For all at once give `bound` delta divided by their number.

    Examples
    --------
    See :func:`bound`.
    """

    def __init__(self, entries: tuple[BoundEntry, ...], why_not: dict[str, str], risk: float, delta: float) -> None:
        self.entries, self.why_not, self.risk, self.delta = entries, why_not, risk, delta

    @property
    def tightest(self) -> BoundEntry:
        """The smallest bound that holds with probability 1 - delta."""
        for entry in self.entries:
            if entry.bound.delta is not None:
                return entry
        raise InvalidParameterError(f"bound: none of the bounds applies: {self.why_not}.")

    def __getitem__(self, name: str) -> BoundEntry:
        for entry in self.entries:
            if entry.name == name:
                return entry
        reason = self.why_not.get(name, f"there are {', '.join(entry.name for entry in self.entries)}")
        raise KeyError(f"{name}: {reason}")

    def to_frame(self) -> Any:
        """The bounds that apply as a pandas DataFrame."""
        fields = ("value", "is_vacuous", "note")
        columns: dict[str, list[Any]] = {field: [getattr(entry, field) for entry in self.entries] for field in fields}
        columns["inputs"] = [entry.bound.inputs for entry in self.entries]
        return as_frame("BoundTable", columns, [entry.name for entry in self.entries])

    def __repr__(self) -> str:
        rows = [("bound", "risk <=", "", "inputs")]
        for entry in self.entries:
            inputs = ", ".join(
                f"{name}={value:.4g}" for name, value in entry.bound.inputs.items() if isinstance(value, (int, float))
            )
            words = "vacuous" if entry.is_vacuous else "in expectation" if entry.bound.delta is None else ""
            rows.append((entry.name, f"{entry.value:.4g}", words, inputs))
        lines = [f"Risk on the rows {self.risk:.4g}; each bound holds with probability {1 - self.delta:g}"]
        lines += aligned(rows, left=(0, 2, 3)) if self.entries else ["no bound applies"]
        lines += [f"not {name}: {reason}" for name, reason in self.why_not.items()]
        return "\n".join(lines)


def bound(
    estimator: Any,
    X: Any,
    y: Any,
    delta: float = 0.05,
    *,
    X_test: Any = None,
    y_test: Any = None,
    loss_bound: float | None = None,
) -> BoundTable:
    """Upper bounds on the risk of a fitted model: all that apply, with inputs that are read off it, the tightest first.

    The risk is the rate of errors of a classifier, the mean squared error of a regressor.

    Parameters
    ----------
    estimator : fitted estimator
        Norms, margins, numbers of support vectors and splits, penalties are its own.
    X : array-like of shape (n_samples, n_features)
        The rows of the fit.
    y : array-like of shape (n_samples,)
    delta : float, default=0.05
        How often each bound, by itself, may fail. Where the model offers a choice (a margin), each candidate has a share.
    X_test, y_test : array-like, default=None
        Rows that neither the fit nor the choice of the model has seen; they give the tightest bounds of all.
    loss_bound : float or None, default=None
        What no squared error of a regressor exceeds, for the bounds of a test set.

    Returns
    -------
    BoundTable

    Notes
    -----
    Rows must be independent draws from one law, and what prepared them must not have seen them. A bound that is no smaller than
    the largest loss is marked as vacuous: it is true, and says nothing. Those of small classes and large margins are the ones
    that say something of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.datasets import load_breast_cancer
    >>> from mercer.svm import SVC
    >>> from mercer.theory import bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = np.log1p(X)
    >>> model = SVC(kernel="linear", C=10).fit(X[:400], y[:400])
    >>> table = bound(model, X[:400], y[:400], X_test=X[400:], y_test=y[400:])
    >>> table.tightest.name, round(table.tightest.value, 2)
    ('test set, binomial', 0.08)
    >>> table["VC"].is_vacuous, round(table["compression"].value, 2)
    (False, 0.32)
    >>> table.why_not["neighbours"]
    'it is no vote of nearest neighbours'

    References
    ----------
    M. Mohri, A. Rostamizadeh and A. Talwalkar, Foundations of Machine Learning, 2nd ed., MIT Press 2018.
    """
    delta = check_value("bound", "delta", delta, CHANCE)
    loss_bound = check_value("bound", "loss_bound", loss_bound, Real(above=0) | Null())
    sample = Sample.of(estimator, X, y, delta, loss_bound)
    entries, why_not = _of_test_set(estimator, X_test, y_test, delta, loss_bound)
    for name, read in _READERS.items():
        try:
            if isinstance(estimator, Pipeline):
                raise DoesNotApply("the steps of a pipeline have seen the rows; give the last step and rows prepared otherwise")
            reading = read(estimator, sample)
        except DoesNotApply as reason:
            why_not[name] = str(reason)
        else:
            is_vacuous = reading.value >= reading.bound.largest_loss
            entries.append(BoundEntry(name, reading.value, reading.bound, is_vacuous, reading.note))
    why_not |= _NOT_TOLD
    return BoundTable(tuple(sorted(entries, key=lambda entry: entry.value)), why_not, sample.risk, delta)


def _of_test_set(
    estimator: Any, X_test: Any, y_test: Any, delta: float, loss_bound: float | None
) -> tuple[list[BoundEntry], dict[str, str]]:
    if (X_test is None) != (y_test is None):
        raise InvalidParameterError("bound: X_test and y_test belong together; give both or neither.")
    try:
        if X_test is None:
            raise DoesNotApply("there are no test rows; give X_test and y_test")
        found = read_test_set(Sample.of(estimator, X_test, y_test, delta, loss_bound))
    except DoesNotApply as reason:
        return [], {"test set": str(reason)}
    note = "rows that the fit has not seen"
    return [BoundEntry(name, each.value, each, each.is_vacuous, note) for name, each in found.items()], {}

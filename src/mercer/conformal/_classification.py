"""Sets of labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from mercer._params import Bool, InvalidParameterError, OneOf, check_value
from mercer._saved import saved
from mercer.conformal._fits import Grouping, Method, calibrated, checked_alpha, grouping, groups_of

Values = npt.NDArray[np.float64]
Score = Literal["probability", "cumulative"]


@saved("mercer.conformal.ConformalClassifier", is_model=True)
@dataclass(frozen=True)
class ConformalClassifier:
    """A fitted model with sets of labels: what :func:`conformal_classifier` makes.

    Attributes
    ----------
    model : fitted estimator
        That of `predict`.
    classes : array of shape (n_classes,)
    scores : array of shape (n_calibration,)
        How strange held-out rows are with their own labels.
    method : {"split", "cross", "jackknife+"}
    score : {"probability", "cumulative"}

    Examples
    --------
    See :func:`conformal_classifier`.
    """

    model: Any
    classes: npt.NDArray[Any]
    scores: Values = field(repr=False)
    method: Method
    score: Score
    by_class: bool = False
    codes: npt.NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp), repr=False)
    group_by: Grouping | None = field(default=None, repr=False)
    groups: npt.NDArray[Any] | None = field(default=None, repr=False)
    folds: npt.NDArray[np.intp] | None = field(default=None, repr=False)
    models: tuple[Any, ...] = field(default=(), repr=False)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The model's own predictions."""
        return np.asarray(self.model.predict(X))

    def p_values(self, X: Any) -> Values:
        """For each row and class: the share of calibration rows (and this one) that are as strange as the row would be.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        p_values : array of shape (n_samples, n_classes)
        """
        groups = groups_of("p_values", self.group_by, X)
        models = (self.model,) if self.folds is None else self.models
        strangeness = [strange(model, X, self.classes, self.score) for model in models]
        n_as_strange = np.zeros(strangeness[0].shape)
        n_compared = np.zeros_like(n_as_strange)
        for k, of_rows in enumerate(strangeness):
            of_fold = np.ones(len(self.scores), dtype=bool) if self.folds is None else self.folds == k
            for group in np.unique(groups):
                rows = groups == group
                own = of_fold if self.groups is None else of_fold & (self.groups == group)
                for code in range(len(self.classes)):
                    kept = np.sort(self.scores[own & (self.codes == code)] if self.by_class else self.scores[own])
                    below = np.searchsorted(kept, of_rows[rows, code], side="left")
                    n_as_strange[rows, code] += len(kept) - below
                    n_compared[rows, code] += len(kept)
        return np.asarray((n_as_strange + 1) / (n_compared + 1))

    def predict_set(self, X: Any, alpha: float = 0.1) -> npt.NDArray[np.bool_]:
        """The labels that are not too strange: a set that holds the true one with probability 1 - alpha.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        alpha : float, default=0.1
            The share of rows whose label may be missed.

        Returns
        -------
        is_in : bool array of shape (n_samples, n_classes)
            In the order of `classes`. A set may be empty, where no label fits.
        """
        return np.asarray(self.p_values(X) > checked_alpha("predict_set", alpha) + 1e-12)  # 1 - 0.8 is 0.2, and no less


def strange(model: Any, X: Any, classes: npt.NDArray[Any], score: Score) -> Values:
    """How strange each class is for each row, by a model's probabilities."""
    given = np.asarray(model.predict_proba(X), dtype=np.float64)
    shares = np.zeros((len(given), len(classes)))
    shares[:, np.searchsorted(classes, model.classes_)] = given
    if score == "probability":
        return 1 - shares
    order = np.argsort(-shares, axis=1, kind="stable")
    cumulative = np.empty_like(shares)
    np.put_along_axis(cumulative, order, np.take_along_axis(shares, order, axis=1).cumsum(axis=1), axis=1)
    return cumulative


def conformal_classifier(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    method: Method = "split",
    score: Score = "probability",
    by_class: bool = False,
    cv: int = 10,
    calibration_size: float = 0.25,
    group_by: Grouping | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConformalClassifier:
    r"""Fit a classifier whose sets of labels hold the true one with a probability that is chosen, whatever the law of the rows.

    .. math:: C(x) = \Big\{ k : \frac{1 + \#\{i : s_i \ge s(x, k)\}}{n + 1} > \alpha \Big\}, \qquad
              \mathbb P\big( y \in C(x) \big) \ge 1 - \alpha

    Parameters
    ----------
    estimator : classifier
        With `predict_proba`.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    method : {"split", "cross", "jackknife+"}, default="split"
        See :func:`conformal_regressor`.
    score : {"probability", "cumulative"}, default="probability"
        What is strange: 1 - P(k | x), which gives the smallest sets, or the probability of all classes down to k, which gives
        larger ones where it is hard to tell.
    by_class : bool, default=False
        Calibrate each class alone, so that the probability holds for the rows of each (Mondrian).
    cv : int, default=10
    calibration_size : float, default=0.25
    group_by : callable or None, default=None
        ``group_by(X)`` says of which group each row is; sets then hold in each group.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    ConformalClassifier

    Notes
    -----
    Rows must be exchangeable, and nothing else; probabilities need not be right. The guarantee is 1 - alpha for "split".
    Splits and folds have the classes in their shares, which changes it by no more than about one row a class.

    Examples
    --------
    >>> from mercer.conformal import conformal_classifier
    >>> from mercer.datasets import load_wine
    >>> from mercer.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> model = conformal_classifier(GaussianNB(), X[::2], y[::2], method="cross", random_state=0)
    >>> sets = model.predict_set(X[1::2], alpha=0.05)
    >>> round(float(sets[range(len(sets)), y[1::2]].mean()), 2)
    0.93

    References
    ----------
    V. Vovk, A. Gammerman and G. Shafer, Algorithmic Learning in a Random World, Springer 2005; Y. Romano, M. Sesia and E.
    Candès, Classification with valid and adaptive coverage, NeurIPS 2020.
    """
    owner = "conformal_classifier"
    if not is_classifier(estimator) or not hasattr(estimator, "predict_proba"):
        raise InvalidParameterError(
            f"{owner}: estimator={estimator!r} is not valid; it must be a classifier with predict_proba."
        )
    score = check_value(owner, "score", score, OneOf("probability", "cumulative"))
    by_class = check_value(owner, "by_class", by_class, Bool())
    group_by = grouping(owner, group_by)
    chosen, fits = calibrated(owner, estimator, X, y, method, cv, calibration_size, random_state, n_jobs)
    classes = np.unique(np.asarray(y))
    codes = np.searchsorted(classes, fits.y)
    scores = fits.held_out(lambda model, rows: strange(model, rows, classes, score), X)[np.arange(len(codes)), codes]
    return ConformalClassifier(
        model=fits.whole,
        classes=classes,
        scores=scores,
        method=chosen,
        score=score,
        by_class=by_class,
        codes=codes,
        group_by=group_by,
        groups=None if group_by is None else groups_of(owner, group_by, X)[fits.rows],
        folds=None if chosen == "split" else fits.folds,
        models=() if chosen == "split" else tuple(fits.models),
    )

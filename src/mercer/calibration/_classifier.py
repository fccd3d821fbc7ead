"""`CalibratedClassifierCV`: another classifier, with probabilities that are as often right as they say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn import get_config
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from mercer._arrays import FloatArray, check_labels, check_weights
from mercer._base import FitTask, fit_method
from mercer._jobs import run_tasks
from mercer._labels import choose_labels, require_two_classes
from mercer._params import Bool, Fittable, InvalidParameterError, Null, NumberOfJobs, OneOf, Rule, Splitter, check_params
from mercer._rows import take_rows
from mercer._trace import warn
from mercer._wrapped import Metadata, WrappedClassifier, index_rows, response_method
from mercer.calibration._pairs import RESPONSES, CalibratedClassifier, calibrate, seen_scores
from mercer.svm import LinearSVC

Rows = npt.NDArray[np.intp]


class CalibratedClassifierCV(WrappedClassifier):
    """A classifier with calibrated probabilities, by maps fitted on scores out of fold.

    With s the score of a class: "sigmoid" is p = 1 / (1 + exp(a s + b)) of least log loss (Platt), "isotonic" the
    non-decreasing p(s) of least squares, both for each class against the rest, with sums brought to one; "temperature" is
    softmax(beta s), one beta of least log loss for all classes.

    Parameters
    ----------
    estimator : classifier, default=None
        It has `decision_function` or `predict_proba`, and is asked for the first of these. None for
        `mercer.svm.LinearSVC(random_state=0)`. One wrapped in scikit-learn's `FrozenEstimator` is taken as it is, fitted
        already, and X and y, which it should not have seen, only calibrate.
    method : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        The kind of map. "isotonic" needs many rows (about 1000), "temperature" leaves the order of classes as it is.
    cv : int, splitter or iterable, default=None
        Folds as in scikit-learn: None for 5 stratified ones.
    n_jobs : int, default=None
        How many folds to fit at a time (joblib): None means one, unless a `joblib.parallel_config` says otherwise, -1 as many
        as there are processors. The result does not depend on it.
    ensemble : bool or "auto", default="auto"
        True: a model and its maps for every fold, whose probabilities are averaged. False: maps for the scores of all folds
        together, and one model fitted on all rows. "auto": True, but False for a `FrozenEstimator`.

    Attributes
    ----------
    calibrated_classifiers_ : list
        Pairs with `estimator`, the fitted classifier, and `calibrators`, its maps: one a class (one in all for two classes and
        for "temperature") with `a_` and `b_`, `X_thresholds_` and `y_thresholds_`, or `beta_`, and a `certificate_`.
    classes_ : ndarray of shape (n_classes,)
        The sorted labels.
    n_features_in_ : int
        Number of features, where the estimator says it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the estimator says them.

    Notes
    -----
    A fit costs one fit of the estimator for every fold (and one on all rows if not `ensemble`), and O(n) for the maps.
    All three are convex problems, solved to certified optimality: sigmoid and temperature by Newton's method, isotonic by
    pooling adjacent violators. Platt's targets (n1 + 1) / (n1 + 2) and 1 / (n0 + 2) keep the sigmoid finite where classes are
    separated.

    `sample_weight` goes to the estimator, if it takes weights, and to the maps. A class that a training fold lacks has
    probability zero there. Where scikit-learn guesses by their values whether scores are probabilities ("temperature"), it is
    known here by the method they come from.

    References
    ----------
    A. Niculescu-Mizil and R. Caruana, Predicting good probabilities with supervised learning, ICML (2005).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import brier_score_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from mercer.calibration import CalibratedClassifierCV
    >>> X, y = make_classification(1000, n_features=20, n_redundant=10, random_state=0)
    >>> train, test = slice(0, 500), slice(500, None)
    >>> before = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    >>> model = CalibratedClassifierCV(GaussianNB()).fit(X[train], y[train])
    >>> after = model.predict_proba(X[test])[:, 1]
    >>> bool(brier_score_loss(y[test], after) < brier_score_loss(y[test], before))
    True
    >>> len(model.calibrated_classifiers_)
    5
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": Null() | Fittable(),
        "method": OneOf("sigmoid", "isotonic", "temperature"),
        "cv": Splitter(),
        "n_jobs": NumberOfJobs(),
        "ensemble": Bool() | OneOf("auto"),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "sigmoid",
        cv: Any = None,
        n_jobs: int | None = None,
        ensemble: bool | str = "auto",
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.ensemble = ensemble

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        default = LinearSVC(random_state=0)
        if get_config()["enable_metadata_routing"]:
            default.set_fit_request(sample_weight=True)
        return default

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> CalibratedClassifierCV:
        """Fit the estimator and its maps.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Whatever the estimator takes.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            For the estimator, if it takes weights, and for the maps.
        **fit_params
            Metadata: for the estimator, or for who asks for it where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
        """
        params = check_params(self)
        classes, codes = check_labels(y)
        require_two_classes(type(self).__name__, classes)
        weights = check_weights(sample_weight, len(codes), np.float64)
        base, y = self._base(), classes[codes]
        X = index_rows(X, y)
        metadata = self._route(weights, fit_params)
        splits = self._splits(params.cv, X, y, codes, metadata)
        response = _check_response(base)
        is_ensemble = not isinstance(base, FrozenEstimator) if params.ensemble == "auto" else params.ensemble
        task = FitTask.start(self, X, y, n_subtasks=1)
        if is_ensemble:
            data = {"X": X, "codes": codes, "classes": classes, "weights": weights}
            job = partial(_fit_pair, **data, metadata=metadata, method=params.method)
            pairs = _fit_pairs(job, base, splits, task, params.n_jobs)
        else:
            model = clone(base)
            pairs = [_fit_one(model, X, classes, codes, weights, splits, response, metadata, params.method, params.n_jobs)]
        self._warn_of_weights(base, weights)
        attributes = {"calibrated_classifiers_": pairs, "classes_": classes, **self._set_features(pairs[0].estimator)}
        return self._finish(task, attributes)

    def _splits(self, cv: Any, X: Any, y: npt.NDArray[Any], codes: Rows, metadata: Metadata) -> list[tuple[Rows, Rows]]:
        """(train, test) rows; refuses folds that some class is too small for."""
        owner = type(self).__name__
        if isinstance(cv, sklearn.model_selection.LeaveOneOut):
            raise InvalidParameterError(
                f"{owner}: cv={cv!r} leaves one class in every test fold: LeaveOneOut cross-validation does not allow all "
                "classes to be present in test splits. It must be a number of folds or another splitter."
            )
        n_folds = cv if isinstance(cv, int) else getattr(cv, "n_splits", None)
        if n_folds and (np.bincount(codes) < n_folds).any():
            raise ValueError(
                f"{owner}: Requesting {n_folds}-fold cross-validation but provided less than {n_folds} examples for at least "
                "one class."
            )
        splits = sklearn.model_selection.check_cv(cv, y, classifier=True).split(X, y, **metadata.split)
        return [(np.asarray(train), np.asarray(test)) for train, test in splits]

    def _warn_of_weights(self, base: Any, weights: FloatArray | None) -> None:
        if weights is None or get_config()["enable_metadata_routing"] or isinstance(base, FrozenEstimator):
            return
        if not has_fit_parameter(base, "sample_weight"):
            warn(
                f"{type(self).__name__}: Since {type(base).__name__} does not appear to accept sample_weight, sample weights "
                "were used for the calibration only, and probabilities may be wrong. Give an estimator that takes weights."
            )

    def predict_proba(self, X: Any) -> FloatArray:
        """Calibrated probabilities, of shape (n_samples, n_classes): the mean over the members."""
        check_is_fitted(self)
        members = [member.predict_proba(X) for member in self.calibrated_classifiers_]
        mean: FloatArray = sum(members[1:], members[0]) / len(members)
        return mean

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of largest probability, which need not be the one that the estimator would give."""
        return choose_labels(self.predict_proba(X), self.classes_)


def _check_response(base: Any) -> str:
    try:
        return response_method(base, RESPONSES)
    except AttributeError as error:
        raise InvalidParameterError(
            f"CalibratedClassifierCV: estimator={base!r} is not valid: {error} It must be a classifier with one of them."
        ) from error


def _fit_pair(
    model: Any,
    split: tuple[Rows, Rows],
    *,
    X: Any,
    codes: Rows,
    classes: npt.NDArray[Any],
    weights: FloatArray | None,
    metadata: Metadata,
    method: str,
) -> CalibratedClassifier:
    """A model fitted on the first rows of a split, and its maps, fitted on the others."""
    train, test = split
    model = model.fit(take_rows(X, train), classes[codes[train]], **metadata.fit_rows(train, len(codes)))
    response = _check_response(model)
    scores = seen_scores(model, take_rows(X, test), response)
    return calibrate(model, scores, response, classes, codes[test], None if weights is None else weights[test], method)


def _fit_pairs(
    job: Any, base: Any, splits: list[tuple[Rows, Rows]], task: FitTask, n_jobs: int | None
) -> list[CalibratedClassifier]:
    """One pair a split, each a task "fold" to callbacks."""
    # Clones are made here, so that a generator among their parameters is copied in the same state for any n_jobs.
    jobs = [partial(job, clone(base), split) for split in splits]
    parent = task.subtask("folds", n_subtasks=len(splits))
    pairs = list(run_tasks(jobs, parent, "fold", n_jobs))
    parent.end()
    return pairs


def _fit_one(
    model: Any,
    X: Any,
    classes: npt.NDArray[Any],
    codes: Rows,
    weights: FloatArray | None,
    splits: list[tuple[Rows, Rows]],
    response: str,
    metadata: Metadata,
    method: str,
    n_jobs: int | None,
) -> CalibratedClassifier:
    """A model fitted on all rows, and maps fitted on the scores that models of the other folds give each row."""
    if response == "decision_function" and any(len(np.unique(codes[train])) < len(classes) for train, _ in splits):
        raise ValueError(
            "CalibratedClassifierCV: a training fold lacks a class, and decision values of folds are then not alike. Give a cv "
            "whose training folds have every class, or ensemble=True."
        )
    y = classes[codes]
    model = model.fit(X, y, **metadata.fit)  # first: what is wrong with X is then said of all of X
    fresh = clone(model)
    scores = sklearn.model_selection.cross_val_predict(
        fresh, X, y, cv=splits, method=response, params=dict(metadata.fit), n_jobs=n_jobs
    )
    return calibrate(model, scores.reshape(len(y), -1), response, classes, codes, weights, method)

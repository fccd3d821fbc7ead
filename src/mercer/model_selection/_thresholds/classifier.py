"""`TunedThresholdClassifier`: another classifier, with the decision that serves a given measure best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from mercer._arrays import FloatArray, check_labels, check_weights
from mercer._base import FitTask, fit_method
from mercer._params import (
    ArrayLike,
    Bool,
    Fittable,
    Integer,
    InvalidParameterError,
    Mapped,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Splitter,
    check_params,
)
from mercer._wrapped import Metadata, WrappedClassifier, class_scores
from mercer.model_selection._thresholds.cuts import search_cut
from mercer.model_selection._thresholds.offsets import Decision, search_offsets
from mercer.model_selection._thresholds.out_of_fold import make_fold, make_splits, score_folds
from mercer.model_selection._thresholds.scoring import Label, Scoring
from mercer.model_selection._thresholds.setting import RESPONSES, Setting, check_classes, check_setting, decision_scores
from mercer.model_selection._thresholds.steps import Fold


def _has(method: str) -> Any:
    """For `available_if`: the fitted estimator has the method, or the one to fit."""

    def check(self: TunedThresholdClassifier) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class TunedThresholdClassifier(WrappedClassifier):
    """A classifier whose decision is tuned for a measure on scores out of fold.

    Two classes: predicts the positive one where score(x) >= t. Many: argmax_k w_k p_k(x), or argmax_k d_k(x) + b_k for decision
    values. With m_f the measure of the confusion matrix of fold f, whose rows are scored by a model fitted on the others, t (or
    w, b) is chosen to make mean_f m_f as large as can be.

    Parameters
    ----------
    estimator : classifier
        It has `predict_proba` or `decision_function`; clones of it are fitted.
    scoring : str or callable, default="balanced_accuracy"
        What to make as large as can be:

        - "f_beta": (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP); for many classes the mean over classes;
        - "g_mean": the geometric mean of the recalls; of two classes, sqrt(sensitivity * specificity);
        - "cwa": alpha * sensitivity + (1 - alpha) * specificity; for many classes sum_c alpha_c recall_c / sum_c alpha_c;
        - "balanced_accuracy", "accuracy";
        - "cost": minus the mean cost of a row by `cost_matrix`;
        - "expected_cost": nothing is tuned; probabilities are taken at face value, and the label of least expected cost
          argmin_k (P C)_k is predicted. `best_score_` then tells what that costs out of fold;
        - the name of any other scorer of scikit-learn, a scorer (a callable whose first parameter is called `estimator`), or a
          function of (y_true, y_pred, sample_weight), all for predicted labels.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        The scores to decide by; "auto" for the first of these that the estimator has.
    thresholds : int or array-like, default=None
        For two classes: which thresholds to try. None for all that differ in what they predict, a number for an even grid from
        the least to the largest score.
    cv : int, float, splitter, iterable or "prefit", default=None
        Folds as in scikit-learn: None for 5 stratified ones. A number in (0, 1) draws one stratified test set of that share.
        With "prefit" the estimator is taken as it is, fitted already, and X and y, which it should not have seen, only tune.
    refit : bool, default=True
        Fit the estimator on all rows. Must be False for "prefit", and may be with a single split, whose model then is kept.
    n_jobs : int, default=None
        How many folds to fit at a time (joblib): None means one, unless a `joblib.parallel_config` says otherwise, -1 as many
        as there are processors. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Draws the test set where `cv` is a share.
    beta : float, default=1.0
        For "f_beta": recall counts beta times as much as precision.
    alpha : float or dict, default=0.5
        For "cwa": the weight of the sensitivity, in [0, 1], or a weight of each class by label, which also does for many.
    cost_matrix : array-like of shape (n_classes, n_classes), default=None
        For "cost" and "expected_cost": entry (i, j) is the cost of predicting class j for a row of class i, classes in sorted
        order. The right label must be the cheapest. None: every wrong label costs 1.
    pos_label : label, default=None
        The positive one of two classes; None for the second in sorted order.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier that scores.
    best_threshold_ : float
        Two classes: rows with a score of the positive class that is no less are predicted positive.
    class_weights_ : ndarray of shape (n_classes,)
        Many classes, by probabilities: argmax_k w_k p_k is predicted. Their geometric mean is 1.
    class_offsets_ : ndarray of shape (n_classes,)
        Many classes, by decision values d or (for "cost" and "expected_cost") by d = -P C: argmax_k d_k + b_k is predicted.
        Their mean is 0.
    best_score_ : float
        The mean over folds of the measure, where the decision is the one chosen. It was chosen for that: expect less elsewhere.
    score_spread_ : float
        The standard deviation over folds of the measure, with the decision chosen.
    threshold_spread_ : float or ndarray of shape (n_classes,)
        The standard deviation over folds of the threshold (or logarithms of class weights, or offsets) that each fold alone
        would choose: a large one says that the choice hangs on few rows.
    cv_results_ : dict
        Two classes: "thresholds" tried, and the mean "scores" and their "spread" over folds. Many: the "weights" (or "offsets")
        and "scores" after each step of the search.
    pos_label_ : label
        Two classes: the positive one.
    cost_matrix_ : ndarray of shape (n_classes, n_classes)
        Many classes, by probabilities and costs: the costs C of d = -P C.
    response_method_ : str
        The method that the estimator is asked by.
    classes_ : ndarray of shape (n_classes,)
        The sorted labels.
    n_features_in_ : int
        Number of features, where the estimator says it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the estimator says them.

    Notes
    -----
    A fit costs one fit for every fold and one on all rows; the search O(n log n) for two classes, and for many O(n log n + n
    n_classes^2) for each step along one class, from two starts. For two classes the best threshold of all is found; for many
    weights that no change of a single one can better. Of equally good decisions the nearest to the estimator's own is taken, so
    that it stays where nothing is gained. A scorer or function costs one call a threshold, whatever the number of rows; with
    many classes a step tries 200 values at most. A class that a fold lacks does not count there.

    `sample_weight` goes to the estimator, which must take it, and to the measure. scikit-learn's `TunedThresholdClassifierCV`
    tries a grid of thresholds and interpolates between those of folds, knows two classes only, and refuses constant scores.

    References
    ----------
    C. Elkan, The foundations of cost-sensitive learning, IJCAI (2001).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from mercer.linear_model import LogisticRegression
    >>> from mercer.model_selection import TunedThresholdClassifier
    >>> X, y = make_classification(1000, weights=[0.9], class_sep=0.8, random_state=0)
    >>> model = TunedThresholdClassifier(LogisticRegression(), scoring="g_mean").fit(X, y)
    >>> bool(model.best_threshold_ < 0.2), bool(model.best_score_ > 0.75)
    (True, True)
    >>> costs = [[0, 1], [20, 0]]  # to miss a positive is 20 times as bad
    >>> by_cost = TunedThresholdClassifier(LogisticRegression(), scoring="expected_cost", cost_matrix=costs).fit(X, y)
    >>> round(by_cost.best_threshold_, 4)
    0.0476
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": Fittable(),
        "scoring": Scoring(),
        "response_method": OneOf("auto", *RESPONSES),
        "thresholds": Null() | Integer(1) | ArrayLike(),
        "cv": OneOf("prefit") | Real(above=0, below=1) | Splitter(),
        "refit": Bool(),
        "n_jobs": NumberOfJobs(),
        "random_state": RandomState(),
        "beta": Real(least=0),
        "alpha": Real(least=0, most=1) | Mapped(),
        "cost_matrix": Null() | ArrayLike(),
        "pos_label": Label(),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        scoring: Any = "balanced_accuracy",
        response_method: str = "auto",
        thresholds: Any = None,
        cv: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        beta: float = 1.0,
        alpha: Any = 0.5,
        cost_matrix: Any = None,
        pos_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.scoring = scoring
        self.response_method = response_method
        self.thresholds = thresholds
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.beta = beta
        self.alpha = alpha
        self.cost_matrix = cost_matrix
        self.pos_label = pos_label

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> TunedThresholdClassifier:
        """Fit the estimator and tune the decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Whatever the estimator takes.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            For the estimator, which must take it, and for the measure.
        **fit_params
            Metadata: for the estimator, or for who asks for it where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
        """
        params = check_params(self)
        classes, codes = check_labels(y)
        check_classes(type(self).__name__, params, classes)
        weights = check_weights(sample_weight, len(codes), np.float64)
        self._check_refit(params, weights)
        metadata = self._route(weights, fit_params)
        task = FitTask.start(self, X, y, n_subtasks=1)
        fitted, setting, folds = self._score(params, X, classes, codes, weights, metadata, task)
        attributes = {"estimator_": fitted, "classes_": classes, "response_method_": setting.method, **_tune(setting, folds)}
        self._unset("best_threshold_", "pos_label_", "class_weights_", "class_offsets_", "cost_matrix_")
        attributes |= self._set_features(fitted)
        return self._finish(task, attributes)

    def _check_refit(self, params: Any, weights: FloatArray | None) -> None:
        """Refuse what does not go together with a fit of the estimator."""
        owner = type(self).__name__
        is_prefit = isinstance(params.cv, str)
        if is_prefit and params.refit:
            raise InvalidParameterError(f"{owner}: refit=True cannot be with cv='prefit'; it must be False.")
        is_left_alone = is_prefit or isinstance(params.estimator, FrozenEstimator) or get_config()["enable_metadata_routing"]
        if weights is None or is_left_alone or has_fit_parameter(params.estimator, "sample_weight"):
            return
        raise ValueError(
            f"{owner}: sample_weight was given, and {type(params.estimator).__name__}.fit takes none; fit without it."
        )

    def _score(
        self,
        params: Any,
        X: Any,
        classes: npt.NDArray[Any],
        codes: npt.NDArray[np.intp],
        weights: FloatArray | None,
        metadata: Metadata,
        task: FitTask,
    ) -> tuple[Any, Setting, list[Fold]]:
        """The fitted estimator, what it is to decide, and its scores out of fold."""
        owner, y = type(self).__name__, classes[codes]
        if isinstance(params.cv, str):
            fitted = _require_fitted(owner, params.estimator)
            setting = check_setting(owner, params, classes, fitted)
            scores = class_scores(owner, fitted, X, setting.method, classes)
            return fitted, setting, [make_fold(setting, scores, codes, weights)]
        fitted = clone(params.estimator)
        if params.refit:  # first: what is wrong with X is then said by the estimator, of all of X
            fitted = fitted.fit(X, y, **metadata.fit)
        setting = check_setting(owner, params, classes, fitted)
        splits = make_splits(params.cv, X, y, metadata, params.random_state)
        if not params.refit and len(splits) > 1:
            raise InvalidParameterError(
                f"{owner}: refit=False leaves {len(splits)} models of as many folds; it must be True, or cv a single split."
            )
        models, folds = score_folds(setting, params.estimator, X, codes, weights, splits, metadata, task, params.n_jobs)
        return fitted if params.refit else models[0], setting, folds

    # ---- predictions

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each row, by the tuned decision."""
        check_is_fitted(self)
        method, classes = self.response_method_, self.classes_
        positive = classes.tolist().index(self.pos_label_) if len(classes) == 2 else None
        given = class_scores(type(self).__name__, self.estimator_, X, method, classes)
        scores = decision_scores(given, method, positive=positive, costs=getattr(self, "cost_matrix_", None))
        if positive is not None:
            codes = np.where(scores[:, 0] >= self.best_threshold_, positive, 1 - positive)
        elif hasattr(self, "class_weights_"):
            codes = np.argmax(scores * self.class_weights_, axis=1)
        else:
            codes = np.argmax(scores + self.class_offsets_, axis=1)
        labels: npt.NDArray[Any] = classes[codes]
        return labels

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The estimator's probabilities, of shape (n_samples, n_classes); the decision does not change them."""
        check_is_fitted(self)
        values: FloatArray = self.estimator_.predict_proba(X)
        return values

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of the estimator's probabilities."""
        check_is_fitted(self)
        values: FloatArray = self.estimator_.predict_log_proba(X)
        return values

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def decision_function(self, X: Any) -> FloatArray:
        """The estimator's decision values; the decision does not change them."""
        check_is_fitted(self)
        values: FloatArray = self.estimator_.decision_function(X)
        return values


def _require_fitted(owner: str, estimator: Any) -> Any:
    try:
        check_is_fitted(estimator, "classes_")
    except NotFittedError as error:
        raise NotFittedError(f"{owner}: with cv='prefit' the estimator must be fitted already.") from error
    return estimator


def _tune(setting: Setting, folds: list[Fold]) -> dict[str, Any]:
    """What a fit stores of the decision."""
    return _tune_cut(setting, setting.positive, folds) if setting.positive is not None else _tune_offsets(setting, folds)


def _tune_cut(setting: Setting, positive: int, folds: list[Fold]) -> dict[str, Any]:
    thresholds = np.array([setting.neutral]) if setting.is_fixed else setting.thresholds
    cut = search_cut(folds, setting.measure, positive=positive, neutral=setting.neutral, thresholds=thresholds)
    return {
        "pos_label_": setting.classes.tolist()[positive],
        "best_threshold_": cut.threshold,
        "best_score_": cut.score,
        "threshold_spread_": cut.threshold_spread,
        "score_spread_": cut.score_spread,
        "cv_results_": {"thresholds": cut.thresholds, "scores": cut.scores, "spread": cut.spread},
    }


def _tune_offsets(setting: Setting, folds: list[Fold]) -> dict[str, Any]:
    decision = Decision(is_product=setting.has_probabilities and setting.costs is None)
    n_classes = len(setting.classes)
    starts = [np.zeros(n_classes)]
    if decision.is_product:  # rare classes are rarely the most probable ones, and many measures want them weighted up
        totals = sum(np.bincount(fold.codes, weights=fold.weights, minlength=n_classes) for fold in folds)
        logarithms = np.log(np.maximum(totals, 1e-9 * np.max(totals)))
        starts.append(logarithms.mean() - logarithms)
    found = search_offsets(folds, decision, setting.measure, starts, is_fixed=setting.is_fixed)
    name, values, path = "offsets", found.offsets, found.path
    if decision.is_product:
        name, values, path = "weights", np.exp(values), np.exp(path)
    costs = {"cost_matrix_": setting.costs} if setting.costs is not None and setting.has_probabilities else {}
    return {
        f"class_{name}_": values,
        **costs,
        "best_score_": found.score,
        "threshold_spread_": found.offset_spread,
        "score_spread_": found.score_spread,
        "cv_results_": {name: path, "scores": found.scores},
    }

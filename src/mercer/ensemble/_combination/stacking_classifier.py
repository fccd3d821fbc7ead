"""Stacking for classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_labels
from mercer._base import fit_method
from mercer._params import OneOf, Rule
from mercer.ensemble._combination.stacking import RESPONSES, Stacking, has_final
from mercer.linear_model import LogisticRegression


class StackingClassifier(ClassifierMixin, Stacking):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that learns from the predictions of other estimators.

    Members h_1, ..., h_T are fitted on all rows; the final classifier on z_i = (h_1^{-k(i)}(x_i), ..., h_T^{-k(i)}(x_i)), where
    h^{-k(i)} is fitted without the fold that row i is in.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and members, classifiers or (for ordered labels) regressors. 'drop' in place of a member leaves it out.
    final_estimator : estimator, default=None
        The classifier that combines the members; None for `mercer.linear_model.LogisticRegression()`.
    cv : int, splitter, iterable or "prefit", default=None
        Folds as in scikit-learn: None for 5 stratified ones. With "prefit" the members are taken as they are, fitted already,
        and the final estimator learns from their predictions of X: these rows should not be those that they were fitted on.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What members are asked for; "auto" for the first of these that a member has.
    n_jobs : int, default=None
        How many members to fit at a time (joblib): None means one, unless a `joblib.parallel_config` says otherwise, -1 as many
        as there are processors. The result does not depend on it.
    passthrough : bool, default=False
        Let the final estimator see X too.
    verbose : bool or int, default=0
        Log each member to the logger "mercer".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or list of ndarray
        The sorted labels; a list with those of each output where y is a matrix of indicators.
    estimators_ : list
        The members that are not dropped, fitted on all rows. They know the classes as 0, 1, ...
    named_estimators_ : Bunch
        The fitted members by name.
    final_estimator_ : estimator
        The fitted final estimator, with its own `certificate_` if it leaves one.
    stack_method_ : list of str
        The method that each member is asked by.
    n_features_in_ : int
        Number of features, where members say it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where members say them.

    Notes
    -----
    A fit costs one fit of each member for every fold and one on all rows. Where members give two probabilities, the first,
    which follows from the second, is left out. A class that a training fold lacks has probability zero there, or the least
    decision value of all (in scikit-learn -1.8e308, with which no final estimator can compute; with decision values every
    training fold needs three classes, if there are as many). `sample_weight` goes to all members and to the final estimator. An
    error in a member names it. Also unlike scikit-learn's class this one logs where that one prints; for a matrix of
    indicators, `predict_proba` gives the probability of label 1 (there: of label 0).

    References
    ----------
    D. Wolpert, Stacked generalization, Neural Networks 5 (1992).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from mercer.ensemble import StackingClassifier
    >>> from mercer.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StackingClassifier([("bayes", GaussianNB()), ("svm", LinearSVC(C=0.1))]).fit(X, y)
    >>> model.stack_method_, model.transform(X).shape
    (['predict_proba', 'decision_function'], (150, 6))
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _kind, _member_kind = "classifier", None
    _default_final = LogisticRegression
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {**Stacking._parameter_rules, "stack_method": OneOf("auto", *RESPONSES)}

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: bool | int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> StackingClassifier:
        """Fit members and final estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Whatever all members take.
        y : array-like of shape (n_samples,) or indicators of shape (n_samples, n_labels)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Handed on to every member and to the final estimator, all of which must take it.
        **fit_params
            Metadata for members that ask for it, where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
        """
        if type_of_target(y, input_name="y") == "multilabel-indicator" and not sp.issparse(y):
            found = [check_labels(column) for column in np.asarray(y).T]
            classes: Any = [labels for labels, _ in found]
            codes = np.column_stack([column for _, column in found])
        else:
            classes, codes = check_labels(y)
        self._fit(X, codes, sample_weight, fit_params, {"classes_": classes}, labels=y)
        return self

    @available_if(has_final("predict"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict(self, X: Any, **predict_params: Any) -> npt.NDArray[Any]:
        """The label of each row; `predict_params` go to the final estimator."""
        codes = self._predict(X, predict_params)
        if isinstance(self.classes_, list):
            return np.column_stack([labels[column] for labels, column in zip(self.classes_, codes.T, strict=True)])
        labels: npt.NDArray[Any] = self.classes_[codes]
        return labels

    @available_if(has_final("predict_proba"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The final estimator's probabilities, of shape (n_samples, n_classes); of label 1 for indicators."""
        check_is_fitted(self)
        given = self.final_estimator_.predict_proba(self._transform(X))
        return np.column_stack([part[:, -1] for part in given]) if isinstance(given, list) else given

    @available_if(has_final("decision_function"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def decision_function(self, X: Any) -> FloatArray:
        """The final estimator's decision values."""
        check_is_fitted(self)
        values: FloatArray = self.final_estimator_.decision_function(self._transform(X))
        return values

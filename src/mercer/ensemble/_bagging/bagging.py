"""Bagging of classifiers and of regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._labels import choose_labels
from mercer._tuning import OutOfBagView
from mercer.ensemble._bagging.bag import LeftOut
from mercer.ensemble._bagging.base import Bagging
from mercer.ensemble._bagging.data import BagData
from mercer.ensemble._bagging.members import BagMembers
from mercer.metrics import r2_score
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor


def _has_decisions(bagging: Bagging) -> bool:
    """Whether the members have a decision function; an AttributeError says which has none."""
    getattr(bagging._get_estimator(), "decision_function")  # noqa: B009 - asked for its error
    return True


class BaggingClassifier(ClassifierMixin, Bagging):  # type: ignore[misc]
    r"""Bagging (bootstrap aggregating) of classifiers: members on random draws of the rows that vote by their class shares.

    The ensemble predicts :math:`\hat p(x) = \frac{1}{T} \sum_t p_t(x)`, each :math:`p_t` fitted on a bootstrap of the rows: the
    variance of its members falls by the part of it that they do not share.

    Parameters
    ----------
    estimator : object or None, default=None
        What the members are clones of: any classifier with scikit-learn's methods. None: `DecisionTreeClassifier`. A member
        without `predict_proba` votes for one class.
    n_estimators : int, default=10
        The number of members.
    max_samples : int, float or None, default=None
        How many rows a member draws: as many as there are, a number, or a share of them (of their weight, if they have one).
    max_features : int or float, default=1.0
        How many features a member draws: a number, or a share of them.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement (bagging) or without (pasting).
    bootstrap_features : bool, default=False
        Whether features are drawn with replacement.
    oob_score : bool, default=False
        Whether to score the ensemble on each row by the members that have not seen it.
    warm_start : bool, default=False
        Whether a further fit keeps the members and adds as many as `n_estimators` asks for.
    n_jobs : int or None, default=None
        The number of threads for Mercer's own trees (None: all). Of others, how many members to fit at a time (joblib): None
        means one, unless a `joblib.parallel_config` says otherwise, -1 as many as there are processors. The result does not
        depend on it.
    random_state : int, RandomState or None, default=None
        For the draws, and for members with a `random_state`.
    verbose : int, default=0
        Whether to log what the fit does.

    Attributes
    ----------
    estimator_ : object
        What the members are clones of.
    estimators_ : sequence of estimators
        The members. They speak of the classes by number, as scikit-learn's do.
    estimators_samples_ : list of ndarray
        The rows of each member, as often as they were drawn.
    estimators_features_ : list of ndarray
        The features of each member.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Their number.
    oob_score_ : float
        The accuracy on the rows, each predicted by the members that have not seen it. Only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        The class shares that it is made from; NaN for a row that every member has seen. Only with `oob_score`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The draws are scikit-learn's, so that a member that leaves nothing to chance is fitted on the same rows for the same
    `random_state`. Mercer's own trees are grown in one call on columns that are ranked once, and kept in one store. A member
    that takes `sample_weight` has the counts of its draw as weights, else the drawn rows. Without a bootstrap, weights of rows
    go to the members; scikit-learn draws by them without replacement, which forgets them where all rows are drawn.

    References
    ----------
    L. Breiman, "Bagging Predictors", Machine Learning 24, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.ensemble import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bagging = BaggingClassifier(n_estimators=20, oob_score=True, random_state=0).fit(X, y)
    >>> bagging.oob_score_ > 0.9
    True
    >>> bagging.predict_std(X[:2]).shape
    (2, 3)
    """

    _is_classifier = True

    def predict(self, X: Any, **params: Any) -> npt.NDArray[Any]:
        """The class of largest mean share, of shape (n_samples,).

        `params`, here and below, are metadata for the members, where scikit-learn's metadata routing is enabled.
        """
        return choose_labels(self._mean(X, "predict", params), self.classes_)

    def predict_proba(self, X: Any, **params: Any) -> FloatArray:
        """The mean of the members' class shares, of shape (n_samples, n_classes)."""
        return self._mean(X, "predict_proba", params)

    def predict_log_proba(self, X: Any, **params: Any) -> FloatArray:
        """The logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._mean(X, "predict_log_proba", params)))

    @available_if(_has_decisions)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, **params: Any) -> FloatArray:
        """The mean of the members' decision functions, of shape (n_samples,) for two classes or (n_samples, n_classes)."""
        check_is_fitted(self)
        assert isinstance(self._members, BagMembers)  # trees have no decision function
        metadata = self._route("decision_function", params)
        return self._members.decisions(self._members.query(self, X), metadata)

    def _default(self) -> Any:
        return DecisionTreeClassifier()

    def _score_out_of_bag(self, values: FloatArray, data: BagData, is_known: npt.NDArray[np.bool_]) -> dict[str, Any]:
        is_right = values[is_known].argmax(axis=1) == data.y[is_known]
        return {"oob_decision_function_": values, "oob_score_": float(np.mean(is_right))}

    def _left_out_view(self, found: LeftOut, data: BagData) -> OutOfBagView:
        assert data.classes is not None
        shares = found.values[found.is_known]
        return OutOfBagView(found.is_known, choose_labels(shares, data.classes), shares, data.classes, "classifier")


class BaggingRegressor(RegressorMixin, Bagging):  # type: ignore[misc]
    r"""Bagging (bootstrap aggregating) of regressors: the mean of members on random draws of the rows.

    The ensemble predicts :math:`\hat y(x) = \frac{1}{T} \sum_t y_t(x)`; `predict_std` gives the spread of the :math:`y_t(x)`.

    Parameters
    ----------
    estimator : object or None, default=None
        What the members are clones of: any regressor with scikit-learn's methods. None: `DecisionTreeRegressor`.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features, oob_score, warm_start, n_jobs, random_state, verbose
        As for `BaggingClassifier`.

    Attributes
    ----------
    estimator_, estimators_, estimators_samples_, estimators_features_
        As for `BaggingClassifier`.
    oob_score_ : float
        R2 on the rows, each predicted by the members that have not seen it. Only with `oob_score`.
    oob_prediction_ : ndarray of shape (n_samples,)
        The predictions that it is made from; NaN for a row that every member has seen. Only with `oob_score`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    See `BaggingClassifier`.

    References
    ----------
    L. Breiman, "Bagging Predictors", Machine Learning 24, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ensemble import BaggingRegressor
    >>> from mercer.linear_model import Ridge
    >>> X = np.arange(20.0)[:, None]
    >>> bagging = BaggingRegressor(Ridge(alpha=0.0), random_state=0).fit(X, 2 * X[:, 0] + 1)
    >>> bagging.predict([[10.0]]).round(6), bagging.predict_std([[10.0]]).round(6)
    (array([21.]), array([0.]))
    """

    _is_classifier = False

    def predict(self, X: Any, **params: Any) -> FloatArray:
        """The mean of the members' predictions, of shape (n_samples,).

        `params` are metadata for the members, where scikit-learn's metadata routing is enabled.
        """
        return self._mean(X, "predict", params)

    def _default(self) -> Any:
        return DecisionTreeRegressor()

    def _score_out_of_bag(self, values: FloatArray, data: BagData, is_known: npt.NDArray[np.bool_]) -> dict[str, Any]:
        return {"oob_prediction_": values, "oob_score_": float(r2_score(data.y[is_known], values[is_known]))}

    def _left_out_view(self, found: LeftOut, data: BagData) -> OutOfBagView:
        return OutOfBagView(found.is_known, found.values[found.is_known])

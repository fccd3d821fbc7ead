"""Voting for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer.ensemble._combination.members import check_target
from mercer.ensemble._combination.voting import Voting


class VotingRegressor(RegressorMixin, Voting):  # type: ignore[misc]  # scikit-learn has no types
    """The mean of the predictions of several regressors.

    With weights v_m it predicts sum_m v_m h_m(x) / sum_m v_m.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and regressors; clones of them are fitted. 'drop' in place of a regressor leaves it out.
    weights : array-like of shape (n_estimators,), default=None
        A weight >= 0 for each of `estimators`; None for equal weights.
    n_jobs : int, default=None
        How many members to fit at a time (joblib): None means one, unless a `joblib.parallel_config` says otherwise, -1 as many
        as there are processors. The result does not depend on it.
    verbose : bool or int, default=False
        Log each member to the logger "mercer".

    Attributes
    ----------
    estimators_ : list
        The fitted members that are not dropped.
    named_estimators_ : Bunch
        The fitted members by name.
    n_features_in_ : int
        Number of features, where members say it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where members say them.

    Notes
    -----
    A fit costs what its members cost. An error in a member names it. Unlike scikit-learn's class this one takes `sample_weight`
    in its signature, refuses negative weights of members, and logs where that one prints.

    References
    ----------
    L. Breiman, Stacked regressions, Machine Learning 24 (1996); equal weights are the simplest of its combinations.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ensemble import VotingRegressor
    >>> from mercer.linear_model import LinearRegression, Ridge
    >>> X, y = np.array([[0.0], [1], [2], [3]]), np.array([1.0, 2, 4, 5])
    >>> model = VotingRegressor([("line", LinearRegression()), ("ridge", Ridge(alpha=5.0))], weights=[3, 1]).fit(X, y)
    >>> model.predict([[4.0]]).round(4)
    array([6.0625])
    >>> model.transform([[4.0]]).round(4)
    array([[6.5 , 4.75]])
    """

    _kind = "regressor"

    def __init__(self, estimators: Any, *, weights: Any = None, n_jobs: int | None = None, verbose: bool | int = False) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> VotingRegressor:
        """Fit the members.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Whatever all members take.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Handed on to every member, all of which must take it.
        **fit_params
            Metadata for members that ask for it, where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
        """
        self._fit(X, check_target(y), sample_weight, fit_params, {})
        return self

    def predict(self, X: Any) -> FloatArray:
        """The weighted mean of the members' predictions."""
        check_is_fitted(self)
        mean: FloatArray = np.average(self._predictions(X), axis=1, weights=self._votes())
        return mean

    def transform(self, X: Any) -> FloatArray:
        """The members' predictions, one column a member."""
        check_is_fitted(self)
        return self._predictions(X)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of the columns that `transform` gives; `input_features` is only compared with those of the fit."""
        check_is_fitted(self)
        self._check_feature_names(input_features)
        return self._names_out([""])

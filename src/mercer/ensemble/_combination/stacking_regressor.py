"""Stacking for numbers."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from mercer._base import fit_method
from mercer.ensemble._combination.members import check_target
from mercer.ensemble._combination.stacking import Stacking, has_final
from mercer.linear_model import RidgeCV


class StackingRegressor(RegressorMixin, Stacking):  # type: ignore[misc]  # scikit-learn has no types
    """A regressor that learns from the predictions of other regressors.

    Members h_1, ..., h_T are fitted on all rows; the final regressor on z_i = (h_1^{-k(i)}(x_i), ..., h_T^{-k(i)}(x_i)), where
    h^{-k(i)} is fitted without the fold that row i is in.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and regressors. 'drop' in place of a regressor leaves it out.
    final_estimator : estimator, default=None
        The regressor that combines the members; None for `mercer.linear_model.RidgeCV()`.
    cv : int, splitter, iterable or "prefit", default=None
        Folds as in scikit-learn: None for 5. With "prefit" the members are taken as they are, fitted already, and the final
        estimator learns from their predictions of X: these rows should not be those that they were fitted on.
    n_jobs : int, default=None
        How many members to fit at a time (joblib): None means one, unless a `joblib.parallel_config` says otherwise, -1 as many
        as there are processors. The result does not depend on it.
    passthrough : bool, default=False
        Let the final estimator see X too.
    verbose : bool or int, default=0
        Log each member to the logger "mercer".

    Attributes
    ----------
    estimators_ : list
        The members that are not dropped, fitted on all rows.
    named_estimators_ : Bunch
        The fitted members by name.
    final_estimator_ : estimator
        The fitted final estimator, with its own `certificate_` if it leaves one.
    stack_method_ : list of str
        The method that each member is asked by: "predict".
    n_features_in_ : int
        Number of features, where members say it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where members say them.

    Notes
    -----
    A fit costs one fit of each member for every fold and one on all rows. `sample_weight` goes to all members and to the final
    estimator. An error in a member names it. `SuperLearner` has weights that sum to one in place of a final estimator.

    References
    ----------
    L. Breiman, Stacked regressions, Machine Learning 24 (1996).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.ensemble import StackingRegressor
    >>> from mercer.linear_model import HuberRegressor, Lasso, Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("lasso", Lasso(alpha=0.1)), ("huber", HuberRegressor())]
    >>> model = StackingRegressor(members, Ridge()).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    >>> model.final_estimator_.coef_.shape
    (2,)
    """

    _kind = _member_kind = "regressor"
    _default_final = RidgeCV

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: bool | int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> StackingRegressor:
        """Fit members and final estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Whatever all members take.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Handed on to every member and to the final estimator, all of which must take it.
        **fit_params
            Metadata for members that ask for it, where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
        """
        self._fit(X, check_target(y), sample_weight, fit_params, {})
        return self

    @available_if(has_final("predict"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict(self, X: Any, **predict_params: Any) -> npt.NDArray[Any]:
        """The value of each row; `predict_params` go to the final estimator."""
        values: npt.NDArray[Any] = self._predict(X, predict_params)
        return values

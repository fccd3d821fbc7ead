"""Selection by what one fitted model makes of the columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, fit_method
from mercer._compat import validate_data
from mercer._params import (
    Bool,
    Fittable,
    Function,
    Infinity,
    Integer,
    InvalidParameterError,
    Null,
    Real,
    Rule,
    Text,
    check_params,
    check_value,
)
from mercer.feature_selection._importances import column_norms, importances_of
from mercer.feature_selection._routing import is_routing, route
from mercer.feature_selection._selector import Mask, ModelSelector, model_has

SPARSE_THRESHOLD = 1e-5  # of models whose l1 penalty leaves coefficients that are zero


GETTER = Text() | Function()


class SelectFromModel(ModelSelector):
    """The columns that a model makes enough of: those whose coefficients or importances reach a threshold.

    Parameters
    ----------
    estimator : estimator
        After a fit it has `coef_`, `feature_importances_`, or what `importance_getter` asks for.
    threshold : float or str, default=None
        The least importance that stays: a number, "mean" or "median" of the importances, or a multiple such as "1.25*mean".
        None is 1e-5 for models with an l1 penalty alone, else "mean".
    prefit : bool, default=False
        Whether the estimator is fitted already, and is to be taken as it is.
    norm_order : int other than 0, or plus or minus infinity, default=1
        The norm over several outputs.
    max_features : int or callable, default=None
        The most columns that stay, or a function of X that gives it. None: any number.
    importance_getter : str or callable, default="auto"
        The name of an attribute (with dots into parts), or a function of the fitted model. "auto" is `coef_` or
        `feature_importances_`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    threshold_ : float
    max_features_ : int
        Where `max_features` is not None.
    n_features_in_, feature_names_in_
        As in scikit-learn, where the estimator tells.

    Notes
    -----
    One fit of the estimator, to which X goes as it is.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.feature_selection import SelectFromModel
    >>> from mercer.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> SelectFromModel(Lasso(alpha=1.0)).fit(X, y).get_support(indices=True)
    array([2, 3, 8])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": Fittable(),
        "threshold": Null() | Real() | Infinity(either_sign=True) | Text(),
        "prefit": Bool(),
        "norm_order": Integer(1) | Integer(most=-1) | Infinity(either_sign=True),
        "max_features": Null() | Integer(0) | Function(),
        "importance_getter": GETTER,
    }

    estimator_: Any
    max_features_: int

    def __init__(
        self,
        estimator: Any,
        *,
        threshold: float | str | None = None,
        prefit: bool = False,
        norm_order: float = 1,
        max_features: int | Callable[[Any], int] | None = None,
        importance_getter: str | Callable[[Any], Any] = "auto",
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.prefit = prefit
        self.norm_order = norm_order
        self.max_features = max_features
        self.importance_getter = importance_getter

    @fit_method
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> SelectFromModel:
        """Fit the estimator, unless it is fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Whatever the estimator takes.
        y : array-like, default=None
        **fit_params
            Metadata of the estimator's fit.

        Returns
        -------
        self
        """
        params = check_params(self)
        most = self._most_features(params.max_features, X)
        task = FitTask.start(self, X, y)
        if params.prefit:
            model = deepcopy(self._fitted_before())
        else:
            given = dict(route(self, "fit", fit_params).estimator.fit) if is_routing() else fit_params
            model = clone(params.estimator)
            model.fit(X, y, **given)
        return self._finish(task, self._attributes(model, X, most), unset=("max_features_",))

    @available_if(model_has("partial_fit"))  # type: ignore[untyped-decorator]
    @fit_method
    def partial_fit(self, X: Any, y: Any = None, **partial_fit_params: Any) -> SelectFromModel:
        """Fit the estimator on some rows more.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like, default=None
        **partial_fit_params
            Metadata of the estimator's `partial_fit`.

        Returns
        -------
        self
        """
        params = check_params(self)
        model = getattr(self, "estimator_", None)
        most = getattr(self, "max_features_", None) if model is not None else self._most_features(params.max_features, X)
        task = FitTask.start(self, X, y)
        if params.prefit:
            model = deepcopy(self._fitted_before()) if model is None else model
        else:
            given = (
                dict(route(self, "partial_fit", partial_fit_params).estimator.partial_fit)
                if is_routing()
                else partial_fit_params
            )
            model = clone(params.estimator) if model is None else model
            model.partial_fit(X, y, **given)
        return self._finish(task, self._attributes(model, X, most))

    @staticmethod
    def _most_features(max_features: Any, X: Any) -> int | None:
        if not callable(max_features):
            return max_features  # type: ignore[no-any-return]
        most = max_features(X)
        return check_value("SelectFromModel", "max_features(X)", most, Integer(0))  # type: ignore[no-any-return]

    def _fitted_before(self) -> Any:
        try:
            check_is_fitted(self.estimator)
        except NotFittedError as error:
            raise NotFittedError(
                "SelectFromModel: When `prefit=True`, `estimator` is expected to be a fitted estimator. Fit it first, or say "
                "prefit=False."
            ) from error
        return self.estimator

    def _attributes(self, model: Any, X: Any, most: int | None) -> dict[str, Any]:
        names = ("n_features_in_", "feature_names_in_")
        found = {name: getattr(model, name) for name in names if hasattr(model, name)}
        self._unset(*names)
        if "feature_names_in_" not in found:
            validate_data(self, X, skip_check_array=True)  # what can be told of X itself
        return {"estimator_": model, **found, **({} if most is None else {"max_features_": most})}

    @property
    def threshold_(self) -> float:
        """The least importance that stays."""
        params = check_params(self)
        return self._threshold(params, self.estimator_, self._importances(params, self.estimator_))

    @staticmethod
    def _importances(params: Any, model: Any) -> FloatArray:
        return column_norms(importances_of(model, params.importance_getter), params.norm_order)

    @staticmethod
    def _threshold(params: Any, model: Any, importances: FloatArray) -> float:
        threshold = params.threshold
        if threshold is None:
            threshold = SPARSE_THRESHOLD if _leaves_zeros(model) else "mean"
        return threshold if isinstance(threshold, float) else _in_words(threshold, importances)

    def _get_support_mask(self) -> Mask:
        params = check_params(self)
        if params.prefit:
            self._fitted_before()
            model, most = getattr(self, "estimator_", self.estimator), getattr(self, "max_features_", params.max_features)
            if callable(most):
                raise NotFittedError(
                    "SelectFromModel: When `prefit=True` and `max_features` is a callable, call `fit` before calling "
                    "`transform`."
                )
        else:
            check_is_fitted(self)
            model, most = self.estimator_, getattr(self, "max_features_", None)
        importances = self._importances(params, model)
        mask: Mask = importances >= self._threshold(params, model, importances)
        if most is not None:
            is_among = np.zeros(len(mask), dtype=bool)
            is_among[np.argsort(-importances, kind="stable")[:most]] = True
            mask &= is_among
        return mask

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes on to the estimator (scikit-learn's metadata routing)."""
        mapping = MethodMapping().add(caller="partial_fit", callee="partial_fit").add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)


def _leaves_zeros(model: Any) -> bool:
    """Whether the penalty of a model is l1 alone."""
    name = type(model).__name__
    if getattr(model, "penalty", None) == "l1" or "Lasso" in name:
        return True
    ratio = {"ElasticNet": "l1_ratio", "ElasticNetCV": "l1_ratio_", "LogisticRegression": "l1_ratio"}
    ratio["LogisticRegressionCV"] = "l1_ratio_"
    found = getattr(model, ratio[name], None) if name in ratio else None
    return found is not None and bool(np.all(np.isclose(np.asarray(found, dtype=np.float64), 1.0)))


def _in_words(threshold: str, importances: FloatArray) -> float:
    """ "mean", "median", or a multiple of one of them."""
    scale, _, reference = threshold.rpartition("*")
    measures: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "median": np.median}
    try:
        return float(scale.strip() or 1.0) * float(measures[reference.strip()](importances))
    except (KeyError, ValueError) as error:
        raise InvalidParameterError(
            f"SelectFromModel: threshold={threshold!r} is not valid; it must be a number, 'mean', 'median', or a multiple of "
            "one such as '1.25*mean'."
        ) from error

"""Selectors by the score of each single column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, validate
from mercer._base import FitTask, fit_method
from mercer._params import Function, Integer, InvalidParameterError, OneOf, Real, Rule, check_params
from mercer._trace import warn
from mercer.feature_selection._scores import f_classif
from mercer.feature_selection._selector import Mask, Selector


class UnivariateSelector(Selector):
    """Base: a fit scores the columns; which of them stay is asked of the parameters when it is wanted."""

    _input_tags = ("sparse",)
    _needs_p_values: ClassVar[bool] = False

    score_func: Callable[..., Any]
    scores_: FloatArray
    pvalues_: FloatArray | None

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Score the columns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            What the score asks for; None for scores of X alone.

        Returns
        -------
        self
        """
        params = check_params(self)
        if y is None:
            X = validate(self, X, sparse=("csr", "csc"))
        else:
            X, y = validate(self, X, y, sparse=("csr", "csc"), multi_output=True)
        self._check_width(params, X.shape[1])
        task = FitTask.start(self, X, y)
        found = params.score_func(X, y)
        scores, p_values = found if isinstance(found, (list, tuple)) else (found, None)
        attributes = {"scores_": np.asarray(scores), "pvalues_": None if p_values is None else np.asarray(p_values)}
        if self._asks_p_values(params) and p_values is None:
            raise InvalidParameterError(
                f"{type(self).__name__}: score_func={params.score_func!r} gives no p-values; it must return scores and "
                "p-values, as f_classif, f_regression and chi2 do."
            )
        return self._finish(task, attributes)

    def _asks_p_values(self, params: SimpleNamespace) -> bool:
        return self._needs_p_values

    def _check_width(self, params: SimpleNamespace, n_features: int) -> None:
        """Tell of a parameter that cannot be met with so few columns."""

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return self._chosen(check_params(self))

    def _chosen(self, params: SimpleNamespace) -> Mask:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_p_values
        return tags


def _ranked(scores: FloatArray) -> FloatArray:
    """Scores to sort by: what is not defined comes last."""
    scores = scores.astype(np.float64) if scores.dtype.kind != "f" else scores.copy()
    scores[np.isnan(scores)] = np.finfo(scores.dtype).min
    return scores


def _best(scores: FloatArray, k: Any) -> Mask:
    """The k of the greatest scores, of equals the last."""
    k = len(scores) if k == "all" else min(int(k), len(scores))
    mask = np.zeros(len(scores), dtype=bool)
    mask[np.argsort(_ranked(scores), kind="stable")[len(scores) - k :]] = True
    return mask


def _top_percent(scores: FloatArray, percentile: float) -> Mask:
    """Those above the percentile, and of those at it the first, as many as make up the share."""
    if percentile in (0, 100):
        return np.full(len(scores), percentile == 100)
    scores = _ranked(scores)
    least = np.percentile(scores, 100 - percentile)
    mask: Mask = scores > least
    n_more = int(len(scores) * percentile / 100) - int(mask.sum())
    mask[np.flatnonzero(scores == least)[: max(n_more, 0)]] = True
    return mask


def _below(p_values: FloatArray, level: float) -> Mask:
    mask: Mask = p_values < level
    return mask


def _discoveries(p_values: FloatArray, alpha: float) -> Mask:
    """Benjamini and Hochberg: all p-values up to the largest of rank i that is at most alpha i / d."""
    d = len(p_values)
    ordered = np.sort(p_values)
    passed = ordered[ordered <= alpha / d * np.arange(1, d + 1)]
    return np.zeros(d, dtype=bool) if len(passed) == 0 else np.asarray(p_values <= passed.max())


def _warn_of_width(owner: str, name: str, k: Any, n_features: int) -> None:
    if k != "all" and k > n_features:
        warn(f"{owner}: {name}={k} is greater than n_features={n_features}. All the features will be returned.")


class SelectKBest(UnivariateSelector):
    """The k columns of the best scores.

    Parameters
    ----------
    score_func : callable, default=f_classif
        Takes X and y, and gives scores, or scores and p-values.
    k : int or "all", default=10
        How many columns stay. More than there are is all of them, with a warning.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
    pvalues_ : array of shape (n_features,) or None
        None where `score_func` gives scores alone.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Of equal scores the last columns stay, as in scikit-learn; a score that is NaN comes last.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.feature_selection import SelectKBest
    >>> SelectKBest(k=2).fit(*load_iris(return_X_y=True)).get_support()
    array([False, False,  True,  True])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {"score_func": Function(), "k": OneOf("all") | Integer(0)}

    def __init__(self, score_func: Callable[..., Any] = f_classif, *, k: int | str = 10) -> None:
        self.score_func = score_func
        self.k = k

    def _check_width(self, params: SimpleNamespace, n_features: int) -> None:
        _warn_of_width(type(self).__name__, "k", params.k, n_features)

    def _chosen(self, params: SimpleNamespace) -> Mask:
        return _best(self.scores_, params.k)


class SelectPercentile(UnivariateSelector):
    """The columns whose scores are in the top percentile.

    Parameters
    ----------
    score_func : callable, default=f_classif
        Takes X and y, and gives scores, or scores and p-values.
    percentile : float, default=10
        Per cent of the columns that stay.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
    pvalues_ : array of shape (n_features,) or None
        None where `score_func` gives scores alone.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Of scores equal to the percentile the first columns stay; a score that is NaN comes last.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.feature_selection import SelectPercentile
    >>> SelectPercentile(percentile=50).fit(*load_iris(return_X_y=True)).get_support()
    array([False, False,  True,  True])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {"score_func": Function(), "percentile": Real(least=0, most=100)}

    def __init__(self, score_func: Callable[..., Any] = f_classif, *, percentile: float = 10) -> None:
        self.score_func = score_func
        self.percentile = percentile

    def _chosen(self, params: SimpleNamespace) -> Mask:
        return _top_percent(self.scores_, params.percentile)


class SignificanceSelector(UnivariateSelector):
    """Base of those that go by p-values and a level, each in its way."""

    _needs_p_values = True
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {"score_func": Function(), "alpha": Real(least=0, most=1)}

    def __init__(self, score_func: Callable[..., Any] = f_classif, *, alpha: float = 5e-2) -> None:
        self.score_func = score_func
        self.alpha = alpha

    def _chosen(self, params: SimpleNamespace) -> Mask:
        assert self.pvalues_ is not None
        return self._significant(self.pvalues_, params.alpha)

    @staticmethod
    def _significant(p_values: FloatArray, alpha: float) -> Mask:
        raise NotImplementedError


class SelectFpr(SignificanceSelector):
    """The columns whose p-values are below a level: of columns without any effect a share `alpha` stays (false positives).

    Parameters
    ----------
    score_func : callable, default=f_classif
        Takes X and y, and gives scores and p-values.
    alpha : float, default=0.05
        The level.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
    pvalues_ : array of shape (n_features,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Each column is tested alone: of many without an effect, many stay. `SelectFdr` and `SelectFwe` correct for their number.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.feature_selection import SelectFpr
    >>> SelectFpr(alpha=1e-20).fit(*load_iris(return_X_y=True)).get_support()
    array([ True, False,  True,  True])
    """

    @staticmethod
    def _significant(p_values: FloatArray, alpha: float) -> Mask:
        return _below(p_values, alpha)


class SelectFdr(SignificanceSelector):
    r"""The columns that the procedure of Benjamini and Hochberg lets stay: of them, a share `alpha` is expected to be false.

    Of the sorted p-values :math:`p_{(1)} \le \dots \le p_{(d)}`, all up to the largest with
    :math:`p_{(i)} \le \alpha\, i / d`.

    Parameters
    ----------
    score_func : callable, default=f_classif
        Takes X and y, and gives scores and p-values.
    alpha : float, default=0.05
        The bound on the false discovery rate.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
    pvalues_ : array of shape (n_features,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The bound holds for independent tests, and for tests of positive dependence.

    References
    ----------
    Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57 (1995).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.feature_selection import SelectFdr
    >>> SelectFdr(alpha=1e-20).fit(*load_iris(return_X_y=True)).get_support()
    array([ True, False,  True,  True])
    """

    @staticmethod
    def _significant(p_values: FloatArray, alpha: float) -> Mask:
        return _discoveries(p_values, alpha)


class SelectFwe(SignificanceSelector):
    """The columns whose p-values are below `alpha` over the number of columns: the chance of any false one is at most `alpha`.

    Parameters
    ----------
    score_func : callable, default=f_classif
        Takes X and y, and gives scores and p-values.
    alpha : float, default=0.05
        The bound on the family-wise error rate (Bonferroni).

    Attributes
    ----------
    scores_ : array of shape (n_features,)
    pvalues_ : array of shape (n_features,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The bound holds whatever the dependence of the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.feature_selection import SelectFwe
    >>> SelectFwe(alpha=1e-20).fit(*load_iris(return_X_y=True)).get_support()
    array([ True, False,  True,  True])
    """

    @staticmethod
    def _significant(p_values: FloatArray, alpha: float) -> Mask:
        return _below(p_values, alpha / len(p_values))


class GenericUnivariateSelect(UnivariateSelector):
    """Any of the selectors by single columns, whose kind is a parameter: for a search.

    Parameters
    ----------
    score_func : callable, default=f_classif
        Takes X and y, and gives scores and p-values; scores alone will do for "percentile" and "k_best".
    mode : {"percentile", "k_best", "fpr", "fdr", "fwe"}, default="percentile"
        The kind: `SelectPercentile`, `SelectKBest`, `SelectFpr`, `SelectFdr` or `SelectFwe`.
    param : "all", float or int, default=1e-5
        Its `percentile`, `k` or `alpha`; "all" is for "k_best".

    Attributes
    ----------
    scores_ : array of shape (n_features,)
    pvalues_ : array of shape (n_features,) or None
        None where `score_func` gives scores alone.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    `mode` and `param` are read when the columns are asked for, so that they may change after a fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.feature_selection import GenericUnivariateSelect
    >>> selector = GenericUnivariateSelect(mode="k_best", param=1).fit(*load_iris(return_X_y=True))
    >>> selector.get_support()
    array([False, False,  True, False])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "score_func": Function(),
        "mode": OneOf("percentile", "k_best", "fpr", "fdr", "fwe"),
        "param": OneOf("all") | Integer(0) | Real(least=0),
    }
    _kinds: ClassVar[Mapping[str, tuple[type[UnivariateSelector], str]]] = {
        "percentile": (SelectPercentile, "percentile"),
        "k_best": (SelectKBest, "k"),
        "fpr": (SelectFpr, "alpha"),
        "fdr": (SelectFdr, "alpha"),
        "fwe": (SelectFwe, "alpha"),
    }

    def __init__(
        self, score_func: Callable[..., Any] = f_classif, *, mode: str = "percentile", param: float | str = 1e-5
    ) -> None:
        self.score_func = score_func
        self.mode = mode
        self.param = param

    def _kind(self, params: SimpleNamespace) -> tuple[UnivariateSelector, SimpleNamespace]:
        """The selector of that kind, with the scores of this one, and its parameters, or the error about `param`."""
        kind, name = self._kinds[params.mode]
        selector = kind(params.score_func, **{name: params.param})
        if hasattr(self, "scores_"):
            selector.scores_, selector.pvalues_ = self.scores_, self.pvalues_
        try:
            return selector, check_params(selector)
        except InvalidParameterError as error:
            raise InvalidParameterError(
                f"GenericUnivariateSelect: param={params.param!r} is not valid with mode={params.mode!r}: {error}"
            ) from error

    def _asks_p_values(self, params: SimpleNamespace) -> bool:
        return self._kinds[params.mode][0]._needs_p_values

    def _check_width(self, params: SimpleNamespace, n_features: int) -> None:
        selector, inner = self._kind(params)
        selector._check_width(inner, n_features)

    def _chosen(self, params: SimpleNamespace) -> Mask:
        selector, inner = self._kind(params)
        return selector._chosen(inner)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

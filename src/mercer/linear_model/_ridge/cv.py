"""Ridge regression with its penalty chosen by cross-validation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.base import MultiOutputMixin

from mercer._arrays import Finite, FloatArray, check_weights, check_X_y
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._linear import SPARSE, LinearRegressor
from mercer._params import ArrayLike, Bool, Function, Null, OneOf, Real, Rule, ScorerName, Splitter, check_params, check_values
from mercer._stand_in import stand_in
from mercer._trace import Outcome
from mercer.linear_model._inference.summary import NoSummary
from mercer.linear_model._least_squares.rows import Rows
from mercer.linear_model._ridge.fit import RidgeFit
from mercer.linear_model._ridge.folds import ColumnFolds, RowFolds
from mercer.linear_model._ridge.ridge import Ridge, attributes_of, make_rows
from mercer.linear_model._ridge.shared import SharedDecomposition
from mercer.linear_model._ridge.spectrum import ColumnSpectrum, RowSpectrum
from mercer.metrics import get_scorer

Scorer = Callable[..., Any]


@dataclass
class Choice:
    """The penalties chosen (one, or one for each target) and how they scored."""

    alpha: Any
    score: Any
    results: FloatArray | None = None


class RidgeSearch(NoSummary, MercerEstimator):
    """What ridge regression and the ridge classifier with cross-validation share."""

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "alphas": Real(least=0) | ArrayLike(),
        "fit_intercept": Bool(),
        "scoring": Null() | ScorerName() | Function(),
        "cv": Splitter(),
        "store_cv_results": Bool(),
    }

    def _check(self) -> SimpleNamespace:
        """The parameters, checked one by one and against each other; `alphas` as a vector."""
        params, owner = check_params(self), type(self).__name__
        params.gcv_mode, params.alpha_per_target = getattr(params, "gcv_mode", None), getattr(params, "alpha_per_target", False)
        for name in ("store_cv_results", "alpha_per_target"):
            if params.cv is not None and getattr(params, name):
                raise ValueError(f"{owner}: {name}=True is for leave-one-out; cv!=None and {name}=True are incompatible.")
        alphas = [params.alphas] if np.ndim(params.alphas) == 0 else params.alphas
        rule = Real(above=0) if params.cv is None else Real(least=0)
        params.alphas = np.array(check_values(owner, "alphas", alphas, rule), dtype=np.float64)
        return params

    def _search(self, X: Any, Y: FloatArray, weights: FloatArray | None, params: SimpleNamespace, judge: Judge) -> Self:
        """Choose alpha, fit with it, and store what was found."""
        n_rows = X.shape[0] if weights is None else int(np.count_nonzero(weights))
        if n_rows < 2:
            raise ValueError(
                f"{type(self).__name__}: cross-validation needs 2 rows of positive weight or more; n_samples={n_rows}."
            )
        task = FitTask.start(self, X, judge.y)
        search = _Search(make_rows(self, X, Y, weights, params), params)
        choice = search.by_leaving_out(judge) if params.cv is None else search.by_folds(X, judge)
        fit = search.fit(choice.alpha)
        attributes = {**attributes_of(fit, Y, params.fit_intercept), "alpha_": choice.alpha, "best_score_": choice.score}
        if choice.results is not None:
            attributes["cv_results_"] = choice.results.astype(X.dtype, copy=False)
        return self._finish(task, self._fitted(attributes), Outcome(fit.certificate()), unset=("cv_results_",))

    def _fitted(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """All that a callback's copy of this estimator needs to predict."""
        return attributes


class Judge:
    """How predictions are scored: against which y, with which weights, and for whom they stand."""

    def __init__(self, y: Any, scoring: Any, default: str, weights: FloatArray | None) -> None:
        self.y, self.weights = y, weights
        self.has_scorer = scoring is not None
        self._scorer: Scorer = scoring if callable(scoring) else get_scorer(default if scoring is None else scoring)

    @property
    def is_single(self) -> bool:
        """Whether there is one target, given as a vector."""
        return bool(self.y.ndim == 1)

    def splits(self, X: Any, cv: Any) -> Any:
        return sklearn.model_selection.check_cv(cv, self.y, classifier=False).split(X, self.y)

    def model(self, alpha: float, coef: FloatArray, intercept: Any, n_features: int) -> Any:
        """An estimator with these coefficients (targets x features)."""
        values = {"coef_": coef[0], "intercept_": intercept[0]} if self.is_single else {"coef_": coef, "intercept_": intercept}
        model = Ridge(alpha)
        model._store({**values, "n_features_in_": n_features})
        return model

    def score_model(self, model: Any, X: Any, index: Any) -> float:
        return float(self._scorer(model, X[index], self.y[index], **self._options(index)))

    def score_values(self, values: FloatArray, target: int | None = None) -> float:
        """Of predictions (rows x targets) for all rows; for one target, if given."""
        y, values = (self.y, values) if target is None else (self.y[:, target], values[:, target])
        if y.ndim == 1 and values.ndim == 2:
            values = values[:, 0]
        return float(self._scorer(stand_in(values), values, y, **self._options(slice(None))))

    def _options(self, index: Any) -> dict[str, Any]:
        """The weights of some rows, for a scorer that takes any."""
        takes_weights = self.weights is not None and "sample_weight" in inspect.signature(self._scorer).parameters
        return {"sample_weight": self.weights[index]} if takes_weights and self.weights is not None else {}


class _Search:
    """The rows, and the products of them that all penalties share."""

    def __init__(self, rows: Rows, params: SimpleNamespace) -> None:
        self._rows, self._params = rows, params
        self._shared = SharedDecomposition(rows)
        self._is_wide, self._products = self._shared.is_wide, self._shared.products

    def fit(self, alpha: Any) -> RidgeFit:
        return self._shared.fit(np.broadcast_to(np.asarray(alpha, dtype=np.float64), (self._rows.n_targets,)).copy())

    def _spectrum(self) -> ColumnSpectrum | RowSpectrum:
        rows, products = self._rows, self._products
        if self._params.gcv_mode == "svd":
            A, b = rows.matrices(products.means, products.weight)
            return RowSpectrum.by_svd(A, products, is_centred=rows.is_centred) if self._is_wide else ColumnSpectrum.by_svd(A, b)
        if self._is_wide:
            return RowSpectrum.of(products, is_centred=rows.is_centred)
        return ColumnSpectrum.of(products, rows.n_features)

    def by_leaving_out(self, judge: Judge) -> Choice:
        """Each row left out in turn, in closed form."""
        rows, params, products = self._rows, self._params, self._products
        n_alphas, n_targets, n = len(params.alphas), rows.n_targets, rows.n_rows
        weights, y = rows.weights_and_targets()
        kept = np.empty((n_targets, n_alphas, n)) if judge.has_scorer or params.store_cv_results else None
        sums = self._spectrum().left_out(rows, products.means, products.weight, params.alphas, kept)
        scores = -sums.T / np.count_nonzero(weights)
        if kept is not None:
            kept = y.T[:, None, :] - kept if judge.has_scorer else weights * kept**2
        if judge.has_scorer:
            assert kept is not None
            each = range(n_targets) if params.alpha_per_target else [None]
            scores = np.array([[judge.score_values(kept[:, a].T, target) for target in each] for a in range(n_alphas)])
        choice = _best(params.alphas, scores, per_target=params.alpha_per_target and n_targets > 1)
        if params.store_cv_results:
            assert kept is not None
            choice.results = np.moveaxis(kept, 2, 0)
            if judge.is_single:
                choice.results = choice.results[:, 0]
        return choice

    def by_folds(self, X: Any, judge: Judge) -> Choice:
        """Every fold once for all penalties."""
        rows, alphas, d = self._rows, self._params.alphas, self._rows.n_features
        folds = RowFolds(rows, self._products) if self._is_wide else ColumnFolds(rows, self._products)
        X = X.tocsr() if sp.issparse(X) else X
        scores = []
        for train, test in judge.splits(X, self._params.cv):
            coefs, means = folds.coefs(np.asarray(train), np.asarray(test), alphas)
            intercepts = means[d:] - coefs @ means[:d]
            models = (judge.model(*fitted, d) for fitted in zip(alphas, coefs, intercepts, strict=True))
            scores.append([judge.score_model(model, X, test) for model in models])
        return _best(alphas, np.mean(scores, axis=0)[:, None], per_target=False)


def _best(alphas: FloatArray, scores: FloatArray, *, per_target: bool) -> Choice:
    """The first of the best of scores (alphas x targets): for each target, or of the mean over targets."""
    if per_target:
        best = np.argmax(scores, axis=0)
        return Choice(alphas[best], scores[best, np.arange(scores.shape[1])])
    means = scores.mean(axis=1)
    best = int(np.argmax(means))
    return Choice(float(alphas[best]), float(means[best]))


class RidgeCV(RidgeSearch, MultiOutputMixin, LinearRegressor):  # type: ignore[misc]  # scikit-learn has no types
    r"""Ridge regression with its penalty chosen by cross-validation.

    Minimises :math:`\tfrac12 \sum_i s_i (y_i - x_i^\top w - b)^2 + \tfrac{\alpha}{2} \|w\|^2` for the :math:`\alpha` that best
    predicts rows that were left out of the fit.

    Parameters
    ----------
    alphas : float or array of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        The penalties to try: > 0, and >= 0 where `cv` is given.
    fit_intercept : bool, default=True
        Whether there is an intercept; without, :math:`b = 0`.
    scoring : str, callable or None, default=None
        How to score predictions, higher being better. None is minus the mean squared error when leaving one out, times the
        weights, and the coefficient of determination with `cv`.
    cv : int, splitter, iterable of (train, test) or None, default=None
        None leaves out one row at a time, in closed form.
    gcv_mode : {"auto", "svd", "eigen"} or None, default=None
        How leaving one out decomposes X: "eigen", "auto" and None by the eigenvalues of the products of columns or, where there
        are fewer rows, of rows; "svd" by the singular values of a copy, which loses fewer digits on badly conditioned X.
    store_cv_results : bool, default=False
        Whether to keep `cv_results_`; for leave-one-out only.
    alpha_per_target : bool, default=False
        Whether to choose a penalty for each target; for leave-one-out only.

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
        The penalty chosen; of equally good ones, the first.
    best_score_ : float or array of shape (n_targets,)
        Its score. Rows of weight zero are not counted.
    cv_results_ : array of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        The squared errors of the rows left out, times their weights; with `scoring`, the predictions for them. Only with
        `store_cv_results=True`.
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        A vector also for y of shape (n_samples, 1).
    intercept_ : float or array of shape (n_targets,)
    certificate_ : Certificate
        Of the fit with the chosen penalty, as in `Ridge`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    X is read twice and decomposed once: O(n d min(n, d)) for any number of penalties, whose leverages come from one product of
    matrices. Folds share the products of all rows: those of a fold's training rows are what its test rows leave of them. A row
    of weight two is one row when it is left out.

    Differences from scikit-learn: parameters for the scorer cannot be routed through `fit`.

    References
    ----------
    R. M. Rifkin, R. A. Lippert, "Notes on Regularized Least Squares", MIT-CSAIL-TR-2007-025.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import RidgeCV
    >>> random = np.random.RandomState(0)
    >>> X = random.randn(50, 5)
    >>> y = X @ [1.0, 2, 0, 0, -1] + random.randn(50)
    >>> model = RidgeCV(alphas=[0.01, 0.1, 1, 10, 100]).fit(X, y)
    >>> model.alpha_, round(model.best_score_, 3)
    (1.0, -1.386)
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **RidgeSearch._parameter_rules,
        "gcv_mode": OneOf("auto", "svd", "eigen") | Null(),
        "alpha_per_target": Bool(),
    }

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RidgeCV:
        """Choose the penalty and find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        params = self._check()
        finite: Finite = "check" if sp.issparse(X) else "deferred"
        X, y = check_X_y(self, X, y, sparse=SPARSE, finite=finite, multi_output=True)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        return self._search(X, y, weights, params, Judge(y, params.scoring, "r2", weights))

"""Classifiers by ridge regression on labels of -1 and 1."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import sklearn
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from mercer._arrays import Finite, FloatArray, check_class_weight, check_weights, check_X_labels, validate
from mercer._base import fit_method
from mercer._labels import choose_labels
from mercer._linear import SPARSE, LinearClassifier
from mercer._params import Mapped, Null, OneOf, Rule
from mercer._stand_in import stand_in
from mercer.linear_model._ridge.cv import Judge, RidgeSearch
from mercer.linear_model._ridge.ridge import RidgeData, RidgeModel, require_format

CLASS_WEIGHT = Null() | OneOf("balanced") | Mapped()


class Labels:
    """y as numbers: one column of -1 and 1 for two classes, one for each class or label of more. One class is the -1."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        finite: Finite = "check" if sp.issparse(X) else "deferred"
        y = y if y is None or sp.issparse(y) else np.asarray(y)
        self.is_multilabel = y is not None and type_of_target(y, input_name="y") == "multilabel-indicator"
        if self.is_multilabel:
            self.X, self.y = validate(estimator, X, y, sparse=SPARSE, finite=finite, multi_output=True)
            if sp.issparse(self.y):
                self.y = self.y.toarray()
            self.classes: npt.NDArray[Any] = np.arange(self.y.shape[1])
            self.targets = np.where(self.y > 0, 1, -1).astype(self.X.dtype)
            return
        if np.ndim(y) == 2 and np.shape(y)[1] == 1:
            y = column_or_1d(y, warn=True)
        self.X, self.classes, self.codes = check_X_labels(estimator, X, y, sparse=SPARSE, finite=finite, one_class=True)
        self.y = self.classes[self.codes]
        positive = np.arange(len(self.classes)) if len(self.classes) > 2 else np.array([1])
        is_of = self.codes[:, None] == positive[None, :]
        self.targets = np.where(is_of, 1, -1).astype(self.X.dtype)

    @property
    def facts(self) -> dict[str, Any]:
        """The fitted attributes that say what the columns of targets mean."""
        return {"classes_": self.classes, "_is_multilabel": self.is_multilabel}

    def weights(self, owner: str, sample_weight: Any, class_weight: Any) -> FloatArray | None:
        weights = check_weights(sample_weight, self.X.shape[0], self.X.dtype)
        if self.is_multilabel:
            if class_weight is not None:
                raise ValueError(f"{owner}: class_weight={class_weight!r} is not for rows of several labels; it must be None.")
            return weights
        try:
            return check_class_weight(class_weight, self.classes, self.codes, weights, self.X.dtype)
        except ValueError as error:
            raise ValueError(
                f"{owner}: class_weight={class_weight!r} is not valid; its keys must be classes of y. {error}."
            ) from None


class RidgeLabels(LinearClassifier):
    """Labels from values, for one label a row or several."""

    _is_multilabel: bool

    def _linear_values(self, X: Any) -> FloatArray:
        values = super()._linear_values(X)
        return values[:, None] if values.ndim == 1 else values

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row; with several labels a row, 0 or 1 for each."""
        if not getattr(self, "_is_multilabel", False):
            return super().predict(X)
        return (self._linear_values(X) > 0).astype(np.int64)

    def _fitted(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """All that a callback's copy of this estimator needs to predict."""
        return {**attributes, "classes_": self.classes_, "_is_multilabel": self._is_multilabel}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class RidgeClassifier(RidgeLabels, RidgeModel):
    r"""Classification by ridge regression on labels of -1 and 1.

    Minimises :math:`\tfrac12 \sum_i s_i (y_i - x_i^\top w - b)^2 + \tfrac{\alpha}{2} \|w\|^2` for :math:`y_i \in \{-1, 1\}`;
    with more than two classes, or several labels a row, once for each against the rest.

    Parameters
    ----------
    alpha : float, default=1.0
        The strength of the penalty, >= 0.
    fit_intercept : bool, default=True
        Whether there is an intercept; without, :math:`b = 0`.
    copy_X : bool, default=True
        X is never changed, and copied only by `solver="svd"`, whatever this says.
    max_iter : int or None, default=None
        The most iterations of an iterative method; None is ten times the number of features, and at least 1000.
    tol : float, default=1e-4
        Iterative methods end when the norm of the gradient falls to `tol` times that at :math:`w = 0`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" makes all classes weigh the same, rows counted by their weights.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}, default="auto"
        As in `Ridge`.
    positive : bool, default=False
        Whether to restrict the coefficients to be >= 0.
    random_state : int, RandomState or None, default=None
        No method here draws anything; accepted for the sake of programs that pass it.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_classes, n_features)
        A vector for two classes.
    intercept_ : float or array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    n_iter_ : int
        The iterations of an iterative method; 1 for direct ones.
    solver_ : str
        What ran, as in `Ridge`.
    certificate_ : Certificate
        As in `Ridge`, added over classes.
    history_ : list of dict
        For iterative methods: the gradient against that at zero, and the objective, after each iteration.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    All classes share one factorisation: O(n d min(n, d)).

    Differences from scikit-learn: as in `Ridge`. A single class is predicted everywhere, whatever the values are.

    References
    ----------
    R. Rifkin, G. Yeo, T. Poggio, "Regularized Least-Squares Classification", 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.linear_model import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(RidgeClassifier().fit(X, y).score(X, y), 3)
    0.853
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {**RidgeModel._parameter_rules, "class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: Any = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or 0 and 1 of shape (n_samples, n_labels)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = self._check()
        return self._fit_data(self._check_data(X, y, sample_weight, params), params)

    def _check_data(self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace) -> RidgeData:
        require_format(self, X, params.solver)
        labels = Labels(self, X, y)
        weights = labels.weights(type(self).__name__, sample_weight, params.class_weight)
        return RidgeData(labels.X, labels.targets, weights, labels.y, labels.facts)


class RidgeClassifierCV(RidgeLabels, RidgeSearch):
    r"""Classification by ridge regression, with its penalty chosen by cross-validation.

    Minimises :math:`\tfrac12 \sum_i s_i (y_i - x_i^\top w - b)^2 + \tfrac{\alpha}{2} \|w\|^2` for :math:`y_i \in \{-1, 1\}`, as
    `RidgeClassifier` does, for the :math:`\alpha` that best predicts rows that were left out of the fit.

    Parameters
    ----------
    alphas : float or array of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        The penalties to try: > 0, and >= 0 where `cv` is given.
    fit_intercept : bool, default=True
        Whether there is an intercept; without, :math:`b = 0`.
    scoring : str, callable or None, default=None
        How to score predictions, higher being better. None is minus the mean squared error of the values when leaving one out,
        times the weights, and the accuracy with `cv`.
    cv : int, splitter, iterable of (train, test) or None, default=None
        None leaves out one row at a time, in closed form.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" makes all classes weigh the same, rows counted by their weights.
    store_cv_results : bool, default=False
        Whether to keep `cv_results_`; for leave-one-out only.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen; of equally good ones, the first.
    best_score_ : float
        Its score.
    cv_results_ : array of shape (n_samples, n_outputs, n_alphas)
        The squared errors of the rows left out, times their weights; with `scoring`, the values predicted for them. Only with
        `store_cv_results=True`.
    coef_ : array of shape (n_features,) or (n_classes, n_features)
        A vector for two classes.
    intercept_ : float or array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    certificate_ : Certificate
        Of the fit with the chosen penalty, as in `Ridge`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    O(n d min(n, d)) for any number of penalties, as in `RidgeCV`.

    Differences from scikit-learn: parameters for the scorer cannot be routed through `fit`; with two classes, `scoring` judges
    the labels that the left-out values stand for (there, every row counts as of the first class).

    References
    ----------
    R. M. Rifkin, R. A. Lippert, "Notes on Regularized Least Squares", MIT-CSAIL-TR-2007-025.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.linear_model import RidgeClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RidgeClassifierCV(alphas=[0.01, 0.1, 1, 10]).fit(X, y)
    >>> model.alpha_, round(model.score(X, y), 3)
    (1.0, 0.853)
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {**RidgeSearch._parameter_rules, "class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        class_weight: Any = None,
        store_cv_results: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RidgeClassifierCV:
        """Choose the penalty and find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or 0 and 1 of shape (n_samples, n_labels)
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        params = self._check()
        labels = Labels(self, X, y)
        given = check_weights(sample_weight, labels.X.shape[0], labels.X.dtype)
        weights = labels.weights(type(self).__name__, sample_weight, params.class_weight)
        self._store(labels.facts)
        return self._search(labels.X, labels.targets, weights, params, _LabelJudge(labels, params, given))


class _LabelJudge(Judge):
    """Scores labels: predictions are values, of one column for two classes."""

    def __init__(self, labels: Labels, params: SimpleNamespace, weights: FloatArray | None) -> None:
        super().__init__(labels.y, params.scoring, "accuracy", weights)
        self._labels = labels

    @property
    def is_single(self) -> bool:
        return False

    def splits(self, X: Any, cv: Any) -> Any:
        return sklearn.model_selection.check_cv(cv, self.y, classifier=True).split(X, self.y)

    def model(self, alpha: float, coef: FloatArray, intercept: Any, n_features: int) -> Any:
        model = RidgeClassifier(alpha)
        model._store({"coef_": coef, "intercept_": intercept, "n_features_in_": n_features, **self._labels.facts})
        return model

    def score_values(self, values: FloatArray, target: int | None = None) -> float:
        labels = self._labels
        predicted = (values > 0).astype(np.int64) if labels.is_multilabel else choose_labels(values, labels.classes)
        model = stand_in(predicted, classes=labels.classes, decision=values[:, 0] if values.shape[1] == 1 else values)
        return float(self._scorer(model, values, self.y, **self._options(slice(None))))

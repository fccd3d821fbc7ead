"""Logistic regression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, fit_method
from mercer._candidates import Candidates
from mercer._linear import SPARSE, LinearClassifier
from mercer._params import (
    Bool,
    Integer,
    Null,
    NumberOfJobs,
    RandomState,
    Real,
    Rule,
    Verbosity,
    check_params,
    check_value,
)
from mercer._tuning import Reals, Space
from mercer.linear_model._inference.table import names_of_features
from mercer.linear_model._inference.wald import WaldSummary
from mercer.linear_model._logistic.data import (
    CLASS_WEIGHT,
    PARAMETRIZATION,
    PENALTY,
    SOLVERS,
    STRENGTH,
    LogisticData,
    check_strength,
)
from mercer.linear_model._logistic.fit import LogisticProblem
from mercer.linear_model._logistic.point import Point
from mercer.linear_model._logistic.run import Run
from mercer.linear_model._logistic.separate import SeparateProblem
from mercer.linear_model._logistic.summary import statistics_of, summarise


class LogisticClassifier(LinearClassifier):
    """What logistic regression and its cross-validated form share: probabilities, and coefficients kept sparse on request."""

    coef_: Any

    def _linear_values(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if not sp.issparse(self.coef_):
            return super()._linear_values(X)
        X = check_X(self, X, sparse=SPARSE, reset=False)
        values: FloatArray = np.asarray(safe_sparse_dot(X, self.coef_.T, dense_output=True)) + self.intercept_
        return values

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, a column each in the order of `classes_`."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        probabilities: FloatArray = softmax(scores, axis=1)
        return probabilities

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of the probabilities, without loss where these are near zero or one."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        logarithms: FloatArray = log_softmax(scores, axis=1)
        return logarithms


class LogisticRegression(LogisticClassifier):
    r"""Logistic regression for two or more classes, with l2, l1, elastic-net or no penalty, certified by the duality gap.

    Minimises :math:`\sum_i s_i \,\ell_i(w, b) + \tfrac1C \left( \rho \|w\|_1 + \tfrac{1 - \rho}2 \|w\|_2^2 \right)` over the
    coefficients :math:`w` and the intercepts :math:`b`, for the sample weights :math:`s_i` and the ratio :math:`\rho` =
    `l1_ratio`. The loss :math:`\ell_i` is minus the log likelihood of the class of row i: for two classes that of
    :math:`P(y = 1) = 1 / (1 + e^{-x^\top w - b})`, for more that of softmax, :math:`P(y = k) \propto e^{x^\top w_k + b_k}`.

    Parameters
    ----------
    penalty : {'l1', 'l2', 'elasticnet', None}, default='deprecated'
        The peer's older way to say `l1_ratio` and `C`: 'l2' and 'l1' fix the ratio, None means ``C=inf``.
    C : float, default=1.0
        The inverse of the strength of the penalty; infinity means no penalty.
    l1_ratio : float or None, default=0.0
        The share of l1 in the penalty, from 0 (l2) over elastic net to 1 (l1). None counts as 0.
    dual : bool, default=False
        Which of two equivalent problems the peer solves. True is accepted where it is there, with the l2 penalty and
        ``solver='liblinear'``; the minimum is the same and is found in the primal.
    tol : float, default=1e-4
        The fit ends when the largest entry of the gradient of the mean loss (with l1: the largest violation of the optimality
        conditions) is at most `tol` and the duality gap is at most `tol` times the objective.
    fit_intercept : bool, default=True
        Whether there are intercepts. They are not penalised (except by 'liblinear').
    intercept_scaling : float, default=1
        Only for ``solver='liblinear'`` with an intercept: the value of the synthetic column whose penalised coefficient
        stands for it.
    class_weight : dict, 'balanced' or None, default=None
        Weights of the classes, times `sample_weight`; 'balanced' gives every class the same total weight.
    random_state : int, RandomState or None, default=None
        Accepted for compatibility: no method here draws anything.
    solver : str, default='lbfgs'
        The peer's names 'lbfgs', 'newton-cg', 'newton-cholesky', 'sag' and 'saga' name ways to the same minimum; here each
        means what 'auto' means: the method is chosen by the shape of X and the penalty, and any penalty will do.
        'liblinear' solves the peer's other problem, for two classes, in which the intercept is penalised, and gives its
        coefficients in double precision, as there. To demand a method: 'newton' or 'irls' (Newton-Raphson, iteratively
        reweighted least squares), 'quasi-newton' (L-BFGS), 'gd' (plain gradient descent with the fixed step 1/L, for
        teaching), all without an l1 part; 'cd' (coordinate descent on working sets of columns) with any penalty.
    max_iter : int, default=100
        0 leaves the coefficients where the fit starts.
    verbose : int, default=0
        Whether to log every iteration.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.
    parametrization : {'softmax', 'reference', 'separate'}, default='softmax'
        For more than two classes. 'softmax' has a line of coefficients for each class, alike for all. 'reference' fixes those
        of the first class at zero, so that the others are log odds relative to it. Without a penalty both give the
        same probabilities; a penalty treats classes alike only with 'softmax'. 'separate' finds the log odds relative to the
        first class by separate fits of two classes, each class and the first, on the rows of these two: consistent, cheaper
        for many classes, and with standard errors somewhat larger than those of the joint fit. The objective is then the sum
        over the fits.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        One line for two classes, that of ``classes_[1]``.
    intercept_ : array of shape (1,) or (n_classes,)
    n_iter_ : array of shape (1,)
    history_ : list of dict
        One record an iteration: the objective, the gradient (or the violation), the step, and the gap where it was measured.
    certificate_ : Certificate
        The objective, its dual value, the duality gap, and the residual against the tolerance.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Two classes and up to 255 columns: Newton's method, one pass over X an iteration that gives value, gradient and Hessian,
    O(n d^2). More columns or classes: L-BFGS, preconditioned by the Gram matrix of X and the curvature of the classes, O(n d K)
    an iteration. With l1: proximal Newton by coordinate descent, on the Hessian where that is small, else on working sets of
    columns. Dense X is read in place, in any memory order; all sums are in double precision, also for float32.

    Without a penalty there may be no minimum: perfectly separable classes get a warning that says so. Softmax coefficients
    without a penalty are those whose mean over the classes is zero; intercepts always are.

    Differences from scikit-learn: `tol` also bounds the duality gap. Every solver takes every penalty and any number of classes
    ('liblinear': two).

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning", Springer 2009, section 4.4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> model.predict_proba(X[:2]).round(2)
    array([[0.98, 0.02, 0.  ],
           [0.97, 0.03, 0.  ]])
    >>> model.certificate_.converged
    True
    """

    _takes_parts = True
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "C": STRENGTH,
        "l1_ratio": Real(least=0, most=1) | Null(),
        "dual": Bool(),
        "tol": Real(least=0),
        "fit_intercept": Bool(),
        "intercept_scaling": Real(above=0),
        "class_weight": CLASS_WEIGHT,
        "random_state": RandomState(),
        "solver": SOLVERS,
        "max_iter": Integer(0),
        "verbose": Verbosity(),
        "warm_start": Bool(),
        "n_jobs": NumberOfJobs(),
        "penalty": PENALTY,
        "parametrization": PARAMETRIZATION,
    }
    _search_space: ClassVar[Mapping[str, Space]] = {"C": Reals(1e-4, 1e4, log=True)}

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Mapping[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        parametrization: str = "softmax",
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.parametrization = parametrization

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type, of two classes or more.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = check_params(self)
        check_strength(self, params)
        data = LogisticData.of(self, X, y, sample_weight, params)
        start = self._warm_start(data) if params.warm_start else None
        self._solve(data, data.problem(params), params, y, start, None)
        return self

    def _solve(
        self,
        data: LogisticData,
        problem: LogisticProblem | SeparateProblem,
        params: SimpleNamespace,
        y: Any,
        start: Point | None,
        before: Run | None,
    ) -> Run:
        """Minimise the objective from `start` and store what was found; `before` is a run on the problem that ended there."""
        strength = check_strength(self, params)
        task = FitTask.start(self, data.X, y, n_subtasks=params.max_iter)
        method = problem.method_for(params.solver, strength)
        run = problem.run(method, strength, tol=params.tol, start=start, before=before)

        def fitted() -> dict[str, Any]:
            return data.attributes(run.point)

        run.finish(task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted)
        n_iter = np.array([len(run.history)], dtype=np.int32)
        found = {**fitted(), "_statistics": statistics_of(run), "history_": run.history, "n_iter_": n_iter}
        self._finish(task, found, run.outcome(params.max_iter))
        return run

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes; none for plain gradient descent, which is there to be watched."""
        return [] if self.solver == "gd" or self.penalty is None else ["C"]

    def sweep(
        self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None
    ) -> Iterator[LogisticRegression]:
        """Fitted clones, one for each value of C in the order given: one path from the strongest penalty down.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : {"C"}
        values : sequence of float

        Returns
        -------
        iterator of estimators
        """
        candidates = Candidates(self, name, values, self.sweep_parameters())
        for each, params in zip(candidates.estimators, candidates.params, strict=True):
            check_strength(each, params)
        first, params = candidates.estimators[0], candidates.params[0]
        data = LogisticData.of(first, X, y, sample_weight, params)
        candidates.share_input(first)
        problem, run = data.problem(params), None
        for place in np.argsort(candidates.values):
            start = None if run is None else run.point
            run = candidates.fit(place, LogisticRegression._solve, data, problem, candidates.params[place], y, start, run)
        return iter(candidates.estimators)

    def _warm_start(self, data: LogisticData) -> Point | None:
        """The coefficients of the last fit, if they are of this problem's shape."""
        coef = getattr(self, "coef_", None)
        if coef is None:
            return None
        coef = coef.toarray() if sp.issparse(coef) else np.asarray(coef)
        if coef.shape != (1 if len(data.classes) == 2 else len(data.classes), data.n_features):
            return None
        return data.start_of(Point(coef, np.asarray(self.intercept_)))

    def summary(self, alpha: float = 0.05, *, feature_names: Sequence[str] | None = None) -> WaldSummary:
        """Standard errors, Wald tests and intervals, and measures of fit, of a fit without a penalty.

        Coefficients are those relative to the first class, whatever the parametrisation; for more than two classes, the names
        say of which class. The pseudo R squared is McFadden's.

        Parameters
        ----------
        alpha : float, default=0.05
            The intervals have confidence 1 - alpha.
        feature_names : sequence of str or None, default=None
            Names for the table; None takes `feature_names_in_`, or x0, x1, and so on.

        Returns
        -------
        WaldSummary

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.linear_model import LogisticRegression
        >>> X = np.array([[0.5], [1], [1.5], [2], [2.5], [3], [3.5], [4]])
        >>> model = LogisticRegression(C=np.inf, tol=1e-8).fit(X, [0, 0, 0, 1, 0, 1, 1, 1])
        >>> model.summary().std_err.round(3)
        array([4.036, 1.721])
        """
        check_is_fitted(self)
        owner = type(self).__name__
        alpha = check_value(owner, "alpha", alpha, Real(above=0, most=1))
        features = names_of_features(self, self.n_features_in_, feature_names)
        found = summarise(self._statistics, [str(label) for label in self.classes_], features, alpha)
        if isinstance(found, str):
            raise ValueError(f"{owner}: no summary; {found}.")
        return found

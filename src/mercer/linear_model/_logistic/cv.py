"""Logistic regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import check_weights
from mercer._base import FitTask, fit_method
from mercer._params import (
    ArrayLike,
    Bool,
    Function,
    Integer,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    ScorerName,
    Splitter,
    Verbosity,
    check_params,
)
from mercer.linear_model._logistic.data import CLASS_WEIGHT, PARAMETRIZATION, PENALTY, SOLVERS, LogisticData
from mercer.linear_model._logistic.logistic import LogisticClassifier
from mercer.linear_model._logistic.paths import Grid, Path, Results, Scorer
from mercer.linear_model._logistic.point import Point, Strength
from mercer.linear_model._logistic.run import Run
from mercer.metrics import get_scorer


class LogisticRegressionCV(LogisticClassifier):
    r"""Logistic regression with the strength of the penalty, and the share of l1 in it, chosen by cross-validation.

    For every fold, every value of `l1_ratios` and every value of `Cs`, the objective of `LogisticRegression` is minimised on
    the fold's training rows, each fit starting from the one before; the pair with the best mean score on the fold's test rows
    is then fitted on all rows.

    Parameters
    ----------
    Cs : int or array of floats, default=10
        Values of C; a number means that many from 1e-4 to 1e4, equally spaced in the logarithm.
    l1_ratios : array of floats or None, default='warn'
        Values of `l1_ratio`, each from 0 (l2) to 1 (l1); None (what 'warn' stands for) means l2 alone.
    fit_intercept : bool, default=True
        Whether there are intercepts.
    cv : int, splitter, iterable or None, default=None
        How to split; a number means that many stratified folds. None means five, or as many as the smallest class has rows.
    dual : bool, default=False
        As in `LogisticRegression`.
    penalty : {'l1', 'l2', 'elasticnet'}, default='deprecated'
        The peer's older way to say `l1_ratios`.
    scoring : str, callable or None, default='warn'
        What is best: the name of a scorer or a function of (estimator, X, y); None (what 'warn' stands for) means accuracy.
    solver : str, default='lbfgs'
        As in `LogisticRegression`.
    tol : float, default=1e-4
        As in `LogisticRegression`.
    max_iter : int, default=100
        For each fit.
    class_weight : dict, 'balanced' or None, default=None
        As in `LogisticRegression`; 'balanced' counts all rows.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.
    verbose : int, default=0
        Whether to log every iteration.
    refit : bool, default=True
        Whether to fit the best pair on all rows; else the coefficients of each fold's own best pair are averaged.
    intercept_scaling : float, default=1.0
        As in `LogisticRegression`.
    random_state : int, RandomState or None, default=None
        Accepted for compatibility: no method here draws anything.
    use_legacy_attributes : bool, default='warn'
        The shapes of `C_`, `l1_ratio_`, `coefs_paths_`, `scores_` and `n_iter_`, as in scikit-learn: True (what 'warn' stands
        for) repeats them for each class in dicts and arrays, False gives numbers and plain arrays.
    parametrization : {'softmax', 'reference', 'separate'}, default='softmax'
        As in `LogisticRegression`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    C_ : float, or array with it repeated for each class
        The best C; without `refit` the mean of the folds' best.
    l1_ratio_ : float, or array with it repeated for each class
    Cs_ : array of shape (n_cs,)
    l1_ratios_ : array of shape (n_l1_ratios,)
    coefs_paths_ : array of shape (n_folds, n_l1_ratios, n_cs, n_classes, n_features + 1), or dict
        The coefficients of all fits, intercepts last (if there are); one class in place of two.
    scores_ : array of shape (n_folds, n_l1_ratios, n_cs), or dict
    n_iter_ : array of shape (n_folds, n_l1_ratios, n_cs), or with one axis more
        The iterations of the folds' fits.
    history_ : list of dict
        One record for each iteration of the fit on all rows.
    certificate_ : Certificate
        That of the fit on all rows; without `refit`, the worst of those averaged.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Folds may lack classes: coefficients are those of all classes, and measures by name are told all of them. Where a measure
    has no value on the test rows of a fold (an area under the curve of one class, say), that fold's score is NaN and the mean
    is over the others.

    Along a path, a fit begins with what the last one knows: its coefficients and, where the method allows, its pass over X. For
    dense data with few columns that leaves a few Newton steps a fit, O(n d^2) each. The warnings of scikit-learn about
    defaults that are to change are not given.

    References
    ----------
    J. Friedman, T. Hastie, R. Tibshirani, "Regularization Paths for Generalized Linear Models via Coordinate Descent", Journal
    of Statistical Software 33, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.linear_model import LogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(cv=5, scoring="neg_log_loss", use_legacy_attributes=False).fit(X, y)
    >>> round(model.C_, 3), model.scores_.shape
    (166.81, (5, 1, 10))
    >>> model.predict(X[:2])
    array([0, 0])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "Cs": Integer(1) | ArrayLike(),
        "l1_ratios": OneOf("warn") | Null() | ArrayLike(),
        "fit_intercept": Bool(),
        "cv": Splitter(),
        "dual": Bool(),
        "scoring": OneOf("warn") | ScorerName() | Function() | Null(),
        "solver": SOLVERS,
        "tol": Real(least=0),
        "max_iter": Integer(1),
        "class_weight": CLASS_WEIGHT,
        "n_jobs": NumberOfJobs(),
        "verbose": Verbosity(),
        "refit": Bool(),
        "intercept_scaling": Real(above=0),
        "random_state": RandomState(),
        "use_legacy_attributes": OneOf("warn") | Bool(),
        "penalty": PENALTY,
        "parametrization": PARAMETRIZATION,
    }

    def __init__(
        self,
        *,
        Cs: int | Sequence[float] = 10,
        l1_ratios: Sequence[float] | str | None = "warn",
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str = "deprecated",
        scoring: str | Callable[..., float] | None = "warn",
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        use_legacy_attributes: bool | str = "warn",
        parametrization: str = "softmax",
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.parametrization = parametrization

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> LogisticRegressionCV:
        """Find the best penalty and the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type, of two classes or more.
        sample_weight : array-like of shape (n_samples,), default=None
            Of the rows in fits and scores; a row of weight two counts as two equal rows of one fold.
        **params : dict
            For the splitter and the scorer, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        checked = check_params(self)
        grid = Grid.of(self, checked)
        data = LogisticData.of(self, X, y, sample_weight, checked)
        routed = self._route(check_weights(sample_weight, data.X.shape[0], np.float64), params)
        folds = _folds(checked.cv, data, routed.splitter.split)
        task = FitTask.start(self, data.X, y, n_subtasks=len(folds) * len(grid.ratios) + 1)
        scorer = Scorer(self._scoring, data, _shell(self, data), routed.scorer.score)
        paths = [
            [self._path(task, data, train, scorer.on(test), ratio, grid, checked) for ratio in grid.ratios]
            for train, test in folds
        ]
        results = Results(paths, grid, data, checked)
        final = self._refit(task, results) if checked.refit else results.worst_averaged
        point = final.point if checked.refit else results.averaged
        attributes = {**data.attributes(point), **results.attributes(legacy=checked.use_legacy_attributes is not False)}
        outcome = final.outcome(checked.max_iter)
        outcome.warning = outcome.warning or results.warning
        return self._finish(task, attributes, outcome)

    def _path(
        self,
        task: FitTask,
        data: LogisticData,
        train: npt.NDArray[Any],
        score: Callable[[Point], float],
        ratio: float,
        grid: Grid,
        params: SimpleNamespace,
    ) -> Path:
        """The fits of one fold for all values of C, the strongest penalty first."""
        part = data.rows(train)
        problem = part.problem(params)
        subtask = task.subtask("path", n_subtasks=params.max_iter * len(grid.Cs))
        path = Path.empty(len(grid.Cs))
        run: Run | None = None
        for c in np.argsort(grid.Cs, kind="stable"):
            strength = Strength.of(grid.Cs[c], ratio)
            start = None if run is None else run.point
            run = problem.run(problem.method_for(params.solver, strength), strength, tol=params.tol, start=start, before=run)
            _finish(run, subtask, part, params)
            path.add(c, run, part.user_point(run.point))
        path.score(score)
        subtask.end()
        return path

    def _refit(self, task: FitTask, results: Results) -> Run:
        """Fit the best pair on all rows, from the mean of the folds' coefficients; as 'liblinear' does, from zero."""
        data, params = results.data, results.params
        strength = Strength.of(*results.best_pair)
        problem = data.problem(params)
        subtask = task.subtask("refit", n_subtasks=params.max_iter)
        start = None if params.solver == "liblinear" else data.start_of(results.best_mean)
        run = problem.run(problem.method_for(params.solver, strength), strength, tol=params.tol, start=start)
        _finish(run, subtask, data, params)
        subtask.end()
        return run

    def score(self, X: Any, y: Any, *, sample_weight: Any = None, **score_params: Any) -> float:
        """What `scoring` says of the predictions for X, accuracy by default."""
        check_is_fitted(self)
        if sample_weight is not None:
            score_params["sample_weight"] = sample_weight
        if get_config()["enable_metadata_routing"]:
            score_params = process_routing(self, "score", **score_params).scorer.score
        return float(self._scorer(self, X, y, **score_params))

    @property
    def _scoring(self) -> Any:
        return "accuracy" if self.scoring in (None, "warn") else self.scoring

    @property
    def _scorer(self) -> Any:
        return get_scorer(self._scoring)

    def _route(self, sample_weight: Any, params: dict[str, Any]) -> Any:
        """What goes to the splitter and to the scorer."""
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, "fit", sample_weight=sample_weight, **params)
        if params:
            raise ValueError(
                f"{type(self).__name__}: fit was given {sorted(params)}, which only metadata routing takes further; enable it "
                "with sklearn.set_config(enable_metadata_routing=True)."
            )
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return SimpleNamespace(splitter=SimpleNamespace(split={}), scorer=SimpleNamespace(score=weights))

    def get_metadata_routing(self) -> MetadataRouter:
        """What this estimator passes on: to the splitter in `fit`, and to the scorer in `fit` and `score`."""
        scores = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(scorer=self._scorer, method_mapping=scores)
        )


def _folds(cv: Any, data: LogisticData, params: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Training and test rows of each fold."""
    if cv is None:
        cv = int(np.clip(np.bincount(data.codes).min(), 2, 5))
    labels = data.classes[data.codes]
    return list(sklearn.model_selection.check_cv(cv, labels, classifier=True).split(data.X, labels, **params))


def _finish(run: Run, task: FitTask, data: LogisticData, params: SimpleNamespace) -> None:
    def fitted() -> dict[str, Any]:
        return data.attributes(run.point)

    run.finish(task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted)


def _shell(estimator: LogisticRegressionCV, data: LogisticData) -> LogisticRegressionCV:
    """A classifier that lacks nothing but coefficients."""
    shell = LogisticRegressionCV()
    shell.__dict__.update(classes_=data.classes, n_features_in_=estimator.n_features_in_)
    return shell

"""Recursive elimination: a model is fitted, the columns that it makes least of leave, and so on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import validate
from mercer._base import FitTask, fit_method
from mercer._jobs import run_tasks
from mercer._params import (
    Fittable,
    Function,
    Integer,
    Null,
    NumberOfJobs,
    Real,
    Rule,
    ScorerName,
    Splitter,
    Verbosity,
    check_params,
)
from mercer._trace import log, warn
from mercer._tuning import Reals, Space
from mercer._wrapped import Metadata
from mercer.feature_selection._from_model import GETTER
from mercer.feature_selection._importances import Getter, column_squares, importances_of
from mercer.feature_selection._routing import Routed, is_routing, refuse_metadata, route
from mercer.feature_selection._selector import ActsAsModel, Mask, model_has

Ranks = npt.NDArray[np.intp]


class Stage(NamedTuple):
    """A fit on the way: how many columns it has, what it scores, and who has left before it."""

    n_features: int
    score: float
    support: Mask
    ranking: Ranks


class Elimination(NamedTuple):
    """The end of an elimination, and the stages on the way where they are scored."""

    model: Any
    support: Mask
    ranking: Ranks
    stages: list[Stage]


def eliminate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_features_to_select: int,
    step: int,
    getter: Getter,
    fit_params: Mapping[str, Any],
    score: Callable[[Any, Ranks], float] | None = None,
    told: Callable[[int], None] = lambda n_features: None,
) -> Elimination:
    """Fit, take away the `step` columns of least importance, and fit again, until no more than wanted are left."""
    n_features = X.shape[1]
    support, ranking = np.ones(n_features, dtype=bool), np.ones(n_features, dtype=np.intp)
    stages: list[Stage] = []
    while True:
        features = np.flatnonzero(support)
        told(len(features))
        model = clone(estimator)
        model.fit(X[:, features], y, **fit_params)
        if score is not None:
            stages.append(Stage(len(features), score(model, features), support.copy(), ranking.copy()))
        if len(features) <= n_features_to_select:
            return Elimination(model, support, ranking, stages)
        squares = np.ravel(column_squares(importances_of(model, getter)))
        n_out = min(step, len(features) - n_features_to_select)
        support[features[np.argsort(squares, kind="stable")[:n_out]]] = False
        ranking[~support] += 1


def _step_of(step: float, n_features: int) -> int:
    return max(1, int(step * n_features)) if step < 1 else int(step)


class RecursiveSelector(ActsAsModel):
    """Base: predictions are those of the model of the columns that stay."""

    estimator_: Any
    support_: Mask

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels that the model knows, if it is a classifier."""
        classes: npt.NDArray[Any] = self.estimator_.classes_
        return classes

    @available_if(model_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any, **predict_params: Any) -> Any:
        """What the model predicts from the columns that stay; metadata needs scikit-learn's metadata routing."""
        refuse_metadata(self, "predict", predict_params)
        check_is_fitted(self)
        given = dict(route(self, "predict", predict_params).estimator.predict) if is_routing() else {}
        return self.estimator_.predict(self.transform(X), **given)

    @available_if(model_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """The model's values for the columns that stay."""
        check_is_fitted(self)
        return self.estimator_.decision_function(self.transform(X))

    @available_if(model_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The model's probabilities for the columns that stay."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(self.transform(X))

    @available_if(model_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Their logarithms."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(self.transform(X))

    def _check(self, X: Any, y: Any) -> tuple[Any, Any]:
        """X as numbers, NaN and infinity left to the estimator."""
        X, y = validate(self, X, y, sparse=("csr", "csc"), finite="deferred", multi_output=True, ensure_min_features=2)
        return X, y

    def _found(self, end: Elimination) -> dict[str, Any]:
        return {
            "estimator_": end.model,
            "support_": end.support,
            "ranking_": end.ranking,
            "n_features_": int(end.support.sum()),
        }

    def _warn_of_few(self, name: str, wanted: int, n_features: int) -> None:
        if wanted > n_features:
            warn(
                f"{type(self).__name__}: Found {name}={wanted} > n_features={n_features}. There will be no feature selection "
                "and all features will be kept."
            )


class RFE(RecursiveSelector):
    """Recursive elimination of the columns that a model makes least of, down to a given number.

    Parameters
    ----------
    estimator : estimator
        After a fit it has `coef_`, `feature_importances_`, or what `importance_getter` asks for.
    n_features_to_select : int or float, default=None
        How many columns stay, or which share of them; None for half.
    step : int or float, default=1
        How many columns leave after a fit, or which share of all.
    verbose : int, default=0
        Whether to log every fit.
    importance_getter : str or callable, default="auto"
        The name of an attribute (with dots into parts), or a function of the fitted model. "auto" is `coef_` or
        `feature_importances_`. Columns are ranked by the squares, added up over outputs.

    Attributes
    ----------
    support_ : array of shape (n_features,)
        Which columns stay.
    ranking_ : array of shape (n_features,)
        1 for the columns that stay, 2 for those that left last, and so on.
    n_features_ : int
        How many stay.
    estimator_ : estimator
        The model of these.
    classes_ : array of shape (n_classes,)
        Its labels, if it is a classifier.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    About n_features / step fits. Importances are compared as they are: scale the columns for models with coefficients.

    References
    ----------
    I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification using support vector machines",
    Machine Learning 46 (2002).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.feature_selection import RFE
    >>> from mercer.linear_model import Ridge
    >>> RFE(Ridge(), n_features_to_select=3).fit(*load_diabetes(return_X_y=True)).ranking_
    array([6, 5, 1, 1, 8, 7, 2, 4, 1, 3])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": Fittable(),
        "n_features_to_select": Null() | Integer(1) | Real(above=0, most=1),
        "step": Integer(1) | Real(above=0, below=1),
        "verbose": Verbosity(),
        "importance_getter": GETTER,
    }
    _search_space: ClassVar[Mapping[str, Space]] = {"n_features_to_select": Reals(0.1, 1.0)}

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: float | None = None,
        step: float = 1,
        verbose: int = 0,
        importance_getter: str | Callable[[Any], Any] = "auto",
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.verbose = verbose
        self.importance_getter = importance_getter

    @fit_method
    def fit(self, X: Any, y: Any, **fit_params: Any) -> RFE:
        """Eliminate columns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        **fit_params
            Metadata of the estimator's fits.

        Returns
        -------
        self
        """
        params = check_params(self)
        given = dict(route(self, "fit", fit_params).estimator.fit) if is_routing() else fit_params
        X, y = self._check(X, y)
        n_features, wanted = X.shape[1], params.n_features_to_select
        if isinstance(wanted, int):
            self._warn_of_few("n_features_to_select", wanted, n_features)
        elif wanted is not None:
            wanted = int(wanted * n_features)
        task = FitTask.start(self, X, y)
        end = eliminate(
            params.estimator,
            X,
            y,
            n_features_to_select=max(1, n_features // 2 if wanted is None else wanted),
            step=_step_of(params.step, n_features),
            getter=params.importance_getter,
            fit_params=given,
            told=lambda n: log(params.verbose, "RFE: Fitting estimator with %d features.", n),
        )
        return self._finish(task, self._found(end))

    @available_if(model_has("score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, **score_params: Any) -> Any:
        """The model's score for the columns that stay."""
        check_is_fitted(self)
        given = dict(route(self, "score", score_params).estimator.score) if is_routing() else score_params
        return self.estimator_.score(self.transform(X), y, **given)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes on to the estimator (scikit-learn's metadata routing)."""
        mapping = MethodMapping()
        for method in ("fit", "predict", "score"):
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)


def _fold_stages(
    estimator: Any,
    split: tuple[Ranks, Ranks],
    X: Any,
    y: Any,
    scorer: Callable[..., float],
    routed: Routed,
    options: Mapping[str, Any],
) -> list[Stage]:
    """The stages of an elimination on the first rows of a split, scored on the others."""
    train, test = split
    score_params = routed.scorer.fit_rows(test, len(y))

    def score(model: Any, features: Ranks) -> float:
        return float(scorer(model, X[test][:, features], y[test], **score_params))

    fit_params = routed.estimator.fit_rows(train, len(y))
    return eliminate(estimator, X[train], y[train], fit_params=fit_params, score=score, **options).stages


class RFECV(RecursiveSelector):
    """Recursive elimination to the number of columns that scores best by cross-validation.

    Parameters
    ----------
    estimator : estimator
        After a fit it has `coef_`, `feature_importances_`, or what `importance_getter` asks for.
    step : int or float, default=1
        How many columns leave after a fit, or which share of all.
    min_features_to_select : int, default=1
        How few columns may stay.
    cv : int, splitter or iterable, default=None
        Folds as in scikit-learn: None for 5.
    scoring : str or callable, default=None
        A scorer; None for accuracy of classifiers and R squared of others.
    verbose : int, default=0
        Whether to log every fit.
    n_jobs : int or None, default=None
        How many folds to work on at a time (joblib): None means one, unless a `joblib.parallel_config` says otherwise. The
        result does not depend on it.
    importance_getter : str or callable, default="auto"
        The name of an attribute (with dots into parts), or a function of the fitted model.

    Attributes
    ----------
    support_ : array of shape (n_features,)
        Which columns stay.
    ranking_ : array of shape (n_features,)
        1 for the columns that stay, 2 for those that left last, and so on.
    n_features_ : int
        How many stay.
    estimator_ : estimator
        The model of these, fitted on all rows.
    cv_results_ : dict of arrays
        For each number of columns in `n_features`, ascending: `mean_test_score`, `std_test_score`, and of each fold
        `split<k>_test_score`, `split<k>_ranking` and `split<k>_support`.
    classes_ : array of shape (n_classes,)
        Labels, if the estimator is a classifier.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    About n_features / step fits a fold, and as many on all rows. Each fold eliminates columns by its own training rows alone.
    Of equal scores the fewest columns win.

    References
    ----------
    I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification using support vector machines",
    Machine Learning 46 (2002).

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from mercer.feature_selection import RFECV
    >>> from mercer.linear_model import Ridge
    >>> X, y = make_friedman1(200, n_features=10, random_state=0)
    >>> RFECV(Ridge()).fit(X, y).get_support(indices=True)
    array([0, 1, 3, 4])
    """

    __metadata_request__fit: ClassVar[dict[str, str]] = {"groups": UNUSED}

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": Fittable(),
        "step": Integer(1) | Real(above=0, below=1),
        "min_features_to_select": Integer(1),
        "cv": Splitter(),
        "scoring": Null() | ScorerName() | Function(),
        "verbose": Verbosity(),
        "n_jobs": NumberOfJobs(),
        "importance_getter": GETTER,
    }

    def __init__(
        self,
        estimator: Any,
        *,
        step: float = 1,
        min_features_to_select: int = 1,
        cv: Any = None,
        scoring: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        importance_getter: str | Callable[[Any], Any] = "auto",
    ) -> None:
        self.estimator = estimator
        self.step = step
        self.min_features_to_select = min_features_to_select
        self.cv = cv
        self.scoring = scoring
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.importance_getter = importance_getter

    @fit_method
    def fit(self, X: Any, y: Any, **params: Any) -> RFECV:
        """Find the number of columns, and the columns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        **params
            `groups` of the rows for the splitter; with scikit-learn's metadata routing, whatever estimator, splitter and scorer
            ask for.

        Returns
        -------
        self
        """
        checked = check_params(self)
        refuse_metadata(self, "fit", params, allowed=("groups",))
        X, y = self._check(X, y)
        routed = self._routed(params)
        n_features = X.shape[1]
        self._warn_of_few("min_features_to_select", checked.min_features_to_select, n_features)
        splits = list(check_cv(checked.cv, y, classifier=is_classifier(self.estimator)).split(X, y, **routed.splitter))
        task = FitTask.start(self, X, y, n_subtasks=1)
        rounds = task.subtask("folds", n_subtasks=len(splits))
        options = {"step": _step_of(checked.step, n_features), "getter": checked.importance_getter}
        options["told"] = partial(_tell, checked.verbose)
        fewest = {**options, "n_features_to_select": min(checked.min_features_to_select, n_features)}
        work = partial(_fold_stages, X=X, y=y, scorer=self._scorer(), routed=routed, options=fewest)
        jobs = [partial(work, clone(checked.estimator), split) for split in splits]
        folds = [stages[::-1] for stages in run_tasks(jobs, rounds, "fold", checked.n_jobs)]  # fewest columns first
        rounds.end()
        results = _results(folds)
        totals = np.sum([[stage.score for stage in stages] for stages in folds], axis=0)
        best = int(results["n_features"][np.argmax(totals)])
        end = eliminate(checked.estimator, X, y, n_features_to_select=best, fit_params=routed.estimator.fit, **options)
        return self._finish(task, {**self._found(end), "cv_results_": results})

    def _routed(self, given: Mapping[str, Any]) -> Routed:
        if not is_routing():
            return Routed(splitter={"groups": given.get("groups")})
        found = route(self, "fit", given)
        return Routed(Metadata(dict(found.estimator.fit)), dict(found.splitter.split), Metadata(dict(found.scorer.score)))

    def _scorer(self) -> Any:
        return get_scorer(("accuracy" if is_classifier(self.estimator) else "r2") if self.scoring is None else self.scoring)

    def score(self, X: Any, y: Any, **score_params: Any) -> Any:
        """The score by `scoring` of what is predicted of X."""
        refuse_metadata(self, "score", score_params)
        given = dict(route(self, "score", score_params).scorer.score) if is_routing() else {}
        return self._scorer()(self, X, y, **given)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes on to estimator, splitter and scorer (scikit-learn's metadata routing)."""
        to_model = MethodMapping().add(caller="fit", callee="fit").add(caller="predict", callee="predict")
        to_scorer = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
        router = MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=to_model)
        router.add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router.add(scorer=self._scorer(), method_mapping=to_scorer)


def _tell(verbose: int, n_features: int) -> None:
    log(verbose, "RFECV: Fitting estimator with %d features.", n_features)


def _results(folds: list[list[Stage]]) -> dict[str, npt.NDArray[Any]]:
    """What the folds found, for each number of columns."""
    scores = np.array([[stage.score for stage in stages] for stages in folds])
    return {
        "mean_test_score": scores.mean(axis=0),
        "std_test_score": scores.std(axis=0),
        **{f"split{k}_test_score": line for k, line in enumerate(scores)},
        **{f"split{k}_ranking": np.array([stage.ranking for stage in stages]) for k, stages in enumerate(folds)},
        **{f"split{k}_support": np.array([stage.support for stage in stages]) for k, stages in enumerate(folds)},
        "n_features": np.array([stage.n_features for stage in folds[0]]),
    }

"""The super learner: the mixture of members with the least cross-validated risk."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, fit_method, run_solver
from mercer._labels import choose_labels
from mercer._parallel import serial_blas
from mercer._params import (
    Fittable,
    Instance,
    Integer,
    NamedEstimators,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Splitter,
    Verbosity,
)
from mercer._solvers.simplex import SimplexNewton
from mercer.ensemble._combination.either_kind import EitherKind
from mercer.ensemble._combination.jobs import Job, held_out_jobs, run_members
from mercer.ensemble._combination.members import check_row_weights, respond
from mercer.ensemble._combination.risk import RiskOverRows, check_loss, risks_of
from mercer.ensemble._combination.stacking import as_columns, fit_final, has_two_classes, response_of
from mercer.ensemble._combination.weights import weights_outcome
from mercer.losses import Loss
from mercer.metrics import accuracy_score, r2_score


def _has_probabilities(ensemble: SuperLearner) -> bool:
    if ensemble._kind != "classifier":
        raise AttributeError("predict_proba is available where the members are classifiers.")
    final = getattr(ensemble, "final_estimator_", ensemble.final_estimator)
    return final is None or bool(final.predict_proba)  # its own AttributeError says what lacks


class SuperLearner(EitherKind):
    """The mixture of several members whose cross-validated risk is the least; for regression and classification alike.

    With h_m^{-k(i)} for member m fitted without the fold that row i is in, the weights are

        argmin over w >= 0, sum_m w_m = 1 of sum_i s_i loss(y_i, sum_m w_m h_m^{-k(i)}(x_i)) / sum_i s_i,

    and the prediction is sum_m w_m h_m(x), with members fitted on all rows. The h are values of regressors or probabilities of
    classifiers: the kind of the members is the kind of the ensemble.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and members: all regressors, or all classifiers with `predict_proba`. 'drop' in place of a member leaves it out.
    final_estimator : estimator, default=None
        None for the weights above. An estimator is fitted on the members' predictions out of fold in place of them, as in
        `StackingRegressor` and `StackingClassifier`.
    cv : int, splitter or iterable, default=None
        Folds as in scikit-learn: None for 5, stratified ones for classifiers.
    holdout : float or None, default=None
        A share of the rows, drawn by class for classifiers, to choose the weights (or fit the final estimator) on in place of
        folds: members fitted on the other rows predict them. One more fit a member instead of one a fold, and a noisier
        choice. `cv` must then be None.
    random_state : int, RandomState or None, default=None
        Draws the rows of `holdout`.
    loss : {"auto", "squared_error", "log_loss", "brier"} or Loss, default="auto"
        What the risk is the mean of. For regression: "squared_error" (the default), or any smooth and convex loss of residuals
        in `mercer.losses`. For classification: "log_loss" (the default), with probabilities of at least 2.2e-16, or "brier",
        the squared error of the probabilities over all classes (over one of two, as in scikit-learn's brier_score_loss).
    n_jobs : int, default=None
        How many members to fit at a time (joblib): None means one, unless a `joblib.parallel_config` says otherwise, -1 as many
        as there are processors. The result does not depend on it.
    verbose : bool or int, default=0
        Log each member and each iteration to the logger "mercer".
    max_iter : int, default=100
        The most iterations for the weights.
    tol : float, default=1e-8
        They are found when no others can be better by more than `tol` times the risk of the best member.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        The weight of each member that is not dropped; without `final_estimator` only.
    cv_risk_ : dict of str to Risk
        The cross-validated risk of every member: `mean` and its `standard_error`. With `holdout`, that on the rows held out.
    best_member_ : str
        The member with the least of them: `named_estimators_[best_member_]` is the discrete super learner.
    ensemble_risk_ : Risk
        The risk of the mixture on the same predictions, never above that of the best member. It is the risk that the weights
        were chosen by, hence optimistic: cross-validate the ensemble for one that is not. With a final classifier that gives no
        probabilities there is none.
    classes_ : ndarray of shape (n_classes,)
        The sorted labels, for classification.
    estimators_ : list
        The members that are not dropped, fitted on all rows. Classifiers know the classes as 0, 1, ...
    named_estimators_ : Bunch
        The fitted members by name.
    final_estimator_ : estimator or None
        The fitted final estimator if one was given.
    stack_method_ : list of str
        The method that each member is asked by.
    n_features_in_ : int
        Number of features, where members say it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where members say them.
    certificate_ : Certificate
        The gap of Frank and Wolfe: by how much other weights can be better at most. Without `final_estimator` only.
    n_iter_ : int
        Iterations for the weights.
    history_ : list of dict
        One record an iteration: `objective`, `gap`, `step`.

    Notes
    -----
    A fit costs one fit of each member for every fold and one on all rows, and O(n m^2) for each of a few iterations of Newton's
    method for the weights, which are exact zeros for members that do not help. A class that a training fold lacks has
    probability zero there. `sample_weight` goes to all members and into the risk. An error in a member names it.

    The theory: with growing n the risk is as good as that of the best mixture that an oracle could choose.

    References
    ----------
    M. van der Laan, E. Polley, A. Hubbard, Super learner, Statistical Applications in Genetics and Molecular Biology 6 (2007).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from mercer.ensemble import SuperLearner
    >>> from mercer.linear_model import LinearRegression, Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("line", LinearRegression()), ("ridge", Ridge(alpha=10.0)), ("near", KNeighborsRegressor(20))]
    >>> model = SuperLearner(members).fit(X, y)
    >>> model.weights_.round(2), model.best_member_
    (array([0.68, 0.  , 0.32]), 'line')
    >>> model.ensemble_risk_.mean < model.cv_risk_["line"].mean
    True
    """

    passthrough = False
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimators": NamedEstimators(),
        "final_estimator": Null() | Fittable(),
        "cv": Splitter(),
        "holdout": Null() | Real(above=0, below=1),
        "random_state": RandomState(),
        "loss": OneOf("auto", "squared_error", "log_loss", "brier") | Instance(Loss),
        "n_jobs": NumberOfJobs(),
        "verbose": Verbosity(),
        "max_iter": Integer(1),
        "tol": Real(least=0),
    }

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        holdout: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        loss: Any = "auto",
        n_jobs: int | None = None,
        verbose: bool | int = 0,
        max_iter: int = 100,
        tol: float = 1e-8,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.holdout = holdout
        self.random_state = random_state
        self.loss = loss
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_iter = max_iter
        self.tol = tol

    def _final(self) -> Any:
        return self.final_estimator

    def _check(self) -> tuple[SimpleNamespace, dict[str, Any]]:
        params, members = super()._check()
        assert self._kind is not None  # members without a common kind are refused
        params.loss = check_loss(type(self).__name__, params.loss, self._kind)
        if params.holdout is not None and params.cv is not None:
            raise ValueError(
                f"SuperLearner: cv={params.cv!r} and holdout={params.holdout:g} are two ways to the same end; one must be None."
            )
        return params, members

    # ---- the fit

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> SuperLearner:
        """Fit members on all rows and on folds (or on the rows not held out), then the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Whatever all members take.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Handed on to every member, all of which must take it, and the weights of the rows in the risk.
        **fit_params
            Metadata for members that ask for it, where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
        """
        params, members = self._check()
        y, found = self._check_y(y)
        weights = check_row_weights(sample_weight, y)
        routed = self._route(members, weights, fit_params)
        task = FitTask.start(self, X, y, n_subtasks=2 * len(members) + params.max_iter)
        fitted = self._fit_members(members, X, y, routed, params, task)
        methods = [response_of(type(self).__name__, *pair, self.stack_method) for pair in zip(members, fitted, strict=True)]
        if params.holdout is None:
            outputs = self._outputs_to_learn_from(members, X, y, methods, routed, params, task)
        else:
            train, test = self._hold_out(y, params)
            n_classes = len(found.get("classes_", ()))
            jobs = held_out_jobs(members, X, y, (train, test), methods=methods, params=routed, n_classes=n_classes)
            outputs = run_members(jobs, "applied to rows held out", task, n_jobs=params.n_jobs, verbose=params.verbose)
            y, weights = y[test], None if weights is None else weights[test]
        risk = RiskOverRows(params.loss, y, weights, len(found.get("classes_", ())))
        found |= {**self._members_attributes(members, fitted), "stack_method_": methods, **risks_of(members, outputs, risk)}
        self._forget()
        if params.final_estimator is None:
            return self._fit_weights(outputs, risk, params, task, found)
        return self._fit_final(outputs, y, weights, risk, params, task, found)

    def _hold_out(self, y: npt.NDArray[Any], params: SimpleNamespace) -> Any:
        """The rows to fit members on, and those to judge them by."""
        classes = y if self._kind == "classifier" else None
        options = {"test_size": params.holdout, "random_state": params.random_state, "stratify": classes}
        return train_test_split(np.arange(len(y)), **options)

    def _forget(self) -> None:
        """What an earlier fit of another kind left; a failed fit puts it back."""
        self._unset("weights_", "classes_", "ensemble_risk_", "certificate_", "history_", "n_iter_")

    def _fit_weights(
        self, outputs: list[Any], risk: RiskOverRows, params: SimpleNamespace, task: FitTask, found: dict[str, Any]
    ) -> SuperLearner:
        problem = risk.mixture([risk.read(output) for output in outputs])
        columns = as_columns(outputs, found["stack_method_"], is_binary=has_two_classes(found.get("classes_")))

        def fitted() -> dict[str, Any]:
            own = risk.of(problem.columns @ solver.weights, problem)
            widths = [matrix.shape[1] for matrix in columns]
            return {**found, "weights_": solver.weights, "ensemble_risk_": own, "final_estimator_": None, "_n_columns": widths}

        with serial_blas():  # the same bits whatever number of threads BLAS has
            solver = SimplexNewton(problem, tol=params.tol)
            status, history = run_solver(solver, task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted)
            attributes = fitted()
        return self._finish(task, attributes, weights_outcome(solver, status, history, params))

    def _fit_final(
        self,
        outputs: list[Any],
        y: npt.NDArray[Any],
        weights: FloatArray | None,
        risk: RiskOverRows,
        params: SimpleNamespace,
        task: FitTask,
        found: dict[str, Any],
    ) -> SuperLearner:
        columns = as_columns(outputs, found["stack_method_"], is_binary=has_two_classes(found.get("classes_")))
        Z = np.hstack(columns)
        jobs = [Job("final_estimator", clone(params.final_estimator), fit_final, (Z, y, weights))]
        (final,) = run_members(jobs, "fitted", task, n_jobs=1, verbose=params.verbose)
        attributes = {**found, "final_estimator_": final, "_n_columns": [matrix.shape[1] for matrix in columns]}
        if hasattr(final, self.stack_method):
            column = risk.read(getattr(final, self.stack_method)(Z))
            attributes["ensemble_risk_"] = risk.of(column, risk.mixture([column]))
        return self._finish(task, attributes)

    # ---- what a fitted ensemble does

    def _mix(self, X: Any) -> FloatArray:
        """The weighted sum of the members' outputs, in their order and float type; members of weight zero are not asked."""
        total: Any = 0.0
        for (name, member), weight in zip(self._fitted_members(), self.weights_, strict=True):
            if weight > 0:
                output = respond(name, member, self.stack_method, X)
                total = total + output * float(weight)
        mixed: FloatArray = total
        return mixed

    def predict(self, X: Any, **predict_params: Any) -> npt.NDArray[Any]:
        """The value or the label of each row; `predict_params` go to the final estimator, if there is one."""
        check_is_fitted(self)
        if self.final_estimator_ is None and predict_params:
            raise TypeError(
                f"{type(self).__name__}.predict: {sorted(predict_params)} are for a final_estimator, and there is none."
            )
        if self._kind == "regressor":
            return self._mix(X) if self.final_estimator_ is None else self._predict(X, predict_params)
        if self.final_estimator_ is None:
            return choose_labels(self._mix(X), self.classes_)
        labels: npt.NDArray[Any] = self.classes_[self._predict(X, predict_params)]
        return labels

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The mixture's probabilities, of shape (n_samples, n_classes), or those of the final estimator."""
        check_is_fitted(self)
        if self.final_estimator_ is None:
            return self._mix(X)
        probabilities: FloatArray = self.final_estimator_.predict_proba(self._transform(X))
        return probabilities

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of right labels, or the coefficient of determination R^2."""
        measure = accuracy_score if self._kind == "classifier" else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

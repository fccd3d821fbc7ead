"""Voting: members fitted on the same rows, whose predictions are averaged or counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_labels
from mercer._base import FitTask, fit_method
from mercer._params import ArrayLike, Bool, NamedEstimators, Null, NumberOfJobs, OneOf, Rule, Verbosity, check_params
from mercer.ensemble._combination.jobs import fit_jobs, run_jobs
from mercer.ensemble._combination.members import NamedMembers, check_row_weights, check_target, is_dropped


class Voting(NamedMembers):
    """What both kinds of voting share: the fit, the votes' weights and the names of the outputs."""

    _kind: ClassVar[str]
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimators": NamedEstimators(),
        "weights": Null() | ArrayLike(),
        "n_jobs": NumberOfJobs(),
        "verbose": Verbosity(),
    }

    weights: Any

    def _fit(self, X: Any, y: npt.NDArray[Any], sample_weight: Any, metadata: dict[str, Any], found: dict[str, Any]) -> Any:
        """Fit all members on `y`; `found` is what the fit stores besides them."""
        params = check_params(self)
        members = self._check_members(params.estimators, self._kind)
        _check_votes(self, params.weights)
        routed = self._route(members, check_row_weights(sample_weight, y), metadata)
        task = FitTask.start(self, X, y, n_subtasks=len(members))
        jobs = fit_jobs(members, X, y, routed)
        fitted = run_jobs(jobs, "fitted", task, n_jobs=params.n_jobs, verbose=params.verbose)
        attributes = {**found, **self._members_attributes(members, fitted)}
        task.end(lambda: attributes)
        self._store(attributes)
        return self

    def _votes(self) -> FloatArray | None:
        """The weights of the members that are not dropped."""
        if self.weights is None:
            return None
        pairs = zip(self.named_estimators_.values(), self.weights, strict=True)
        return np.asarray([weight for member, weight in pairs if not is_dropped(member)], dtype=np.float64)

    def _predictions(self, X: Any) -> npt.NDArray[Any]:
        """One column a member."""
        return np.asarray(self._member_outputs(X, ["predict"] * len(self.estimators_))).T

    def _names_out(self, suffixes: list[str]) -> npt.NDArray[Any]:
        prefix = type(self).__name__.lower()
        names = [f"{prefix}_{name}{suffix}" for name, _ in self._fitted_members() for suffix in suffixes]
        return np.asarray(names, dtype=object)


def _check_votes(ensemble: Voting, weights: Any) -> None:
    """One finite number >= 0 for each of `estimators`, those of the members not dropped not all zero."""
    if weights is None:
        return
    owner, members = type(ensemble).__name__, ensemble.estimators
    if len(weights) != len(members):
        raise ValueError(
            f"{owner}: weights={weights!r} has {len(weights)} values and estimators {len(members)}. Number of `estimators` and "
            "weights must be equal."
        )
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.full(len(weights), np.nan)
    if values.ndim != 1 or not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"{owner}: weights={weights!r} is not valid; it must be None or one finite number >= 0 a member.")
    if not any(value for value, (_, member) in zip(values, members, strict=True) if not is_dropped(member)):
        raise ValueError(f"{owner}: weights={weights!r} is zero for every member; at least one must be positive.")


def _is_soft(ensemble: VotingClassifier) -> bool:
    if ensemble.voting != "soft":
        raise AttributeError(f"predict_proba is not available when voting={ensemble.voting!r}; voting='soft' has it.")
    return True


class VotingClassifier(ClassifierMixin, Voting):  # type: ignore[misc]  # scikit-learn has no types
    """The class that most of several classifiers vote for, or that has the largest mean probability.

    With weights v_m, hard voting predicts argmax_c sum_m v_m [h_m(x) = c], and soft voting argmax_c sum_m v_m p_m(c | x). Of
    equal classes the first in sorted order is taken.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and classifiers; clones of them are fitted. 'drop' in place of a classifier leaves it out.
    voting : {"hard", "soft"}, default="hard"
        Count labels, or average probabilities, which all members then must give.
    weights : array-like of shape (n_estimators,), default=None
        A weight >= 0 for each of `estimators`; None for equal weights.
    n_jobs : int, default=None
        How many members to fit at a time (joblib): None means one, unless a `joblib.parallel_config` says otherwise, -1 as many
        as there are processors. The result does not depend on it.
    flatten_transform : bool, default=True
        With soft voting, `transform` gives shape (n_samples, n_members * n_classes) if True, else (n_members, n_samples,
        n_classes).
    verbose : bool or int, default=False
        Log each member to the logger "mercer".

    Attributes
    ----------
    estimators_ : list
        The fitted members that are not dropped. They know the classes as 0, 1, ... (see `le_`).
    named_estimators_ : Bunch
        The fitted members by name.
    le_ : LabelEncoder
        Between labels and numbers of classes.
    classes_ : ndarray of shape (n_classes,)
        The sorted labels.
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
    L. Kuncheva, Combining Pattern Classifiers, 2nd ed. (2014), chapters 4 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ensemble import VotingClassifier
    >>> from mercer.linear_model import LogisticRegression, RidgeClassifier
    >>> X = np.array([[-2.0], [-1], [-0.5], [0.5], [1], [2]])
    >>> y = np.array(["no", "no", "yes", "no", "yes", "yes"])
    >>> members = [("weak", LogisticRegression(C=0.1)), ("strong", LogisticRegression(C=10)), ("ridge", RidgeClassifier())]
    >>> VotingClassifier(members).fit(X, y).predict([[-1.5], [1.5]]).tolist()
    ['no', 'yes']
    >>> soft = VotingClassifier(members, voting="soft", weights=[1, 3, 1]).set_params(ridge="drop").fit(X, y)
    >>> soft.predict_proba([[1.5]]).round(3)
    array([[0.209, 0.791]])
    """

    _kind = "classifier"
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **Voting._parameter_rules,
        "voting": OneOf("hard", "soft"),
        "flatten_transform": Bool(),
    }

    def __init__(
        self,
        estimators: Any,
        *,
        voting: str = "hard",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool | int = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> VotingClassifier:
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
        classes, codes = check_labels(y)
        encoder = LabelEncoder().fit(classes)
        self._fit(X, codes, sample_weight, fit_params, {"le_": encoder, "classes_": encoder.classes_})
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each row."""
        check_is_fitted(self)
        scores = self.predict_proba(X) if self.voting == "soft" else self._counts(self._predictions(X))
        labels: npt.NDArray[Any] = self.classes_[np.argmax(scores, axis=1)]
        return labels

    def _counts(self, predictions: npt.NDArray[Any]) -> FloatArray:
        """The votes for each class, one row a row of X."""
        n_rows, n_members = predictions.shape
        counts, votes = np.zeros((n_rows, len(self.classes_))), self._votes()
        for column, vote in zip(predictions.T, np.ones(n_members) if votes is None else votes, strict=True):
            counts[np.arange(n_rows), column.astype(np.intp)] += vote
        return counts

    def _probabilities(self, X: Any) -> FloatArray:
        """Those of every member: members by rows by classes."""
        return np.asarray(self._member_outputs(X, ["predict_proba"] * len(self.estimators_)))

    @available_if(_is_soft)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The members' mean probabilities, of shape (n_samples, n_classes); with soft voting only."""
        check_is_fitted(self)
        mean: FloatArray = np.average(self._probabilities(X), axis=0, weights=self._votes())
        return mean

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """What each member makes of X: class numbers (hard voting, one column a member) or probabilities (soft voting)."""
        check_is_fitted(self)
        if self.voting == "hard":
            return self._predictions(X)
        probabilities = self._probabilities(X)
        return np.hstack(list(probabilities)) if self.flatten_transform else probabilities

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of the columns that `transform` gives; `input_features` is only compared with those of the fit."""
        check_is_fitted(self)
        self._check_feature_names(input_features)
        if self.voting == "hard":
            return self._names_out([""])
        if not self.flatten_transform:
            raise ValueError(
                "get_feature_names_out is not supported when `voting='soft'` and `flatten_transform=False`: the output is no "
                "table. Set flatten_transform=True."
            )
        return self._names_out([str(j) for j in range(len(self.classes_))])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


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

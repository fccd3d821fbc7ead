"""Voting for classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_labels
from mercer._base import fit_method
from mercer._labels import choose_labels
from mercer._params import Bool, OneOf, Rule
from mercer.ensemble._combination.voting import Voting


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
        shape = np.asarray(y).shape
        if len(shape) == 2 and shape[1] > 1:
            raise NotImplementedError(
                f"VotingClassifier: y has {shape[1]} columns. Multilabel and multi-output targets are not supported; "
                "fit one VotingClassifier a column (sklearn.multioutput.MultiOutputClassifier does)."
            )
        classes, codes = check_labels(y)
        encoder = LabelEncoder().fit(classes)
        self._fit(X, codes, sample_weight, fit_params, {"le_": encoder, "classes_": encoder.classes_}, labels=y)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each row."""
        check_is_fitted(self)
        scores = self.predict_proba(X) if self.voting == "soft" else self._counts(self._predictions(X))
        return choose_labels(scores, self.classes_)

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

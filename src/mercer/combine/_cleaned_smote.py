"""`SMOTEENN` and `SMOTETomek`: SMOTE, then the rows are taken out that neighbours contradict."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from mercer._params import Having, Null, NumberOfJobs, RandomState, Rule
from mercer._resampling.base import Resampler, Sample, grown_by
from mercer._resampling.strategy import RULES
from mercer._resampling.tables import pick_rows
from mercer.over_sampling import SMOTE
from mercer.under_sampling import EditedNearestNeighbours, TomekLinks

_RULES: Mapping[str, Rule] = {
    "sampling_strategy": RULES["over-sampling"],
    "random_state": RandomState(),
    "smote": Null() | Having("fit_resample"),
    "n_jobs": NumberOfJobs(),
}


class _CleanedSMOTE(Resampler):
    """SMOTE, then a cleaner: the parameter and the class that `_cleaner` names."""

    _kind = "over-sampling"
    _input_tags = ("sparse",)
    _cleaner: ClassVar[tuple[str, type]]
    smote: Any
    random_state: Any

    def _resample(self, sample: Sample, X: Any, y: Any, params: SimpleNamespace) -> tuple[Any, Any]:
        """Both steps on the numbers; what they leave is taken from the table."""
        name, kind = self._cleaner
        given = getattr(params, name)
        cleaner = kind(sampling_strategy="all", n_jobs=params.n_jobs) if given is None else clone(given)
        setattr(self, f"{name}_", cleaner)
        plain = SMOTE(sampling_strategy=params.sampling_strategy, random_state=params.random_state)
        self.smote_ = plain if params.smote is None else clone(params.smote)
        rows, labels = self.smote_.fit_resample(sample.X, sample.classes[sample.codes])
        cleaner.fit_resample(rows, labels)
        n_given, kept = len(sample.codes), cleaner.sample_indices_
        X, y = grown_by(sample, X, y, rows[n_given:], np.searchsorted(sample.classes, labels[n_given:]))
        return pick_rows(X, kept), pick_rows(y, kept)


class SMOTEENN(_CleanedSMOTE):
    """SMOTE, then `EditedNearestNeighbours` on all classes.

    Parameters
    ----------
    sampling_strategy : str, float, dict or callable, default="auto"
        That of SMOTE.
    random_state : int, RandomState or None, default=None
    smote : estimator, default=None
        A `SMOTE` of your own, or any over-sampler; the two parameters above are then not used.
    enn : estimator, default=None
        A cleaner of your own, which leaves `sample_indices_`; None is `EditedNearestNeighbours(sampling_strategy="all")`.
    n_jobs : int, default=None
        Threads of the cleaner's search for neighbours.

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of new rows by class before the cleaning.
    smote_, enn_ : estimators
        Both resamplers, fitted.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The same `random_state` gives the rows that imbalanced-learn gives. O(n^2 n_features) at worst for the cleaning.

    References
    ----------
    G. Batista, R. C. Prati, M. C. Monard: A study of the behavior of several methods for balancing machine learning training
    data. ACM SIGKDD Explorations 6 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.combine import SMOTEENN
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([random.randn(60, 2), random.randn(15, 2) + 2])
    >>> y = np.repeat([0, 1], [60, 15])
    >>> np.bincount(SMOTEENN(random_state=0).fit_resample(X, y)[1])
    array([51, 53])
    """

    _cleaner = ("enn", EditedNearestNeighbours)
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {**_RULES, "enn": _RULES["smote"]}

    def __init__(
        self,
        *,
        sampling_strategy: Any = "auto",
        random_state: Any = None,
        smote: Any = None,
        enn: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.smote = smote
        self.enn = enn
        self.n_jobs = n_jobs


class SMOTETomek(_CleanedSMOTE):
    """SMOTE, then `TomekLinks` on all classes.

    Parameters
    ----------
    sampling_strategy : str, float, dict or callable, default="auto"
        That of SMOTE.
    random_state : int, RandomState or None, default=None
    smote : estimator, default=None
        A `SMOTE` of your own, or any over-sampler; the two parameters above are then not used.
    tomek : estimator, default=None
        A cleaner of your own, which leaves `sample_indices_`; None is `TomekLinks(sampling_strategy="all")`.
    n_jobs : int, default=None
        Threads of the cleaner's search for neighbours.

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of new rows by class before the cleaning.
    smote_, tomek_ : estimators
        Both resamplers, fitted.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The same `random_state` gives the rows that imbalanced-learn gives. O(n^2 n_features) at worst for the cleaning.

    References
    ----------
    G. Batista, B. Bazzan, M. Monard: Balancing training data for automated annotation of keywords: a case study. WOB 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.combine import SMOTETomek
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([random.randn(60, 2), random.randn(15, 2) + 2])
    >>> y = np.repeat([0, 1], [60, 15])
    >>> np.bincount(SMOTETomek(random_state=0).fit_resample(X, y)[1])
    array([58, 58])
    """

    _cleaner = ("tomek", TomekLinks)
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {**_RULES, "tomek": _RULES["smote"]}

    def __init__(
        self,
        *,
        sampling_strategy: Any = "auto",
        random_state: Any = None,
        smote: Any = None,
        tomek: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.smote = smote
        self.tomek = tomek
        self.n_jobs = n_jobs

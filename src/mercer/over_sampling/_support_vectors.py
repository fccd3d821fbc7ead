"""`SVMSMOTE`: new rows next to the support vectors of a class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from mercer._params import Fittable, Null, OneOf, RandomState, Real, Rule
from mercer._random import as_random_state
from mercer._resampling.base import Sample
from mercer._resampling.neighbors import NEIGHBORS, fitted, make_neighbors, require_rows
from mercer._resampling.strategy import RULES
from mercer._rows import count_rows, take_rows
from mercer.over_sampling._borderline import count_strangers, in_danger
from mercer.over_sampling._interpolation import Interpolating, between, draw_pairs


class SVMSMOTE(Interpolating):
    """SMOTE from the support vectors of a class: inwards from those in danger, outwards from those that are safe.

    Support vectors all of whose m neighbours are of other classes are noise and left out. Of the others, those in danger (half
    or more of the neighbours are of other classes) have new rows towards neighbours of the class, x + g (x' - x), the safe ones
    away from them, x - s g (x' - x), which widens the region of the class.

    Parameters
    ----------
    sampling_strategy : str, float, dict or callable, default="auto"
        As in `SMOTE`.
    random_state : int, RandomState or None, default=None
    k_neighbors : int, "auto" or estimator, default=5
        As in `SMOTE`.
    m_neighbors : int or estimator, default=10
        The neighbours among all rows that say whether a support vector is noise, in danger or safe.
    svm_estimator : estimator, default=None
        A classifier with `support_` once it is fitted; None is `mercer.svm.SVC()`.
    out_step : float in [0, 1], default=0.5
        The factor s.

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of new rows by class.
    nn_k_, nn_m_ : estimators
        The searches for neighbours, not fitted: no rows are kept.
    svm_estimator_ : estimator
        The classifier, fitted.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Dominated by the support vector machine, O(n^2) and more. The same `random_state` gives the rows that imbalanced-learn
    gives, which makes fewer than asked for where no support vector is safe, or none in danger.

    References
    ----------
    H. M. Nguyen, E. W. Cooper, K. Kamei: Borderline over-sampling for imbalanced data classification. International Journal of
    Knowledge Engineering and Soft Data Paradigms 3 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.over_sampling import SVMSMOTE
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([random.randn(60, 2), random.randn(15, 2) + 2])
    >>> y = np.repeat([0, 1], [60, 15])
    >>> np.bincount(SVMSMOTE(random_state=0).fit_resample(X, y)[1])
    array([60, 60])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sampling_strategy": RULES["over-sampling"],
        "random_state": RandomState(),
        "k_neighbors": NEIGHBORS | OneOf("auto"),
        "m_neighbors": NEIGHBORS,
        "svm_estimator": Null() | Fittable(),
        "out_step": Real(least=0, most=1),
    }
    _input_tags = ("sparse",)

    def __init__(
        self,
        *,
        sampling_strategy: Any = "auto",
        random_state: Any = None,
        k_neighbors: Any = 5,
        m_neighbors: Any = 10,
        svm_estimator: Any = None,
        out_step: float = 0.5,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.k_neighbors = k_neighbors
        self.m_neighbors = m_neighbors
        self.svm_estimator = svm_estimator
        self.out_step = out_step

    def _plan(self, params: SimpleNamespace, sample: Sample) -> None:
        super()._plan(params, sample)
        self.nn_k_ = make_neighbors(params.k_neighbors, n_more=1)
        self.nn_m_ = make_neighbors(params.m_neighbors, n_more=1)

    def _resample(self, sample: Sample, X: Any, y: Any, params: SimpleNamespace) -> tuple[Any, Any]:
        from mercer.svm import SVC

        machine = SVC(random_state=params.random_state) if params.svm_estimator is None else clone(params.svm_estimator)
        params.shares = as_random_state(params.random_state)
        self.svm_estimator_ = machine.fit(sample.X, sample.classes[sample.codes])
        if not hasattr(machine, "support_"):
            raise RuntimeError(
                f"SVMSMOTE: svm_estimator={params.svm_estimator!r}: `svm_estimator` is required to exposed a `support_` fitted "
                "attribute. Such estimator belongs to the familly of Support Vector Machine."
            )
        require_rows("SVMSMOTE", "m_neighbors", self.nn_m_, len(sample.codes), "X", "Give a smaller m_neighbors.")
        params.search = fitted(self.nn_m_, sample.X)
        return super()._resample(sample, X, y, params)

    def _grow(self, sample: Sample, label: Any, n_new: int, params: SimpleNamespace) -> Iterator[Any]:
        place, support = sample.place(label), np.asarray(self.svm_estimator_.support_)
        vectors = take_rows(sample.X, support[sample.codes[support] == place])
        strangers, m = count_strangers(params.search, vectors, place, sample)
        if (strangers == m).all():
            raise ValueError(
                f"SVMSMOTE: All support vectors are considered as noise: all neighbours of those of class {label!r} are of "
                "other classes. SVM-SMOTE is not adapted to your dataset. Try another SMOTE variant."
            )
        vectors, strangers = take_rows(vectors, np.flatnonzero(strangers < m)), strangers[strangers < m]
        is_endangered = in_danger(strangers, m)
        rows = take_rows(sample.X, sample.rows_of(label))
        n_inward = int(params.shares.beta(10, 10) * (n_new + 1))
        for is_chosen, n_part, step in ((is_endangered, n_inward, 1.0), (~is_endangered, n_new - n_inward, -params.out_step)):
            if is_chosen.any():
                chosen = take_rows(vectors, np.flatnonzero(is_chosen))
                neighbors = self._class_neighbors(label, rows, chosen, params)
                places, ends, gaps = draw_pairs(self._generator(params), neighbors, n_part)
                if count_rows(places):
                    yield between(chosen, rows, (places, ends, step * gaps))

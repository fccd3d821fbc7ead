"""What support vector classification by C and by nu share: one machine for each pair of classes."""

from __future__ import annotations

from abc import abstractmethod
from itertools import combinations, pairwise
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_labels, class_factors
from mercer._base import fit_method
from mercer._labels import choose_labels, require_two_classes
from mercer._linear import linear_predictions
from mercer._params import Bool, Mapped, Null, OneOf, RandomState, Real, Rule, check_params, check_value
from mercer.svm._dual import Index
from mercer.svm._kernel_machine import KernelMachine, Sample
from mercer.svm._machines import Machines, Part
from mercer.svm._margins import PLACES, Margins, margins_of
from mercer.svm._probability import PairwiseProbability, fit_probability

ABSENT = np.str_("")  # the place of a row in a pair of classes that it is of neither


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """All pairs of classes, in the order of their boundaries."""
    return list(combinations(range(n_classes), 2))


def votes_and_confidences(values: FloatArray, n_classes: int) -> tuple[FloatArray, FloatArray]:
    """How many pairs each class wins, and the sum of the values for it; a column a class."""
    votes, sums = np.zeros((len(values), n_classes)), np.zeros((len(values), n_classes))
    for column, (first, second) in enumerate(pairs_of(n_classes)):
        value = values[:, column]
        votes[:, first] += value > 0
        votes[:, second] += value <= 0
        sums[:, first] += value
        sums[:, second] -= value
    return votes, sums


def class_scores(values: FloatArray, n_classes: int) -> FloatArray:
    """From values of pairs: the pairs that each class wins, and of a share below one third how clearly."""
    votes, sums = votes_and_confidences(values, n_classes)
    scores: FloatArray = votes + sums / (3 * (np.abs(sums) + 1))
    return scores


def labels_of(values: FloatArray, classes: npt.NDArray[Any], *, break_ties: bool) -> npt.NDArray[Any]:
    """The class that wins most pairs; of several the first, or the one of the largest score."""
    if len(classes) == 2:
        return choose_labels(values, classes)
    scores = class_scores(values, len(classes)) if break_ties else votes_and_confidences(values, len(classes))[0]
    return choose_labels(scores, classes)


class KernelClassifier(ClassifierMixin, KernelMachine):  # type: ignore[misc]  # scikit-learn has no types
    """One machine for each pair of classes. Subclasses say which problem a machine solves."""

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        **KernelMachine._parameter_rules,
        "probability": Bool() | OneOf("deprecated"),
        "class_weight": Null() | OneOf("balanced") | Mapped(),
        "decision_function_shape": OneOf("ovo", "ovr"),
        "break_ties": Bool(),
        "random_state": RandomState(),
    }
    probability: bool | str
    decision_function_shape: str
    break_ties: bool

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the support vectors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) for `kernel="precomputed"`
        y : array-like of shape (n_samples,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies the cost of a row: a row of weight two counts as two equal rows, one of weight zero as absent.

        Returns
        -------
        self
        """
        params = check_params(self)
        X, y, sample = self._check_data(X, y, sample_weight, params)
        self._solve(sample, y, self._parts(sample, params), params)
        self._add_probability(sample, params)
        return self

    def _add_probability(self, sample: Sample, params: SimpleNamespace) -> None:
        if params.probability is True:
            self._store({"_probability": fit_probability(self, sample, params)})

    def _check_data(self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace) -> tuple[Any, Any, Sample]:
        X, y = self._check_rows(X, y)
        classes, codes = check_labels(y)
        owner = type(self).__name__
        require_two_classes(owner, classes)
        sample = self._sample(X, sample_weight, params)
        sample.classes, sample.codes = classes, codes[sample.places]
        for code, label in enumerate(classes.tolist()):
            if not (sample.codes == code).any():
                raise ValueError(
                    f"{owner}: Invalid input - all samples of class {label!r} have zero weights (sample_weight); every class "
                    "needs a row of positive weight."
                )
        sample.class_weight = class_factors(params.class_weight, classes, sample.codes, sample.weights)
        sample.costs = sample.weights * sample.class_weight[sample.codes]
        return X, y, sample

    def _parts(self, sample: Sample, params: SimpleNamespace) -> list[Part]:
        return [self._part(sample, params, *pair) for pair in pairs_of(len(sample.classes))]

    def _part(self, sample: Sample, params: SimpleNamespace, first: int, second: int) -> Part:
        """The machine of a pair of classes, positive for the first of them; of two classes in all, for the second."""
        rows = np.flatnonzero((sample.codes == first) | (sample.codes == second)).astype(np.int32)
        positive = second if len(sample.classes) == 2 else first
        signs = np.where(sample.codes[rows] == positive, 1.0, -1.0)
        return self._problem(rows, signs, sample.costs[rows], params)

    @abstractmethod
    def _problem(self, rows: Index, signs: FloatArray, costs: FloatArray, params: SimpleNamespace) -> Part: ...

    def _scale(self, part: Part) -> tuple[float, float]:
        """What duals are divided by, and the intercept after that."""
        return 1.0, part.biases[0]

    def _fitted(self, sample: Sample, solver: Machines) -> dict[str, Any]:
        n_classes, parts = len(sample.classes), solver.parts
        pairs, n_rows = pairs_of(n_classes), sample.matrix.n_rows
        coef = np.zeros((n_classes - 1, n_rows))
        intercept, norms = np.zeros(len(parts)), np.zeros(len(parts))
        places = np.full((sample.n_rows, len(parts)), 255, dtype=np.uint8)
        for number, (part, (first, second)) in enumerate(zip(parts, pairs, strict=True)):
            if not part.has_begun:
                continue  # whose turn has not come
            scale, intercept[number] = self._scale(part)
            duals = part.row_duals / scale
            norms[number] = np.sqrt(max(part.squared_norm, 0.0)) / scale
            own = sample.codes[part.rows]
            if n_classes == 2:
                coef[0, part.rows] = duals
            else:  # LIBSVM's layout: against each other class one line, in order, with no line for the own one
                coef[second - 1, part.rows[own == first]] = duals[own == first]
                coef[first, part.rows[own == second]] = duals[own == second]
            signs = np.where(own == (second if n_classes == 2 else first), 1.0, -1.0)
            found = margins_of(part.values / scale + intercept[number], signs, 1.0, max(1e-3, 2 * sample.params.tol / scale))
            places[sample.places[part.rows], number] = _codes_of(found.place)
        order = np.argsort(sample.codes, kind="stable")
        support = order[(coef[:, order] != 0).any(axis=0)]
        counts = np.bincount(sample.codes[support], minlength=n_classes).astype(np.int32)
        steps = np.array([part.n_steps for part in parts], dtype=np.int32)
        return {
            **self._support(sample, support, coef[:, support], intercept),
            "classes_": sample.classes,
            "class_weight_": sample.class_weight,
            "n_iter_": steps,
            "_class_support": counts,
            "_norms": norms,
            "_places": places[:, 0] if n_classes == 2 else places,
        }

    def _count_support(self) -> Index:
        counts: Index = self._class_support
        return counts

    def _linear_coef(self) -> Any:
        if len(self.classes_) == 2:
            return self.dual_coef_ @ self.support_vectors_
        coef, ends = self.dual_coef_, np.concatenate([[0], np.cumsum(self._class_support)])
        own = [slice(ends[code], ends[code + 1]) for code in range(len(self.classes_))]
        vectors, lines = self.support_vectors_, []
        for first, second in pairs_of(len(self.classes_)):
            lines.append(
                coef[[second - 1], own[first]] @ vectors[own[first]] + coef[[first], own[second]] @ vectors[own[second]]
            )
        return sp.vstack(lines).tocsr() if sp.issparse(coef) else np.vstack(lines)

    # ---- predictions

    def _combine(self, values: FloatArray, coef: FloatArray) -> FloatArray:
        """Values of all pairs: the support vectors of each class meet their coefficients against all others in one product."""
        n_classes = len(self.classes_)
        if n_classes == 2 or coef.shape[1] == 0:
            return super()._combine(values, coef)
        ends = np.concatenate([[0], np.cumsum(self._class_support)])
        none = np.zeros(n_classes - 1, dtype=coef.dtype)
        own = [
            linear_predictions(values[:, begin:end], np.ascontiguousarray(coef[:, begin:end]), none)
            for begin, end in pairwise(ends)
        ]
        pairs = [own[first][:, second - 1] + own[second][:, first] for first, second in pairs_of(n_classes)]
        found: FloatArray = np.column_stack(pairs) + self.intercept_
        return found

    def decision_function(self, X: Any) -> FloatArray:
        """Scores: of shape (n_samples,) for two classes, above zero for `classes_[1]`; else a column for each class or pair.

        With `decision_function_shape="ovr"` a column for each class: the pairs that it wins, plus a share of less than one
        third for how clearly. With "ovo" a column for each pair (0, 1), (0, 2), ..., above zero for the first of them.
        """
        values = self._values(X)
        if len(self.classes_) == 2:
            return values[:, 0]
        if self.decision_function_shape == "ovo":
            return values
        return class_scores(values, len(self.classes_))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row: the one that wins most pairs; of several, the first, or with `break_ties` by their scores."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError(
                f"{type(self).__name__}: break_ties must be False when decision_function_shape is 'ovo', which has no scores "
                "of classes to break ties by."
            )
        return labels_of(self._values(X), self.classes_, break_ties=self.break_ties)

    def _has_probability(self) -> bool:
        if self.probability is not True:
            raise AttributeError("predict_proba is not available when probability=False")
        return True

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of shape (n_samples, n_classes), of which the largest is that of the class that `predict` names."""
        check_is_fitted(self)
        values = self._values(X)
        found = self._fitted_probability()
        chosen = np.searchsorted(self.classes_, labels_of(values, self.classes_, break_ties=self.break_ties))
        return found.probabilities(values, chosen)

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of `predict_proba`."""
        found: FloatArray = np.log(self.predict_proba(X))
        return found

    def _fitted_probability(self) -> PairwiseProbability:
        from sklearn.exceptions import NotFittedError

        if "_probability" not in vars(self):
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        found: PairwiseProbability = self._probability
        return found

    @property
    def probA_(self) -> FloatArray:
        """Of p = 1 / (1 + exp(A value + B)) for each pair of classes, after a fit with `probability=True`: A."""
        return self._fitted_probability().a if "_probability" in vars(self) else np.empty(0)

    @property
    def probB_(self) -> FloatArray:
        """The same: B."""
        return self._fitted_probability().b if "_probability" in vars(self) else np.empty(0)

    # ---- margins

    @property
    def half_margin_(self) -> Any:
        """The distance from the boundary to the margin in the space of the kernel, 1 / |w|: a number, or one for each pair."""
        check_is_fitted(self)
        with np.errstate(divide="ignore"):
            half = 1 / self._norms
        return float(half[0]) if len(half) == 1 else half

    @property
    def margin_(self) -> Any:
        """The width of the margin, 2 / |w|, likewise."""
        return 2 * self.half_margin_

    @property
    def point_status_(self) -> npt.NDArray[np.str_]:
        """The place of each row of the fit: "outside", "on" or "inside" the margin, or "misclassified".

        Of more than two classes, a column for each pair, with "" for rows of other classes; "" also for rows of weight zero.
        """
        check_is_fitted(self)
        return np.append(PLACES, ABSENT)[np.minimum(self._places, len(PLACES))]

    def margins(self, X: Any, y: Any, *, tol: float = 1e-3) -> Margins:
        """Where rows lie: outside, on or inside the margin, or misclassified, and how far from the boundary.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels among `classes_`.
        tol : float, default=1e-3
            How near to 1 a functional margin is that counts as on the margin.

        Returns
        -------
        margins : Margins
            `functional`, `geometric` (in the space of the kernel) and `place`, one number or word a row; of more than two
            classes, a column for each pair, with NaN and "" for rows of other classes.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.svm import SVC
        >>> X, y = np.array([[0.0, 0], [1, 1], [3, 3], [4, 4]]), [0, 0, 1, 1]
        >>> model = SVC(kernel="linear", C=10).fit(X, y)
        >>> round(model.margin_, 4), model.margins(X, y).place.tolist()
        (2.8284, ['outside', 'on', 'on', 'outside'])
        """
        check_is_fitted(self)
        owner = type(self).__name__
        tol = check_value(owner, "tol", tol, Real(least=0))
        labels = np.asarray(y)
        unknown = ~np.isin(labels, self.classes_)
        if labels.ndim != 1 or unknown.any():
            wrong = f"has shape {labels.shape}" if labels.ndim != 1 else f"holds {labels[unknown].tolist()[0]!r}"
            raise ValueError(f"{owner}: y {wrong}; it must hold one label a row, each among {self.classes_.tolist()!r}.")
        values = self._values(X)
        if len(labels) != len(values):
            raise ValueError(f"{owner}: y has {len(labels)} labels and X {len(values)} rows; there must be one label a row.")
        if len(self.classes_) == 2:
            return margins_of(values[:, 0], np.where(labels == self.classes_[1], 1.0, -1.0), self._norms[0], tol)
        pairs = pairs_of(len(self.classes_))
        signs = np.full(values.shape, np.nan)
        for column, (first, second) in enumerate(pairs):
            signs[labels == self.classes_[first], column] = 1.0
            signs[labels == self.classes_[second], column] = -1.0
        found = margins_of(values, signs, self._norms, tol)
        return Margins(found.functional, found.geometric, np.where(np.isnan(signs), ABSENT, found.place))


def _codes_of(places: npt.NDArray[np.str_]) -> npt.NDArray[np.uint8]:
    order = np.argsort(PLACES)
    return order[np.searchsorted(PLACES[order], places)].astype(np.uint8)

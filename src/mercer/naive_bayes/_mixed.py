"""Naive Bayes of tables with columns of several kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_labels, check_weights, places_of_labels
from mercer._base import FitTask, fit_method
from mercer._columns import MOMENT, WORDS, Table
from mercer._compat import validate_data
from mercer._labels import Labels
from mercer._params import ArrayLike, Mapped, Null, Real, Rule, check_params
from mercer._posteriors import fall_back, log_of, normalized_priors, present_classes
from mercer._tuning import Reals, Space
from mercer.naive_bayes._base import NaiveBayesClassifier, known_labels
from mercer.naive_bayes._laws import BERNOULLI, CATEGORICAL, GAUSSIAN, KERNEL, POISSON, KernelLaw, Rows
from mercer.naive_bayes._sums import Sums, learn

LARGEST = 1e150  # whose square is still a number
LAWS = (GAUSSIAN, BERNOULLI, CATEGORICAL, POISSON, KERNEL)


class NaiveBayes(NaiveBayesClassifier):
    r"""Naive Bayes of a table, with a law for each column, and cells that may be missing.

    With the density or probability :math:`p_{kj}` of column j in class k, over the cells of a row that are present,

    .. math:: \ln P(k, x) = \ln \pi_k + \sum_j \ln p_{kj}(x_j).

    Parameters
    ----------
    laws : dict or None, default=None
        The laws of some columns, by name or number: "gaussian", "bernoulli" (zeros and ones), "categorical", "poisson"
        (counts) or "kernel" (a kernel density, with Silverman's bandwidth). Those of the others are chosen: words are
        categories; truths and zeros and ones Bernoulli; counts Poisson where that is likelier than normal; other numbers
        normal, unless a kernel density is clearly better on values that it has not seen. Dates are numbers.
    alpha : float, default=1.0
        What is added to the counts of categories; so many rows of the mean of all smooth the means of counts.
    var_smoothing : float, default=1e-9
        This share of a column's variance is added to its variances in classes.
    priors : array-like of shape (n_classes,), default=None
        None: the shares of the classes in the weight of the rows. Priors that do not sum to one are divided by their sum, with
        a warning.

    Attributes
    ----------
    laws_ : dict
        The name of each column's law; "constant" for a column without two values, which says nothing.
    class_count_, class_prior_ : arrays of shape (n_classes,)
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A cell that is missing is left out, of the fit and of the sum, as are a category that the fit has not seen and a value that
    the column's law cannot have. A row that is impossible under all classes has their priors. `log_odds` says what each column
    of a row adds to the log-odds: the evidence behind a prediction. There is no `certificate_`: sums and shares solve no
    equation of which something could be left.

    References
    ----------
    I. J. Good: Probability and the Weighing of Evidence. Griffin, 1950.

    Examples
    --------
    >>> from mercer.naive_bayes import NaiveBayes
    >>> table = {"colour": ["red", "red", "blue", "blue"], "size": [1.2, None, 3.1, 2.8]}
    >>> model = NaiveBayes().fit(table, ["a", "a", "b", "b"])
    >>> model.laws_
    {'colour': 'categorical', 'size': 'gaussian'}
    >>> model.log_odds({"colour": ["blue"], "size": [None]}).round(2)
    array([[1.1, 0. ]])
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("allow_nan", "string")
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "laws": Mapped() | Null(),
        "alpha": Real(least=0),
        "var_smoothing": Real(least=0),
        "priors": ArrayLike() | Null(),
    }
    _search_space: ClassVar[Mapping[str, Space]] = {
        "alpha": Reals(1e-2, 10.0, log=True),
        "var_smoothing": Reals(1e-12, 1.0, log=True),
    }

    def __init__(
        self, *, laws: Mapping[Any, str] | None = None, alpha: float = 1.0, var_smoothing: float = 1e-9, priors: Any = None
    ) -> None:
        self.laws = laws
        self.alpha = alpha
        self.var_smoothing = var_smoothing
        self.priors = priors

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose laws and fit them.

        Parameters
        ----------
        X : pandas or polars DataFrame, dict of columns, or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = check_params(self)
        table = self._read(X, reset=True, is_learnt=True)
        labels, codes = check_labels(y)
        check_consistent_length(np.empty(table.n_rows), codes)
        weights = check_weights(sample_weight, table.n_rows, np.float64)
        labels, codes, _ = present_classes(labels, codes, weights)
        task = FitTask.start(self, X, y)
        rows = Rows.of(codes, weights, len(labels))
        return self._finish(task, self._learnt(params, table, labels, rows, rows.sums(), None))

    @fit_method
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those seen so far.

        The laws that are not given in `laws` are chosen by the first rows in which a column has two values, and stay. Sums of
        parts add up to those of all rows, so that the result is that of `fit` with these laws. A kernel density keeps its rows
        instead: none is chosen, and one that is given, or that `fit` has chosen, is refused.

        Parameters
        ----------
        X : pandas or polars DataFrame, dict of columns, or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, default=None
            All classes that will ever come; needed on the first call.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        params = check_params(self)
        is_first = not hasattr(self, "classes_")
        labels = known_labels(self, classes)
        table = self._read(X, reset=is_first, is_learnt=True)
        y = column_or_1d(y, warn=True)
        check_consistent_length(np.empty(table.n_rows), y)
        codes = places_of_labels(self, y, labels)
        weights = check_weights(sample_weight, table.n_rows, np.float64)
        task = FitTask.start(self, X, y)
        rows = Rows.of(codes, weights, len(labels))
        self._require_sums(params, table)
        count = rows.sums() if is_first else self.class_count_ + rows.sums()
        before = None if is_first else self._sums
        return self._finish(task, self._learnt(params, table, labels, rows, count, before, is_part=True))

    def _require_sums(self, params: SimpleNamespace, table: Table) -> None:
        """Refuse kernel densities."""
        given = [table.names[number] for number, law in self._names_of_laws(params.laws, table).items() if law == KERNEL]
        chosen = [name for name, law in getattr(self, "laws_", {}).items() if law == KERNEL]
        if names := given or chosen:
            raise ValueError(
                f"NaiveBayes: partial_fit cannot go on with the kernel density of column {names[0]!r}, which keeps all "
                "rows where other laws keep sums that add up. Name another law, such as "
                f"laws={{{names[0]!r}: 'gaussian'}}, and begin "
                "anew with a clone, or fit all rows at once."
            )

    def _learnt(
        self,
        params: SimpleNamespace,
        table: Table,
        labels: Labels,
        rows: Rows,
        count: FloatArray,
        before: Sequence[Sums | None] | None,
        *,
        is_part: bool = False,
    ) -> dict[str, Any]:
        """All attributes, from rows and the sums of those before."""
        priors = count / count.sum() if params.priors is None else normalized_priors("NaiveBayes", params.priors, len(labels))
        given = self._names_of_laws(params.laws, table)
        found = [
            learn(
                None if before is None else before[number],
                table.column(number),
                rows,
                given.get(number),
                params.var_smoothing,
                is_part=is_part,
            )
            for number in range(len(table.names))
        ]
        laws = [each if isinstance(each, KernelLaw) else each.law(params.alpha, params.var_smoothing) for each in found]
        return {
            "classes_": labels,
            "class_count_": count,
            "class_prior_": priors,
            "laws_": {name: law.name for name, law in zip(table.names, laws, strict=True)},
            "_laws": tuple(laws),
            "_sums": tuple(None if isinstance(each, KernelLaw) else each for each in found),
        }

    def _read(self, X: Any, *, reset: bool, is_learnt: bool = False) -> Table:
        """The table, whose names and number of columns are recorded or compared, and whose numbers are finite or missing."""
        is_dict = isinstance(X, Mapping)
        table = Table.of(X, "NaiveBayes")
        if is_dict:  # which scikit-learn knows nothing of
            self._record(table, reset=reset)
        else:
            validate_data(self, X, reset=reset, skip_check_array=True)
        for number in range(len(table.names)):
            column = table.column(number)
            if column.storage in (WORDS, MOMENT):
                continue
            if is_learnt and (largest := np.fmax.reduce(np.abs(column.values), initial=0)) > LARGEST and np.isfinite(largest):
                raise ValueError(
                    f"NaiveBayes: column {column.name!r} of X holds values as large as {largest:.3g}, whose squares overflow. "
                    "Scale X to moderate values first."
                )
            if np.isinf(column.values).any():
                raise ValueError(
                    f"Input X contains infinity or a value too large for dtype('float64'). NaiveBayes: "
                    f"column {column.name!r} holds "
                    "it; values must be finite, or missing (NaN)."
                )
        return table

    def _record(self, table: Table, *, reset: bool) -> None:
        names = np.array(table.names, dtype=object)
        if reset:
            self.n_features_in_, self.feature_names_in_ = len(names), names
        elif table.names != tuple(getattr(self, "feature_names_in_", table.names)) or len(names) != self.n_features_in_:
            raise ValueError(
                f"NaiveBayes: X has the columns {list(table.names)}. The feature names should match "
                f"those that were passed during fit, "
                "in their order."
            )

    @staticmethod
    def _names_of_laws(given: Mapping[Any, str] | None, table: Table) -> dict[int, str]:
        """The laws that the user gave, by the number of the column."""
        places: dict[Any, int] = {name: number for number, name in enumerate(table.names)} | {
            number: number for number in range(len(table.names))
        }
        found = {}
        for which, law in (given or {}).items():
            if which not in places or isinstance(which, bool):
                raise ValueError(
                    f"NaiveBayes: laws={given!r} names the column {which!r}, which X does not have; it must be one of "
                    f"{list(table.names)}."
                )
            if law not in LAWS:
                raise ValueError(
                    f"NaiveBayes: laws={{{which!r}: {law!r}}} is not valid; it must be one of {', '.join(map(repr, LAWS))}."
                )
            found[places[which]] = law
        return found

    def _check_rows(self, X: Any) -> Table:
        return self._read(X, reset=False)

    def _evidence(self, table: Table) -> FloatArray:
        """ln p of each row, column and class."""
        return np.stack([law.log_densities(table.column(number)) for number, law in enumerate(self._laws)], axis=1)

    def _joint_of(self, table: Table) -> FloatArray:
        log_priors = log_of(self.class_prior_)
        joint = np.tile(log_priors, (table.n_rows, 1))
        for number, law in enumerate(self._laws):
            joint += law.log_densities(table.column(number))
        return fall_back(joint, log_priors)

    def log_odds(self, X: Any, *, of: Any = None, against: Any = None) -> FloatArray:
        """What each column adds to the log-odds of one class against another.

        The sum over a row, plus the log-odds of the priors, is the log-odds of the posteriors.

        Parameters
        ----------
        X : as in `fit`
        of : label, default=None
            None: the second of two classes; of more, the class that is predicted for each row.
        against : label, default=None
            None: the first of two classes; of more, the most probable of the others.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if len(self.classes_) < 2:
            raise ValueError(f"NaiveBayes: log_odds needs two classes, and the fit had one, {self.classes_[0]!r}.")
        table = self._check_rows(X)
        evidence = self._evidence(table)
        first, second = self._sides(evidence, of, against)
        lines = np.arange(len(evidence))
        with np.errstate(invalid="ignore"):  # impossible under both classes
            odds = evidence[lines, :, first] - evidence[lines, :, second]
        return np.where(np.isnan(odds), 0.0, odds)

    def _sides(self, evidence: FloatArray, of: Any, against: Any) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The places of the two classes that are compared, for each row."""
        n_rows, two = len(evidence), len(self.classes_) == 2
        joint = evidence.sum(axis=1) + log_of(self.class_prior_)
        if of is not None:
            first = np.full(n_rows, self._place(of, "of"))
        elif two and against is None:
            first = np.ones(n_rows, dtype=np.intp)
        elif two:
            first = np.full(n_rows, 1 - self._place(against, "against"))
        else:
            first = joint.argmax(axis=1)
        if against is not None:
            return first, np.full(n_rows, self._place(against, "against"))
        joint[np.arange(n_rows), first] = -np.inf
        others = joint.argmax(axis=1)
        return first, np.where(others == first, (first + 1) % len(self.classes_), others)

    def _place(self, label: Any, name: str) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if len(found) != 1:
            raise ValueError(f"NaiveBayes: {name}={label!r} is not valid; it must be one of {self.classes_.tolist()}.")
        return int(found[0])

"""TablePreparer: a mixed table made ready for an estimator, with an account of every column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._columns import Table
from mercer._kinds import as_kind
from mercer._params import Bool, Fittable, Infinity, Integer, Null, OneOf, Real, Rule, check_params
from mercer.preprocessing._table.needs import needs_of
from mercer.preprocessing._table.plan import ColumnList, Kinds, make_report, output_names, plan_table
from mercer.preprocessing._table.report import summary_table
from mercer.preprocessing._table.treatments import CategoryTreatment


class TablePreparer(TransformerMixin, MercerEstimator):  # type: ignore[misc]
    r"""Make a mixed table ready for an estimator, and say for every column what was done and why.

    A table of numbers, categories, booleans, dates, durations, free text, identifiers and missing values becomes a matrix of
    floats. Numbers of models that scale become :math:`(x - \bar x) / s`; where the skewness exceeds `skew_limit`, the values
    are first bent to :math:`\operatorname{arsinh}((x - \text{median}) / \text{interquartile range})`.

    Parameters
    ----------
    estimator : estimator or None, default=None
        What the table is prepared for; it is read, never fitted. One that has a parameter `categorical_features` (itself, or
        the estimator inside it) or the tag `input_tags.categorical` splits categories by itself and gets codes and numbers as
        they are; any other gets scaled numbers and a column a category. One with the tag `input_tags.allow_nan` gets missing
        values as NaN. None: what suits every estimator, scaled, a column a category, nothing missing.
    kinds : dict or None, default=None
        The kind of columns, by name or number, in place of what would be inferred: "number", "category", "boolean", "date",
        "datetime", "duration" or "text".
    drop : list or None, default=None
        Columns, by name or number, that are left out unread.
    categories : {"auto", "codes", "one-hot"}, default="auto"
        How categories come; "auto" asks the estimator.
    scaling : "auto" or bool, default="auto"
        Whether numbers are standardised and the repeating parts of dates become points on a circle; "auto" asks the estimator.
    missing : {"auto", "keep", "impute"}, default="auto"
        Whether missing values stay NaN or are filled in (numbers and dates: the median; booleans: the more frequent value;
        categories: a category of their own; text: zeros), with a column that marks them if training had any; "auto" asks the
        estimator.
    invalid : {"error", "missing"}, default="error"
        What happens to a value that cannot be of its column's kind, such as a word in a column of numbers, or infinity: an
        error that names the column and the value, or a missing value.
    min_frequency : int, default=5
        A category in fewer rows is joined with the other rare ones; never more than a twentieth of the rows is asked for.
    max_categories : int or "auto", default="auto"
        All but this many of the most frequent categories are joined. "auto": 32 for a column each; for codes the estimator's
        `max_bins` less 2, or 254.
    skew_limit : float, default=2.0
        Scaled numbers with a skewness beyond it are bent; infinity: none are.
    identifier_share : float, default=0.95
        Single words of which this share is distinct are identifiers.
    text_share : float, default=0.5
        Words of which more than this share is distinct may be free text.
    text_words : float, default=2.0
        Free text has this many words a value on average.
    max_words : int, default=1000
        The vocabulary of a column of text: the words in most rows, and in two at least.
    text_components : int, default=16
        The columns that a column of text becomes.

    Attributes
    ----------
    report_ : list of ColumnReport
        What was made of each column: `name`, `kind`, `used`, `reason`, `treatment`, `override`, `missing_share`, `n_distinct`,
        `outputs`. See `summary`.
    kinds_ : dict
        The kind of each column; beside those of `kinds`: "identifier", "constant", "empty", "duplicate" and "dropped", which
        have no outputs.
    categorical_features_ : ndarray of bool of shape (n_features_out,)
        Which outputs are codes of categories; they come first.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The kind of a column is the first of these that holds, judged by its values, so that pandas, polars, NumPy and a dict of
    arrays agree to the last bit:

    ========== =======================================================================================================
    kind       rule
    ========== =======================================================================================================
    empty      every value is missing: null, NaN, or one of the words "", NA, N/A, NaN, null, None, NaT, ?, - in any case
    constant   one value, none missing
    duplicate  equal to an earlier column in every row
    identifier numbers: 20 rows or more, the whole numbers from a to a + n - 1, each once
    number     any other numbers, whatever type holds them
    boolean    booleans; words that are just one pair: true/false, yes/no, y/n, t/f, on/off. (A NumPy array of booleans alone is
               an array of the numbers 0 and 1.)
    number     words that are all numbers, with thousands parted by commas, a currency sign or % allowed, none like "007"
    date       dates, or moments all at midnight; words like 2024-01-31, 2024/01/31, 31.01.2024
    datetime   moments with a time of day; words like 2024-01-31T12:30. Time zones are dropped: the clock on the wall counts
    duration   time spans and times of day, in seconds
    category   the categorical types of pandas and polars
    text       words: 20 rows or more, more than `text_share` distinct, `text_words` words each or more
    identifier words: 20 rows or more, `identifier_share` distinct or more
    category   any other words; values of mixed types are words
    ========== =======================================================================================================

    Lists, structs, bytes and complex numbers are refused by the name of their column. Names that are not strings are no names,
    as in scikit-learn: such a table is read by position. `transform` finds columns by name: their order is free, columns that
    it has no use for may be missing or added, and one that it needs is asked for by name. A category that training never saw
    goes with the joined rare ones; where there are none, it is zero in every column, or for codes a missing value. Of dates,
    parts that do not vary in training are left out, and the weekday where the day of the month does not. Outputs are float64.
    Training sorts each column once, O(n log n); it does not depend on the order of the rows.

    In a pipeline the estimator has to know which columns are codes: `prepare_pipeline` sees to it.

    References
    ----------
    S. Deerwester et al., "Indexing by latent semantic analysis", Journal of the American Society for Information Science 41,
    1990 (what is done to text).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocessing import TablePreparer
    >>> table = {"size": np.array([1.0, 2.0, np.nan, 4.0]), "colour": np.array(["red", "blue", "red", "red"])}
    >>> preparer = TablePreparer().fit(table)
    >>> list(preparer.get_feature_names_out())
    ['size', 'size__missing', 'colour=blue', 'colour=red']
    >>> preparer.transform(table)[2]
    array([-0.26726124,  1.        ,  0.        ,  1.        ])
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("allow_nan", "categorical", "string")
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": Null() | Fittable(),
        "kinds": Null() | Kinds(),
        "drop": Null() | ColumnList(),
        "categories": OneOf("auto", "codes", "one-hot"),
        "scaling": OneOf("auto") | Bool(),
        "missing": OneOf("auto", "keep", "impute"),
        "invalid": OneOf("error", "missing"),
        "min_frequency": Integer(1),
        "max_categories": OneOf("auto") | Integer(1),
        "skew_limit": Real(above=0) | Infinity(),
        "identifier_share": Real(above=0, most=1),
        "text_share": Real(least=0, most=1),
        "text_words": Real(least=0),
        "max_words": Integer(1),
        "text_components": Integer(1),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        kinds: Any = None,
        drop: Any = None,
        categories: str = "auto",
        scaling: Any = "auto",
        missing: str = "auto",
        invalid: str = "error",
        min_frequency: int = 5,
        max_categories: Any = "auto",
        skew_limit: float = 2.0,
        identifier_share: float = 0.95,
        text_share: float = 0.5,
        text_words: float = 2.0,
        max_words: int = 1000,
        text_components: int = 16,
    ) -> None:
        self.estimator = estimator
        self.kinds = kinds
        self.drop = drop
        self.categories = categories
        self.scaling = scaling
        self.missing = missing
        self.invalid = invalid
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.skew_limit = skew_limit
        self.identifier_share = identifier_share
        self.text_share = text_share
        self.text_words = text_words
        self.max_words = max_words
        self.text_components = text_components

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the kinds of the columns and their treatments.

        Parameters
        ----------
        X : pandas or polars DataFrame, dict of arrays, or array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        table = Table.of(X, "TablePreparer")
        task = FitTask.start(self, table.source)
        treatments, found = plan_table(table, params, needs_of(params))
        is_code = [treatment.is_categorical for _, treatment in treatments for _ in treatment.suffixes]
        attributes = {
            "_treatments": treatments,
            "report_": make_report(table, treatments, found),
            "kinds_": {name: kind for name, (kind, _) in zip(table.names, found, strict=True)},
            "categorical_features_": np.array(is_code, dtype=bool),
            "n_features_in_": len(table.names),
        }
        if table.has_names:
            attributes["feature_names_in_"] = np.array(table.names, dtype=object)
        else:
            self._unset("feature_names_in_")
        return self._finish(task, attributes)

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """`fit` and `transform` with the table read once. Parameters as in `fit`."""
        table = Table.of(X, "TablePreparer")
        return self.fit(table)._write(table, range(len(table.names)))

    def transform(self, X: Any) -> FloatArray:
        """The table as numbers.

        Parameters
        ----------
        X : as in `fit`
            Columns are found by name, where the table had names.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        table = Table.of(X, "TablePreparer")
        return self._write(table, self._places_in(table))

    def _places_in(self, table: Table) -> Any:
        """Where each column of training is in this table; None for one that is not there and has no use."""
        if not (table.has_names and hasattr(self, "feature_names_in_")):
            if len(table.names) != self.n_features_in_:
                raise ValueError(
                    f"X has {len(table.names)} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                    "as input."
                )
            return range(self.n_features_in_)
        places = {name: number for number, name in enumerate(table.names)}
        names = self.feature_names_in_.tolist()
        if absent := [
            names[number] for number, _ in sorted(self._treatments, key=lambda item: item[0]) if names[number] not in places
        ]:
            shown = "\n- ".join(absent[:5]) + (f"\n- … ({len(absent) - 5} more)" if len(absent) > 5 else "")
            raise ValueError(
                "The feature names should match those that were passed during fit.\n"
                f"Feature names seen at fit time, yet now missing:\n- {shown}\n"
            )
        return [places.get(name) for name in names]

    def _write(self, table: Table, places: Any) -> FloatArray:
        widths = [len(treatment.suffixes) for _, treatment in self._treatments]
        out = np.zeros((table.n_rows, sum(widths)), order="F")  # written and scaled column by column
        start = 0
        for (number, treatment), width in zip(self._treatments, widths, strict=True):
            column = as_kind(table.column(places[number]), treatment.kind, self.invalid)
            treatment.write(column, out[:, start : start + width])
            start += width
        return out

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the outputs: a column's own name, with what was done to it after "=" or "__".

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns, where the table had none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        own = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            names = list(input_features)
            if len(names) != self.n_features_in_:
                raise ValueError(
                    f"input_features should have length equal to number of features ({self.n_features_in_}), got {len(names)}"
                )
            if own is not None and names != own.tolist():
                raise ValueError("input_features is not equal to feature_names_in_")
        else:
            names = [f"x{number}" for number in range(self.n_features_in_)] if own is None else own.tolist()
        parts = output_names(names, self._treatments)
        return np.array([name for part in parts for name in part], dtype=object)

    def levels(self) -> dict[str, tuple[tuple[str, ...], int]]:
        """For each column of the kind "category" the words that have a place of their own, and how many rarer ones were joined.

        Returns
        -------
        dict from names of columns to (words, number of joined ones)
        """
        check_is_fitted(self)
        return {
            self.report_[number].name: (treatment.levels, treatment.n_joined)
            for number, treatment in self._treatments
            if isinstance(treatment, CategoryTreatment)
        }

    def summary(self) -> str:
        """The report as a table of text, one line a column."""
        check_is_fitted(self)
        return summary_table(self.report_)

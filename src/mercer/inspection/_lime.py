"""`LimeExplainer`: a linear surrogate of a model near one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import ArrayLike, Bool, Function, Null, NumberOfJobs, OneOf, RandomState, Real, Rule, check_value
from mercer._random import as_random_state
from mercer._trace import warn
from mercer.inspection._lime_bins import Bins, edges_of
from mercer.inspection._lime_columns import columns_of
from mercer.inspection._lime_explanation import REGRESSION_LABEL, LimeExplanation
from mercer.inspection._lime_run import Options, Run, Setting, exponential_weights, options_of
from mercer.inspection._lime_samples import Draws, Sampler
from mercer.inspection._lime_surrogate import Surrogate
from mercer.inspection._model import Model

_WIDTH = 0.75  # of the kernel, times the square root of the number of columns


class LimeExplainer:
    r"""A linear surrogate of a model near a row: what would change its prediction there.

    .. math:: \min_{\beta_0, \beta} \sum_s \pi(z_s) (f(z_s) - \beta_0 - \beta^T z_s)^2 + \alpha \|\beta\|^2, \qquad
              \pi(z) = \sqrt{e^{-\|z - x\|^2 / w^2}},

    over samples z with the moments of the training data, in units of its standard deviations; of a category, or of a bin where
    columns are binned, z says whether it is that of the row.

    Parameters
    ----------
    training_data : {array-like, data frame} of shape (n_samples, n_features)
        What the samples resemble. Columns of words in frames are categories, and the model gets frames again.
    mode : {"classification", "regression"}, default="classification"
        What the model is.
    training_labels : array-like of shape (n_samples,), default=None
        What the bins of `discretizer="entropy"` are to tell apart.
    feature_names : list of str, default=None
        The names of the columns; those of a frame, else their numbers.
    categorical_features : list of int, default=None
        The columns of numbers that are codes of categories.
    categorical_names : dict, default=None
        For such columns the names of their codes.
    kernel_width : float, default=None
        w; 0.75 times the square root of the number of columns where nothing is said.
    kernel : {"root", "gaussian"} or callable, default=None
        The weights by distance d: "root", which None means, is the square root of exp(-d^2 / w^2), "gaussian" that without the
        root; a function is called with distances and the width.
    class_names : list of str, default=None
        The names of the classes; those of the model where it says them.
    feature_selection : {"auto", "forward_selection", "highest_weights", "lasso_path", "none"}, default="auto"
        How `num_features` are chosen: one after another by what they explain, by the largest terms of a ridge regression on
        all, or along a lasso path; "auto" is the first for up to six, else the second.
    discretize_continuous : bool, default=False
        Whether columns of numbers are binned.
    discretizer : {"quartile", "decile", "entropy"}, default="quartile"
        The bins.
    sample_around_instance : bool, default=False
        Whether numbers are drawn around the row in place of the mean of the training data.
    random_state : int, RandomState instance or None, default=None
        The seed. It is settled when the explainer is made: the same row is explained the same each time.
    least_score : float, default=0.2
        The weighted R2 below which a warning says that the surrogate does not fit.

    Notes
    -----
    The samples depend on the seed alone, and not on the row, unless they are drawn around it: of many rows
    (`explain_instances`) the model is asked for them once. A row then takes O(samples x features^2). With an integer seed the
    draws are those of lime's first explanation. Unlike there, columns are binned on request alone, sparse rows are made dense,
    and standard errors say how much of a coefficient is due to the draws; `n_repeats` explains a row again with other draws.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import LimeExplainer
    >>> X = np.random.RandomState(0).randn(200, 3)
    >>> explainer = LimeExplainer(X, mode="regression", random_state=0)
    >>> explanation = explainer.explain_instance(X[0], lambda X: 2 * X[:, 0] - X[:, 1], num_features=2)
    >>> [(name, round(weight, 1)) for name, weight in explanation.as_list()], round(explanation.score, 2)
    ([('0', 2.0), ('1', -1.0)], 1.0)

    References
    ----------
    Ribeiro, Singh and Guestrin, "Why should I trust you?", 2016.
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "mode": OneOf("classification", "regression"),
        "training_labels": Null() | ArrayLike(),
        "feature_names": Null() | ArrayLike(),
        "categorical_features": Null() | ArrayLike(),
        "kernel_width": Null() | Real(above=0),
        "kernel": Null() | OneOf("root", "gaussian") | Function(),
        "class_names": Null() | ArrayLike(),
        "feature_selection": OneOf("auto", "forward_selection", "highest_weights", "lasso_path", "none"),
        "discretize_continuous": Bool(),
        "discretizer": OneOf("quartile", "decile", "entropy"),
        "sample_around_instance": Bool(),
        "random_state": RandomState(),
        "least_score": Real(most=1),
    }

    def __init__(
        self,
        training_data: Any,
        mode: str = "classification",
        training_labels: Any = None,
        feature_names: Any = None,
        categorical_features: Any = None,
        categorical_names: Mapping[int, Any] | None = None,
        kernel_width: float | None = None,
        kernel: Any = None,
        class_names: Any = None,
        feature_selection: str = "auto",
        discretize_continuous: bool = False,
        discretizer: str = "quartile",
        sample_around_instance: bool = False,
        random_state: Any = None,
        *,
        least_score: float = 0.2,
    ) -> None:
        given = locals()
        for name, rule in self._parameter_rules.items():
            check_value("LimeExplainer", name, given[name], rule)
        self.mode, self.class_names = mode, None if class_names is None else [str(name) for name in class_names]
        self.feature_selection, self.least_score = feature_selection, float(least_score)
        self._columns = columns_of("LimeExplainer", training_data)
        training = self._columns.numbers(training_data)
        if len(training) == 0 or not np.isfinite(training).all():
            raise ValueError("LimeExplainer: training_data has no rows or has NaN or infinity; every number must be finite.")
        p = training.shape[1]
        known = self._columns.names if feature_names is None else feature_names
        self.feature_names = [str(name) for name in (range(p) if known is None else known)]
        if len(self.feature_names) != p:
            raise ValueError(f"LimeExplainer: feature_names has {len(self.feature_names)} names; there must be {p}.")
        self._categorical = _categories(categorical_features, self._columns.categories, p)
        self._category_names = {**self._columns.categories, **(categorical_names or {})}
        width = np.sqrt(p) * _WIDTH if kernel_width is None else float(kernel_width)
        self.kernel_width = float(width)
        weigh = kernel if callable(kernel) else partial(exponential_weights, power=1.0 if kernel == "gaussian" else 0.5)
        # Settled once, so that a row is explained the same each time.
        self._seed = (
            int(random_state)
            if isinstance(random_state, int | np.integer)
            else int(as_random_state(random_state).randint(2**31 - 1))
        )
        self._kept: tuple[int, Draws] | None = None
        bins = self._bins(training, discretizer, training_labels) if discretize_continuous else {}
        self._sampler = Sampler(
            training, self._categorical, bins, is_around=sample_around_instance, has_bins=discretize_continuous
        )
        self._setting = Setting(mode, self._columns, self._sampler, weigh, self.kernel_width, feature_selection)

    def _bins(self, training: FloatArray, discretizer: str, labels: Any) -> dict[int, Bins]:
        if discretizer == "entropy" and labels is None:
            raise ValueError("LimeExplainer: discretizer='entropy' needs training_labels, which its bins are to tell apart.")
        return {
            j: Bins.of(training[:, j], edges_of(discretizer, training[:, j], labels, self._seed), self.feature_names[j])
            for j in range(training.shape[1])
            if j not in self._categorical
        }

    def explain_instance(
        self,
        data_row: Any,
        predict_fn: Any,
        labels: Iterable[Any] = (1,),
        top_labels: int | None = None,
        num_features: int = 10,
        num_samples: int = 5000,
        distance_metric: str = "euclidean",
        model_regressor: Any = None,
        *,
        n_repeats: int = 0,
    ) -> LimeExplanation:
        """Explain one row.

        Parameters
        ----------
        data_row : array-like of shape (n_features,) or data frame of one row
            The row.
        predict_fn : callable or estimator
            What gives probabilities of rows, or predictions of a regression.
        labels : iterable of int or str, default=(1,)
            The classes to explain, by number or name.
        top_labels : int, default=None
            So many of the likeliest classes in place of `labels`.
        num_features : int, default=10
            How many features the surrogate may have.
        num_samples : int, default=5000
            How many samples are drawn.
        distance_metric : str, default="euclidean"
            The distance from the row, by which samples are weighted: a name of `mercer.metrics.pairwise_distances`.
        model_regressor : {"ridge", "lasso"} or estimator, default=None
            The surrogate: ridge regression with a penalty of 1, which None means, the lasso with one of 0.01, or another linear
            regressor.
        n_repeats : int, default=0
            How often the row is explained again with other draws, to see how stable the coefficients are.

        Returns
        -------
        explanation : LimeExplanation
            The coefficients, with how well the surrogate fits.
        """
        row = data_row if hasattr(data_row, "columns") or hasattr(data_row, "tocsr") else np.asarray(data_row)
        if isinstance(row, np.ndarray) and row.ndim != 1:
            raise ValueError(
                f"LimeExplainer: data_row has the shape {row.shape}; it must be one row. Use explain_instances for several."
            )
        numbers = self._columns.numbers(row)
        if len(numbers) != 1:
            raise ValueError(f"LimeExplainer: data_row has {len(numbers)} rows; use explain_instances for several.")
        options = options_of(
            labels, top_labels, num_features, num_samples, distance_metric, model_regressor, n_repeats, self.mode
        )
        return self._explained(numbers, predict_fn, options, None)[0]

    def explain_instances(
        self,
        X: Any,
        predict_fn: Any,
        labels: Iterable[Any] = (1,),
        top_labels: int | None = None,
        num_features: int = 10,
        num_samples: int = 5000,
        distance_metric: str = "euclidean",
        model_regressor: Any = None,
        *,
        n_repeats: int = 0,
        n_jobs: int | None = None,
    ) -> list[LimeExplanation]:
        """Explain rows: each as `explain_instance` does, with the samples drawn and the model asked once for all of them.

        Parameters
        ----------
        X : {array-like, data frame} of shape (n_rows, n_features)
            The rows.
        predict_fn, labels, top_labels, num_features, num_samples, distance_metric, model_regressor, n_repeats
            As for `explain_instance`.
        n_jobs : int, default=None
            How many rows are explained at a time.

        Returns
        -------
        explanations : list of LimeExplanation
            One a row.
        """
        jobs = check_value("LimeExplainer", "n_jobs", n_jobs, NumberOfJobs())
        options = options_of(
            labels, top_labels, num_features, num_samples, distance_metric, model_regressor, n_repeats, self.mode
        )
        return self._explained(self._columns.numbers(X), predict_fn, options, jobs)

    # ---- the work

    def _drawn(self, seed: int, n_samples: int) -> Draws:
        """The draws of a seed; those of the last number of samples are kept, as loops over single rows ask for them again."""
        if seed != self._seed:
            return self._sampler.draws(n_samples, np.random.RandomState(seed))
        kept = self._kept
        if kept is None or kept[0] != n_samples:
            kept = self._kept = n_samples, self._sampler.draws(n_samples, np.random.RandomState(seed))
        return kept[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}

    def _explained(self, X: FloatArray, predict_fn: Any, options: Options, n_jobs: int | None) -> list[LimeExplanation]:
        if not np.isfinite(X).all():
            raise ValueError("LimeExplainer: a row has NaN or infinity; every number must be finite.")
        model = Model.of("LimeExplainer", predict_fn)
        repeats = np.random.RandomState(self._seed).randint(2**31 - 1, size=options.n_repeats).tolist()
        of_rows = self._setting.said(model, X)
        labels = [self._labels_for(said, options, model.names) for said in of_rows]
        runs = [
            Run(self._setting, model, X, of_rows, labels, self._drawn(seed, options.num_samples), options, n_jobs)
            for seed in (self._seed, *repeats)
        ]
        explanations = [self._explanation(runs, i, options) for i in range(len(X))]
        poor = [score for each in explanations for score in each.scores.values() if score < self.least_score]
        if poor:
            n = sum(len(each.scores) for each in explanations)
            warn(
                f"LimeExplainer: the surrogate does not fit {len(poor)} of {n} explanations: weighted R2 is down to "
                f"{min(poor):.3g}, below least_score={self.least_score:g}. Their coefficients say little; use a smaller "
                "kernel_width, more features, or Shapley values (explain)."
            )
        return explanations

    def _explanation(self, runs: list[Run], i: int, options: Options) -> LimeExplanation:
        first = runs[0]
        x, said = first.X[i], first.of_rows[i]
        known = first.names if self.class_names is None else self.class_names
        names = [str(k) for k in range(len(said))] if known is None else list(known)
        is_regression = self.mode == "regression"
        made = LimeExplanation(
            self.mode,
            ["negative", "positive"] if is_regression else names,
            self._names_for(x),
            predict_proba=None if is_regression else said,
            predicted_value=float(said[0]) if is_regression else None,
            min_value=first.least[i] if is_regression else None,
            max_value=first.most[i] if is_regression else None,
            top_labels=first.labels[i][::-1] if options.top_labels and not is_regression else None,
        )
        for place, label in enumerate(first.labels[i]):
            surrogates = [run.surrogates[i][place] for run in runs]
            _enter(made, REGRESSION_LABEL if is_regression else label, surrogates)
        if is_regression:
            made.local_exp[0] = [(j, -weight) for j, weight in made.local_exp[REGRESSION_LABEL]]
        return made

    def _names_for(self, x: FloatArray) -> list[str]:
        """The features in words, with the category or bin that the row has."""
        names = list(self.feature_names)
        for j in self._categorical:
            code = int(x[j])
            value = self._category_names[j][code] if j in self._category_names else code
            names[j] = f"{names[j]}={value}"
        for j, code in self._sampler.codes_of(x).items():
            names[j] = self._sampler.bins[j].names[code]
        return names

    def _labels_for(self, said: FloatArray, options: Options, names: Any) -> list[int]:
        """The labels of a row to explain, the likeliest last where they are asked for."""
        if self.mode == "regression":
            return [0]
        if options.top_labels:
            likeliest: list[int] = np.argsort(said)[-options.top_labels :].tolist()
            return likeliest
        return [_number(label, len(said), self.class_names or names) for label in options.labels]


def _categories(given: Any, words: Mapping[int, Any], n_columns: int) -> list[int]:
    """The columns of categories: those that are said, and those of words."""
    said = [] if given is None else [int(j) for j in given]
    if any(not 0 <= j < n_columns for j in said):
        raise ValueError(f"LimeExplainer: categorical_features={given!r} is not valid; there are columns 0 to {n_columns - 1}.")
    return [*said, *(j for j in words if j not in said)]


def _number(label: Any, n_classes: int, names: Any) -> int:
    """The number of a class that is numbered or named."""
    if isinstance(label, int | np.integer) and not isinstance(label, bool) and 0 <= label < n_classes:
        return int(label)
    if names is not None and str(label) in list(names):
        return list(names).index(str(label))
    known = f" or one of {', '.join(map(repr, names))}" if names is not None else ""
    raise ValueError(f"LimeExplainer: label {label!r} is not a class; it must be a number from 0 to {n_classes - 1}{known}.")


def _enter(made: LimeExplanation, label: int, surrogates: list[Surrogate]) -> None:
    """Note what the surrogates of one label say: the first is the explanation, the others its repeats."""
    first, *others = surrogates
    numbers: list[int] = first.features.tolist()
    made.local_exp[label] = list(zip(numbers, first.coef.tolist(), strict=True))
    made.intercept[label], made.scores[label], made.local_preds[label] = first.intercept, first.score, first.local_pred
    errors = first.standard_errors
    made.standard_errors[label] = None if errors is None else dict(zip(numbers, errors.tolist(), strict=True))
    if others:
        coefs = [dict(zip(each.features.tolist(), each.coef.tolist(), strict=True)) for each in surrogates]
        made.repeat_spreads[label] = {j: float(np.std([each.get(j, 0.0) for each in coefs], ddof=1)) for j in numbers}
        sets = [set(each) for each in coefs]
        pairs = [(a, b) for place, a in enumerate(sets) for b in sets[:place]]
        made.repeat_overlaps[label] = float(np.mean([len(a & b) / max(len(a | b), 1) for a, b in pairs]))


LimeTabularExplainer = LimeExplainer

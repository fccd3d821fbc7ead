"""`RetrainExplainer`: Shapley values of the game in which the model is fitted again on each coalition of features."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone, is_classifier

from mercer._arrays import FloatArray
from mercer._jobs import run_jobs
from mercer._params import Fittable, Integer, Null, NumberOfJobs, RandomState, Verbosity, check_value
from mercer._random import as_random_state
from mercer._rows import count_rows
from mercer._trace import log
from mercer.inspection._exact import ExactPlan
from mercer.inspection._explainer import Explainer, Plan, column_names
from mercer.inspection._explanation import Explanation
from mercer.inspection._groups import players_of
from mercer.inspection._model import Model, squeezed
from mercer.inspection._permutation import PermutationPlan

_MOST_PLAYERS = 15


class RetrainExplainer(Explainer):
    r"""Shapley values of features by fitting the model on each coalition of them.

    .. math:: \phi_i(x) = \sum_{S \not\ni i} \frac{|S|! (m - |S| - 1)!}{m!} (f_{S \cup \{i\}}(x) - f_S(x)),

    where f_S is the model that was fitted on the columns of S alone; that of no column says the mean of the targets, or the
    shares of the classes. The other explainers ask one fitted model instead: what it uses. This one says what features are
    worth to whoever may fit another.

    Parameters
    ----------
    model : estimator
        What is fitted; it is cloned.
    data : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        The rows to fit on.
    y : array-like of shape (n_samples,)
        Their targets.
    feature_names : list of str, default=None
        The names of the columns where the data have none.
    groups : dict or Grouped, default=None
        Columns that come and go together; each of the others alone.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What of the models is explained: probabilities of classifiers, else decision values, and predictions of regressors.
    class_of_interest : label, default=None
        The class that is explained alone; all of them where nothing is said.
    npermutations : int, default=None
        How many orders of the features are drawn and walked there and back; all coalitions where nothing is said.
    max_fits : int, default=1024
        How many fits may be needed at most; more are refused before the first begins.
    n_jobs : int, default=None
        How many fits run at a time.
    random_state : int, RandomState instance or None, default=None
        What draws orders.
    verbose : int, default=0
        Whether the number of fits is logged before they begin.

    Attributes
    ----------
    expected_value : float or ndarray of shape (n_outputs,)
        What the model without columns says.
    n_fits : int
        How many models were fitted.

    Notes
    -----
    m features take 2^m - 1 fits; all fitted models are kept. Standard errors are given where orders are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import RetrainExplainer
    >>> from mercer.linear_model import LinearRegression
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> explainer = RetrainExplainer(LinearRegression(), X, X @ [2.0, 4.0])
    >>> explainer.n_fits, explainer.shap_values([[1.0, 1.0]]).round(12)
    (3, array([[1., 2.]]))

    References
    ----------
    Štrumbelj, Kononenko and Robnik-Šikonja, "Explaining instance classifications with interactions of subsets of feature
    values", 2009.
    """

    method: ClassVar[str] = "retrained"

    def __init__(
        self,
        model: Any,
        data: Any,
        y: Any,
        *,
        feature_names: Any = None,
        groups: Any = None,
        response_method: str = "auto",
        class_of_interest: Any = None,
        npermutations: int | None = None,
        max_fits: int = 1024,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        owner = "RetrainExplainer"
        self.model = check_value(owner, "model", model, Fittable())
        most = check_value(owner, "max_fits", max_fits, Integer(1))
        n_orders = check_value(owner, "npermutations", npermutations, Null() | Integer(1))
        jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs())
        random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
        verbosity = check_value(owner, "verbose", verbose, Verbosity())
        rows = data if hasattr(data, "shape") else np.asarray(data)
        if len(rows.shape) != 2 or count_rows(y) != rows.shape[0]:
            raise ValueError(
                f"{owner}: data has the shape {tuple(rows.shape)} and y {count_rows(y)} values; data must be a table with a "
                "row for each value of y."
            )
        self._columns = list(rows.columns) if hasattr(rows, "columns") else None
        self._n_columns = rows.shape[1]
        self._names = column_names(owner, feature_names, self._columns, None, self._n_columns)
        self._players = players_of(owner, groups, self._names)
        self._plan = _plan(owner, len(self._players.names), n_orders, most, random)
        fitted_masks = self._plan.masks[self._plan.masks.any(axis=1)]
        self.n_fits = len(fitted_masks)
        if self.n_fits > most:
            raise ValueError(
                f"{owner}: {len(self._players.names)} features take {self.n_fits} fits; max_fits={most} allows fewer. Raise "
                "it, let several columns be one player (groups), or draw orders (npermutations)."
            )
        log(int(verbosity), "%s: %d fits of %s", owner, self.n_fits, type(model).__name__)
        self._coalitions = [np.flatnonzero(mask[self._players.of_column]) for mask in self._plan.masks]
        tasks = [partial(_fitted, model, rows, y, columns) for columns in self._coalitions]
        with run_jobs(tasks, jobs) as results:
            models = list(results)
        self._models = [Model.of(owner, fitted, response_method, class_of_interest) for fitted in models]
        base = self._worth(rows[:1])[0, np.argmin(self._plan.masks.sum(axis=1))]
        self._is_vector = self._models[-1].is_vector
        self.expected_value = base if self._is_vector else float(base[0])

    @classmethod
    def unsuited(cls, model: Any, background: Any) -> str | None:
        return None if hasattr(model, "fit") and not isinstance(model, type) else "it needs an estimator to fit"

    def _worth(self, X: Any) -> FloatArray:
        """What the model of each coalition says, of shape (rows, coalitions, outputs)."""
        parts = [model(taken_columns(X, columns)) for model, columns in zip(self._models, self._coalitions, strict=True)]
        widest = max(part.shape[1] for part in parts)
        if any(part.shape[1] != widest for part in parts):
            raise ValueError("RetrainExplainer: the models of coalitions differ in their outputs; explain 'predict_proba'.")
        return np.stack(parts, axis=1)

    def __call__(self, X: Any) -> Explanation:
        """Explain rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        explanation : Explanation
            Its predictions are those of the model that was fitted on all columns.
        """
        rows = X if hasattr(X, "shape") else np.asarray(X)
        names = list(rows.columns) if hasattr(rows, "columns") else None
        if len(rows.shape) != 2 or rows.shape[1] != self._n_columns or (names or self._columns) != (self._columns or names):
            raise ValueError(
                f"RetrainExplainer: X has the shape {tuple(rows.shape)}; it must have the {self._n_columns} columns of the "
                f"data: {', '.join(map(str, self._names))}."
            )
        worth = self._worth(rows)
        sizes = self._plan.masks.sum(axis=1)
        empty, full = worth[:, np.argmin(sizes)], worth[:, np.argmax(sizes)]
        values, errors = self._plan.solve(worth, empty[0], full)
        return Explanation(
            squeezed(values, is_vector=self._is_vector),
            squeezed(empty, is_vector=self._is_vector),
            self._players.cells(_cells(rows), self._names),
            feature_names=self._players.names,
            output_names=self._models[-1].output_names,
            method=f"{self.method}, {self._plan.words}, {self.n_fits} fits",
            predictions=squeezed(full, is_vector=self._is_vector),
            standard_errors=None if errors is None else squeezed(errors, is_vector=self._is_vector),
            n_evaluations=worth.shape[0] * worth.shape[1],
        )


def _plan(owner: str, m: int, n_orders: int | None, most: int, random: np.random.RandomState) -> Plan:
    if n_orders is not None:
        return PermutationPlan(np.argsort(random.random_sample((n_orders, m)), axis=1))
    if m > _MOST_PLAYERS:
        raise ValueError(
            f"{owner}: {m} features take 2**{m} - 1 fits; max_fits={most} allows fewer. Let several columns be one player "
            "(groups), or draw orders (npermutations)."
        )
    return ExactPlan(m)


def _fitted(model: Any, X: Any, y: Any, columns: npt.NDArray[np.intp]) -> Any:
    """The model that was fitted on some columns; without any, one that says the mean or the shares of the classes."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if len(columns) == 0:
        dummy = DummyClassifier(strategy="prior") if is_classifier(model) else DummyRegressor()
        return dummy.fit(np.zeros((count_rows(y), 1)), y)
    try:
        return clone(model).fit(taken_columns(X, columns), y)
    except ValueError as error:
        names = [X.columns[j] for j in columns] if hasattr(X, "columns") else columns.tolist()
        raise ValueError(
            f"RetrainExplainer: {type(model).__name__} cannot be fitted on the columns {names} alone: {error}"
        ) from error


def taken_columns(X: Any, columns: npt.NDArray[np.intp]) -> Any:
    """Some columns of a table, in its own kind; of none, one that says nothing."""
    if len(columns) == 0:
        return np.zeros((X.shape[0], 1))
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if sp.issparse(X):
        return X.tocsc()[:, columns].tocsr()
    return X[:, columns.tolist()]


def _cells(X: Any) -> npt.NDArray[Any]:
    if sp.issparse(X):
        return np.asarray(X.toarray())
    return np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)

"""`LinearExplainer`: Shapley values of linear models, features taken as independent or as correlated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._parallel import serial_blas
from mercer._params import Integer, OneOf, RandomState, check_value
from mercer._random import as_random_state
from mercer.inspection._background import Background
from mercer.inspection._coalition_rows import NumberTable, number_table
from mercer.inspection._conditional_linear import Transform, transform_of
from mercer.inspection._explainer import Explainer, column_names
from mercer.inspection._explanation import Explanation
from mercer.inspection._groups import players_of
from mercer.inspection._model import Model, squeezed

_N_PROBES = 50
_TOLERANCE = 1e-6


@dataclass
class LinearValues:
    """The linear values of a model: coefficients of shape (n_outputs, n_features), intercepts, and how it maps them.

    `scale` is "log" where the model predicts their exponentials.
    """

    coef: FloatArray
    intercept: FloatArray
    model: Model | None
    is_vector: bool
    scale: str = "identity"

    @classmethod
    def of(cls, owner: str, model: Any, table: NumberTable, class_of_interest: Any) -> LinearValues:
        if isinstance(model, tuple):
            return cls._of_pair(owner, model)
        if not (hasattr(model, "coef_") and hasattr(model, "predict")):
            if hasattr(model, "fit"):
                check_is_fitted(model)
            raise ValueError(f"{owner}: {type(model).__name__} has no coef_; the model must be linear in its features.")
        coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.asarray(model.coef_)
        response = "decision_function" if hasattr(model, "decision_function") else "predict"
        asked = Model.of(owner, model, response, class_of_interest)
        lines = np.atleast_2d(coef.astype(np.float64))
        if asked.column is not None:
            lines = lines[[asked.column]]
        lines = lines * asked.sign
        made = cls(lines, np.zeros(len(lines)), asked, is_vector=len(lines) > 1)
        made._fit_to(owner, table, type(model).__name__)
        return made

    @classmethod
    def _of_pair(cls, owner: str, model: tuple[Any, ...]) -> LinearValues:
        if len(model) != 2:
            raise ValueError(f"{owner}: model is a tuple of {len(model)}; it must be an estimator or a pair (coef, intercept).")
        coef = np.asarray(model[0], dtype=np.float64)
        lines = np.atleast_2d(coef)
        intercept = np.broadcast_to(np.asarray(model[1], dtype=np.float64), len(lines))
        return cls(lines, np.array(intercept), None, is_vector=coef.ndim == 2)

    def _fit_to(self, owner: str, table: NumberTable, name: str) -> None:
        """Have the intercepts be those that the model itself shows, and refuse a model whose values are not linear."""
        probes = self._probes(table)
        if probes.shape[1] != self.coef.shape[1]:
            raise ValueError(f"{owner}: data has {probes.shape[1]} columns; the model has {self.coef.shape[1]} coefficients.")
        given = self.values(table, table.admit(probes))
        linear = probes @ self.coef.T
        for scale in ("identity", "log"):
            if given.shape != linear.shape or (scale == "log" and not (given > 0).all()):
                break
            own = given if scale == "identity" else np.log(given)
            offsets = own - linear
            size = np.abs(own).max() + np.abs(linear).max() + 1
            if np.ptp(offsets, axis=0).max() <= _TOLERANCE * size:
                self.intercept, self.scale = offsets.mean(axis=0), scale
                return
        raise ValueError(f"{owner}: what {name} gives is not linear in its features.")

    def _probes(self, table: NumberTable) -> FloatArray:
        """Rows of the background, and some about it."""
        rows = table.own_rows[:_N_PROBES].astype(np.float64)
        random = np.random.RandomState(0)
        return np.concatenate([rows, rows[:1] + random.standard_normal((4, rows.shape[1]))])

    def values(self, table: NumberTable, rows: Any) -> FloatArray:
        """What the model itself says of admitted rows."""
        assert self.model is not None
        return self.model(table.for_model(rows))

    def measured(self, table: NumberTable, rows: Any) -> FloatArray:
        """The linear values, by the model itself where there is one."""
        if self.model is None:
            return np.asarray(rows @ self.coef.T) + self.intercept
        given = self.values(table, rows)
        return given if self.scale == "identity" else np.log(given)

    def require_log_odds(self, owner: str, table: NumberTable) -> None:
        """Refuse to call the values log-odds where they are not those of the probabilities."""
        estimator = None if self.model is None else self.model.estimator
        if estimator is not None and hasattr(estimator, "predict_proba") and len(self.coef) == 1:
            rows = table.for_model(table.admit(self._probes(table)))
            probability = np.asarray(estimator.predict_proba(rows))
            assert self.model is not None
            values = self.model.sign * self.model(rows)[:, 0]
            if probability.shape[1] == 2 and np.allclose(1 / (1 + np.exp(-values)), probability[:, 1], atol=1e-6):
                return
        raise ValueError(
            f"{owner}: link='logit' is not valid, as the values of the model are no log-odds of its probabilities; it must be "
            "'identity'."
        )


class LinearExplainer(Explainer):
    r"""Shapley values of a model that is linear in its features.

    With independent features, each gave what its value differs from the mean of the background,

    .. math:: \phi_i = w_i (x_i - \operatorname{E} x_i).

    With correlated ones a coalition is worth what the model says of the mean of all features given those of the coalition,

    .. math:: v(S) = w^T \operatorname{E}[x \mid x_S] + b, \qquad
              \operatorname{E}[x \mid x_S] = \mu + \Sigma_{\cdot S} \Sigma_{SS}^{-1} (x_S - \mu_S),

    so that features share what they know of each other.

    Parameters
    ----------
    model : estimator or pair (coef, intercept)
        A fitted linear model of any library: its decision values, or the predictions of a regressor. Where a regressor predicts
        exponentials of linear values (a logarithmic link), these are explained.
    data : {array-like, sparse matrix, data frame, Background} of shape (n_background, n_features) or pair (mean, covariance)
        The background.
    link : {"identity", "logit"}, default="identity"
        "logit" asks that the values be the log-odds of the probabilities of two classes; it is an error where they are not.
    nsamples : int, default=1000
        How many orders of the features are drawn, half of them the others backwards, where features are taken as correlated and
        there are more than 12.
    feature_perturbation : {"interventional", "correlation_dependent"}, default="interventional"
        Whether features are taken as independent or as correlated.
    feature_names : list of str, default=None
        The names of the columns where the background has none.
    groups : dict or Grouped, default=None
        Columns that are one player: their values are added up. For independent features alone.
    class_of_interest : label, default=None
        The class that is explained alone; all of them where nothing is said.
    random_state : int, RandomState instance or None, default=None
        What draws orders.

    Attributes
    ----------
    expected_value : float or ndarray of shape (n_outputs,)
        The value of the mean of the background.
    coef_, intercept_ : ndarray
        Of the linear values that are explained, a line an output.

    Notes
    -----
    That the values of the model are linear is checked on rows of the background. Up to 12 correlated features are exact, over
    all coalitions, where shap samples; above, standard errors come from twenty groups of orders. A column that does not vary in
    the background keeps its own effect, so that values add up for rows in which it differs.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import LinearExplainer
    >>> from mercer.linear_model import Ridge
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    >>> model = Ridge(alpha=1e-9).fit(X, X @ [2.0, -1.0])
    >>> LinearExplainer(model, X).shap_values([[3.0, 1.0]]).round(6)
    array([[4., 0.]])

    References
    ----------
    Lundberg and Lee, "A unified approach to interpreting model predictions", 2017.
    """

    method: ClassVar[str] = "linear"

    def __init__(
        self,
        model: Any,
        data: Any,
        link: str = "identity",
        nsamples: int = 1000,
        feature_perturbation: str = "interventional",
        *,
        feature_names: Any = None,
        groups: Any = None,
        class_of_interest: Any = None,
        random_state: Any = None,
    ) -> None:
        owner = "LinearExplainer"
        self.model = model
        link = check_value(owner, "link", link, OneOf("identity", "logit"))
        n_orders = check_value(owner, "nsamples", nsamples, Integer(2))
        kind = check_value(
            owner, "feature_perturbation", feature_perturbation, OneOf("interventional", "correlation_dependent")
        )
        random = check_value(owner, "random_state", random_state, RandomState())
        moments = data if isinstance(data, tuple) and len(data) == 2 else None
        background = Background.of(np.atleast_2d(np.asarray(data[0], dtype=np.float64)) if moments else data)
        takes_names = hasattr(model, "feature_names_in_")
        self._table = number_table(owner, background.rows, takes_names=takes_names)
        self._linear = LinearValues.of(owner, model, self._table, class_of_interest)
        if self._linear.coef.shape[1] != self._table.n_columns:
            raise ValueError(
                f"{owner}: data has {self._table.n_columns} columns; the model has {self._linear.coef.shape[1]} coefficients."
            )
        if link == "logit":
            self._linear.require_log_odds(owner, self._table)
        self._names = column_names(owner, feature_names, self._table.names, model, self._table.n_columns)
        self._players = players_of(owner, groups, self._names)
        self._mean: FloatArray = background.weights @ self._table.own_rows.astype(np.float64)
        self._transform: Transform | None = None
        if kind == "correlation_dependent":
            if groups is not None:
                raise ValueError(
                    f"{owner}: groups is not valid with feature_perturbation='correlation_dependent', whose values of groups "
                    "are no sums; it must be None, or the features independent."
                )
            covariance = np.asarray(moments[1], dtype=np.float64) if moments else self._covariance(background)
            with serial_blas():
                self._transform = transform_of(owner, covariance, self._linear.coef, n_orders, as_random_state(random))
        self.coef_, self.intercept_ = self._linear.coef, self._linear.intercept
        base = self._linear.coef @ self._mean + self._linear.intercept
        self.expected_value = squeezed(base, is_vector=self._linear.is_vector)
        if not self._linear.is_vector:
            self.expected_value = float(self.expected_value)

    @classmethod
    def unsuited(cls, model: Any, background: Any) -> str | None:
        if background is None:
            return "it needs background rows"
        try:
            cls(model, background)
        except (TypeError, ValueError) as error:
            return str(error)
        return None

    def _covariance(self, background: Background) -> FloatArray:
        rows = self._table.own_rows.astype(np.float64)
        if len(rows) < 2:
            raise ValueError("LinearExplainer: data has one row, which has no covariance; give more, or (mean, covariance).")
        centred = rows - self._mean
        covariance: FloatArray = (centred * background.weights[:, None]).T @ centred
        return covariance

    def __call__(self, X: Any) -> Explanation:
        """Explain rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        explanation : Explanation
            Of the linear values of the model; where orders were drawn, with standard errors.
        """
        admitted = self._table.admit(X)
        rows = self._table.cells(admitted)
        shifted = rows - self._mean
        errors = None
        words = "independent features"
        if self._transform is None:
            values = self._players.sums(shifted[:, :, None] * self._linear.coef.T)
        else:
            values, errors, words = *self._transform.apply(shifted), self._transform.words
        is_vector = self._linear.is_vector
        base = self._linear.coef @ self._mean + self._linear.intercept
        name = " of logarithms" if self._linear.scale == "log" else ""
        return Explanation(
            squeezed(values, is_vector=is_vector),
            squeezed(np.repeat(base[None], len(rows), axis=0), is_vector=is_vector),
            self._players.cells(rows, self._names),
            feature_names=self._players.names,
            output_names=self._output_names(),
            method=f"{self.method}{name}, {words}",
            predictions=squeezed(self._linear.measured(self._table, admitted), is_vector=is_vector),
            standard_errors=None if errors is None else squeezed(errors, is_vector=is_vector),
        )

    def _output_names(self) -> list[str] | None:
        model = self._linear.model
        return list(model.names) if self._linear.is_vector and model is not None and model.names is not None else None

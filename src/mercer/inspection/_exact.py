"""`ExactExplainer`: Shapley values from all coalitions, and those of pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Bool, check_value
from mercer.inspection._background import Background
from mercer.inspection._coalition_rows import MaskArray
from mercer.inspection._explainer import CoalitionExplainer, Plan
from mercer.inspection._explanation import Explanation
from mercer.inspection._model import squeezed

MOST_PLAYERS = 15


def all_masks(m: int) -> MaskArray:
    """Every coalition of m players: line s has the bits of s."""
    return ((np.arange(2**m)[:, None] >> np.arange(m)) & 1).astype(np.uint8)


class ExactPlan(Plan):
    """All coalitions."""

    def __init__(self, m: int, *, is_sampler: bool = False) -> None:
        self.masks = all_masks(m)
        self.words = f"all {len(self.masks)} coalitions"
        self._m, self._is_sampler = m, is_sampler

    def solve(self, values: FloatArray, empty: FloatArray, full: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        n_games, _, n_outputs = values.shape
        lines, found = np.ascontiguousarray(values), np.empty((n_games, self._m, n_outputs))
        kernels.exact_shapley_values(
            lines.reshape(n_games, -1), self._m, n_outputs, found.reshape(n_games, -1), effective_threads(None)
        )
        return found, np.zeros_like(found) if self._is_sampler else None


class ExactExplainer(CoalitionExplainer):
    r"""Shapley values from all coalitions of features: the definition itself.

    .. math:: \phi_i = \sum_{S \not\ni i} \frac{|S|! (m - |S| - 1)!}{m!} (v(S \cup \{i\}) - v(S)), \qquad
              v(S) = \operatorname{E}_b f(x_S, b_{\bar S}),

    over the m features in which a row differs from the background; the others gave nothing.

    Parameters
    ----------
    model : estimator or callable
        A fitted estimator of any library, one of its methods, or a function of rows.
    data : {array-like, sparse matrix, data frame, Background} of shape (n_background, n_features)
        The background, which stands for features that are not known. Frames may have words and categories in their columns:
        pipelines are explained in the columns that they take.
    link : {"identity", "logit"}, default="identity"
        The units of the values: those of the outputs, or log-odds of probabilities (of their means over the background).
    feature_names : list of str, default=None
        The names of the columns where the background has none.
    groups : dict or Grouped, default=None
        Columns that are one player; each of the others is one.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What of an estimator is explained; "auto" means probabilities of classifiers, else decision values, and predictions of
        regressors.
    class_of_interest : label, default=None
        The class that is explained alone; all of them where nothing is said.

    Attributes
    ----------
    expected_value : float or ndarray of shape (n_outputs,)
        What the model says on average over the background.

    Notes
    -----
    A row takes 2^m coalitions times the rows of the background, at most 15 features (or groups). Coalitions are evaluated in
    batches of bounded memory, and those of all rows that differ in the same features are solved at once. A feature that adds
    nothing to any coalition gets exactly 0. Unlike in shap, all rows of the background count, and the logarithm of the odds is
    taken of the mean itself, as `KernelExplainer` takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import ExactExplainer
    >>> explainer = ExactExplainer(lambda X: X[:, 0] * X[:, 1], np.zeros((1, 3)))
    >>> explainer.shap_values(np.array([[2.0, 3.0, 5.0]]))
    array([[3., 3., 0.]])

    References
    ----------
    Shapley, "A value for n-person games", 1953.
    """

    method: ClassVar[str] = "exact"

    @classmethod
    def unsuited(cls, model: Any, background: Any) -> str | None:
        reason = super().unsuited(model, background)
        if reason is not None:
            return reason
        n_features = Background.of(background).rows.shape[-1]
        return f"{n_features} features are too many; it takes {MOST_PLAYERS} at most" if n_features > MOST_PLAYERS else None

    def __call__(self, X: Any, interactions: bool = False) -> Explanation:
        """Explain rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
            The rows.
        interactions : bool, default=False
            Whether the interaction values of pairs are found too.

        Returns
        -------
        explanation : Explanation
            With all features, or groups of them, as its features.
        """
        if not check_value("ExactExplainer", "interactions", interactions, Bool()):
            return self._explained(X, self._plan)
        return self._with_interactions(X)

    def _plan(self, m: int) -> Plan:
        if m > MOST_PLAYERS:
            raise ValueError(
                f"ExactExplainer: a row differs from the background in {m} features, which have 2**{m} coalitions; it takes "
                f"{MOST_PLAYERS} at most. Use PermutationExplainer, or let several columns be one player (groups)."
            )
        return ExactPlan(m)

    def _with_interactions(self, X: Any) -> Explanation:
        parts: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], FloatArray]] = []

        def pairs(worth: FloatArray, found: FloatArray, rows: npt.NDArray[np.intp], among: npt.NDArray[np.intp]) -> None:
            parts.append((rows, among, interaction_values(worth, found)))

        explanation = self._explained(X, self._plan, interactions=pairs)
        values = explanation.values if self._model.is_vector else explanation.values[..., None]
        n_rows, n_players, n_outputs = values.shape
        matrix = np.zeros((n_rows, n_players, n_players, n_outputs))
        matrix[:, np.arange(n_players), np.arange(n_players)] = values
        for rows, among, found in parts:
            matrix[np.ix_(rows, among, among)] = found
        return replace(explanation, interactions=squeezed(matrix, is_vector=self._model.is_vector))


def interaction_values(values: FloatArray, shapley: FloatArray) -> FloatArray:
    """Of shape (games, players, players, outputs), from the values of all coalitions; lines add up to the Shapley values."""
    n_games, m, n_outputs = shapley.shape
    matrix = np.zeros((n_games, m, m, n_outputs))
    lines = np.ascontiguousarray(values).reshape(n_games, -1)
    kernels.exact_shapley_interactions(lines, m, n_outputs, matrix.reshape(n_games, -1), effective_threads(None))
    matrix[:, np.arange(m), np.arange(m)] = shapley - matrix.sum(axis=2)
    return matrix

"""Explainers of Shapley values: what all share, and those that ask a model for coalitions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._params import OneOf, check_value
from mercer.inspection._background import Background
from mercer.inspection._coalition_rows import MaskArray, table_of
from mercer.inspection._explanation import Explanation
from mercer.inspection._groups import players_of
from mercer.inspection._model import Model, squeezed
from mercer.inspection._model_game import Link, ModelGame

# Values of coalitions that are held at a time.
_MOST_VALUES = 2**22


class Explainer(ABC):
    """A fitted model, ready to be explained: `explainer(X)` gives an `Explanation`."""

    method: ClassVar[str] = ""
    expected_value: Any

    @classmethod
    @abstractmethod
    def unsuited(cls, model: Any, background: Any) -> str | None:
        """None where this explainer can explain the model over the background, otherwise the reason in words."""

    @abstractmethod
    def __call__(self, X: Any, *args: Any, **options: Any) -> Explanation:
        """Explain rows."""

    def shap_values(self, X: Any, **options: Any) -> FloatArray:
        """The values alone, of shape (n_rows, n_features[, n_outputs]); of one row given as a vector, without its axis.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features) or array-like of shape (n_features,)
            The rows to be explained.
        **options
            As for a call of the explainer.

        Returns
        -------
        values : ndarray
            What each feature gave.
        """
        row = None if hasattr(X, "columns") or hasattr(X, "tocsr") else np.asarray(X)
        if row is not None and row.ndim == 1:
            only: FloatArray = self(row[None], **options).values[0]
            return only
        return self(X, **options).values


class Plan(ABC):
    """Which coalitions of m players are looked at, and what follows from their values; the same for all rows."""

    masks: MaskArray
    words: str = ""

    @abstractmethod
    def solve(self, values: FloatArray, empty: FloatArray, full: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Shapley values of shape (games, players, outputs), and their standard errors where they are sampled.

        `values` has the shape (games, coalitions, outputs), `empty` (outputs,), `full` (games, outputs).
        """


class CoalitionExplainer(Explainer):
    """An explainer that asks a model what coalitions of features are worth; subclasses say which, and what follows."""

    def __init__(
        self,
        model: Any,
        data: Any,
        link: str = "identity",
        feature_names: Any = None,
        *,
        groups: Any = None,
        response_method: str = "auto",
        class_of_interest: Any = None,
    ) -> None:
        owner = type(self).__name__
        self.model = model
        self._link: Link = check_value(owner, "link", link, OneOf("identity", "logit"))
        self._model = Model.of(owner, model, response_method, class_of_interest)
        self._background = Background.of(data)
        self._table = table_of(owner, self._background.rows, takes_names=self._model.takes_names)
        self._names = column_names(owner, feature_names, self._table.names, model, self._table.n_columns)
        self._players = players_of(owner, groups, self._names)
        game = self._game(self._table.own_rows[:0])
        self.expected_value = squeezed(game.empty, is_vector=self._model.is_vector)
        if not self._model.is_vector:
            self.expected_value = float(self.expected_value)

    @classmethod
    def unsuited(cls, model: Any, background: Any) -> str | None:
        if background is None:
            return "it needs background rows"
        try:
            Model.of(cls.__name__, model)
        except (TypeError, ValueError) as error:
            return str(error)
        return None

    def _game(self, X: Any) -> ModelGame:
        return ModelGame(self._model, self._table, self._background.weights, self._players, self._link, X)

    def _explained(self, X: Any, plan_of: Callable[[int], Plan], *, interactions: Any = None) -> Explanation:
        """Rows that vary from the background in the same players have the same coalitions."""
        admitted = self._table.admit(X)
        game = self._game(admitted)
        n_rows, n_players = game.varies.shape
        values = np.zeros((n_rows, n_players, game.n_outputs))
        errors: FloatArray | None = None
        plans: dict[int, Plan] = {}
        for rows, among in _patterns(game.varies):
            m = len(among)
            if m == 1:
                values[rows, among[0]] = game.full[rows] - game.empty
            if m <= 1:
                continue
            if m not in plans:
                plans[m] = plan_of(m)
            plan = plans[m]
            for block in _blocks(rows, len(plan.masks) * game.n_outputs):
                worth = game.values(block, plan.masks, among)
                found, spread = plan.solve(worth, game.empty, game.full[block])
                values[np.ix_(block, among)] = found
                if spread is not None:
                    errors = np.zeros_like(values) if errors is None else errors
                    errors[np.ix_(block, among)] = spread
                if interactions is not None:
                    interactions(worth, found, block, among)
        is_vector = self._model.is_vector
        return Explanation(
            squeezed(values, is_vector=is_vector),
            squeezed(np.repeat(game.empty[None], n_rows, axis=0), is_vector=is_vector),
            self._players.cells(self._table.cells(admitted), self._names),
            feature_names=self._players.names,
            output_names=self._model.output_names,
            method=f"{self.method}, {max(plans.values(), key=lambda plan: len(plan.masks)).words}" if plans else self.method,
            predictions=squeezed(game.full, is_vector=is_vector),
            standard_errors=None if errors is None else squeezed(errors, is_vector=is_vector),
            n_evaluations=game.n_evaluations,
        )


def column_names(owner: str, given: Any, of_table: list[Any] | None, model: Any, n_columns: int) -> list[Any]:
    """Names of columns: those that are given, of the background, of the model, or x0, x1, ..."""
    if given is None:
        given = of_table
    if given is None:
        estimator = model if hasattr(model, "fit") else getattr(model, "__self__", None)
        known = getattr(estimator, "feature_names_in_", None)
        given = known if known is not None and len(known) == n_columns else [f"x{j}" for j in range(n_columns)]
    names = [str(name) for name in given] if of_table is None else list(given)
    if len(names) != n_columns:
        raise ValueError(f"{owner}: feature_names has {len(names)} names; there must be one for each of {n_columns} columns.")
    return names


def _patterns(varies: npt.NDArray[np.bool_]) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """The rows that vary in the same players, and these players."""
    if len(varies) == 0:
        return
    patterns, pattern_of = np.unique(varies, axis=0, return_inverse=True)
    pattern_of = pattern_of.reshape(-1)
    for number, pattern in enumerate(patterns):
        yield np.flatnonzero(pattern_of == number), np.flatnonzero(pattern)


def _blocks(rows: npt.NDArray[np.intp], n_values: int) -> Iterator[npt.NDArray[np.intp]]:
    """Runs of rows whose coalitions have no more values than may be held."""
    step = max(1, _MOST_VALUES // max(n_values, 1))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]

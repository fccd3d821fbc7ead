"""`PermutationExplainer`: Shapley values as means over orders of the features, with standard errors."""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._params import Integer, OneOf, RandomState, check_value
from mercer._random import as_random_state
from mercer.inspection._coalition_rows import MaskArray
from mercer.inspection._exact import MOST_PLAYERS, ExactPlan
from mercer.inspection._explainer import CoalitionExplainer, Plan
from mercer.inspection._explanation import Explanation


class PermutationPlan(Plan):
    """The coalitions that orders of the players meet on their way, each order forwards and backwards."""

    def __init__(self, orders: npt.NDArray[np.intp], *, is_complete: bool = False) -> None:
        n_orders, m = orders.shape
        self._place_of, self.n_orders, self.is_complete = np.argsort(orders, axis=1), n_orders, is_complete
        before = np.arange(m + 1)[None, :, None] > self._place_of[:, None, :]  # order, step, player
        walks: MaskArray = np.concatenate([before, ~before]).astype(np.uint8)
        self.masks, number_of = distinct_masks(walks.reshape(-1, m))
        self._forwards, self._complements = number_of.reshape(2, n_orders, m + 1)
        self.words = f"{'all ' if is_complete else ''}{n_orders} orders there and back"

    def solve(self, values: FloatArray, empty: FloatArray, full: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        there = np.diff(values[:, self._forwards], axis=2)
        back = -np.diff(values[:, self._complements], axis=2)
        gains = np.take_along_axis((there + back) / 2, self._place_of[None, :, :, None], axis=2)
        n_orders = gains.shape[1]
        found: FloatArray = gains.mean(axis=1)
        if self.is_complete:
            return found, np.zeros_like(found)
        if n_orders == 1:
            return found, np.full_like(found, np.nan)
        return found, gains.std(axis=1, ddof=1) / np.sqrt(n_orders)


def distinct_masks(masks: MaskArray) -> tuple[MaskArray, npt.NDArray[np.intp]]:
    """The distinct lines, and which of them each line is."""
    packed = np.packbits(masks, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    _, first, number_of = np.unique(keys, return_index=True, return_inverse=True)
    return np.ascontiguousarray(masks[first]), number_of.reshape(-1)


def permutation_plan(m: int, max_evals: int, random: np.random.RandomState) -> Plan:
    """All coalitions where there are no more than may be asked for, else as many orders as that allows."""
    if m <= MOST_PLAYERS and 2**m - 2 <= max_evals:
        return ExactPlan(m, is_sampler=True)
    n_orders = max_evals // (2 * m + 1)
    return PermutationPlan(np.argsort(random.random_sample((n_orders, m)), axis=1))


def all_orders(m: int) -> PermutationPlan:
    """Every order once, there or back."""
    orders = [order for order in permutations(range(m)) if order <= order[::-1]]
    assert len(orders) == max(1, factorial(m) // 2)
    return PermutationPlan(np.array(orders), is_complete=True)


class PermutationExplainer(CoalitionExplainer):
    r"""Shapley values by sampling: what a feature adds when it comes, on average over orders of all features.

    .. math:: \phi_i = \operatorname{E}_\pi [v(\pi_{<i} \cup \{i\}) - v(\pi_{<i})]

    Every order is walked there and back (antithetic), so that the values add up to the prediction whatever was drawn and are
    exact where no more than two features act together.

    Parameters
    ----------
    model, data, link, feature_names, groups, response_method, class_of_interest
        As for `ExactExplainer`.
    random_state : int, RandomState instance or None, default=None
        What draws the orders, which all rows of a call share.

    Attributes
    ----------
    expected_value : float or ndarray of shape (n_outputs,)
        What the model says on average over the background.

    Notes
    -----
    A row takes `max_evals` coalitions at most times the rows of the background. Where there are no more coalitions than that,
    all are looked at: the values are exact and their standard errors zero. Otherwise standard errors come from the spread of
    the values over the orders. A coalition that several orders meet is evaluated once. Unlike in shap, all rows of the
    background count.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import PermutationExplainer
    >>> explainer = PermutationExplainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2], np.zeros((1, 12)), random_state=0)
    >>> explainer.shap_values(np.arange(12.0)[None] + 1).round(12)[0, :4]
    array([1., 1., 3., 0.])

    References
    ----------
    Štrumbelj and Kononenko, "Explaining prediction models and individual predictions with feature contributions", 2014.
    """

    method: ClassVar[str] = "permutation"

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
        random_state: Any = None,
    ) -> None:
        super().__init__(
            model,
            data,
            link,
            feature_names,
            groups=groups,
            response_method=response_method,
            class_of_interest=class_of_interest,
        )
        self._random_state = check_value("PermutationExplainer", "random_state", random_state, RandomState())

    def __call__(self, X: Any, max_evals: int | str = 500) -> Explanation:
        """Explain rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
            The rows.
        max_evals : int or "auto", default=500
            How many coalitions a row may take, at least 2 m + 1; "auto" means 20 m, ten orders there and back.

        Returns
        -------
        explanation : Explanation
            With standard errors.
        """
        checked = check_value("PermutationExplainer", "max_evals", max_evals, Integer(1) | OneOf("auto"))
        random = as_random_state(self._random_state)

        def plan(m: int) -> Plan:
            n_evals = 10 * (2 * m + 1) if checked == "auto" else checked
            if n_evals < min(2 * m + 1, 2**m - 2):
                raise ValueError(
                    f"PermutationExplainer: max_evals={n_evals} is too few for {m} features that vary; one order there and "
                    f"back takes {2 * m + 1}."
                )
            return permutation_plan(m, n_evals, random)

        return self._explained(X, plan)

    def shap_values(self, X: Any, npermutations: int | None = None, **options: Any) -> FloatArray:
        """The values alone, as for every explainer; `npermutations` may say how many orders are walked there and back."""
        if npermutations is not None:
            n_orders = check_value("PermutationExplainer", "npermutations", npermutations, Integer(1))
            options["max_evals"] = n_orders * (2 * len(self._players.names) + 1)
        return super().shap_values(X, **options)

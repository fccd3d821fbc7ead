"""`KernelExplainer`: Shapley values as a weighted linear regression on coalitions."""

from __future__ import annotations

import re
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._parallel import serial_blas
from mercer._params import _REFUSED, Bool, Integer, OneOf, RandomState, Real, Rule, check_value
from mercer._random import as_random_state
from mercer._trace import warn
from mercer.inspection._coalition_rows import MaskArray
from mercer.inspection._explainer import CoalitionExplainer, Plan
from mercer.inspection._explanation import Explanation
from mercer.inspection._permutation import distinct_masks
from mercer.inspection._sparse_kernel import chosen_players


class _TopFeatures(Rule):
    """The words of shap for a number of features."""

    def accept(self, value: Any) -> Any:
        match = re.fullmatch(r"num_features\((\d+)\)", value) if isinstance(value, str) else None
        return value if match and int(match[1]) >= 1 else _REFUSED

    def describe(self) -> str:
        return "'num_features(k)'"


_CELLS = 2**22  # of coalitions that are drawn at a time

L1_RULE = Bool() | Real(least=0) | OneOf("auto", "aic", "bic") | _TopFeatures()


class KernelPlan(Plan):
    """Coalitions in pairs of complements: all of the sizes that can be had whole, from the outside in, and others drawn.

    A size s has the mass (m - 1) / (s (m - s)) of the Shapley kernel, shared evenly by its coalitions.
    """

    def __init__(self, m: int, n_samples: int, l1_reg: Any, random: np.random.RandomState) -> None:
        sizes = np.arange(1, m // 2 + 1)
        mass = (m - 1) / (sizes * (m - sizes)) * np.where(2 * sizes == m, 1.0, 2.0)
        mass /= mass.sum()
        whole, left = _whole_sizes(m, n_samples, mass)
        halves = [_subsets(m, int(size)) for size in sizes[:whole]]
        weights = [np.full(len(half), share / len(half)) for half, share in zip(halves, mass[:whole], strict=True)]
        self._n_whole = sum(map(len, halves))
        self._n_draws = 0
        self._counts = np.empty(0)
        if whole < len(sizes):
            drawn, counts = _drawn_subsets(m, sizes[whole:], mass[whole:], max(1, left // 2), random)
            halves.append(drawn)
            weights.append(mass[whole:].sum() * counts / counts.sum())
            self._counts, self._n_draws = counts, int(counts.sum())
        half = np.concatenate(halves)
        self.masks = np.stack([half, 1 - half], axis=1).reshape(-1, m)
        self._weights = np.repeat(np.concatenate(weights) / 2, 2)
        self._l1_reg = l1_reg
        is_complete = whole == len(sizes)
        self._share = len(self.masks) / (2**m - 2) if m < 60 else 0.0
        self.words = f"{'all' if is_complete else 'regression on'} {len(self.masks)} coalitions"
        self._projections: dict[bytes, FloatArray] = {}

    def solve(self, values: FloatArray, empty: FloatArray, full: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        n_games, n_coalitions, n_outputs = values.shape
        worth = (values - empty).transpose(1, 0, 2).reshape(n_coalitions, -1)
        total = (full - empty).reshape(-1)
        with serial_blas():
            if self._keeps_all():
                found, residuals = self._regression(worth, total, np.arange(self.masks.shape[1]))
                errors: FloatArray | None = self._standard_errors(residuals)
            else:
                found, errors = self._of_chosen(worth, total), None
        shape = (-1, n_games, n_outputs)
        turned = found.reshape(shape).transpose(1, 0, 2)
        return turned, None if errors is None else errors.reshape(shape).transpose(1, 0, 2)

    def _keeps_all(self) -> bool:
        if self._l1_reg == "auto":
            return self._share >= 0.2
        return self._l1_reg is False or self._l1_reg == 0

    def _of_chosen(self, worth: FloatArray, total: FloatArray) -> FloatArray:
        """Each game on the players that the lasso chooses for it; the others get nothing."""
        found = np.zeros((self.masks.shape[1], len(total)))
        rule = "aic" if self._l1_reg == "auto" else self._l1_reg
        for game, chosen in enumerate(chosen_players(self.masks, self._weights, worth, total, rule)):
            if len(chosen):
                one = slice(game, game + 1)
                found[chosen, one], _ = self._regression(worth[:, one], total[one], chosen)
        return found

    def _regression(self, worth: FloatArray, total: FloatArray, players: npt.NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """Least squares under the condition that the values add up to the total, which the last player takes out."""
        masks = self.masks[:, players].astype(np.float64)
        last, others = masks[:, -1:], masks[:, :-1] - masks[:, -1:]
        rest = worth - last * total
        first = self._projection(players, others) @ rest
        return np.vstack([first, total - first.sum(axis=0)]), rest - others @ first

    def _projection(self, players: npt.NDArray[np.intp], design: FloatArray) -> FloatArray:
        """(E' W E)^-1 E' W: the same for all games."""
        key = players.tobytes()
        if key not in self._projections:
            if len(self._projections) >= 64:  # of sets that the lasso chooses
                self._projections.clear()
            weighted = (design * self._weights[:, None]).T
            gram = weighted @ design
            if len(gram) and np.linalg.matrix_rank(gram, hermitian=True) < len(gram):
                warn(
                    f"KernelExplainer: {len(self.masks)} coalitions do not determine the values of {len(players)} features; "
                    "those of least norm are given. Raise nsamples, or group features."
                )
                self._projections[key] = np.linalg.pinv(gram, hermitian=True) @ weighted
            else:
                self._projections[key] = np.linalg.solve(gram, weighted) if len(gram) else weighted
        return self._projections[key]

    def _standard_errors(self, residuals: FloatArray) -> FloatArray:
        """By the spread of what the drawn pairs add to the solution; coalitions of whole sizes have none."""
        m = self.masks.shape[1]
        if self._n_draws == 0:
            return np.zeros((m, residuals.shape[1]))
        if self._n_draws == 1:
            return np.full((m, residuals.shape[1]), np.nan)
        free = self._projections[np.arange(m).tobytes()]
        projection = np.vstack([free, -free.sum(axis=0)])[:, 2 * self._n_whole :]
        drawn = residuals[2 * self._n_whole :]
        here, there = projection[:, ::2] / self._counts, projection[:, 1::2] / self._counts  # of one draw
        own, other, n = drawn[::2], drawn[1::2], self._n_draws
        count = self._counts
        squares = (here**2 * count) @ own**2 + 2 * (here * there * count) @ (own * other) + (there**2 * count) @ other**2
        mean = ((here * count) @ own + (there * count) @ other) / n
        errors: FloatArray = np.sqrt(np.maximum(squares - n * mean**2, 0.0) * n / (n - 1))
        return errors


def _whole_sizes(m: int, n_samples: int, mass: FloatArray) -> tuple[int, int]:
    """Of how many sizes, from the outside in, all coalitions are had, and how many samples are left then."""
    if m < 60 and n_samples >= 2**m - 2:
        return len(mass), 0
    left, mass_left = n_samples, 1.0
    for place, share in enumerate(mass):
        size = place + 1
        n_subsets = comb(m, size) * (1 if 2 * size == m else 2)
        if left * share / mass_left < n_subsets * (1 - 1e-8):
            return place, left
        left, mass_left = left - n_subsets, max(mass_left - share, 1e-300)
    return len(mass), left


def _subsets(m: int, size: int) -> MaskArray:
    """One of each pair of complements, of this size."""
    chosen = np.array(list(combinations(range(m), size)))
    if 2 * size == m:
        chosen = chosen[: len(chosen) // 2]  # those with player 0; the others are their complements
    masks = np.zeros((len(chosen), m), dtype=np.uint8)
    np.put_along_axis(masks, chosen, 1, axis=1)
    return masks


def _drawn_subsets(
    m: int, sizes: npt.NDArray[np.intp], mass: FloatArray, n_wanted: int, random: np.random.RandomState
) -> tuple[MaskArray, FloatArray]:
    """One of each pair of complements, and how often it was drawn: until so many are distinct, or four times as many drawn."""
    drawn_sizes = random.choice(sizes, 4 * n_wanted, p=mass / mass.sum())
    kept, counts = np.empty((0, m), dtype=np.uint8), np.empty(0)
    step = max(1, _CELLS // m)
    for start in range(0, len(drawn_sizes), step):
        masks = _subsets_of_sizes(m, drawn_sizes[start : start + step], random)
        kept, counts, is_enough = _counted(kept, counts, masks, n_wanted)
        if is_enough:
            break
    return kept, counts


def _subsets_of_sizes(m: int, sizes: npt.NDArray[np.intp], random: np.random.RandomState) -> MaskArray:
    """A coalition of each size; of half the players, that of two complements which has player 0."""
    places = np.argsort(np.argsort(random.random_sample((len(sizes), m)), axis=1), axis=1)
    masks = (places < sizes[:, None]).astype(np.uint8)
    is_twin = (2 * sizes == m) & (masks[:, 0] == 0)
    masks[is_twin] = 1 - masks[is_twin]
    return masks


def _counted(kept: MaskArray, counts: FloatArray, masks: MaskArray, n_wanted: int) -> tuple[MaskArray, FloatArray, bool]:
    """Distinct coalitions in the order in which they came, how often each did, and whether there was one too many."""
    rows = np.concatenate([kept, masks])
    weights = np.concatenate([counts, np.ones(len(masks))])
    distinct, number_of = distinct_masks(rows)
    first = np.full(len(distinct), len(rows))
    np.minimum.at(first, number_of, np.arange(len(rows)))
    order = np.argsort(first)
    is_enough = len(order) > n_wanted
    until = int(first[order[n_wanted]]) if is_enough else len(rows)
    totals = np.bincount(number_of[:until], weights=weights[:until], minlength=len(distinct))
    chosen = order[:n_wanted]
    return distinct[chosen], totals[chosen], is_enough


class KernelExplainer(CoalitionExplainer):
    r"""Shapley values as the coefficients of a weighted linear regression on coalitions.

    .. math:: \min_\phi \sum_S \frac{m - 1}{\binom{m}{|S|} |S| (m - |S|)} \Big( v(S) - v(\emptyset) - \sum_{i \in S} \phi_i
              \Big)^2 \quad \text{with} \quad \sum_i \phi_i = v(\text{all}) - v(\emptyset)

    Parameters
    ----------
    model, data, link, feature_names, groups, response_method, class_of_interest
        As for `ExactExplainer`.
    random_state : int, RandomState instance or None, default=None
        What draws coalitions, which all rows of a call share.

    Attributes
    ----------
    expected_value : float or ndarray of shape (n_outputs,)
        What the model says on average over the background.

    Notes
    -----
    Coalitions of the smallest and largest sizes, which weigh most, are all looked at as far as `nsamples` reaches; of the other
    sizes pairs of complements are drawn. The same coalitions serve all rows that differ from the background in the same
    features, so that the regression is one projection, made once. With all coalitions the values are exact. Standard errors
    come from the spread of what drawn pairs add.

    Unlike in shap, all features are kept where nothing is said (`l1_reg=False`): the values of a row with more than ten
    features are no Shapley values if all but ten are set to zero.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import KernelExplainer
    >>> explainer = KernelExplainer(lambda X: X[:, 0] * X[:, 1], np.zeros((1, 3)))
    >>> explainer.shap_values(np.array([[2.0, 3.0, 5.0]])).round(12) + 0.0
    array([[3., 3., 0.]])

    References
    ----------
    Lundberg and Lee, "A unified approach to interpreting model predictions", 2017.
    """

    method: ClassVar[str] = "kernel"

    def __init__(
        self,
        model: Any,
        data: Any,
        feature_names: Any = None,
        link: str = "identity",
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
        self._random_state = check_value("KernelExplainer", "random_state", random_state, RandomState())

    def __call__(self, X: Any, nsamples: int | str = "auto", l1_reg: Any = False) -> Explanation:
        """Explain rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
            The rows.
        nsamples : int or "auto", default="auto"
            How many coalitions a row takes; "auto" means 2 m + 2048. All of them where there are no more.
        l1_reg : bool, float, "num_features(k)", "aic", "bic" or "auto", default=False
            Which features have a value at all, chosen by a lasso path: the k leading ones, those of the best criterion, or
            those with a coefficient at this penalty; "auto" means "aic" where less than a fifth of the coalitions are looked
            at. Values have no standard errors then.

        Returns
        -------
        explanation : Explanation
            With standard errors where all features are kept.
        """
        n_samples = check_value("KernelExplainer", "nsamples", nsamples, Integer(2) | OneOf("auto"))
        rule = check_value("KernelExplainer", "l1_reg", l1_reg, L1_RULE)
        if rule is True:
            rule = "auto"
        random = as_random_state(self._random_state)

        def plan(m: int) -> Plan:
            return KernelPlan(m, 2 * m + 2048 if n_samples == "auto" else n_samples, rule, random)

        return self._explained(X, plan)

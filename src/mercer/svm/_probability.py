"""Probabilities of classes from the values of pairwise machines: Platt's sigmoid of each pair, coupled over all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from mercer._arrays import FloatArray
from mercer._random import as_random_state
from mercer._saved import saved
from mercer._score_maps import fit_sigmoid
from mercer.svm._machines import Machines

N_FOLDS = 5
LEAST = 1e-7  # of the probability of a pair, as in LIBSVM


@saved("mercer.svm.PairwiseProbability")
@dataclass(frozen=True, eq=False)
class PairwiseProbability:
    """p = 1 / (1 + exp(a value + b)) of each pair of classes, for the class that its values are positive for."""

    a: FloatArray
    b: FloatArray

    def probabilities(self, values: FloatArray, chosen: npt.NDArray[np.intp]) -> FloatArray:
        """One column a class. `chosen` is the class that is predicted, and no other is made more probable."""
        pairs = np.clip(expit(-(values.astype(np.float64) * self.a + self.b)), LEAST, 1 - LEAST)
        if pairs.shape[1] == 1:
            found = np.column_stack([1 - pairs[:, 0], pairs[:, 0]])
        else:
            found = coupled(pairs)
        lines = np.arange(len(found))
        largest = found.max(axis=1)
        is_behind = (found[lines, chosen] < largest) | (found.argmax(axis=1) != chosen)
        found[lines[is_behind], chosen[is_behind]] = np.nextafter(largest[is_behind], 2.0) * (1 + 1e-12)
        return found / found.sum(axis=1, keepdims=True)


def coupled(pairs: FloatArray) -> FloatArray:
    """The probabilities p that minimise sum_i sum_{j != i} (r_ji p_i - r_ij p_j)^2 (Wu, Lin and Weng, 2004).

    `pairs` holds r_ij for i < j, a column each. The minimum is a linear system of as many equations as there are classes.
    """
    n_rows, n_pairs = pairs.shape
    n = round((1 + np.sqrt(1 + 8 * n_pairs)) / 2)
    first, second = np.triu_indices(n, 1)
    r = np.zeros((n_rows, n, n))
    r[:, first, second] = pairs
    r[:, second, first] = 1 - pairs
    system = np.zeros((n_rows, n + 1, n + 1))
    system[:, :n, :n] = -r * r.transpose(0, 2, 1)
    places = np.arange(n)
    system[:, places, places] = (r**2).sum(axis=1)
    system[:, n, :n] = system[:, :n, n] = 1.0
    right = np.zeros((n_rows, n + 1, 1))
    right[:, n] = 1.0
    found: FloatArray = np.maximum(np.linalg.solve(system, right)[:, :n, 0], 0.0)
    return found / found.sum(axis=1, keepdims=True)


def fit_probability(machine: Any, sample: Any, params: Any) -> PairwiseProbability:
    """A sigmoid for each pair of classes, by values of rows that the machine of a fold has not seen."""
    generator = as_random_state(params.random_state)
    n_classes = len(sample.classes)
    found = []
    for first in range(n_classes):
        for second in range(first + 1, n_classes):
            positive = second if n_classes == 2 else first
            rows = np.flatnonzero((sample.codes == first) | (sample.codes == second))
            is_positive = sample.codes[rows] == positive
            values = _unseen_values(machine, sample, params, rows, is_positive, generator)
            found.append(fit_sigmoid(values, is_positive, sample.weights[rows]))
    return PairwiseProbability(np.array([each.a_ for each in found]), np.array([each.b_ for each in found]))


def _unseen_values(
    machine: Any,
    sample: Any,
    params: Any,
    rows: npt.NDArray[np.intp],
    is_positive: npt.NDArray[np.bool_],
    generator: np.random.RandomState,
) -> FloatArray:
    """The values of all rows of a pair, each by a machine of the other folds."""
    values = np.empty(len(rows))
    order = generator.permutation(len(rows))
    for fold in range(N_FOLDS):
        test = order[fold::N_FOLDS]
        train = np.sort(np.setdiff1d(order, test))
        has = [bool(is_positive[train].any()), bool((~is_positive[train]).any())]
        if not all(has):  # as in LIBSVM: what is left says which class it is, or nothing
            values[test] = 1.0 if has[0] else -1.0 if has[1] else 0.0
            continue
        # All rows of the pair have a value, of which those that the fold leaves out are no variables of its problem.
        signs = np.where(is_positive[train], 1.0, -1.0)
        part = machine._problem(np.arange(len(train), dtype=np.int32), signs, sample.costs[rows[train]], params)
        inside = part.over(rows.astype(np.int32), train.astype(np.int32))
        solver = Machines(sample.matrix, sample.rough, [inside], params, sample.n_threads)
        while not solver.is_done:
            solver.step()
        scale, intercept = machine._scale(inside)
        values[test] = inside.values[test] / scale + intercept
    return values

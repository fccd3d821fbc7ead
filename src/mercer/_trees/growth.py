"""From parameters and data to grown trees: what single trees, forests and boosting have in common."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._params import ArrayLike, Instance, Integer, InvalidParameterError, Null, OneOf, Real, Rule
from mercer._trees.by_function import FunctionGrower, Impurity, Limits
from mercer._trees.rows import Rows, dense, kernel_rows
from mercer._trees.store import TreeStore

CLASSIFICATION = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy", "misclassification": "misclassification"}
REGRESSION = {
    "squared_error": "squared_error",
    "friedman_mse": "squared_error",  # the same splits: Friedman's improvement is the fall of the squared error
    "absolute_error": "absolute_error",
    "poisson": "poisson",
}


class Share(Real):
    """A share of a whole, as a float: an integer there would be a number of rows or features."""

    def accept(self, value: Any) -> Any:
        return super().accept(None if isinstance(value, Integral) else value)


GROWTH_RULES: dict[str, Rule] = {
    "max_depth": Null() | Integer(1),
    "min_samples_split": Integer(2) | Share(above=0, most=1),
    "min_samples_leaf": Integer(1) | Share(above=0, below=1),
    "min_weight_fraction_leaf": Real(least=0, most=0.5),
    "max_features": Null() | Integer(1) | Share(above=0, most=1) | OneOf("sqrt", "log2"),
    "max_leaf_nodes": Null() | Integer(2),
    "min_impurity_decrease": Real(least=0),
    "ccp_alpha": Real(least=0),
}
MONOTONE_RULE: Rule = Null() | Instance(dict) | ArrayLike()
_UNLIMITED = 2**62
MANY_TREES = 2**16  # where their number is not known beforehand


@dataclass(frozen=True)
class Targets:
    """What is to be learnt: the codes of classes (int32) or numbers (float64), of shape (n_rows, n_outputs)."""

    values: npt.NDArray[Any]
    n_classes: int = 0  # the largest number that an output has; 0 in regression

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def is_one_number(self) -> bool:
        """Whether a row's target is one number: two classes or one regression target."""
        return self.values.shape[1] == 1 and self.n_classes in (0, 2)


@dataclass(frozen=True)
class Growth:
    """How trees are grown."""

    criterion: str | Impurity
    splitter: str
    limits: Limits
    max_features: int
    directions: npt.NDArray[np.int8] | None = None

    def columns(
        self, X: Rows, is_categorical: npt.NDArray[np.uint8] | None, n_threads: int, *, n_trees: int = MANY_TREES
    ) -> Any:
        """X as the splitter reads it, made once for all trees; which way they grow depends on its values alone, sparse or not.

        X may be read in place: it must not change until the trees are grown.
        """
        if callable(self.criterion):
            _require_plain(is_categorical, self.directions)
            return np.asarray(dense(X), dtype=np.float64)
        rows = kernel_rows(X)
        n_looks = n_trees * self.max_features
        if self.splitter != "best":
            return kernels.PlainColumns(rows, is_categorical, n_looks, n_threads)
        wide = None
        if is_categorical is None:
            wide = kernels.wide_columns_if_faster(rows, self.max_features, n_looks, n_threads)
        return kernels.RankedColumns(dense(X), is_categorical, n_threads) if wide is None else wide

    def grow(
        self,
        columns: Any,
        targets: Targets,
        weights: FloatArray | None,
        *,
        seeds: npt.NDArray[np.uint64],
        n_draws: int = 0,
        n_threads: int,
    ) -> TreeStore:
        """A tree for each seed; on a bootstrap of `n_draws` rows, drawn in proportion to `weights`, if that is not 0.

        Where it is 0, `weights` may have a line for each tree.
        """
        if callable(self.criterion):
            return self._grow_by_function(self.criterion, columns, targets, weights, seeds, n_draws)
        draws = (None if weights is None else weights.ravel(), seeds, n_draws, self.max_features)
        if weights is not None and weights.ndim == 2:
            weights = None  # what is taken off the targets below is the same for all trees
        limits = (kernels.GrowthLimits(*self.limits), n_threads)
        if targets.is_one_number and self.criterion != "absolute_error":
            y = targets.values[:, 0].astype(np.float64)
            offset = float(_middle(y, weights)) if self.criterion == "squared_error" else 0.0
            is_classification = targets.n_classes > 0
            grown = kernels.grow_pair(
                self.criterion, columns, y - offset, offset, is_classification, *draws, self.directions, *limits
            )
        elif targets.n_classes:
            codes = np.ascontiguousarray(targets.values, dtype=np.int32)
            grown = kernels.grow_classes(self.criterion, columns, codes, targets.n_classes, *draws, *limits)
        elif self.criterion == "absolute_error":
            y = np.ascontiguousarray(targets.values, dtype=np.float64)
            grown = kernels.grow_absolute(columns, y, *draws, self.directions, *limits)
        else:
            y = targets.values.astype(np.float64)
            offsets = np.zeros(y.shape[1])
            if self.criterion == "squared_error":
                offsets = _middle(y, weights)
            grown = kernels.grow_means(self.criterion, columns, np.ascontiguousarray(y - offsets), offsets, *draws, *limits)
        trees, impurity, n_rows, weight, values = grown
        return TreeStore(trees, impurity, n_rows, weight, values.reshape(len(values), targets.values.shape[1], -1))

    def _grow_by_function(
        self,
        criterion: Impurity,
        X: FloatArray,
        targets: Targets,
        weights: FloatArray | None,
        seeds: npt.NDArray[np.uint64],
        n_draws: int,
    ) -> TreeStore:
        stores = []
        for tree, seed in enumerate(seeds.tolist()):
            own = weights if weights is None or weights.ndim == 1 else weights[tree]
            if n_draws:
                counts = np.empty(len(X))
                kernels.bootstrap_counts(seed, n_draws, None if weights is None else np.cumsum(weights), counts)
                own = counts
            way = (self.limits, self.max_features, self.splitter == "random", seed)
            stores.append(FunctionGrower(criterion, X, targets.values, targets.n_classes, own, *way).grow())
        return TreeStore.join(stores)


def _require_plain(is_categorical: npt.NDArray[np.uint8] | None, directions: npt.NDArray[np.int8] | None) -> None:
    """What a criterion of the user's own cannot be asked for."""
    if is_categorical is not None:
        raise ValueError(
            "criterion is a function, which splits columns of numbers only; encode categories, or name a criterion."
        )
    if directions is not None:
        raise ValueError(
            "criterion is a function, for which monotonic_cst must be None; name a criterion to constrain features."
        )


def _middle(y: FloatArray, weights: FloatArray | None) -> FloatArray:
    """The means of y (or of its columns), rounded to an eighth of the range: what is taken off before squares are summed.

    That is as good as the means for precision, and such short numbers come off and on again without rounding wherever y has
    digits to spare: the leaf of targets that are all 2 says 2.
    """
    means = np.average(y, axis=0, weights=weights)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        spread = np.ptp(y, axis=0)
        step = np.exp2(np.floor(np.log2(spread)) - 2)
        rounded = np.rint(means / step) * step
    return np.where(spread > 0, np.where(np.isfinite(rounded), rounded, means), y[0])


def make_growth(
    params: Any,
    targets: Targets,
    weights: FloatArray | None,
    n_features: int,
    directions: npt.NDArray[np.int8] | None = None,
    *,
    n_draws: int = 0,
) -> Growth:
    """The growth that an estimator's checked parameters ask for. Shares become numbers as scikit-learn has it."""
    n_rows = targets.n_rows
    names = CLASSIFICATION if targets.n_classes else REGRESSION
    least_leaf = _count(params.min_samples_leaf, n_rows, 1)
    least_split = max(_count(params.min_samples_split, n_rows, 2), 2 * least_leaf)
    total = float(n_draws or n_rows) if n_draws or weights is None else float(weights.sum())
    limits = Limits(
        _UNLIMITED if params.max_depth is None else params.max_depth,
        least_split,
        least_leaf,
        params.min_weight_fraction_leaf * total,
        params.min_impurity_decrease,
        0 if params.max_leaf_nodes is None else params.max_leaf_nodes,
    )
    return Growth(
        params.criterion if callable(params.criterion) else names[params.criterion],
        getattr(params, "splitter", "best"),
        limits,
        count_features(params.max_features, n_features),
        directions,
    )


def _count(value: float, n: int, least: int) -> int:
    return value if isinstance(value, int) else max(least, ceil(value * n))


def count_features(max_features: Any, n_features: int) -> int:
    """How many features a split looks at."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if isinstance(max_features, int):
        return min(max_features, n_features)
    return max(1, int(max_features * n_features))


def check_directions(
    monotonic_cst: Any, targets: Targets, is_categorical: npt.NDArray[np.bool_], names: tuple[str, ...] | None = None
) -> npt.NDArray[np.int8] | None:
    """-1, 0 or +1 for each feature; None where no feature is constrained."""
    if monotonic_cst is None:
        return None
    n_features = len(is_categorical)
    given = (
        _directions_by_name(monotonic_cst, n_features, names) if isinstance(monotonic_cst, dict) else np.asarray(monotonic_cst)
    )
    if given.shape != (n_features,):
        raise InvalidParameterError(
            f"monotonic_cst has the shape {given.shape}; X has {n_features} features, so it must be ({n_features},)."
        )
    if not np.isin(given, (-1, 0, 1)).all():
        raise InvalidParameterError(f"monotonic_cst={monotonic_cst!r} is not valid; it must hold -1, 0 or 1 for each feature.")
    if not given.any():
        return None
    if (wrong := np.flatnonzero((given != 0) & is_categorical)).size:
        raise InvalidParameterError(
            f"monotonic_cst={monotonic_cst!r} constrains column {wrong[0]}, whose categories have no order; set it to 0."
        )
    if targets.values.shape[1] > 1:
        raise ValueError(f"monotonic_cst={monotonic_cst!r} is not supported with multiple outputs; it needs one target.")
    if targets.n_classes > 2:
        raise ValueError(f"monotonic_cst={monotonic_cst!r} is not supported for {targets.n_classes} classes; it needs two.")
    return given.astype(np.int8)


def _directions_by_name(given: dict[str, int], n_features: int, names: tuple[str, ...] | None) -> npt.NDArray[Any]:
    if names is None:
        raise InvalidParameterError(
            f"monotonic_cst={given!r} is a dict of column names, but X has none; it must be an array with -1, 0 or 1 a column."
        )
    out = np.zeros(n_features)
    for name, direction in given.items():
        if name not in names:
            raise InvalidParameterError(f"monotonic_cst names the column {name!r}, which X does not have.")
        out[names.index(name)] = direction
    return out


def make_seeds(random_state: Any, n: int) -> npt.NDArray[np.uint64]:
    """A seed for each of n trees."""
    seeds: npt.NDArray[np.int64] = random_state.randint(0, 2**63 - 1, size=n, dtype=np.int64)
    return seeds.astype(np.uint64)

"""What both histogram boosting estimators share: the way of a fit, and raw predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from mercer._arrays import FloatArray, check_weights
from mercer._base import FitTask, MercerEstimator
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import (
    ArrayLike,
    Bool,
    Function,
    Instance,
    Integer,
    Mapped,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    ScorerName,
    Verbosity,
    check_params,
)
from mercer._random import as_random_state
from mercer._trees.categories import UNSEEN_RULE, CategoryCoder
from mercer._trees.growth import Targets, check_directions
from mercer._trees.rows import dense
from mercer._trees.store import FEATURE, TreeStore
from mercer._trees.training import check_query, check_X_y
from mercer._tuning import Integers, Reals, Space
from mercer.ensemble._boosting.stages import NO_STAGES, StagedSweep, Stages
from mercer.ensemble._hist_gradient_boosting.constraints import check_interactions
from mercer.ensemble._hist_gradient_boosting.fit import BoostingFit, Earlier, Plan
from mercer.ensemble._hist_gradient_boosting.objectives import Objective
from mercer.ensemble._hist_gradient_boosting.stopping import Data, Split
from mercer.losses import Loss

N_AUTO = 10_000  # rows above which early_stopping="auto" stops early

BOOSTING_RULES: Mapping[str, Rule] = {
    "learning_rate": Real(above=0),
    "max_iter": Integer(1),
    "max_leaf_nodes": Integer(2) | Null(),
    "max_depth": Integer(1) | Null(),
    "min_samples_leaf": Integer(1),
    "l2_regularization": Real(least=0),
    "max_features": Real(above=0, most=1),
    "max_bins": Integer(2, most=255),
    "categorical_features": Null() | OneOf("from_dtype") | ArrayLike(),
    "monotonic_cst": Null() | Mapped() | ArrayLike(),
    "interaction_cst": Null() | OneOf("pairwise", "no_interactions") | ArrayLike(),
    "warm_start": Bool(),
    "early_stopping": OneOf("auto") | Bool(),
    "scoring": OneOf("loss") | ScorerName() | Function() | Null(),
    "validation_fraction": Real(above=0, below=1) | Integer(1) | Null(),
    "n_iter_no_change": Integer(1),
    "tol": Real(least=0),
    "verbose": Verbosity(),
    "random_state": RandomState(),
    "min_gain_to_split": Real(least=0),
    "grow_policy": OneOf("leaf_wise", "depth_wise"),
    "refit_best": Bool(),
    "unseen": UNSEEN_RULE,
    "n_jobs": NumberOfJobs(),
}


def loss_rule(*names: str) -> Rule:
    return OneOf(*names) | Instance(Loss) | Function()


class HistGradientBoosting(StagedSweep, MercerEstimator):
    """Histogram boosting but for what a target is."""

    _input_tags: ClassVar[tuple[str, ...]] = ("allow_nan", "sparse")
    _search_space: ClassVar[Mapping[str, Space]] = {
        "learning_rate": Reals(0.01, 0.5, log=True),
        "max_iter": Integers(50, 1000, log=True),
        "max_leaf_nodes": Integers(7, 127, log=True),
        "min_samples_leaf": Integers(2, 100, log=True),
        "l2_regularization": Reals(1e-6, 1e2, log=True),
        "max_features": Reals(0.3, 1.0),
    }

    _rounds_parameter = "max_iter"

    n_jobs: int | None
    early_stopping: bool | str
    refit_best: bool
    n_iter_: int
    n_trees_per_iteration_: int
    _trees: TreeStore
    _baseline: FloatArray
    _coder: CategoryCoder
    _seed: int

    def _check_target(self, y: npt.NDArray[Any]) -> tuple[FloatArray, dict[str, Any]]:
        """The target as numbers, and the attributes that say what they mean."""
        raise NotImplementedError

    def _weigh(self, params: SimpleNamespace, y: FloatArray, weights: FloatArray | None, fixed: dict[str, Any]) -> Any:
        """The rows' weights, with those of their classes."""
        return weights

    def _make_objective(self, params: SimpleNamespace, data: Data, fixed: dict[str, Any]) -> Objective:
        raise NotImplementedError

    def _encode(self, y: npt.NDArray[Any], fixed: dict[str, Any]) -> FloatArray:
        """A further target as the same numbers."""
        return np.asarray(y, dtype=np.float64)

    def _decode(self, y: FloatArray, fixed: dict[str, Any]) -> npt.NDArray[Any]:
        """Numbers as the target that the user gave, for scorers."""
        return y

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes: `max_iter`, unless early stopping ends in a fit anew."""
        return [] if self.refit_best and self.early_stopping is not False else super().sweep_parameters()

    def _fit_stages(self, X: Any, y: Any, sample_weight: Any, stages: Stages) -> Self:
        return self._fit(X, y, sample_weight, (None, None, None), is_classifier=is_classifier(self), stages=stages)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        validation: tuple[Any, Any, Any],
        *,
        is_classifier: bool,
        stages: Stages = NO_STAGES,
    ) -> Self:
        params, given = check_params(self), (X, y)
        coder, X, y = check_X_y(self, X, y, params.categorical_features, is_classifier, check_input=False)
        X = dense(X)  # bins are written out whatever X is
        y, fixed = self._check_target(column_or_1d(y, warn=True))
        data = Data(X, y, self._weigh(params, y, check_weights(sample_weight, len(y), np.float64), fixed))
        objective = self._make_objective(params, data, fixed)
        earlier = self._earlier(params, fixed) if params.warm_start and hasattr(self, "_trees") else None
        names = None if (found := getattr(self, "feature_names_in_", None)) is None else tuple(found)
        plan = Plan(
            params,
            coder,
            check_directions(params.monotonic_cst, Targets(y[:, None], objective.n_outputs), coder.mask, names),
            check_interactions(params.interaction_cst, X.shape[1], names),
            self._seed if earlier is not None else int(as_random_state(params.random_state).randint(2**31)),
            effective_threads(params.n_jobs),
        )
        is_early = len(y) > N_AUTO if params.early_stopping == "auto" else params.early_stopping
        fixed |= {
            "_coder": coder,
            "_seed": plan.seed,
            "do_early_stopping_": bool(is_early),
            "is_categorical_": coder.mask if coder.has_any else None,
            "n_trees_per_iteration_": objective.n_outputs,
        }
        held_out = self._held_out(validation, params, fixed)
        if is_early:
            _require_value(params, objective)
        split = _split(data, held_out, params, plan.seed, is_classifier) if is_early else Split(data, None)
        fit = BoostingFit(self, plan, objective, fixed, lambda codes: self._decode(codes, fixed), earlier)
        task = FitTask.start(self, *given, n_subtasks=2 if params.refit_best and is_early else 1)
        result = fit.run(task, split, is_early=is_early, max_iter=params.max_iter, stages=stages)
        if params.refit_best and is_early:
            result = fit.refit(task, data, result)
        return self._finish(task, result.attributes, result.outcome)

    def _earlier(self, params: SimpleNamespace, fixed: dict[str, Any]) -> Earlier:
        """The fit to go on from."""
        if params.max_iter < self.n_iter_:
            raise ValueError(
                f"max_iter={params.max_iter} must be larger than or equal to n_iter_={self.n_iter_} when warm_start==True: "
                "the earlier rounds are kept."
            )
        model: Any = self
        if "classes_" in fixed and not np.array_equal(model.classes_, fixed["classes_"]):
            raise ValueError(
                f"warm_start=True goes on from a fit to the classes {model.classes_.tolist()!r}, but y holds "
                f"{fixed['classes_'].tolist()!r}; it must hold the same."
            )
        scores = list(model.train_score_), list(model.validation_score_)
        return Earlier(self._trees, self._baseline, self.n_iter_, model.history_, *scores)

    def _held_out(self, validation: tuple[Any, Any, Any], params: SimpleNamespace, fixed: dict[str, Any]) -> Data | None:
        """The rows that the user held out."""
        X, y, sample_weight = validation
        if X is None and y is None:
            return None
        if X is None or y is None:
            given, lacking = ("X_val", "y_val") if y is None else ("y_val", "X_val")
            raise ValueError(f"{given} is provided, but {lacking} was not provided.")
        if params.early_stopping is False:
            raise ValueError("X_val and y_val are given while early_stopping=False; it must be 'auto' or True to use them.")
        self._coder = fixed["_coder"]  # of this fit, which puts it back should it fail
        X = dense(check_query(self, X, check_input=False))
        y = self._encode(column_or_1d(y, warn=True), fixed)
        check_consistent_length(X, y)
        return Data(X, y, check_weights(sample_weight, len(y), np.float64))

    def _raw_predict(self, X: Any) -> FloatArray:
        """Raw predictions, a line for each row and a column for each tree of a round."""
        known, raw = getattr(self, "_known_raw", (None, None))
        if raw is not None and X is known:  # a fit that scores its own rows
            return np.asarray(raw)
        check_is_fitted(self)
        X = check_query(self, X, check_input=False)
        n_threads = effective_threads(self.n_jobs)
        return self._baseline + self._trees.sum_leaves(X, n_groups=self.n_trees_per_iteration_, n_threads=n_threads)

    def _foresee(self, X: Any, raw: FloatArray | None, n_done: int) -> FloatArray:
        """Have raw predictions for X at hand, from those (`raw`) of the first `n_done` rounds, for the next call of `predict`.

        For those who look at a fit on its way again and again: each look then costs what its new rounds cost.
        """
        k = self.n_trees_per_iteration_
        rows = dense(check_query(self, X, check_input=False))
        raw = np.tile(self._baseline, (rows.shape[0], 1)) if raw is None else raw
        kernels.add_leaf_values(self._trees.trees, n_done * k, self.n_iter_ * k, rows, raw, effective_threads(self.n_jobs))
        self._known_raw = X, raw.copy()
        return raw

    def _staged_raw_predict(self, X: Any) -> Iterator[FloatArray]:
        check_is_fitted(self)
        X = dense(check_query(self, X, check_input=False))
        k, n_threads = self.n_trees_per_iteration_, effective_threads(self.n_jobs)
        raw = np.tile(self._baseline, (X.shape[0], 1))
        for done in range(self.n_iter_):
            kernels.add_leaf_values(self._trees.trees, done * k, (done + 1) * k, X, raw, n_threads)
            yield raw.copy()

    @property
    def feature_importances_(self) -> FloatArray:
        """The gain of all splits on each feature; they sum to one."""
        check_is_fitted(self)
        store = self._trees
        nodes, starts = store.nodes, store.starts
        change = store.impurity * store.weight
        splits = np.flatnonzero(nodes["right"])
        right = nodes["right"][splits] + np.repeat(starts[:-1], np.diff(starts))[splits]
        gain = change[splits] - change[splits + 1] - change[right]
        of_feature: FloatArray = np.bincount(nodes["tag"][splits] & FEATURE, weights=gain, minlength=store.n_features)
        return of_feature / of_feature.sum() if of_feature.sum() > 0 else of_feature

    @property
    def categories_(self) -> list[npt.NDArray[Any] | None]:
        """The categories of each column, None for a column of numbers."""
        check_is_fitted(self)
        return list(self._coder.categories)


def _require_value(params: SimpleNamespace, objective: Objective) -> None:
    if params.scoring == "loss" and not objective.has_value:
        raise ValueError(
            f"early_stopping={params.early_stopping!r} stops by the loss here, but the callable loss gives only derivatives; "
            "set scoring, give the callable a method value(y, raw), or set early_stopping=False."
        )


def _split(data: Data, held_out: Data | None, params: SimpleNamespace, seed: int, is_classifier: bool) -> Split:
    """How the rows are split for early stopping."""
    if held_out is not None or params.validation_fraction is None:
        return Split(data, held_out)
    rows = np.arange(len(data.y))
    options = {"test_size": params.validation_fraction, "random_state": seed}
    # Each class gets its share of the rows held out, unless one is too rare for that.
    is_rare = not is_classifier or np.unique(data.y, return_counts=True)[1].min() < 2
    train, test = sklearn.model_selection.train_test_split(rows, stratify=None if is_rare else data.y, **options)
    return Split(data.rows(np.sort(train)), data.rows(np.sort(test)))

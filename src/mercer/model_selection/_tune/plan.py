"""The plan of a search: what is searched, how points are proposed, how they are scored, and where results go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._params import InvalidParameterError
from mercer._random import as_random_state
from mercer.model_selection._folds import Table, make_folds, make_splits
from mercer.model_selection._scoring import Scoring
from mercer.model_selection._tune.bayesian import Bayesian
from mercer.model_selection._tune.candidates import Layout
from mercer.model_selection._tune.exploit import find_exploit, find_looks
from mercer.model_selection._tune.fingerprint import fingerprint, fixed_params
from mercer.model_selection._tune.fold_fits import FoldFits
from mercer.model_selection._tune.halved_fits import HalvedFits, Rungs
from mercer.model_selection._tune.ledger import Ledger
from mercer.model_selection._tune.model import Model
from mercer.model_selection._tune.options import TuneOptions
from mercer.model_selection._tune.optuna_module import has_optuna
from mercer.model_selection._tune.out_of_bag import OutOfBagFits
from mercer.model_selection._tune.proposals import N_COMBINATIONS, Grid, Proposals, Random, is_small
from mercer.model_selection._tune.search import Fits
from mercer.model_selection._tune.space import SearchSpace, make_space, own_space
from mercer.model_selection._tune.storage import StoredLedger


@dataclass(frozen=True)
class Plan:
    """All parts of a search."""

    model: Model
    scoring: Scoring
    proposals: Proposals
    fits: Fits
    ledger: Ledger
    how: str


def make_plan(options: TuneOptions, table: Table, space: Any, scoring: Any, groups: Any) -> Plan:
    """Put the parts together."""
    full_space = _check_space(options.estimator, space)
    model = Model(options.estimator, full_space.dimensions)
    score_by = Scoring(options.estimator, scoring)
    exploit = find_exploit(model, full_space, options.cv, groups, by_predictions=score_by.is_by_predictions)
    layout = Layout.within(full_space, exploit.swept, options.n_trials)
    # Which values a sweep covers depends on the number of trials: a search with another number is another search.
    tried_space = full_space if options.n_trials is None else layout.space
    kind = _kind_of_search(options, layout)
    if kind == "bayesian":
        layout = Layout(layout.space.with_quantiles(), layout.swept)

    looks = find_looks(model, full_space, exploit, kind, options.halving)
    splits = [] if exploit.is_out_of_bag else make_splits(options.cv, options.estimator, table, groups)
    parts = {
        "space": tried_space,
        "estimator": fixed_params(options.estimator, full_space.dimensions),
        "data": [table.X, table.y, table.weight, groups],
        "scoring": scoring,
        "cv": splits or "oob",
        "search": kind if looks is None else [kind, looks.words],
    }
    ledger = _open_ledger(options, full_space, model, parts)
    proposals = _make_proposals(kind, layout, options, ledger)
    what = exploit.words(len(splits), layout)
    how = ": ".join(filter(None, [proposals.words, what if looks is None else f"{what}, {looks.words}"]))

    raises = options.error_score == "raise"
    fits: Fits
    if exploit.is_out_of_bag:
        fits = OutOfBagFits(model, table, score_by, swept=layout.swept, raises=raises)
    elif looks is None:
        fits = FoldFits(model, make_folds(table, splits), score_by, swept=layout.swept, raises=raises)
    else:
        rungs = Rungs(looks.stages, ledger.trials)
        fits = HalvedFits(
            model, make_folds(table, splits), score_by, rungs, error_score=options.score_of_failure, raises=raises
        )
    return Plan(model, score_by, proposals, fits, ledger, how)


def _check_space(estimator: Any, space: Any) -> SearchSpace:
    if space is None:
        space = own_space(estimator)
        if space is None:
            raise InvalidParameterError(
                f"tune: space=None is not valid for {type(estimator).__name__}, which says nothing of what is worth searching; "
                "it must be a mapping from parameter to a list of values, Reals, Integers, Choices or a SciPy distribution."
            )
    return make_space(space, estimator)


def _kind_of_search(options: TuneOptions, layout: Layout) -> str:
    if options.search != "auto":
        return options.search
    is_covered = options.n_trials is None or options.n_trials >= layout.space.size
    if is_small(layout) and is_covered:
        return "grid"
    return "bayesian" if has_optuna() else "random"


def _make_proposals(kind: str, layout: Layout, options: TuneOptions, ledger: Ledger) -> Proposals:
    if kind == "grid":
        return Grid(layout)
    n_combinations = N_COMBINATIONS if options.time_limit is None else None
    if options.n_trials is not None:
        n_combinations = options.n_trials // layout.n_swept  # every point of a sweep is a trial
    if kind == "random":
        return Random(layout, n_combinations, ledger.seed)
    return Bayesian(layout, n_combinations, ledger.seed, ledger.recorded)


def _open_ledger(options: TuneOptions, space: SearchSpace, model: Model, parts: Mapping[str, Any]) -> Ledger:
    seed = None if options.random_state is None else _seed_of(options.random_state)
    if options.storage is None:
        return Ledger(int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed)
    name = options.name or type(model.learner).__name__
    return StoredLedger(options.storage, name, space, fingerprint(**parts), seed)


def _seed_of(random_state: Any) -> int:
    """A number as it is, so that draws are scikit-learn's; of a generator, one draw."""
    if isinstance(random_state, np.random.RandomState):
        return int(as_random_state(random_state).randint(2**31 - 1))
    return int(random_state)

"""`tune`: the parameters with the best score, found by what the model allows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from mercer._arrays import check_weights
from mercer._rows import count_rows
from mercer._trace import warn
from mercer.model_selection._folds import Table
from mercer.model_selection._tune.model import Model
from mercer.model_selection._tune.options import TuneOptions
from mercer.model_selection._tune.plan import make_plan
from mercer.model_selection._tune.result import TuneResult
from mercer.model_selection._tune.search import Search
from mercer.model_selection._tune.trial import Trial, best_of
from mercer.model_selection._tune.workers import Workers


def tune(
    estimator: Any,
    X: Any,
    y: Any = None,
    space: Mapping[str, Any] | None = None,
    *,
    scoring: Any = None,
    cv: Any = None,
    search: str = "auto",
    n_trials: int | None = None,
    time_limit: float | None = None,
    storage: str | Path | None = None,
    name: str | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    refit: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
    error_score: Any = math.nan,
    halving: bool | str = "auto",
    on_trial: Callable[[Trial], Any] | None = None,
    verbose: int = 0,
) -> TuneResult:
    """Find the parameters with the best mean score over folds, with as few fits as the model allows.

    Where one fit tells about many values of a parameter (a regularisation path, the rounds of boosting), or of several (the
    number of neighbours and their weights), the values are covered by one such sweep per fold; where an ensemble leaves rows
    out of bag, these score it and no folds are fitted. A fit that can be looked at on its way is given up where it does
    poorly. `result.how` says what was done. Everything else is fitted on each fold.

    Parameters
    ----------
    estimator : estimator or pipeline
        Left as it is. The steps of a pipeline before the last are fitted once per fold for all candidates that share them.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,), default=None
    space : mapping or None, default=None
        For each parameter a list of values, `Reals`, `Integers`, `Choices` or a SciPy distribution. None takes what the
        estimator itself (or the last step of a pipeline) finds worth searching; an empty mapping scores the estimator as it
        is.
    scoring : str, callable, list, mapping or None, default=None
        As in scikit-learn, higher is better; of several the first decides. None takes the estimator's own `score`.
    cv : int, splitter, iterable, "oob" or None, default=None
        Folds, as in scikit-learn; with `groups`, a number means folds that keep groups together. "oob" scores out of bag. None
        means out of bag where the estimator offers that for a parameter of the space and there are no groups, and else 5 folds.
    search : {"auto", "grid", "random", "bayesian"}, default="auto"
        How the parameters that no sweep covers are searched. "auto" takes the grid where it is at most 200 combinations of
        listed values, and else "bayesian", or "random" where Optuna is not installed. "bayesian" is Optuna's TPE (extra
        `tune`).
    n_trials : int or None, default=None
        How many choices of parameters to try at most, those that a sweep covers included: a sweep then covers that many values
        at most, and where others are searched beside it, about as many as there are combinations of them. None: all of a grid
        and of a sweep, and of a random or Bayesian search 50 combinations, or with `time_limit` as many as there is time for.
    time_limit : float or None, default=None
        Seconds after which no further fit begins.
    storage : str, path or None, default=None
        A file (or a `sqlite://` URL) that every finished trial is written to at once (extra `tune`). The same call after a
        crash goes on where that one was: no finished trial is lost, and none is repeated.
    name : str or None, default=None
        The name of the study in `storage`; None means the name of the estimator's class.
    groups : array of shape (n_samples,), default=None
        Which rows belong together, for `cv`.
    sample_weight : array of shape (n_samples,), default=None
        Weights of rows, in fits and in scores.
    refit : bool, default=True
        Whether to fit the best parameters on all rows.
    random_state : int, RandomState or None, default=None
        Of random and Bayesian proposals. The same seed gives the same trials for any `n_jobs`.
    n_jobs : int or None, default=None
        How many fits to run side by side, in threads that share the cores: None means one, which may itself use all threads,
        unless a `joblib.parallel_config` says otherwise, -1 as many as there are processors. The result does not depend on it.
    error_score : float or "raise", default=nan
        The score of a fold whose fit failed. NaN never wins.
    halving : bool or "auto", default="auto"
        Whether fits that can be looked at on their way (networks, by epochs) are looked at after a ninth and a third of it, and
        given up where they are not among the best third of those so far. "auto": in random and Bayesian searches; a grid is
        scored whole.
    on_trial : callable or None, default=None
        Called with each `Trial` when it is finished; returning True ends the search.
    verbose : int, default=0
        Above 0, each trial is logged.

    Returns
    -------
    TuneResult

    Raises
    ------
    Exception
        The first error, if all trials failed.
    TimeoutError
        If the time was over before the first trial was finished.

    Notes
    -----
    Scores, order and choice are those of `GridSearchCV` (and with ``search="random"`` of `RandomizedSearchCV` from the same
    seed) on the same folds, the first of equals winning; what a sweep gives is equal to the tolerance of the solver. It
    differs in that weights count in scores too, that a number for `cv` respects `groups`, and that Ctrl-C ends with the best
    so far.

    A sweep covers every value of a list, and of a range or a distribution up to 100: even steps (or even factors with `log`),
    or even quantiles. With `n_trials` below that, it covers values at even places. One over several parameters covers all
    combinations of the first with lists of the others, up to 1,000.

    With `halving`, a trial that is given up has the status "stopped", tells in `stages` how far it came, and never wins; one
    that goes on does so from where it was, so that a complete trial is what a fit without looks is. Each is judged by those
    before it in the order of the search (asynchronous successive halving, Li et al., 2020), whatever `n_jobs` is.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import Ridge
    >>> from mercer.model_selection import tune
    >>> random = np.random.RandomState(0)
    >>> X = random.randn(60, 30)
    >>> y = X[:, 0] + random.randn(60)
    >>> result = tune(Ridge(), X, y, {"alpha": [0.1, 1, 10, 100, 1000]})
    >>> result.best_params
    {'alpha': 100}
    """
    started = time.perf_counter()
    options = TuneOptions(
        estimator,
        cv,
        search,
        n_trials,
        time_limit,
        storage,
        name,
        refit,
        random_state,
        n_jobs,
        error_score,
        halving,
        on_trial,
        verbose,
    )
    table = _check_table(X, y, sample_weight, groups)
    plan = make_plan(options, table, space, scoring, groups)
    run = Search(
        plan.proposals,
        plan.ledger,
        plan.fits,
        Workers(options.n_jobs, options.time_limit),
        plan.scoring.names,
        options.score_of_failure,
        options.on_trial,
        options.verbose,
    )
    status = run.run()
    best = _best_of(run, options)
    seconds = time.perf_counter() - started
    return TuneResult(
        best_estimator=_refitted(run, best, plan.model, table) if options.refit else None,
        best_params=best.params,
        best_score=best.score,
        best_spread=best.spread,
        best_trial=best,
        trials=[run.trials[number] for number in sorted(run.trials)],
        how=plan.how,
        status=status,
        scoring=plan.scoring.name,
        seconds=seconds,
    )


def _check_table(X: Any, y: Any, sample_weight: Any, groups: Any) -> Table:
    X = X if hasattr(X, "shape") else np.asarray(X)
    check_consistent_length(X, y, groups)
    return Table(X, y, check_weights(sample_weight, count_rows(X), np.float64))


def _best_of(run: Search, options: TuneOptions) -> Trial:
    """The trial that wins; where all failed, the first error."""
    trials = [run.trials[number] for number in sorted(run.trials)]
    if not trials:
        raise TimeoutError(
            f"tune: time_limit={options.time_limit!r} was over before the first trial was finished; give more time or "
            "fewer rows."
        )
    failed = [trial for trial in trials if trial.status == "failed"]
    best = best_of(trials)
    if best is None or len(failed) == len(trials):
        if run.first_error is not None:
            raise run.first_error[1]
        raise ValueError(f"tune: all {len(trials)} trials failed; the first: {failed[0].error}")
    if failed:
        warn(f"tune: {len(failed)} of {len(trials)} trials failed; the first, trial {failed[0].number}: {failed[0].error}")
    return best


def _refitted(run: Search, best: Trial, model: Model, table: Table) -> Any:
    """The best estimator on all rows, which an out-of-bag search may already have."""
    if run.best_model is not None and run.best_model[0] == best.number:
        return run.best_model[1]
    return model.fit_whole(best.params, table)

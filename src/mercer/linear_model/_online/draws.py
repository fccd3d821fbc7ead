"""What an online learner draws at random, in the order of the peer's draws: seeds of passes, and rows set aside."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import sklearn

from mercer._arrays import FloatArray
from mercer._random import as_random_state
from mercer.linear_model._online.stochastic import Problem, Score, Settings
from mercer.metrics import r2_score

MAX_SEED = np.iinfo(np.int32).max


def prepare(problem: Problem, settings: Settings) -> tuple[Problem, npt.NDArray[np.int64], Score | None]:
    """The rows to learn from, the seed of each output (-1: rows in their order), and the validation score."""
    random = as_random_state(settings.random_state)
    is_binary = problem.positives is not None and problem.n_outputs == 1
    if is_binary:
        random.randint(1, MAX_SEED)  # the peer's data set takes a seed that nothing uses
    score = None
    if settings.early_stopping:
        problem, score = _split(problem, settings)
    if problem.n_outputs > 1:
        seeds = [_seed_of_output(seed) for seed in random.randint(MAX_SEED, size=problem.n_outputs)]
    else:
        seeds = [int(random.randint(MAX_SEED))]
        if not is_binary:
            random.randint(1, MAX_SEED)
    return problem, np.array(seeds if settings.shuffle else [-1] * len(seeds), dtype=np.int64), score


def _seed_of_output(seed: int) -> int:
    random = np.random.RandomState(seed)
    random.randint(1, MAX_SEED)
    return int(random.randint(MAX_SEED))


def _split(problem: Problem, settings: Settings) -> tuple[Problem, Score]:
    """The problem without some rows, and the score of an output on them."""
    splits_of = sklearn.model_selection
    splitter = splits_of.ShuffleSplit if problem.positives is None else splits_of.StratifiedShuffleSplit
    splits = splitter(test_size=settings.validation_fraction, random_state=settings.random_state)
    _, chosen = next(splits.split(np.zeros((len(problem.y), 1)), problem.y))
    X, y = problem.X[chosen], problem.y[chosen].astype(np.float64)
    weights = None if problem.weights is None else problem.weights[chosen].astype(np.float64)
    if weights is not None and not weights.any():
        raise ValueError(
            "The sample weights for validation set are all zero, consider using a different random state: sample_weight must "
            f"be positive for some of the {len(chosen)} rows set aside by "
            f"validation_fraction={settings.validation_fraction:g}."
        )
    positives, has_log_link = problem.positives, settings.loss in ("poisson", "gamma")

    def score(coef: FloatArray, intercept: float, output: int) -> float:
        values = X @ coef + intercept
        if positives is None:
            return float(r2_score(y, np.exp(values) if has_log_link else values, sample_weight=weights))
        return float(np.average((values > 0) == (y == positives[output]), weights=weights))

    is_left_out = np.zeros(len(problem.y), dtype=bool)
    is_left_out[chosen] = True
    return problem.without(is_left_out), score

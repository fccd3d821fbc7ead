"""Boruta: columns against shuffled copies of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.stats import binom
from sklearn.base import clone

from mercer._arrays import FloatArray, validate
from mercer._base import FitTask, fit_method
from mercer._params import Bool, Fittable, Integer, RandomState, Real, Rule, Verbosity, check_params
from mercer._random import as_random_state
from mercer._trace import log
from mercer.feature_selection._from_model import GETTER
from mercer.feature_selection._importances import column_norms, importances_of
from mercer.feature_selection._selector import Mask, ModelSelector

LEAST_SHADOWS = 5  # of fewer the greatest importance says little


class BorutaSelector(ModelSelector):
    r"""All columns that a model makes more of than of noise: each competes with the best of shuffled copies (shadows).

    In a run, the model is fitted to the columns that have not been rejected and to a shuffled copy of each of them; a column
    has a hit where its importance is above that of the best shadow. Without any effect, hits in t runs would be binomial with
    share 1/2 at most: a column of h hits is confirmed where

    .. math:: P(B_{t, 1/2} \ge h) \le \alpha / d

    and rejected where :math:`P(B_{t, 1/2} \le h) \le \alpha / d`, corrected for the number d of columns. What is undecided
    after the last run is tentative.

    Parameters
    ----------
    estimator : estimator
        After a fit it has `feature_importances_`, `coef_`, or what `importance_getter` asks for; a random forest, usually.
    max_runs : int, default=100
        How many runs at most.
    alpha : float, default=0.05
        The level of the tests, before the correction.
    percentile : float, default=100
        The percentile of the shadows' importances that a hit is above; 100 is the best of them, less confirms more.
    keep_tentative : bool, default=False
        Whether tentative columns stay, too.
    importance_getter : str or callable, default="auto"
        The name of an attribute (with dots into parts), or a function of the fitted model.
    random_state : int, RandomState or None, default=None
        Shuffles the copies and seeds the models.
    verbose : int, default=0
        Whether to log every run.

    Attributes
    ----------
    support_ : array of shape (n_features,)
        Which columns stay.
    confirmed_, tentative_, rejected_ : arrays of shape (n_features,)
        The three outcomes, as masks.
    ranking_ : array of shape (n_features,)
        1 for confirmed and 2 for tentative columns; of the rejected, 3 for those that held out longest, and so on.
    hits_ : array of shape (n_features,)
        In how many runs each column, until it was rejected, was above the shadows.
    importance_history_ : array of shape (n_iter_, n_features)
        Importances in each run; NaN after a rejection.
    history_ : list of dict
        One record a run: the `shadow` importance to beat, and how many columns are `confirmed`, `tentative` and `rejected`.
    n_iter_ : int
        How many runs there were.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One fit on up to 2 d columns a run (five shadows at least). All columns that matter are wanted here, redundant ones too,
    where other selectors look for a small set that predicts well. The correction is Bonferroni's over columns, as in the paper;
    runs are looked at one after another without a correction, as there.

    References
    ----------
    M. B. Kursa, W. R. Rudnicki, "Feature selection with the Boruta package", Journal of Statistical Software 36 (2010).

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from mercer.ensemble import RandomForestRegressor
    >>> from mercer.feature_selection import BorutaSelector
    >>> X, y = make_friedman1(300, n_features=8, random_state=0)
    >>> selector = BorutaSelector(RandomForestRegressor(20, max_depth=5), max_runs=30, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 1, 2, 3, 4])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": Fittable(),
        "max_runs": Integer(1),
        "alpha": Real(above=0, below=1),
        "percentile": Real(above=0, most=100),
        "keep_tentative": Bool(),
        "importance_getter": GETTER,
        "random_state": RandomState(),
        "verbose": Verbosity(),
    }

    confirmed_: Mask
    tentative_: Mask
    rejected_: Mask

    def __init__(
        self,
        estimator: Any,
        *,
        max_runs: int = 100,
        alpha: float = 0.05,
        percentile: float = 100,
        keep_tentative: bool = False,
        importance_getter: str | Callable[[Any], Any] = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.max_runs = max_runs
        self.alpha = alpha
        self.percentile = percentile
        self.keep_tentative = keep_tentative
        self.importance_getter = importance_getter
        self.random_state = random_state
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any) -> BorutaSelector:
        """Let the columns compete.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        params = check_params(self)
        finite: Any = "deferred" if self.__sklearn_tags__().input_tags.allow_nan else "check"
        X, y = validate(self, X, y, finite=finite, multi_output=True)
        random = as_random_state(params.random_state)
        task = FitTask.start(self, X, y, n_subtasks=params.max_runs)
        contest = Contest(X.shape[1], params.alpha)
        importances: list[FloatArray] = []
        history: list[dict[str, Any]] = []
        for _ in range(params.max_runs):
            run = task.subtask("run")
            own, shadows = self._run(params, X, y, np.flatnonzero(~contest.is_rejected), random)
            shadow = float(np.percentile(shadows, params.percentile))
            importances.append(own)
            contest.count(own, shadow)
            counts = {name: int(mask.sum()) for name, mask in contest.outcomes.items()}
            history.append({"shadow": shadow, **counts})
            log(params.verbose, "BorutaSelector: run %d, %s.", len(history), counts)
            if run.end() or not contest.is_open.any():
                break
        outcomes = contest.outcomes
        attributes = {
            "support_": outcomes["confirmed"] | outcomes["tentative"] if params.keep_tentative else outcomes["confirmed"],
            **{f"{name}_": mask for name, mask in outcomes.items()},
            "ranking_": contest.ranking,
            "hits_": contest.hits,
            "importance_history_": np.array(importances),
            "history_": history,
            "n_iter_": len(history),
        }
        return self._finish(task, attributes)

    @staticmethod
    def _run(params: Any, X: FloatArray, y: Any, columns: npt.NDArray[np.intp], random: Any) -> tuple[FloatArray, FloatArray]:
        """The importances of all columns (NaN for those that are out) and of the shadows."""
        copied = np.resize(columns, max(len(columns), LEAST_SHADOWS))
        shadows = np.column_stack([X[random.permutation(len(X)), column] for column in copied])
        model = seeded(clone(params.estimator), random)
        model.fit(np.hstack([X[:, columns], shadows]), y)
        found = column_norms(importances_of(model, params.importance_getter), 1)
        own = np.full(X.shape[1], np.nan)
        own[columns] = found[: len(columns)]
        return own, found[len(columns) :]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.target_tags.required = True
        return tags


class Contest:
    """Hits of columns over runs, and what they decide."""

    def __init__(self, n_features: int, alpha: float) -> None:
        self._level, self.n_runs = alpha / n_features, 0
        self.hits = np.zeros(n_features, dtype=np.intp)
        self._is_confirmed = np.zeros(n_features, dtype=bool)
        self._rejected_in = np.zeros(n_features, dtype=np.intp)  # the run; 0 for none

    @property
    def is_rejected(self) -> Mask:
        return self._rejected_in > 0

    @property
    def is_open(self) -> Mask:
        return ~self._is_confirmed & ~self.is_rejected

    def count(self, importances: FloatArray, shadow: float) -> None:
        """A run: NaN is no hit."""
        self.n_runs += 1
        self.hits += importances > shadow
        is_open = self.is_open
        self._is_confirmed |= is_open & (binom.sf(self.hits - 1, self.n_runs, 0.5) <= self._level)
        is_out = is_open & (binom.cdf(self.hits, self.n_runs, 0.5) <= self._level)
        self._rejected_in[is_out] = self.n_runs

    @property
    def outcomes(self) -> dict[str, Mask]:
        return {"confirmed": self._is_confirmed.copy(), "tentative": self.is_open, "rejected": self.is_rejected}

    @property
    def ranking(self) -> npt.NDArray[np.intp]:
        ranking = np.where(self._is_confirmed, 1, 2)
        for rank, run in enumerate(np.unique(self._rejected_in[self.is_rejected])[::-1], start=3):
            ranking[self._rejected_in == run] = rank
        return ranking


def seeded(model: Any, random: np.random.RandomState) -> Any:
    """The model with every `random_state` of it drawn anew."""
    if not hasattr(model, "get_params"):
        return model
    names = sorted(name for name in model.get_params() if name == "random_state" or name.endswith("__random_state"))
    return model.set_params(**{name: random.randint(np.iinfo(np.int32).max) for name in names})

"""`RandomUnderSampler`: some rows of the common classes."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

from mercer._params import Bool, RandomState, Rule
from mercer._random import as_random_state
from mercer._resampling.base import ClassSelector, Rows, Sample
from mercer._resampling.strategy import RULES


class RandomUnderSampler(ClassSelector):
    """As many rows of the common classes as the rarest has, drawn at random.

    Parameters
    ----------
    sampling_strategy : str, float, dict or callable, default="auto"
        Which classes lose rows, and how many are left. "majority", "not minority" ("auto"), "not majority" and "all" name
        classes, of which as many rows are left as the rarest has; a number is the share of the rarer of two classes among the
        commoner one; a dict has the number of rows of each class afterwards; a callable is given y and returns a dict.
    random_state : int, RandomState or None, default=None
    replacement : bool, default=False
        Whether rows are drawn with replacement.

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of rows left by class.
    sample_indices_ : ndarray
        The rows that are left, class by class.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Rows may hold anything. The index of a frame of pandas goes with its rows. The same `random_state` gives the rows that
    imbalanced-learn gives. O(n).

    References
    ----------
    N. Japkowicz, S. Stephen: The class imbalance problem: a systematic study. Intelligent Data Analysis 6 (2002).

    Examples
    --------
    >>> from mercer.under_sampling import RandomUnderSampler
    >>> RandomUnderSampler(random_state=0).fit_resample([[0], [1], [2], [3]], ["a", "b", "b", "b"])
    ([[0], [3]], ['a', 'b'])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sampling_strategy": RULES["under-sampling"],
        "random_state": RandomState(),
        "replacement": Bool(),
    }
    _kind = "under-sampling"
    _input_tags = ("sparse", "allow_nan", "string", "categorical")
    _is_numeric = False

    def __init__(self, *, sampling_strategy: Any = "auto", random_state: Any = None, replacement: bool = False) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.replacement = replacement

    def _plan(self, params: SimpleNamespace, sample: Sample) -> None:
        super()._plan(params, sample)
        params.draws = as_random_state(params.random_state)

    def _keep(self, sample: Sample, label: Any, rows: Rows, params: SimpleNamespace) -> Rows:
        n_left = self.sampling_strategy_[label]
        kept: Rows = rows[params.draws.choice(len(rows), size=n_left, replace=params.replacement)]
        return kept

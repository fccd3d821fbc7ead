"""`SMOTE`: new rows between rows of a class and their neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import Finite
from mercer._params import Null, OneOf, RandomState, Real, Rule
from mercer._resampling.base import Rows, Sample
from mercer._resampling.neighbors import NEIGHBORS, Places, make_neighbors
from mercer._resampling.strategy import RULES, targeted
from mercer._rows import take_rows
from mercer.over_sampling._interpolation import Gaps, Interpolating, between, draw_pairs, interpolate


class SMOTE(Interpolating):
    """Synthetic minority over-sampling: new rows between rows of a class and their neighbours of the same class.

    A new row is x_new = x + g (x' - x), with x a row of the class, x' one of its k nearest neighbours in the class, and a gap
    g drawn from [0, 1).

    Parameters
    ----------
    sampling_strategy : str, float, dict or callable, default="auto"
        Which classes get rows, and how many. "minority", "not minority", "not majority" ("auto") and "all" name classes, which
        get as many rows as the commonest has; a number is the share of the rarer of two classes among the commoner one; a dict
        has the number of rows of each class afterwards; a callable is given y and returns a dict.
    random_state : int, RandomState or None, default=None
    k_neighbors : int, "auto" or estimator, default=5
        How many neighbours of the class x' is drawn from. "auto" is 5, or all of a class of fewer rows; a class of one row is
        repeated. An estimator with `kneighbors` (with the row itself first) is cloned.
    amount : float, default=None
        New rows in per cent of the rows that a class has, as in the paper: 200 makes two of each row, 50 one of every second,
        drawn at random; 250 two of each and a third of every second. `sampling_strategy` then names the classes.
    gap : {"sample", "attribute"}, default="sample"
        Whether all attributes of a new row have one gap, so that it lies on the segment between x and x', or each its own, so
        that it lies in the box between them.

    Attributes
    ----------
    sampling_strategy_ : dict
        The number of new rows by class.
    nn_k_ : estimator
        The search for neighbours, not fitted: no rows are kept.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Missing values (NaN) in dense X: distances are Euclidean over what both rows have, scaled to all attributes
    (`nan_euclidean`), and a new row lacks what x lacks; where x' alone lacks a value, that of x is taken. New rows then miss
    values as often as the rows they are made of.

    One search for neighbours a class, O(n_class^2 n_features) at worst, and O(n_new n_features) for the new rows. The same
    `random_state` gives the rows that imbalanced-learn gives, if `amount` and `gap` are left alone.

    References
    ----------
    N. V. Chawla, K. W. Bowyer, L. O. Hall, W. P. Kegelmeyer: SMOTE: Synthetic Minority Over-sampling Technique. Journal of
    Artificial Intelligence Research 16 (2002).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.over_sampling import SMOTE
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [13.0], [14.0]])
    >>> y = np.array(["rare"] * 3 + ["common"] * 5)
    >>> X_new, y_new = SMOTE(k_neighbors=1, random_state=0).fit_resample(X, y)
    >>> [y_new.tolist().count(label) for label in ("common", "rare")]
    [5, 5]
    >>> X_new[8:].round(2).ravel()
    array([0.84, 0.14])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sampling_strategy": RULES["over-sampling"],
        "random_state": RandomState(),
        "k_neighbors": NEIGHBORS | OneOf("auto"),
        "amount": Null() | Real(above=0),
        "gap": OneOf("sample", "attribute"),
    }
    _input_tags: ClassVar[tuple[str, ...]] = ("sparse", "allow_nan")
    _finite: ClassVar[Finite] = "allow-nan"

    def __init__(
        self,
        *,
        sampling_strategy: Any = "auto",
        random_state: Any = None,
        k_neighbors: Any = 5,
        amount: float | None = None,
        gap: str = "sample",
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.k_neighbors = k_neighbors
        self.amount = amount
        self.gap = gap

    def _plan(self, params: SimpleNamespace, sample: Sample) -> None:
        super()._plan(params, sample)
        self.nn_k_ = make_neighbors(params.k_neighbors, n_more=1)
        if params.amount is None:
            return
        if not isinstance(params.sampling_strategy, str):
            raise ValueError(
                f"{type(self).__name__}: amount={params.amount:g} and sampling_strategy={params.sampling_strategy!r} both say "
                "how many rows to make; with an amount, sampling_strategy must name classes: 'auto', 'minority', 'not "
                "minority', 'not majority' or 'all'."
            )
        counts, labels = sample.counts, sample.classes.tolist()
        self.sampling_strategy_ = {
            labels[place]: int(counts[place] * params.amount / 100)
            for place in targeted(params.sampling_strategy, counts, self._kind)
        }

    def _grow(self, sample: Sample, label: Any, n_new: int, params: SimpleNamespace) -> Iterator[Any]:
        rows = take_rows(sample.X, sample.rows_of(label))
        has_missing = self._finite == "allow-nan" and isinstance(rows, np.ndarray) and bool(np.isnan(rows).any())
        if has_missing and not hasattr(params.k_neighbors, "kneighbors"):
            self.nn_k_.set_params(metric="nan_euclidean")
        neighbors = self._class_neighbors(label, rows, rows, params)
        places, ends, gaps = self._draw(neighbors, n_new, rows.shape[1], params)
        if not has_missing:
            yield between(rows, rows, (places, ends, gaps))
            return
        starts, others = take_rows(rows, places), take_rows(rows, ends)
        yield interpolate(starts, np.where(np.isnan(others), starts, others), gaps)

    def _draw(self, neighbors: Places, n_new: int, n_features: int, params: SimpleNamespace) -> tuple[Rows, Rows, Gaps]:
        """Rows, neighbours and gaps: any row as often as it comes, or each by the amount."""
        generator = self._generator(params)
        if params.amount is None and params.gap == "sample":
            return draw_pairs(generator, neighbors, n_new)
        if params.amount is None:
            places = generator.randint(low=0, high=len(neighbors), size=n_new)
        else:
            whole, rest = divmod(n_new, len(neighbors))
            once = np.sort(generator.permutation(len(neighbors))[:rest])
            places = np.concatenate([np.repeat(np.arange(len(neighbors)), whole), once])
        columns = generator.randint(low=0, high=neighbors.shape[1], size=n_new)
        gaps = generator.uniform(size=n_new if params.gap == "sample" else (n_new, n_features))
        return places, neighbors[places, columns], gaps

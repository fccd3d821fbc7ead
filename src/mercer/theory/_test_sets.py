"""The exact bound for a test set of a classifier."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mercer._params import Rule
from mercer.theory._bound import Bound
from mercer.theory._tails import largest_share, smallest_share


@dataclass(frozen=True, kw_only=True, repr=False)
class BinomialTest(Bound):
    r"""The rate of errors of a classifier by its errors on test rows: exact, by Clopper and Pearson.

    .. math:: R \le \max \left\{ p : \sum_{i=0}^{k} \binom{m}{i} p^i (1-p)^{m-i} \ge \delta \right\}, \qquad k = m \hat R

    Parameters
    ----------
    m : int
        Test rows, which the fit has not seen.
    delta : float
    risk : float, default=0.0
        The share of errors on them; with other numbers of rows the errors are rounded up.

    Attributes
    ----------
    interval : tuple of float
        The two-sided interval, each end with delta / 2.

    Examples
    --------
    >>> from mercer.theory import BinomialTest
    >>> round(BinomialTest(m=100, delta=0.05, risk=0.0).value, 5)
    0.02951
    >>> [round(end, 4) for end in BinomialTest(m=100, delta=0.05, risk=0.1).interval]
    [0.049, 0.1762]

    References
    ----------
    C. Clopper and E. Pearson, The use of confidence or fiducial limits, Biometrika 26 (1934); J. Langford, Tutorial on
    practical prediction theory for classification, JMLR 6 (2005).
    """

    formula: ClassVar[str] = "largest p with P(Binomial(m, p) <= m risk) >= delta"
    _rules: ClassVar[Mapping[str, Rule]] = Bound._rules

    @property
    def errors(self) -> int:
        """The number of errors."""
        return math.ceil(self.m * self.risk - 1e-9 * self.m)

    @property
    def value(self) -> float:
        return largest_share(self.errors, self.m, math.log(self.delta))

    @property
    def interval(self) -> tuple[float, float]:
        """The two-sided interval, each end with delta / 2."""
        half = self.delta / 2
        return smallest_share(self.errors, self.m, half), largest_share(self.errors, self.m, math.log(half))

"""Bounds by how briefly a model can be told: by a code (Occam), or by the rows that make it (compression)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from scipy.special import gammaln

from mercer._params import Integer, InvalidParameterError, Real, Rule
from mercer.theory._bound import Bound
from mercer.theory._tails import largest_share


@dataclass(frozen=True, kw_only=True, repr=False)
class Occam(Bound):
    r"""A model that a prefix code, fixed beforehand, writes in so many bits.

    .. math:: R(h) \le \hat R(h) + \sqrt{\frac{\ln(2)\, |h| + \ln(1/\delta)}{2m}}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        The share of errors on the rows.
    bits : float
        :math:`|h|`: the length of the description.

    Examples
    --------
    >>> from mercer.theory import Occam
    >>> Occam(bits=100, m=5000, delta=0.05).rows_for(0.1)
    3616

    References
    ----------
    S. Shalev-Shwartz and S. Ben-David, Understanding Machine Learning, Cambridge 2014, theorem 7.7.
    """

    bits: float

    formula: ClassVar[str] = "risk + sqrt((bits ln 2 + ln(1/delta)) / (2 m))"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "bits": Real(least=0)}

    @property
    def value(self) -> float:
        return self.risk + math.sqrt((self.bits * math.log(2) - math.log(self.delta)) / (2 * self.m))


@dataclass(frozen=True, kw_only=True, repr=False)
class Compression(Bound):
    r"""A model that k of the rows determine, such as a support vector machine: the other rows are as good as a test set.

    .. math:: R \le \max \left\{ p : P\big(\mathrm{Bin}(m - k, p) \le e\big) \ge \frac{\delta}{(m + 1) \binom{m}{k}} \right\}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        The share of errors among the other m - k rows: e = risk (m - k).
    n_kept : int
        k: the rows from which the same fit gives the same model.

    Notes
    -----
    Each of the sets of k rows, and each k from 0 to m, has its share of delta.

    Examples
    --------
    >>> from mercer.theory import Compression
    >>> round(Compression(n_kept=10, m=1000, delta=0.05).value, 4)
    0.0624

    References
    ----------
    S. Floyd and M. Warmuth, Sample compression, learnability, and the Vapnik-Chervonenkis dimension, Machine Learning 21
    (1995); J. Langford, Tutorial on practical prediction theory for classification, JMLR 6 (2005), section 4.3.
    """

    n_kept: int

    formula: ClassVar[str] = "largest p with P(Binomial(m - n_kept, p) <= risk (m - n_kept)) >= delta / ((m + 1) C(m, n_kept))"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "n_kept": Integer(0)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_kept > self.m:
            raise InvalidParameterError(f"Compression: n_kept={self.n_kept} is not valid; there are m={self.m} rows to keep.")

    @property
    def value(self) -> float:
        m, k = self.m, self.n_kept
        if k == m:
            return 1.0
        log_choices = math.log(m + 1) + float(gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1))
        errors = math.ceil(self.risk * (m - k) - 1e-9 * m)
        return largest_share(errors, m - k, math.log(self.delta) - log_choices)

    def _with_rows(self, m: int) -> Compression:
        return super()._with_rows(max(m, self.n_kept))

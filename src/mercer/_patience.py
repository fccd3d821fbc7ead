"""Early stopping: when values that should fall (losses, or scores with their sign turned) have stopped to.

One interface with the marks that scikit-learn's estimators measure by, so that a fit ends after as many iterations as theirs.
"""

from __future__ import annotations

import math
from collections import deque


class Patience:
    """Waits for `n_iter_no_change` values in a row that are not `tol` below the best before them. With no `tol`, for ever."""

    def __init__(self, n_iter_no_change: int, tol: float | None) -> None:
        self._n_iter_no_change, self._tol = n_iter_no_change, tol
        self._best = math.inf
        self._n_bad = 0
        self.gain = 0.0  # by which the last value is below the best before; of the first value, its size
        self.is_over = False

    def see(self, value: float) -> bool:
        """Take the next value; whether it is time to stop."""
        self.gain = max(self._best - value, 0.0) if math.isfinite(self._best) else abs(value)
        if self._tol is not None:
            self._n_bad = self._n_bad + 1 if value > self._best - self._tol else 0
        self._best = min(self._best, value)
        self.is_over = self._n_bad >= self._n_iter_no_change
        return self.is_over

    def renew(self) -> None:
        """Wait as long again, for values below the same best."""
        self._n_bad, self.is_over = 0, False


class WindowPatience:
    """Ends when none of the last `n_iter_no_change` values is more than `tol` below the one before them."""

    def __init__(self, n_iter_no_change: int, tol: float) -> None:
        self._window: deque[float] = deque(maxlen=n_iter_no_change + 1)
        self._tol = tol
        self.gain = math.inf  # by which the best of the last values is below the one before them; infinite while there are few
        self.is_over = False

    def see(self, value: float) -> bool:
        """Take the next value; whether it is time to stop."""
        self._window.append(value)
        if len(self._window) == self._window.maxlen:
            mark, *last = self._window
            self.gain = mark - min(last)
        self.is_over = self.gain <= self._tol
        return self.is_over


class RecentPatience:
    """Ends at the first value that is not more than `tol` below one of the last `n_iter_no_change` that were kept."""

    def __init__(self, n_iter_no_change: int, tol: float) -> None:
        self._kept: deque[float] = deque([math.inf] * n_iter_no_change, maxlen=n_iter_no_change)
        self._tol = tol
        self.gain = math.inf  # by which the last value is below the worst of those kept; at most `tol` where it is time to stop
        self.is_over = False

    def see(self, value: float) -> bool:
        """Take the next value; whether it is time to stop."""
        worst = max(self._kept)
        self.gain, self.is_over = worst - value, not value + self._tol < worst
        if self.is_over:
            self.gain = min(self._tol, self.gain)  # rounding may say otherwise, and NaN is no gain
        else:
            self._kept.append(value)
        return self.is_over

"""Test rows that occur among the training rows too, with the target counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Repeats:
    """Which test rows have the values of training rows, and whether these have the same target, another one, or both."""

    is_repeated: npt.NDArray[np.bool_]
    has_same: npt.NDArray[np.bool_]
    has_other: npt.NDArray[np.bool_]

    @property
    def n(self) -> int:
        return int(self.is_repeated.sum())

    @property
    def n_same(self) -> int:
        return int((self.has_same & ~self.has_other).sum())

    @property
    def n_other(self) -> int:
        return int((self.has_other & ~self.has_same).sum())

    @property
    def n_both(self) -> int:
        return int((self.has_same & self.has_other).sum())


def repeats_of(train: pl.DataFrame, y_train: Any, test: pl.DataFrame, y_test: Any, columns: Sequence[str]) -> Repeats:
    """By the values of some columns. O(n)."""
    import polars as pl

    parts = [
        pl.DataFrame({"key": table.select(columns).hash_rows(seed=1), "y": np.asarray(y)})
        for table, y in ((train, y_train), (test, y_test))
    ]
    seen = parts[0].group_by("key").agg(pl.len().alias("n"))
    alike = parts[0].group_by("key", "y").agg(pl.len().alias("n_alike"))
    found = parts[1].join(seen, on="key", how="left", maintain_order="left")
    found = found.join(alike, on=["key", "y"], how="left", maintain_order="left")
    n, n_alike = (found[name].fill_null(0).to_numpy() for name in ("n", "n_alike"))
    return Repeats(n > 0, n_alike > 0, n > n_alike)

"""Neighbours as resamplers ask for them: by their number, or by an estimator of anybody's."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from mercer._params import Having, Integer, Rule

Places = npt.NDArray[np.intp]
AUTO = 5  # neighbours, where "auto" has enough rows


# A number of neighbours, or an estimator that finds them.
NEIGHBORS: Rule = Integer(1) | Having("kneighbors", "kneighbors_graph")


def make_neighbors(given: Any, *, n_more: int = 0, **options: Any) -> Any:
    """The estimator for a number of neighbours, and `n_more` (the row itself is its own first); or a clone of the one given."""
    from mercer.neighbors import NearestNeighbors

    if given == "auto":
        given = AUTO
    if isinstance(given, int):
        return NearestNeighbors(n_neighbors=given + n_more, **options)
    made = clone(given)
    return made.set_params(**options) if options else made


def fitted(search: Any, rows: Any) -> Any:
    """A clone, fitted: resamplers keep the search without rows, so that no saved pipeline holds its training set."""
    return clone(search).fit(rows)


def find_others(search: Any, rows: Any) -> Places:
    """For each row that the search may have been fitted to, its neighbours without the first, which is the row itself."""
    found: Places = search.kneighbors(rows, return_distance=False)[:, 1:]
    return found


def require_rows(owner: str, parameter: str, search: Any, n_rows: int, who: str, remedy: str) -> None:
    """Refuse a search among fewer rows than it asks for; itself is among them."""
    wanted = getattr(search, "n_neighbors", 0)
    if n_rows < wanted:
        raise ValueError(
            f"{owner}: {who} has {n_rows} row{'s' * (n_rows != 1)}, and {parameter}={wanted - 1} needs {wanted} at least "
            f"(each row and its neighbours). {remedy}"
        )


def require_neighbors(owner: str, parameter: str, search: Any, n_rows: int, who: str) -> None:
    """Refuse a search for more neighbours than there are rows."""
    wanted = getattr(search, "n_neighbors", 0)
    if n_rows < wanted:
        raise ValueError(
            f"{owner}: {who} has {n_rows} row{'s' * (n_rows != 1)}, fewer than {parameter}={wanted}. "
            f"Give {parameter}={n_rows} or less."
        )

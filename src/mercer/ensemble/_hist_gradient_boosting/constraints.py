"""Which features may be used together on one path of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from mercer._params import InvalidParameterError
from mercer._trees.store import IntArray


@dataclass(frozen=True)
class Groups:
    """Groups of features, as pairs of a group's number and a member: a path of a tree stays within one of them."""

    ids: IntArray
    members: IntArray


def check_interactions(given: Any, n_features: int, names: tuple[str, ...] | None) -> Groups | None:
    """The groups that `interaction_cst` allows; features that it leaves out form a group of their own."""
    if given is None:
        return None
    if isinstance(given, str):
        size = {"no_interactions": 1, "pairwise": 2}[given]
        groups = [set(group) for group in combinations(range(n_features), min(size, n_features))]
    else:
        groups = [_group(group, given, n_features, names) for group in given]
    groups = [group for group in groups if group]
    rest = set(range(n_features)).difference(*groups)
    if rest:
        groups.append(rest)
    members = [sorted(group) for group in groups]
    ids = np.repeat(np.arange(len(members)), [len(group) for group in members])
    return Groups(ids, np.concatenate(members).astype(np.int64))


def _group(group: Any, given: Any, n_features: int, names: tuple[str, ...] | None) -> set[int]:
    if isinstance(group, (str, bytes)) or not hasattr(group, "__iter__"):
        raise InvalidParameterError(
            f"interaction_cst={given!r} is not valid; it must be 'pairwise', 'no_interactions', or groups of features."
        )
    return {_feature(which, n_features, names) for which in group}


def _feature(which: Any, n_features: int, names: tuple[str, ...] | None) -> int:
    if isinstance(which, str) and names is not None and which in names:
        return names.index(which)
    if isinstance(which, (int, np.integer)) and 0 <= which < n_features:
        return int(which)
    raise InvalidParameterError(
        f"interaction_cst holds {which!r}; a feature must be an integer from 0 to {n_features - 1}, or the name of a column."
    )

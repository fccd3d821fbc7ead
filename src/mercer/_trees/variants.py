"""Trees for many values of one parameter from trees that are grown once."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from types import SimpleNamespace

from mercer._trees.cutting import cut_at_depths
from mercer._trees.pruning import prune, prune_each
from mercer._trees.store import TreeStore


def parameters_of_variants(max_leaf_nodes: int | None) -> list[str]:
    """The parameters for which one growth will do. Leaves that are counted go to the best nodes, wherever the depth ends."""
    return ["ccp_alpha"] if max_leaf_nodes is not None else ["max_depth", "ccp_alpha"]


def largest(name: str, params: Sequence[SimpleNamespace]) -> SimpleNamespace:
    """Parameters for a growth that all others can be cut from: to the largest depth, and not pruned."""
    out = copy.copy(params[0])
    out.ccp_alpha = 0.0
    if name == "max_depth":
        depths = [each.max_depth for each in params]
        out.max_depth = None if None in depths else max(depths)
    return out


def variants(store: TreeStore, name: str, params: Sequence[SimpleNamespace]) -> list[TreeStore]:
    """What growth and pruning by each of the parameters give, from trees that were grown by the `largest`."""
    if name == "ccp_alpha":
        return prune_each(store, [each.ccp_alpha for each in params])
    cut = cut_at_depths(store, [each.max_depth for each in params])
    return [prune(part, each.ccp_alpha) for part, each in zip(cut, params, strict=True)]

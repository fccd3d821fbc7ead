"""Metadata of fits that go on to an estimator, a splitter and a scorer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing

from mercer._wrapped import Metadata


def is_routing() -> bool:
    """Whether scikit-learn's metadata routing is enabled."""
    return bool(get_config()["enable_metadata_routing"])


def refuse_metadata(owner: Any, method: str, given: Mapping[str, Any], allowed: Collection[str] = ()) -> None:
    """Refuse what nobody could be told to take while routing is not enabled."""
    if not is_routing() and (unknown := sorted(given.keys() - set(allowed))):
        raise ValueError(
            f"{type(owner).__name__}.{method}: {unknown} can be passed only where metadata routing is enabled, by "
            f"sklearn.set_config(enable_metadata_routing=True). [{', '.join(unknown)}] are not supported otherwise."
        )


@dataclass(frozen=True)
class Routed:
    """What each part of a selection is given besides X and y."""

    estimator: Metadata = field(default_factory=Metadata)  # of its fit
    splitter: Mapping[str, Any] = field(default_factory=dict)
    scorer: Metadata = field(default_factory=Metadata)  # under `fit`, to be cut to rows alike


def route(owner: Any, method: str, given: Mapping[str, Any]) -> Any:
    """scikit-learn's routing of what a method was given."""
    return process_routing(owner, method, **given)

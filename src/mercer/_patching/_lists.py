"""Lists of what there is, as users' code sees it under the patch."""

from __future__ import annotations

import sklearn.utils

from mercer._patching._replacements import REPLACEMENTS

__all__ = ["all_estimators"]


def all_estimators(type_filter: str | list[str] | None = None) -> list[tuple[str, type]]:
    """scikit-learn's list of its estimators, with Mercer's class where the patch has put it: names and classes."""
    given = {replacement.peer: replacement for replacement in REPLACEMENTS.values() if isinstance(replacement.peer, type)}
    found = sklearn.utils.all_estimators(type_filter=type_filter)
    return [(name, given[cls].given if cls in given else cls) for name, cls in found]

"""What is said where a model comes from other versions than those that run."""

from __future__ import annotations

from collections.abc import Mapping

import sklearn
from sklearn.exceptions import InconsistentVersionWarning

import mercer
from mercer._trace import warn


class VersionWarning(InconsistentVersionWarning):  # type: ignore[misc]  # scikit-learn has no types
    """A model was stored by another version of Mercer or of scikit-learn: it may fail, or say something else than it did.

    Who filters scikit-learn's `InconsistentVersionWarning` filters this one too.
    """

    def __init__(self, message: str) -> None:
        Warning.__init__(self, message)

    def __str__(self) -> str:
        return str(self.args[0])


def warn_of_other_versions(what: str, written_by: Mapping[str, object]) -> None:
    """Warn unless `what` was stored by the versions that are installed; None stands for one that is not known."""
    installed = {"mercer": mercer.__version__, "scikit-learn": sklearn.__version__}
    others = [name for name, version in written_by.items() if version != installed[name]]
    if others:
        then = " and ".join(f"{name} {written_by[name] or 'of a version that it does not name'}" for name in others)
        now = " and ".join(f"{name} {installed[name]}" for name in others)
        warn(
            f"{what} was stored by {then}, and this is {now}: check its predictions, or go back to what stored it.",
            VersionWarning,
        )

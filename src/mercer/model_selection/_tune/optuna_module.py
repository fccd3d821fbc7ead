"""Optuna, imported where it is needed and kept quiet."""

from __future__ import annotations

import importlib.util
from typing import Any


def has_optuna() -> bool:
    return importlib.util.find_spec("optuna") is not None


def import_optuna(purpose: str) -> Any:
    """The module, which says nothing on its own below warnings from now on unless the user asks it to."""
    try:
        import optuna
    except ImportError as error:
        raise ImportError(f"tune: {purpose} needs Optuna: pip install 'mercer[tune]'") from error
    if optuna.logging.get_verbosity() == optuna.logging.INFO:  # its default: a line for every trial
        optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna

"""Structural risk: empirical risk, penalty and their sum over nested classes."""

from __future__ import annotations

from typing import Any

from mercer.plots._axes import make_axes, place_legend


def plot_structural_risk(found: Any, *, ax: Any = None) -> Any:
    """Draw the empirical risk, the penalty and their sum over nested classes, and mark the choice.

    Parameters
    ----------
    found : StructuralRisk
        What :func:`mercer.theory.structural_risk_minimization` returned.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.plots import plot_structural_risk
    >>> from mercer.theory import structural_risk_minimization
    >>> from mercer.tree import DecisionTreeClassifier
    >>> X = np.random.RandomState(0).normal(size=(200, 2))
    >>> family = [DecisionTreeClassifier(max_depth=d, random_state=0) for d in (1, 2, 3)]
    >>> found = structural_risk_minimization(family, X, X[:, 0] > 0, penalty="bic")
    >>> len(plot_structural_risk(found).lines)
    4
    """
    ax = make_axes(ax)
    places = range(len(found.labels))
    for values, label, style in (
        (found.risks, "empirical risk", "--o"),
        (found.penalties, "penalty", ":s"),
        (found.totals, "sum", "-D"),
    ):
        ax.plot(places, values, style, label=label, markersize=4)
    ax.axvline(found.best_index, color="0.5", linewidth=1, zorder=0)
    ax.set_xticks(list(places), found.labels)
    ax.grid(alpha=0.25)
    ax.set(xlabel="class of models, the smallest first", ylabel="risk", title=f"Structural risk ({found.penalty})")
    place_legend(ax, "best")
    return ax

"""What training left in `history_`, as curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._params import Bool, Null, check_value
from mercer.plots._axes import make_axes, place_legend, style
from mercer.plots._models import name_of

# What is drawn together: words in the names of figures.
_GROUPS = {
    "loss": ("loss", "objective", "penalty", "reconstruction", "kl", "elbo"),
    "score": ("score",),
    "rate": ("rate", "step"),
    "gradients": ("grad",),
}
_LABELS = {"loss": "loss", "score": "score", "rate": "learning rate", "gradients": "norm of the gradient"}


def plot_training(model: Any, what: str | Sequence[str] = "loss", *, log: bool | None = None, ax: Any = None) -> Any:
    """Draw figures of a fit against its iterations.

    Parameters
    ----------
    model : fitted estimator
        One whose `history_` has a record for each iteration (an epoch, for networks).
    what : {"loss", "score", "rate", "gradients"} or sequence of str, default="loss"
        Which figures: losses with their penalty and their parts, scores of held-out rows, the learning rate, the norms of the
        gradients of each layer; or the names of some, as the records have them.
    log : bool or None, default=None
        Whether the vertical axis is logarithmic; None for gradients, which vanish or explode by factors. Figures that are not
        positive are left out of such an axis.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.cluster import KMeans
    >>> from mercer.datasets import load_iris
    >>> from mercer.plots import plot_training
    >>> model = KMeans(3, random_state=0, n_init=1).fit(load_iris().data)
    >>> plot_training(model, ["inertia"]).get_title()
    'Training of KMeans'
    """
    check_value("plot_training", "log", log, Null() | Bool())
    history = _history(model)
    names = _names(model, history, what)
    ax = make_axes(ax)
    for index, name in enumerate(names):
        iterations, values = _curve(history, name)
        marker = "o" if len(values) == 1 else None  # a line of one point cannot be seen
        ax.plot(iterations, values, label=name.replace("_", " "), marker=marker, **style(index))
    has_epochs = all("epoch" in record for record in history)
    label = _LABELS.get(what, "") if isinstance(what, str) else ""
    ax.set(xlabel="epoch" if has_epochs else "iteration", ylabel=label, title=f"Training of {name_of(model)}")
    if log or (log is None and what == "gradients"):
        ax.set_yscale("log", nonpositive="mask")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(alpha=0.25)
    place_legend(ax, "best", most_inside=3)  # curves of layers leave no corner free
    return ax


def _history(model: Any) -> list[Mapping[str, float]]:
    if not isinstance(model, type) and hasattr(model, "fit"):
        check_is_fitted(model)
    history = getattr(model, "history_", None)
    if not history:
        raise TypeError(f"plot_training: {name_of(model)} has no history_; the model must have been fitted by iterations.")
    return list(history)


def _names(model: Any, history: list[Mapping[str, float]], what: str | Sequence[str]) -> list[str]:
    """Those figures of the records that are to be drawn, in the order in which they come there."""
    known = list(dict.fromkeys(name for record in history for name in record if name != "epoch"))
    if isinstance(what, str):
        if what not in _GROUPS:
            raise ValueError(
                f"plot_training: what={what!r} is not valid; it must be one of {list(_GROUPS)}, or a list of names."
            )
        names = [name for name in known if _belongs(name, what)]
    else:
        names = list(what)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ValueError(f"plot_training: what={what!r} is not in the history of {name_of(model)}, which has {known}.")
    return names


def _belongs(name: str, group: str) -> bool:
    """Whether one of the words of a name begins as the group says."""
    return any(part.startswith(_GROUPS[group]) for part in name.split("_"))


def _curve(history: list[Mapping[str, float]], name: str) -> tuple[FloatArray, FloatArray]:
    """Iterations and figures, where there is one: held-out rows are not scored in each."""
    points = [(record.get("epoch", k), record[name]) for k, record in enumerate(history, 1) if name in record]
    iterations, values = np.array(points, dtype=np.float64).T
    return iterations, values

"""The confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Null, OneOf, check_value
from mercer.metrics import confusion_matrix
from mercer.plots._axes import make_axes
from mercer.plots._models import predictions

_MOST_WITH_NUMBERS = 20  # classes; the cells of more have no room


def plot_confusion(
    y_true: Any,
    y_pred: Any,
    y: Any = None,
    *,
    labels: Any = None,
    normalize: str | None = None,
    sample_weight: Any = None,
    ax: Any = None,
) -> Any:
    """Draw the confusion matrix: one row a true class, one column a predicted one.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels. Or a fitted classifier and X.
    y : array-like of shape (n_samples,), default=None
        With a model in the first place: the labels of the rows of X.
    labels : array-like, default=None
        The classes to show, in this order; None for all, sorted.
    normalize : {"true", "pred", "all"} or None, default=None
        Show shares of each row, of each column or of all; None for counts, coloured by the share of the row.
    sample_weight : array-like of shape (n_samples,), default=None
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_confusion
    >>> ax = plot_confusion(["no", "no", "yes", "yes"], ["no", "yes", "yes", "yes"])
    >>> [text.get_text() for text in ax.texts]
    ['1', '1', '0', '2']
    """
    check_value("plot_confusion", "normalize", normalize, Null() | OneOf("true", "pred", "all"))
    y_true, y_pred = predictions("plot_confusion", y_true, y_pred, y)
    shown = np.union1d(y_true, y_pred) if labels is None else np.asarray(labels)
    cells = confusion_matrix(y_true, y_pred, labels=shown, normalize=normalize, sample_weight=sample_weight)
    totals = cells.sum(axis=1, keepdims=True)
    shares = cells / np.where(totals > 0, totals, 1) if normalize is None else cells
    ax = make_axes(ax)
    image = ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=max(1.0 if normalize != "all" else 0.0, float(shares.max())))
    names = [str(label) for label in shown.tolist()]
    named = range(0, len(names), -(-len(names) // _MOST_WITH_NUMBERS))  # of very many classes not all have a name
    is_long = max(map(len, names)) * len(named) > 40
    ax.set_xticks(named, [names[k] for k in named], rotation=90 if is_long else 0)
    ax.set_yticks(named, [names[k] for k in named])
    if len(names) <= _MOST_WITH_NUMBERS:
        _write_cells(ax, cells, shares, is_share=normalize is not None)
    else:
        ax.figure.colorbar(image, ax=ax, label="share")
    ax.set(xlabel="predicted class", ylabel="true class", title="Confusion matrix")
    return ax


def _write_cells(ax: Any, cells: FloatArray, shares: FloatArray, *, is_share: bool) -> None:
    """A number in each cell, light where the cell is dark."""
    size = 11 if len(cells) <= 6 else 9 if len(cells) <= 10 else 6
    middle = shares.max() / 2 if is_share else 0.5
    for i, j in np.ndindex(cells.shape):
        text = f"{cells[i, j]:.2f}" if is_share else f"{cells[i, j]:.4g}"
        if not is_share and float(cells[i, j]).is_integer():
            text = f"{int(cells[i, j])}"
        ax.text(j, i, text, ha="center", va="center", fontsize=size, color="white" if shares[i, j] > middle else "black")

"""The U-matrix of a self-organising map."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plots._axes import make_axes


def plot_umatrix(model: Any, *, labels: Any = None, ax: Any = None) -> Any:
    """Draw the units of a self-organising map, coloured by how far they are from their neighbours: dark ridges part clusters.

    Parameters
    ----------
    model : SelfOrganizingMap
        A fitted one.
    labels : array-like of shape (n_samples,) or None, default=None
        The class of each row of the fit; each unit is marked with the most frequent among the rows that it wins.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import SelfOrganizingMap
    >>> from mercer.plots import plot_umatrix
    >>> X = np.random.RandomState(0).uniform(size=(100, 2))
    >>> plot_umatrix(SelfOrganizingMap((4, 4), random_state=0).fit(X)).get_title()
    'U-matrix, 4 x 4 units'
    """
    from matplotlib.collections import PolyCollection
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "umatrix_")
    ax = make_axes(ax)
    positions, is_hexagonal = model.grid_positions_, model.topology == "hexagonal"
    outline = _hexagon() if is_hexagonal else np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    cells = PolyCollection(positions[:, None] + outline[None], cmap="viridis_r", edgecolor="white", linewidth=0.5)
    cells.set_array(model.umatrix_.ravel())
    ax.add_collection(cells)
    ax.figure.colorbar(cells, ax=ax, label="mean distance to the neighbours")
    if labels is not None:
        _mark(ax, model, np.asarray(labels))
    ax.set_xlim(positions[:, 0].min() - 0.6, positions[:, 0].max() + 0.6)
    ax.set_ylim(positions[:, 1].max() + 0.7, positions[:, 1].min() - 0.7)  # the first line of the grid is at the top
    n_rows, n_columns = model.umatrix_.shape
    ax.set(aspect="equal", xticks=[], yticks=[], title=f"U-matrix, {n_rows} x {n_columns} units")
    return ax


def _hexagon() -> Any:
    """Of width one, standing on a corner."""
    angles = np.pi / 6 + np.pi / 3 * np.arange(6)
    return np.column_stack([np.cos(angles), np.sin(angles)]) / np.sqrt(3)


def _mark(ax: Any, model: Any, labels: Any) -> None:
    if labels.shape != model.labels_.shape:
        raise ValueError(f"plot_umatrix: labels of shape {labels.shape} are not valid; the fit had {len(model.labels_)} rows.")
    names, codes = np.unique(labels, return_inverse=True)
    counts = np.zeros((len(model.grid_positions_), len(names)), dtype=np.int64)
    np.add.at(counts, (model.labels_, codes), 1)
    for place, of_unit in zip(model.grid_positions_, counts, strict=True):
        if of_unit.any():
            name = str(names[of_unit.argmax()])
            box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.75, "linewidth": 0}
            ax.text(*place, name, ha="center", va="center", fontsize=8, color="black", bbox=box)

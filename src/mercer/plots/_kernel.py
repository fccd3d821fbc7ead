"""A kernel matrix, with the rows of each class together."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import check_labels
from mercer._rows import count_rows
from mercer.kernels import KERNELS, Precomputed, as_kernel
from mercer.plots._axes import make_axes


def plot_kernel(kernel: Any, X: Any, y: Any = None, *, ax: Any = None, **params: Any) -> Any:
    """Draw the kernel matrix of some rows, sorted by class: a kernel that suits the classes has bright squares on the diagonal.

    Parameters
    ----------
    kernel : str, Kernel or callable
        As estimators take it; "precomputed" where X is the kernel matrix.
    X : rows, or the kernel matrix
    y : array-like of shape (n_samples,), default=None
        The class of each row; rows stay in their order if None.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.
    **params
        Parameters of a kernel that is named: `gamma`, `degree` and `coef0`.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.datasets import load_iris
    >>> from mercer.plots import plot_kernel
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_kernel("rbf", X, y, gamma=0.5)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['0', '1', '2']
    """
    made = as_kernel(kernel, X, **params)
    n_rows = count_rows(X)
    values = made.on(X).rows(np.arange(n_rows)) if isinstance(made, Precomputed) else made(X)
    ax = make_axes(ax)
    if y is not None:
        classes, codes = check_labels(y)
        if len(codes) != n_rows:
            raise ValueError(f"plot_kernel: y has {len(codes)} labels and X {n_rows} rows; there must be one for each row.")
        order = np.argsort(codes, kind="stable")
        values = values[np.ix_(order, order)]
        ends = np.cumsum(np.bincount(codes, minlength=len(classes)))
        middles = (np.concatenate([[0], ends[:-1]]) + ends - 1) / 2
        for end in ends[:-1]:
            ax.axhline(end - 0.5, color="white", linewidth=1.2)
            ax.axvline(end - 0.5, color="white", linewidth=1.2)
        names = [str(label) for label in classes]
        ax.set_xticks(middles, names)
        ax.set_yticks(middles, names)
    low, high = float(values.min()), float(values.max())
    has_signs = low < 0 < high
    most = max(-low, high)
    image = ax.imshow(
        values,
        cmap="RdBu_r" if has_signs else "viridis",  # zero in the middle where there are both signs
        vmin=-most if has_signs else low,
        vmax=most if has_signs else high,
        interpolation="nearest",
    )
    ax.figure.colorbar(image, ax=ax, label="k(x, y)")
    ax.set(title=_title(kernel, made), xlabel="class" if y is not None else "row", ylabel="class" if y is not None else "row")
    return ax


def _title(kernel: Any, made: Any) -> str:
    if isinstance(kernel, str) and kernel in KERNELS:
        numbers = [f"{name} = {value:.3g}" for name, value in made.get_params().items() if isinstance(value, float)]
        return f"{kernel} kernel" + (f" ({', '.join(numbers)})" if numbers else "")
    return repr(made) if len(repr(made)) <= 60 else type(made).__name__

"""What an encoder makes of rows, and what a decoder makes of the plane of codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._params import Integer, Interval, Null, check_value
from mercer.plots._axes import make_axes, place_legend
from mercer.plots._models import name_of
from mercer.plots._points import draw_points, draw_shaded_points

_MOST_CLASSES = 20  # more different numbers are values, not classes
_USUAL = (-2.0, 2.0)  # where 95 % of a standard normal code are
_SHARE = 0.98  # of the codes of X, along each axis, that the picture spans


def plot_latent(model: Any, X: Any, y: Any = None, *, ax: Any = None) -> Any:
    """Draw the codes that a model gives rows, as points of a plane.

    Codes of more than two dimensions are drawn in the plane of their two principal components, and the axes say what share of
    their variance each explains.

    Parameters
    ----------
    model : fitted estimator with `transform`
        An autoencoder, say.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,), default=None
        What colours the points: classes, or numbers where there are more than 20 different ones.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.decomposition import PCA
    >>> from mercer.plots import plot_latent
    >>> X, y = load_iris(return_X_y=True)
    >>> plot_latent(PCA(3).fit(X), X, y).get_title()
    'Codes of PCA: 2 principal components of 3 dimensions'
    """
    codes = _codes("plot_latent", model, X)
    title, labels = f"Codes of {name_of(model)}", ["$z_1$", "$z_2$"]
    points = codes
    if codes.shape[1] > 2:
        from mercer.decomposition import PCA

        pca = PCA(2).fit(codes)
        points = np.asarray(pca.transform(codes))
        title += f": 2 principal components of {codes.shape[1]} dimensions"
        shares = pca.explained_variance_ratio_
        labels = [f"component {k} ({share:.1%} of the variance)" for k, share in enumerate(shares, 1)]
    ax = make_axes(ax)
    if y is None or not _is_numeric(y):
        draw_points("plot_latent", ax, points, y)
    else:
        draw_shaded_points("plot_latent", ax, points, np.asarray(y, dtype=np.float64))
    ax.set(xlabel=labels[0], ylabel=labels[1], title=title)
    place_legend(ax, "best")
    return ax


def plot_decoded(
    model: Any,
    X: Any = None,
    *,
    image_shape: Sequence[int],
    n_points: int = 15,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    ax: Any = None,
) -> Any:
    """Draw what a model decodes a grid of two-dimensional codes to, each an image at the place of its code.

    Parameters
    ----------
    model : fitted estimator with `inverse_transform`
        An autoencoder with a code of two dimensions, say.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        Rows whose codes the grid is to span, all but the outermost hundredth on each side. None: from -2 to 2, where most
        codes of a variational autoencoder are.
    image_shape : (height, width) or (height, width, 3)
        The shape of the image that a row is: shades of grey, the larger the lighter, or colours from 0 to 1.
    n_points : int, default=15
        The number of images along each axis.
    xlim, ylim : pair of float or None, default=None
        The range of each code, from the centres of the first to those of the last images, in place of what X says.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer.decomposition import PCA
    >>> from mercer.plots import plot_decoded
    >>> X = load_digits().data
    >>> ax = plot_decoded(PCA(2).fit(X), X, image_shape=(8, 8), n_points=4)
    >>> ax.images[0].get_array().shape
    (32, 32)
    """
    check_value("plot_decoded", "n_points", n_points, Integer(2))
    shape = _checked_shape(image_shape)
    if not hasattr(model, "inverse_transform"):
        raise TypeError(f"plot_decoded: {name_of(model)} has no inverse_transform; it must be a model that decodes.")
    check_is_fitted(model)
    x_range, y_range = (_USUAL, _USUAL) if X is None else _range(model, X)
    horizontal, vertical = _axis("xlim", xlim, x_range, n_points), _axis("ylim", ylim, y_range, n_points)
    codes = np.column_stack([axis.ravel() for axis in np.meshgrid(horizontal, vertical[::-1])])  # the first line is at the top
    rows = np.asarray(model.inverse_transform(codes))
    if rows.ndim != 2 or rows.shape[1] != np.prod(shape):
        raise ValueError(
            f"plot_decoded: image_shape={image_shape!r} is not valid; it must hold the {rows[0].size} values of a decoded row."
        )
    ax = make_axes(ax)
    (left, right), (bottom, top) = _edges(horizontal), _edges(vertical)
    mosaic, extent = _mosaic(rows, n_points, shape), (left[0], right[-1], bottom[0], top[-1])
    ax.imshow(mosaic, extent=extent, cmap="gray", interpolation="nearest", aspect="auto")
    ax.vlines(left[1:], *extent[2:], color="white", linewidth=1.5)
    ax.hlines(bottom[1:], *extent[:2], color="white", linewidth=1.5)
    ax.set_box_aspect(shape[0] / shape[1])  # pixels are squares
    ax.set(xlabel="$z_1$", ylabel="$z_2$", title=f"What {name_of(model)} decodes codes to")
    return ax


def _axis(name: str, limits: Any, usual: tuple[float, float], n_points: int) -> FloatArray:
    """The codes along an axis, where the centres of images are."""
    given: tuple[float, float] | None = check_value("plot_decoded", name, limits, Null() | Interval())
    return np.linspace(*(usual if given is None else given), n_points)


def _edges(centres: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where images begin and end."""
    half = (centres[1] - centres[0]) / 2
    return centres - half, centres + half


def _mosaic(rows: FloatArray, n_points: int, shape: tuple[int, ...]) -> FloatArray:
    """Images side by side, n_points in a line and so many lines."""
    height, width, *colours = shape
    tiles = rows.reshape(n_points, n_points, height, width, *colours).swapaxes(1, 2)
    mosaic: FloatArray = tiles.reshape(n_points * height, n_points * width, *colours)
    return np.clip(mosaic, 0, 1) if colours else mosaic


def _codes(owner: str, model: Any, X: Any) -> FloatArray:
    if not hasattr(model, "transform"):
        raise TypeError(f"{owner}: {name_of(model)} has no transform; it must be a model that gives rows codes.")
    check_is_fitted(model)
    codes = model.transform(X)
    codes = np.asarray(codes.toarray() if hasattr(codes, "toarray") else codes, dtype=np.float64)
    if codes.ndim != 2 or codes.shape[1] < 2:
        raise ValueError(
            f"{owner}: {name_of(model)} gives codes of shape {codes.shape}; they must have two dimensions at least."
        )
    return codes


def _range(model: Any, X: Any) -> list[tuple[float, float]]:
    """That of most codes of X, along each axis."""
    codes = _codes("plot_decoded", model, X)
    if codes.shape[1] != 2:
        raise ValueError(f"plot_decoded: {name_of(model)} has codes of {codes.shape[1]} dimensions; a plane needs two.")
    low, high = np.quantile(codes, [(1 - _SHARE) / 2, (1 + _SHARE) / 2], axis=0)
    return [(float(a), float(b)) if a < b else (float(a) - 1, float(b) + 1) for a, b in zip(low, high, strict=True)]


def _is_numeric(y: Any) -> bool:
    values = np.asarray(y)
    return values.dtype.kind in "fiu" and len(np.unique(values)) > _MOST_CLASSES


def _checked_shape(image_shape: Any) -> tuple[int, ...]:
    shape = np.asarray(image_shape)
    is_valid = shape.ndim == 1 and shape.dtype.kind in "iu" and len(shape) in (2, 3) and bool((shape > 0).all())
    if not is_valid or (len(shape) == 3 and shape[2] != 3):
        raise ValueError(
            f"plot_decoded: image_shape={image_shape!r} is not valid; it must be (height, width) or (height, width, 3)."
        )
    return tuple(shape.tolist())

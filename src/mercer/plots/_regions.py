"""The regions of a classifier in a plane: what it predicts at every place, and how that is drawn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray, check_labels
from mercer.plots._axes import COLOURS
from mercer.plots._models import name_of
from mercer.plots._plane import Plane

Labels = npt.NDArray[Any]

_MARKERS = "osD^vPX"
_SIZE = 26.0  # square points that a row takes
_FAINT, _STRONG = 0.12, 0.55  # how much of its colour a region shows, from no certainty to all
_NOT_SAID = 0.4  # stands for the certainty of a model that gives no probabilities


class Regions(NamedTuple):
    """What a model says of every place."""

    classes: Labels
    codes: npt.NDArray[np.intp]  # the place of the predicted class
    certainty: FloatArray  # from 0 (no class is likelier) to 1
    lead: FloatArray  # of each class over the best of the others, positive in its region: one column a class


def find_regions(owner: str, model: Any, plane: Plane, y: Any) -> Regions:
    predicted = np.asarray(model.predict(plane.grid))
    if predicted.ndim != 1:
        raise ValueError(f"{owner}: {name_of(model)} predicts {predicted.shape[1]} outputs; it must predict one.")
    known = getattr(model, "classes_", None)
    classes = np.unique(predicted if y is None else np.union1d(predicted, y)) if known is None else np.asarray(known)
    codes = np.searchsorted(classes, predicted)
    shares = np.asarray(model.predict_proba(plane.grid)) if hasattr(model, "predict_proba") else None
    least = 1 / max(len(classes), 2)  # no class is likelier than another
    certainty = np.full(len(codes), _NOT_SAID) if shares is None else (shares.max(axis=1) - least) / (1 - least)
    lead = _lead(_values(model, plane, codes, len(classes), shares))
    return Regions(classes, codes, np.clip(certainty, 0, 1), lead)


def _values(model: Any, plane: Plane, codes: npt.NDArray[np.intp], n_classes: int, shares: FloatArray | None) -> FloatArray:
    """Values of each class, of which the largest is that of the predicted class.

    Those of the model make smooth lines; but the prediction decides, and a tuned threshold, say, chooses another class than
    the likeliest. Then a class has 1 where it is predicted and 0 elsewhere.
    """
    candidates = [] if shares is None else [shares]
    if hasattr(model, "decision_function"):
        values = np.asarray(model.decision_function(plane.grid))
        candidates.insert(0, np.column_stack([-values, values]) if values.ndim == 1 else values)
    for values in candidates:
        if values.shape == (len(codes), n_classes) and (values.argmax(axis=1) == codes).all():
            return np.asarray(values, dtype=np.float64)
    return np.asarray(codes[:, None] == np.arange(n_classes), dtype=np.float64)


def _lead(values: FloatArray) -> FloatArray:
    """How far each column is ahead of the best of the others."""
    if values.shape[1] < 2:
        return np.ones_like(values)
    second, first = np.sort(values, axis=1)[:, -2:].T
    is_first = values == first[:, None]
    return np.asarray(np.where(is_first, (first - second)[:, None], values - first[:, None]))


def draw_regions(ax: Any, plane: Plane, regions: Regions) -> None:
    """Every place in the colour of its class, the stronger the surer it is."""
    from matplotlib.colors import to_rgb

    colours = np.array([to_rgb(_colour(k)) for k in range(len(regions.classes))])[regions.codes]
    strength = (_FAINT + (_STRONG - _FAINT) * regions.certainty)[:, None]
    shades = plane.picture(1 - strength * (1 - colours))
    ax.imshow(shades, extent=plane.extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0)


def draw_rows(ax: Any, plane: Plane, classes: Labels, y: Any, sizes: FloatArray | None = None) -> None:
    """The rows in the colours and with the marks of their classes, of given sizes or one."""
    alpha = float(np.clip(300 / len(plane.points), 0.25, 0.9))  # many points would hide each other
    look: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.5, "alpha": alpha, "zorder": 3}
    sizes = np.full(len(plane.points), _SIZE) if sizes is None else sizes
    if y is None:
        ax.scatter(*plane.points.T, s=sizes, color="#444444", **look)
        return
    labels, codes = check_labels(y)
    known = classes.tolist()
    for k, label in enumerate(labels.tolist()):
        place = known.index(label) if label in known else len(known) + k
        look |= {"color": _colour(place), "marker": _marker(place)}
        ax.scatter(*plane.points[codes == k].T, s=sizes[codes == k], **look)
        ax.scatter([], [], s=_SIZE, label=str(label), **look)  # the legend shows one size, whatever those of the rows


def draw_boundaries(ax: Any, plane: Plane, regions: Regions) -> None:
    """A line around each region; that of the first of two classes is that of the second too."""
    present = np.unique(regions.codes)
    for k in present[1:] if len(present) == 2 else present:
        lead = plane.picture(regions.lead[:, k])
        if lead.min() < 0 < lead.max():
            ax.contour(plane.horizontal, plane.vertical, lead, levels=[0.0], colors="black", linewidths=1.4, zorder=2)
    if len(present) > 1:
        ax.plot([], [], color="black", linewidth=1.4, label="boundary")


def _marker(place: int) -> str:
    """The mark of a class; classes that share a colour have different ones."""
    return _MARKERS[(place + place // len(COLOURS)) % len(_MARKERS)]


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]

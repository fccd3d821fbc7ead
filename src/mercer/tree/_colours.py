"""The colours of nodes in pictures of trees."""

from __future__ import annotations

import colorsys

import numpy as np

from mercer.tree._node_text import NamedTree


class NodeColours:
    """Of classes: a hue each, paler where others are near. Of numbers: darker where larger. Of several outputs: where purer."""

    def __init__(self, named: NamedTree) -> None:
        self.tree, self.is_classification = named.tree, named.is_classification
        n_hues = len(named.classes[0]) if len(named.classes) == 1 else 1
        self.hues = [_to_bytes(hue) for hue in np.arange(25, 385, 360.0 / n_hues)[:n_hues].tolist()]
        if self.tree.n_outputs > 1:
            self.level = -self.tree.impurity
        else:
            self.level = self.tree.value[:, 0, 0]
        self.bounds = (float(np.nanmin(self.level)), float(np.nanmax(self.level)))

    def __call__(self, node: int) -> str:
        """A colour as "#rrggbb"."""
        if self.is_classification and self.tree.n_outputs == 1:
            shares = self.tree.value[node, 0]
            hue = self.hues[int(shares.argmax())]
            *_, second, first = [0.0, *np.sort(shares).tolist()] if len(shares) > 1 else [0.0, 0.0]
            strength = (first - second) / (1 - second)
        else:
            hue = self.hues[0]
            low, high = self.bounds
            level = float(self.level[node])
            strength = (level - low) / (high - low) if high > low and not np.isnan(level) else 0.0
        return "#" + "".join(f"{round(strength * part + (1 - strength) * 255):02x}" for part in hue)


def _to_bytes(hue: float) -> list[int]:
    """Red, green and blue of a hue in degrees, in a light and rather strong shade."""
    return [int(255 * part) for part in colorsys.hsv_to_rgb(hue / 360 % 1, 0.75, 0.9)]

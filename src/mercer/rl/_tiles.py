"""`TileCoding`: features of points of a box."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._params import Integer, check_value
from mercer._saved import saved


@saved("mercer.rl.TileCoding")
class TileCoding:
    """Features of a box: the tiles of several shifted grids that a point lies in.

    What is learnt at a point is learnt for all that share tiles with it, the more the more they share.

    Parameters
    ----------
    low, high : array-like of shape (n_axes,)
        The corners of the box. Points outside count as at its border.
    n_tiles : int or array-like of int, default=8
        Into how many tiles an axis is cut, of all or of each.
    n_tilings : int, default=8
        The number of grids, at most 64.

    Attributes
    ----------
    n_features : int
        The number of tiles of all grids.

    Notes
    -----
    Grid k of m is shifted along axis j by k (2 j + 1) / m of a tile, so that no direction is preferred. Nothing is hashed: two
    tiles never share a weight.

    Examples
    --------
    >>> from mercer.rl import TileCoding
    >>> coding = TileCoding([0.0], [1.0], n_tiles=4, n_tilings=2)
    >>> coding.encode([[0.2], [0.3]])
    array([[0, 6],
           [1, 6]], dtype=int32)

    References
    ----------
    R. Sutton and A. Barto, Reinforcement Learning (MIT Press, 2018), section 9.5.4.
    """

    def __init__(self, low: Any, high: Any, n_tiles: Any = 8, n_tilings: int = 8) -> None:
        self.low, self.high = (np.atleast_1d(np.array(end, dtype=np.float64)) for end in (low, high))
        if self.low.ndim != 1 or self.low.shape != self.high.shape or not np.isfinite(self.high - self.low).all():
            raise ValueError(f"TileCoding: low={low!r} and high={high!r} must be finite, one number for each axis.")
        if not (self.low < self.high).all():
            axis = int(np.flatnonzero(~(self.low < self.high))[0])
            raise ValueError(f"TileCoding: low[{axis}]={self.low[axis]:g} must be below high[{axis}]={self.high[axis]:g}.")
        given = np.broadcast_to(np.asarray(n_tiles), self.low.shape) if np.ndim(n_tiles) == 0 else np.asarray(n_tiles)
        if given.shape != self.low.shape:
            raise ValueError(f"TileCoding: n_tiles={n_tiles!r} must be one number, or one for each of {len(self.low)} axes.")
        self.n_tiles = np.array([check_value("TileCoding", "n_tiles", count, Integer(1)) for count in given.tolist()])
        self.n_tilings = check_value("TileCoding", "n_tilings", n_tilings, Integer(1, most=64))

    @lazy_property
    def _tiling(self) -> Any:
        return kernels.Tiling(self.low, self.high, self.n_tiles.astype(np.int64), self.n_tilings)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_tiling"}

    @property
    def n_features(self) -> int:
        return int(self._tiling.n_features)

    def encode(self, points: Any) -> npt.NDArray[np.int32]:
        """The tile of each grid for each point, of shape (n_points, n_tilings)."""
        given = np.ascontiguousarray(points, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != len(self.low):
            raise ValueError(f"TileCoding: points have the shape {given.shape}; it must be (n_points, {len(self.low)}).")
        tiles = np.empty((len(given), self.n_tilings), dtype=np.int32)
        self._tiling.encode(given, tiles)
        return tiles

    def __repr__(self) -> str:
        return (
            f"TileCoding(low={self.low.tolist()}, high={self.high.tolist()}, n_tiles={self.n_tiles.tolist()}, "
            f"n_tilings={self.n_tilings})"
        )

"""Grids of self-organising maps: where the units are, which are neighbours, and how one follows another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray

_SLACK = 1e-9  # of distances on the grid, which are computed


class MapGrid:
    """Units in rows and columns. Neighbours are at the distance 1: a unit inside a rectangular grid has four, one inside a
    hexagonal grid, whose odd rows are moved by half a unit, has six.
    """

    def __init__(self, shape: tuple[int, int], topology: str) -> None:
        self.shape, self._is_hexagonal = shape, topology == "hexagonal"
        row, column = (each.ravel().astype(np.float64) for each in np.indices(shape))
        if self._is_hexagonal:
            column, row = column + 0.5 * (row % 2), row * np.sqrt(3) / 2
        self.positions: FloatArray = np.column_stack([column, row])
        offsets = self.positions[:, None] - self.positions[None]
        self.squared_distances: FloatArray = np.einsum("ijk,ijk->ij", offsets, offsets)

    @property
    def n_units(self) -> int:
        return len(self.positions)

    @property
    def are_neighbors(self) -> npt.NDArray[np.bool_]:
        return (self.squared_distances > 0.5) & (self.squared_distances < 1 + _SLACK)

    @property
    def are_adjacent(self) -> npt.NDArray[np.bool_]:
        """Neighbours, and in a rectangular grid those across a corner too."""
        most = 1 if self._is_hexagonal else 2
        return (self.squared_distances > 0.5) & (self.squared_distances < most + _SLACK)

    def neighborhood(self, kind: str, radius: float) -> FloatArray:
        """How strongly each unit follows each: exp(-q / (2 r^2)) of their squared distance q, or 1 up to r and 0 beyond."""
        squared = self.squared_distances
        if kind == "bubble":
            return (squared <= radius * radius).astype(np.float64)
        if radius == 0:
            return np.eye(self.n_units)
        return np.exp(-squared / (2 * radius * radius))

    def distance_matrix(self, units: FloatArray) -> FloatArray:
        """The U-matrix: for each unit the mean distance of its vector to those of its neighbours."""
        found = np.zeros(self.n_units)
        for unit, near in enumerate(self.are_neighbors):
            if near.any():
                found[unit] = np.linalg.norm(units[near] - units[unit], axis=1).mean()
        return found.reshape(self.shape)

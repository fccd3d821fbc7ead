"""Adaptive quadrature in one and two dimensions, many cells at a time: integrands that jump or bend anywhere, by halving."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer._arrays import FloatArray

# The nodes of Gauss and Kronrod on [-1, 1] (7 and 15 points) from the centre out, and their weights.
_NODES = np.array(
    [
        *(0.0, 0.207784955007898468, 0.405845151377397167, 0.586087235467691130),
        *(0.741531185599394440, 0.864864423359769073, 0.949107912342758525, 0.991455371120812640),
    ]
)
_KRONROD = np.array(
    [
        *(0.209482141084727828, 0.204432940075298892, 0.190350578064785410, 0.169004726639267903),
        *(0.140653259715525919, 0.104790010322250184, 0.063092092629978553, 0.022935322010529225),
    ]
)
_GAUSS = np.array([0.417959183673469388, 0.0, 0.381830050505118945, 0.0, 0.279705391489276668, 0.0, 0.129484966168869693, 0.0])

NODES = np.concatenate([-_NODES[:0:-1], _NODES])
KRONROD = np.concatenate([_KRONROD[:0:-1], _KRONROD])
GAUSS = np.concatenate([_GAUSS[:0:-1], _GAUSS])

FIRST_CELLS = 16  # a side: a narrow peak must not lie between the nodes
MOST_EVALUATIONS = 20_000_000
BATCH = 200_000  # evaluations at a time

Integrand = Callable[[FloatArray], FloatArray]  # (n, d) points in [0, 1]^d -> (n, m) values


def integrate(function: Integrand, n_dimensions: int, *, tol: float) -> tuple[FloatArray, FloatArray]:
    """The integrals of m functions over [0, 1]^d, d of 1 or 2, and bounds of their errors.

    Cells are halved along every side, those of the largest error first, until the errors sum to `tol` or evaluations run out.
    """
    nodes, weights, coarse = _rule(n_dimensions)
    side = 1 / FIRST_CELLS
    corners = np.stack(np.meshgrid(*[np.arange(FIRST_CELLS) * side] * n_dimensions, indexing="ij"), axis=-1)
    corners, sides = corners.reshape(-1, n_dimensions), np.full(FIRST_CELLS**n_dimensions, side)
    values, errors = _estimates(function, corners, sides, nodes, weights, coarse)
    n_evaluations = len(corners) * len(nodes)
    while errors.sum(axis=0).max() > tol and n_evaluations < MOST_EVALUATIONS:
        worst = errors.max(axis=1)
        order = np.argsort(-worst)
        left = np.cumsum(worst[order][::-1])[::-1]  # what stays if all before are exact
        n_split = max(1, int(np.searchsorted(-left, -tol / 2)))
        split, kept = order[:n_split], order[n_split:]
        if sides[split].min() < 1e-15:
            break
        half = sides[split] / 2
        offsets = np.stack(np.meshgrid(*[[0.0, 1.0]] * n_dimensions, indexing="ij"), axis=-1).reshape(-1, n_dimensions)
        parts = (corners[split][:, None, :] + offsets * half[:, None, None]).reshape(-1, n_dimensions)
        halves = np.repeat(half, len(offsets))
        found = _estimates(function, parts, halves, nodes, weights, coarse)
        n_evaluations += len(parts) * len(nodes)
        corners, sides = np.concatenate([corners[kept], parts]), np.concatenate([sides[kept], halves])
        values, errors = np.concatenate([values[kept], found[0]]), np.concatenate([errors[kept], found[1]])
    return values.sum(axis=0), errors.sum(axis=0)


def _rule(n_dimensions: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes in [0, 1]^d, and the weights of the fine and the coarse rule."""
    nodes, fine, coarse = (NODES + 1) / 2, KRONROD / 2, GAUSS / 2
    if n_dimensions == 1:
        return nodes[:, None], fine, coarse
    grid = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 2)
    return grid, np.outer(fine, fine).ravel(), np.outer(coarse, coarse).ravel()


def _estimates(
    function: Integrand, corners: FloatArray, sides: FloatArray, nodes: FloatArray, weights: FloatArray, coarse: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The integral over each cell by the fine rule, and its distance from the coarse one."""
    found = []
    step = max(1, BATCH // len(nodes))
    for first in range(0, len(corners), step):
        of_cells = slice(first, first + step)
        points = corners[of_cells, None, :] + sides[of_cells, None, None] * nodes
        values = function(points.reshape(-1, nodes.shape[1])).reshape(len(points), len(nodes), -1)
        volumes = sides[of_cells, None] ** nodes.shape[1]
        fine, rough = (np.einsum("n,cnm->cm", rule, values) * volumes for rule in (weights, coarse))
        found.append((fine, np.abs(fine - rough)))
    fines, errors = zip(*found, strict=True)
    return np.concatenate(fines), np.concatenate(errors)

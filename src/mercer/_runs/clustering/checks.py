"""Whether clusters are there: do they come back when rows are left out, and are they clearer than in a table without any?

Stability is the adjusted Rand index between the clusters of all rows and those of eight tenths of them, over several draws. The
tables without clusters (Tibshirani, Walther and Hastie, 2001) are drawn from one cloud with the correlations of the data, once
bell-shaped, with each column's own tails but a single hump, and once flat along the principal components; columns of few values
keep these values, and a column of categories is shuffled. A clustering must be clearer than what its own method finds there
and than what k-means does, in tables of either shape: some methods find nothing there at all, so that anything would do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from mercer._arrays import FloatArray
from mercer._runs.clustering.measures import silhouette
from mercer._runs.clustering.methods import Data, Trial, method_of
from mercer.metrics import adjusted_rand_score
from mercer.preprocessing import ColumnReport

N_DRAWS = 8
N_TABLES = 5  # of each shape
MOST_CHECKED = 1_000  # rows
SHAPES = ("bell-shaped", "flat")
_KEPT = 0.8
_FEW_VALUES = 20
_N_DEVIATIONS = 3.0
_LEAST_DEVIATION = 0.005
_MARGIN = 0.03  # of the silhouette, for what the two shapes do not cover; of many columns, where silhouettes are low, a share
_MARGIN_SHARE = 0.25
_CELLS = 512  # of a density
_HALVINGS = 14
_RIPPLE = 0.1  # of the highest


@dataclass(frozen=True)
class Stability:
    """Adjusted Rand indices over the draws."""

    mean: float
    spread: float


@dataclass(frozen=True)
class Reference:
    """Silhouettes in tables without clusters."""

    mean: float
    high: float  # what a table without clusters hardly ever reaches


def stability_of(trial: Trial, X: FloatArray, seed: int) -> Stability:
    """How much of the clusters comes back without a fifth of the rows."""
    whole, _ = trial.method.fit(trial.settings, Data(X), seed)
    rng = np.random.default_rng(seed)
    scores = []
    for _ in range(N_DRAWS):
        rows = np.sort(rng.choice(len(X), int(np.ceil(_KEPT * len(X))), replace=False))
        part, _ = trial.method.fit(trial.settings, Data(X[rows]), seed)
        scores.append(float(adjusted_rand_score(whole[rows], part)))
    return Stability(float(np.mean(scores)), float(np.std(scores)))


class ReferenceTables:
    """Tables without clusters that have the shape of the data, drawn once for all methods."""

    def __init__(self, X: FloatArray, report: Sequence[ColumnReport], names: Sequence[str], seed: int) -> None:
        self._X, self._seed = X, seed
        self._single, self._grouped = _blocks(X, report, names)
        self._tables: dict[str, list[Data]] = {}
        self._scores: dict[tuple[str, str], list[float]] = {}

    def scores(self, trial: Trial, shape: str, seed: int) -> list[float]:
        """The silhouette of a clustering of each table of a shape; where it finds no two clusters, nothing is clear."""
        key = (trial.name, shape)
        if key not in self._scores:
            labels = [(data, trial.method.fit(trial.settings, data, seed)[0]) for data in self._of(shape)]
            self._scores[key] = [silhouette(data.X, found, seed) or 0.0 for data, found in labels]
        return self._scores[key]

    def _of(self, shape: str) -> list[Data]:
        if shape not in self._tables:
            rng = np.random.default_rng([self._seed, SHAPES.index(shape)])
            self._tables[shape] = [Data(self._draw(shape, rng)) for _ in range(N_TABLES)]
        return self._tables[shape]

    def _draw(self, shape: str, rng: np.random.Generator) -> FloatArray:
        drawn = np.empty_like(self._X)
        if self._single:
            drawn[:, self._single] = self._cloud(self._X[:, self._single], shape, rng)
        for group in self._grouped:
            drawn[:, group] = self._X[rng.permutation(len(self._X))][:, group]
        return drawn

    def _cloud(self, values: FloatArray, shape: str, rng: np.random.Generator) -> FloatArray:
        """One cloud with the correlations of these columns; where a column has few values, they are given out by rank."""
        mean = values.mean(axis=0)
        _, singular, axes = np.linalg.svd(values - mean, full_matrices=False)
        scores = (values - mean) @ axes.T
        if shape == "flat":
            draws = rng.uniform(scores.min(axis=0), scores.max(axis=0), size=scores.shape)
        else:
            draws = rng.normal(size=scores.shape) * singular / np.sqrt(len(values))
        cloud: FloatArray = mean + draws @ axes
        for column in range(values.shape[1]):
            ranked = np.argsort(cloud[:, column], kind="stable")
            if len(np.unique(values[:, column])) <= _FEW_VALUES:
                cloud[ranked, column] = np.sort(values[:, column])
            elif shape == "bell-shaped":
                cloud[ranked, column] = _with_one_hump(values[:, column], rng)
        return cloud


def _with_one_hump(values: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A draw from these values, smoothed just until they have one hump (Silverman, 1981): long tails stay, clusters go."""
    low, high = float(values.min()), float(values.max())
    spread = float(values.std())
    if not high > low:
        return np.sort(values)
    step = (high - low) / _CELLS
    padded = np.pad(np.histogram(values, bins=_CELLS, range=(low, high))[0].astype(float), _CELLS // 2)
    narrow, wide = 0.0, float(_CELLS)  # bandwidths in cells: too little, and enough
    for _ in range(_HALVINGS):
        middle = (narrow + wide) / 2
        narrow, wide = (narrow, middle) if _n_humps(gaussian_filter1d(padded, middle, mode="constant")) <= 1 else (middle, wide)
    width = wide * step
    centre = values.mean()
    smoothed = rng.choice(values, len(values)) - centre + width * rng.normal(size=len(values))
    return np.sort(centre + smoothed / np.sqrt(1 + (width / spread) ** 2))  # as wide as before


def _n_humps(density: FloatArray) -> int:
    """Those that are more than a ripple in a tail."""
    is_higher = (density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:])
    return int(np.sum(is_higher & (density[1:-1] >= _RIPPLE * density.max())))


def _blocks(X: FloatArray, report: Sequence[ColumnReport], names: Sequence[str]) -> tuple[list[int], list[list[int]]]:
    """Columns that are amounts, and groups of columns that stand for one column of categories."""
    places = {name: place for place, name in enumerate(names)}
    grouped = [[places[name] for name in column.outputs] for column in report if column.used and column.kind == "category"]
    taken = {place for group in grouped for place in group}
    return [place for place in range(X.shape[1]) if place not in taken], grouped


def reference_of(trial: Trial, n_clusters: int, tables: ReferenceTables, seed: int) -> Reference:
    """What the method, or k-means with as many clusters, finds where there is nothing."""
    round_ones = Trial(method_of("KMeans"), {"n_clusters": n_clusters})
    found = []
    for shape in SHAPES:
        for each in {trial.name: trial, round_ones.name: round_ones}.values():
            scores = tables.scores(each, shape, seed)
            deviation = max(float(np.std(scores, ddof=1)), _LEAST_DEVIATION)
            mean = float(np.mean(scores))
            margin = min(_MARGIN, _MARGIN_SHARE * abs(mean))
            found.append(Reference(mean, mean + _N_DEVIATIONS * deviation + margin))
    return Reference(max(each.mean for each in found), max(each.high for each in found))

"""The methods that are compared, each with what is tried of it: as the public classes that the script of a run names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._runs.errors import RunError
from mercer._runs.settings import ClusterSettings
from mercer.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans, estimate_eps
from mercer.mixture import GaussianMixture

Labels = npt.NDArray[np.intp]
NOISE = -1
_MOST_FULL = 40  # columns: beyond that a full covariance has more parameters than a sample can tell
_REG_COVAR = 1e-3  # in squared standard deviations: columns of few values must not make a component infinitely dense


class Data:
    """Rows for all methods; what several fits to them share is computed once."""

    def __init__(self, X: FloatArray) -> None:
        self.X = X
        self._trees: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.X)

    def merges(self, linkage: str) -> Any:
        """The hierarchy as a fitted estimator, which has every number of clusters in it."""
        if linkage not in self._trees:
            tree = AgglomerativeClustering(n_clusters=None, distance_threshold=0.0, linkage=linkage)
            self._trees[linkage] = tree.fit(self.X)
        return self._trees[linkage]


@dataclass(frozen=True)
class Method:
    """A method under a name of its own. `takes_all`: it is linear in the rows, so that in the end it is fitted to all "
    "of them."""

    name: str
    about: str
    has_number: bool = True
    takes_all: bool = False

    def estimator(self, settings: Mapping[str, Any], X: FloatArray, seed: int) -> Any:
        """The public class with all that it is to be told of these rows."""
        raise NotImplementedError

    def fit(self, settings: Mapping[str, Any], data: Data, seed: int) -> tuple[Labels, Any]:
        """The label of each row, and the fitted estimator."""
        model = self.estimator(settings, data.X, seed)
        return np.asarray(model.fit_predict(data.X), dtype=np.intp), model

    def variants(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """What is tried."""
        return [{"n_clusters": number} for number in numbers]


@dataclass(frozen=True)
class _KMeans(Method):
    def estimator(self, settings: Mapping[str, Any], X: FloatArray, seed: int) -> Any:
        return KMeans(
            settings["n_clusters"], n_init=10, tol=0.0, random_state=seed
        )  # to the end: a row is with its nearest centre


@dataclass(frozen=True)
class _Mixture(Method):
    covariance: Literal["full", "diag"] = "full"

    def estimator(self, settings: Mapping[str, Any], X: FloatArray, seed: int) -> Any:
        return GaussianMixture(
            settings["n_clusters"],
            covariance_type=self.covariance,
            reg_covar=_REG_COVAR,
            max_iter=200,
            n_init=3,
            random_state=seed,
        )


@dataclass(frozen=True)
class _Hierarchy(Method):
    linkage: str = "ward"

    def estimator(self, settings: Mapping[str, Any], X: FloatArray, seed: int) -> Any:
        return AgglomerativeClustering(settings["n_clusters"], linkage=self.linkage)

    def fit(self, settings: Mapping[str, Any], data: Data, seed: int) -> tuple[Labels, Any]:
        """Every number of clusters is a cut through one tree."""
        tree = data.merges(self.linkage)
        return cut_tree(tree.children_, len(data), settings["n_clusters"]), tree


@dataclass(frozen=True)
class _DBSCAN(Method):
    def estimator(self, settings: Mapping[str, Any], X: FloatArray, seed: int) -> Any:
        least, rule = settings["min_samples"], settings["rule"]
        eps = float(estimate_eps(X, min(least, len(X)), method=rule))
        return DBSCAN(eps=eps if eps > 0 else 1e-6, min_samples=least)

    def variants(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        return [{"min_samples": least, "rule": rule} for least in (5, 10, 20) for rule in ("slope", "noise")]


@dataclass(frozen=True)
class _HDBSCAN(Method):
    def estimator(self, settings: Mapping[str, Any], X: FloatArray, seed: int) -> Any:
        return HDBSCAN(min_cluster_size=max(5, math.ceil(settings["share"] * len(X))), min_samples=5)

    def variants(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        return [{"share": share} for share in (0.02, 0.05, 0.1)]


METHODS: tuple[Method, ...] = (
    _KMeans("KMeans", "k-means: round clusters of similar size", takes_all=True),
    _Mixture("GaussianMixture", "Gaussian components of any shape; probabilities", takes_all=True, covariance="full"),
    _Mixture("DiagonalMixture", "Gaussian components along the axes; probabilities", takes_all=True, covariance="diag"),
    _Hierarchy("Ward", "a hierarchy of merges that widen clusters least", linkage="ward"),
    _Hierarchy("AverageLinkage", "a hierarchy of merges of the least mean distance", linkage="average"),
    _HDBSCAN("HDBSCAN", "dense regions of any shape and density; noise", has_number=False),
    _DBSCAN("DBSCAN", "regions of one density, of any shape; noise", has_number=False),
)


def method_of(name: str) -> Method:
    return next(method for method in METHODS if method.name == name)


@dataclass(frozen=True)
class Trial:
    """One clustering that is tried."""

    method: Method
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What names it in the folder and on the page."""
        shown = " ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in self.settings.values())
        return f"{self.method.name} {shown}"


def find_trials(settings: ClusterSettings, X: FloatArray) -> list[Trial]:
    """All that is tried, in turns: the fewest clusters by every method first."""
    for flag, names in (("--models", settings.models), ("--exclude", settings.exclude)):
        for given in names:
            if not any(_is_named(method, given) for method in METHODS):
                known = ", ".join(method.name for method in METHODS)
                raise RunError(f"{flag} {given}: there is no such method. The methods are {known}.")
    chosen = [
        method
        for method in METHODS
        if (not settings.models or any(_is_named(method, given) for given in settings.models))
        and not any(_is_named(method, given) for given in settings.exclude)
    ]
    if X.shape[1] > _MOST_FULL and len(chosen) > 1:
        chosen = [method for method in chosen if method.name != "GaussianMixture"]
    if X.shape[1] == 1 and any(method.name == "GaussianMixture" for method in chosen):
        chosen = [method for method in chosen if method.name != "DiagonalMixture"]  # of one column both are the same
    if not chosen:
        raise RunError("no method is left to try. `mercer models --task clustering` lists them.")
    low, high = settings.clusters
    most = min(len(np.unique(X, axis=0)) - 1, len(X) // 3)
    if low > most:
        raise RunError(f"--clusters {low}: {len(X)} rows are too few for so many clusters; at most {most} would do.")
    numbers = range(low, min(high, most) + 1)
    counted = [method for method in chosen if method.has_number]
    others = [Trial(method, variant) for method in chosen if not method.has_number for variant in method.variants(numbers)]
    turns = [[Trial(method, {"n_clusters": number}) for method in counted] for number in numbers]
    first = [trial for turn in turns[:3] for trial in turn]
    return [*first, *others, *(trial for turn in turns[3:] for trial in turn)]


def _is_named(method: Method, given: str) -> bool:
    """By name in any case, or by the common part of several: "mixture", "linkage"."""
    return given.lower() in (method.name.lower(), *_FAMILIES.get(method.name, ()))


_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "KMeans": ("k-means",),
    "GaussianMixture": ("mixture", "gmm"),
    "DiagonalMixture": ("mixture", "gmm"),
    "Ward": ("hierarchy", "agglomerative"),
    "AverageLinkage": ("hierarchy", "agglomerative", "average"),
    "HDBSCAN": ("density",),
    "DBSCAN": ("density",),
}


def cut_tree(children: Any, n_rows: int, n_clusters: int) -> Labels:
    """The clusters that are left when the last `n_clusters` - 1 merges are undone."""
    roots = np.arange(n_rows + len(children))
    for number in range(n_rows - n_clusters - 1, -1, -1):  # from the last merge that is made: a node has its parent's root
        roots[children[number]] = roots[n_rows + number]
    return np.unique(roots[:n_rows], return_inverse=True)[1].reshape(-1).astype(np.intp)

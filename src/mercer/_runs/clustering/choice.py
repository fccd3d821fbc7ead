"""How many clusters there are, and why: one clustering is chosen, or none where there is nothing to be found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mercer._runs.clustering.board import STABLE, UNSTABLE, ClusterBoard, Clustering
from mercer._runs.clustering.methods import METHODS

_AS_GOOD = 0.01  # of the silhouette: a difference that is none
_ORDER = {method.name: place for place, method in enumerate(METHODS)}


@dataclass(frozen=True)
class Choice:
    """What was chosen. `structure`: "clear", "weak", "none" (one cluster is the answer), "asked" (by
    --clusters) or "unchecked" (it was interrupted before anything was)."""

    entry: Clustering | None
    structure: str
    reading: str
    reasons: tuple[str, ...]

    @property
    def n_clusters(self) -> int:
        return 1 if self.entry is None or self.entry.n_clusters is None else self.entry.n_clusters


def choose(board: ClusterBoard, *, is_asked: bool) -> Choice:
    """`is_asked`: the user says how many clusters there are to be, so that a clustering is given in any case."""
    measured = board.with_status("ok")
    if found := [entry for entry in measured if entry.has_structure]:
        pool = [entry for entry in found if entry.is_stable] or found
        best = _simplest(pool, lambda entry: entry.excess or 0.0)
        reasons = (*_why(best, measured), *_others(best, found))
        return Choice(best, "clear" if best.is_stable else "weak", _reading(best), reasons)
    if measured and not is_asked and not any(entry.is_checked for entry in measured):
        best = _simplest(measured, lambda entry: entry.silhouette or 0.0)
        words = f"{best.n_clusters} groups, found by {best.method}, which were not checked: {_comparison(best)}"
        return Choice(best, "unchecked", f"{words} Whether there are clusters is not known.", ())
    if not measured or not is_asked:
        return Choice(None, "none", _nothing(measured, board), ())
    best = _simplest(measured, lambda entry: entry.silhouette or 0.0)
    words = (
        f"{best.n_clusters} groups were asked for. They divide the rows, but they are no clusters: "
        f"{_comparison(best)} Rows near a border could as well be on its other side."
    )
    return Choice(best, "asked", words, ())


def _simplest(entries: Sequence[Clustering], merit: Callable[[Clustering], float]) -> Clustering:
    """The best; of those that are about as good, the one with the fewest clusters, by the simplest method."""
    most = max(merit(entry) for entry in entries)
    near = [entry for entry in entries if merit(entry) >= most - _AS_GOOD]
    return min(near, key=lambda entry: (entry.n_clusters or 0, _ORDER[entry.method], -merit(entry)))


def _reading(best: Clustering) -> str:
    caution = "" if best.is_stable else ", with caution: there is more than chance, but they do not all come back"
    return f"{best.n_clusters} clusters, found by {best.method}{caution}. {_comparison(best)} {_comes_back(best)}"


def _comparison(entry: Clustering) -> str:
    silhouette = f"The mean silhouette is {entry.silhouette:.2f}"
    if entry.reference is None:
        return f"{silhouette}; there was no time to compare it with tables without clusters."
    return (
        f"{silhouette}; in tables of the same shape without clusters it is {entry.reference:.2f} "
        f"and hardly ever {entry.reference_high:.2f}."
    )


def _comes_back(entry: Clustering) -> str:
    if entry.stability is None:
        return ""
    words = "they come back in part" if entry.stability >= UNSTABLE else "they do not come back"
    words = "they come back" if entry.stability >= STABLE else words
    index = f"adjusted Rand index {entry.stability:.2f}, where 1 is the same clusters and 0 chance"
    return f"When a fifth of the rows is left out, {words} ({index})."


def _why(best: Clustering, measured: Sequence[Clustering]) -> list[str]:
    checked = [entry for entry in measured if entry.is_checked]
    why = [
        f"Of {len(measured)} clusterings that were measured and {len(checked)} that were checked, this one is the "
        "clearest compared "
        f"with tables without clusters (by {best.excess:.2f}); where two are within {_AS_GOOD}, the one with fewer "
        "clusters is taken."
    ]
    others = {entry.n_clusters: entry for entry in checked if entry.method == best.method and entry.n_clusters is not None}
    for step, word in ((-1, "fewer"), (1, "more")):
        if near := others.get((best.n_clusters or 0) + step):
            why.append(
                f"One cluster {word} ({near.n_clusters}) by the same method: silhouette {near.silhouette:.2f} against "
                f"{near.reference:.2f} "
                f"without clusters, adjusted Rand index {near.stability:.2f}."
            )
    return why


def _others(best: Clustering, found: Sequence[Clustering]) -> list[str]:
    """Methods of another kind that see clusters of another number."""
    density = [entry for entry in found if not _is_counted(entry) and entry.is_stable and entry.n_clusters != best.n_clusters]
    if not density or not _is_counted(best):
        return []
    other = max(density, key=lambda entry: entry.excess or 0.0)
    return [
        f"{other.method} finds {other.n_clusters} dense regions that are stable too; where clusters need not be round, "
        "look at them with "
        f"--models {other.method}."
    ]


def _is_counted(entry: Clustering) -> bool:
    return next(method for method in METHODS if method.name == entry.method).has_number


def _nothing(measured: Sequence[Clustering], board: ClusterBoard) -> str:
    if not measured:
        return "No clusters were found: no method divides the rows into groups that are worth the name."
    checked = [entry for entry in measured if entry.is_checked]
    best = max(checked or measured, key=lambda entry: entry.excess if entry.excess is not None else entry.silhouette or 0.0)
    head = "No clusters were found: the rows are one cloud, and all of them are in cluster 0."
    n_checked = len(checked)
    tried = f"{n_checked} of {len(measured)} clusterings were checked"
    words = f"{tried}. The best of them, {best.method} with {best.n_clusters} clusters: {_comparison(best)} {_comes_back(best)}"
    return f"{head} {words} To divide the rows all the same, say into how many groups: --clusters {best.n_clusters}."


def preferences(board: ClusterBoard) -> list[dict[str, Any]]:
    """Which number of clusters each measure prefers, among clusterings that are fit to be chosen."""
    measured = board.with_status("ok")
    rules: tuple[tuple[str, Callable[[Clustering], float | None], str], ...] = (
        ("Silhouette", lambda entry: entry.silhouette, "highest"),
        ("Silhouette beyond that of tables without clusters", lambda entry: entry.excess, "highest"),
        ("Davies-Bouldin", lambda entry: _negative(entry.davies_bouldin), "lowest"),
        ("Calinski-Harabasz", lambda entry: entry.calinski_harabasz, "highest"),
        ("BIC of a Gaussian mixture", lambda entry: _negative(entry.bic), "lowest"),
        ("Stability", lambda entry: entry.stability, "highest"),
    )
    found = []
    for label, value, sense in rules:
        known = [(value(entry), entry) for entry in measured if value(entry) is not None]
        if known:
            best, entry = max(known, key=lambda pair: (round(pair[0] or 0.0, 6), -(pair[1].n_clusters or 0)))
            assert best is not None
            shown = -best if sense == "lowest" else best
            found.append(
                {"measure": label, "sense": sense, "value": shown, "n_clusters": entry.n_clusters, "method": entry.method}
            )
    return found


def _negative(value: float | None) -> float | None:
    return None if value is None else -value

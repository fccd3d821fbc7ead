"""`cluster`: from a table to a folder with its clusters, their report and the script that repeats them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mercer
from mercer._parallel import serial_blas
from mercer._report import ClusterContent
from mercer._report.clustering.describe import against, describe_clusters
from mercer._report.clustering.pictures import dendrogram_of
from mercer._runs.clock import Clock
from mercer._runs.clustering.board import ClusterBoard
from mercer._runs.clustering.choice import Choice, choose, preferences
from mercer._runs.clustering.labels import label_column, labels_file, write_labels
from mercer._runs.clustering.measures import MOST_SILHOUETTES, silhouettes_of, some_rows
from mercer._runs.clustering.methods import NOISE, Method, find_trials, method_of
from mercer._runs.clustering.model import FinalClusters, final_clusters
from mercer._runs.clustering.script import write_cluster_script
from mercer._runs.clustering.search import ClusterSearch
from mercer._runs.clustering.table import ClusterTable, make_cluster_table
from mercer._runs.code import changed_params
from mercer._runs.columns import as_columns
from mercer._runs.course import Start, heading, write_report
from mercer._runs.errors import NothingTrained
from mercer._runs.folder import RunFolder, write_whole
from mercer._runs.pipelines import certificate_of
from mercer._runs.profile import Profile
from mercer._runs.reading import ReadTable, read_table
from mercer._runs.settings import ClusterSettings
from mercer._runs.sources import embedded_name


@dataclass(frozen=True)
class ClusterWatchers:
    """Who wants to see what happens: each is called with the thing in question."""

    table: Callable[[ClusterTable, ClusterSettings, list[dict[str, Any]]], None] = lambda table, settings, columns: None
    board: Callable[[ClusterBoard], None] = lambda board: None
    phase: Callable[[str], None] = lambda text: None


@dataclass(frozen=True)
class ClusterOutcome:
    """What a run came to."""

    folder: RunFolder
    labels: Path
    content: ClusterContent
    is_interrupted: bool


def cluster(
    settings: ClusterSettings, path: Path, *, command: str, resume: bool = False, watch: ClusterWatchers | None = None
) -> ClusterOutcome:
    """Run all of it, or go on where an earlier run of the same folder was ended."""
    watch = watch or ClusterWatchers()
    start = Start.of(settings, path, resume=resume)
    settings, source = start.settings, start.source
    read = read_table(source, settings.file, settings.kinds)
    table = make_cluster_table(read, settings)
    trials = find_trials(settings, table.sample)
    folder = start.folder(table.table.schema)
    source = start.source
    watch.table(table, settings, as_columns(table.report, read.notes))
    clock = Clock(settings.seconds, folder.seconds_spent)
    board = ClusterBoard(watch.board)
    search = ClusterSearch(table, settings, folder, clock, board)
    is_whole = search.run(trials)
    if not is_whole and not board.with_status("ok"):
        raise KeyboardInterrupt
    _refuse_nothing(board, search)
    choice = choose(board, is_asked=settings.is_asked)
    watch.phase("clustering all rows" if choice.entry else "no clusters were found: describing the rows")
    started = time.perf_counter()
    with serial_blas():
        final = final_clusters(table, search.trial(choice.entry.name) if choice.entry else None, settings.seed)
    fit_seconds = time.perf_counter() - started
    method = method_of(choice.entry.method) if choice.entry else None
    column, labels = label_column(read.table.columns), folder.path / labels_file(source)
    write_labels(labels, source, settings, table.numbers, final.labels, column)
    script = write_cluster_script(
        table,
        settings,
        source,
        final,
        method,
        embedded=embedded_name(settings),
        column=column,
        file=labels.name,
        is_plain=read.is_plain,
    )
    write_whole(folder.script(settings.command), script)
    is_stored = _store(final, table, folder)
    used = {column.name: column.kind for column in table.report if column.used}
    Profile.of(table.table, used, read.marks).write(folder.profile)
    watch.phase("describing the clusters")
    content = _content(table, settings, read, search, choice, final, command)
    content["model"] = {
        "how": final.how,
        "agreement": final.agreement,
        "stored": is_stored,
        "labels_file": labels.name,
        "label_column": column,
    }
    content["certificate"] = certificate_of(final.pipeline(table))
    content["seconds"] = {"comparison": clock.elapsed, "final fit": fit_seconds}
    return ClusterOutcome(folder, labels, write_report(content, folder), is_interrupted=not is_whole)


def _refuse_nothing(board: ClusterBoard, search: ClusterSearch) -> None:
    if board.with_status("ok") or board.with_status("unfit"):
        return
    failed = board.with_status("failed")
    if not failed:
        raise NothingTrained("the time was up before anything was measured. Give more --time.")
    detail = search.errors.get(failed[0].name, failed[0].reason or "")
    raise NothingTrained(f"all {len(failed)} clusterings failed. The first, {failed[0].name}: {failed[0].reason}\n{detail}")


def _store(final: FinalClusters, table: ClusterTable, folder: RunFolder) -> bool:
    """Whether the model could be stored: of some estimators that Mercer passes on, files cannot hold the state."""
    try:
        mercer.save(final.pipeline(table), folder.model)
    except (TypeError, ValueError):
        return False
    return True


def _content(
    table: ClusterTable,
    settings: ClusterSettings,
    read: ReadTable,
    search: ClusterSearch,
    choice: Choice,
    final: FinalClusters,
    command: str,
) -> dict[str, Any]:
    """All that the report says."""
    rows = some_rows(len(table.X), MOST_SILHOUETTES, settings.seed)
    values = silhouettes_of(table.X, final.labels, rows)
    names = list(table.preparer.get_feature_names_out())
    described = describe_clusters(
        table.table, table.X, table.report, names, final.labels, values, rows, table.numbers, settings.seed
    )
    verdict = {
        "structure": choice.structure,
        "n_clusters": choice.n_clusters,
        "n_noise": int((final.labels == NOISE).sum()),
        "method": choice.entry.method if choice.entry else None,
        "settings": changed_params(final.estimator),
        "reading": choice.reading,
        "reasons": list(choice.reasons),
    }
    method = method_of(choice.entry.method) if choice.entry else None
    return {
        **heading(f"Clusters of {Path(settings.source).name}", command),
        "kind": "clusters",
        "data": {
            "source": settings.source,
            "n_rows": read.table.height,
            "n_columns": read.table.width,
            "n_made": table.X.shape[1],
            "n_compared": len(table.compared),
            "against": settings.against,
        },
        "alerts": [alert.to_dict() for alert in table.alerts],
        "columns": as_columns(table.report, read.notes),
        "verdict": verdict,
        "clusterings": search.board.to_list(choice.entry.name if choice.entry else None),
        "preferences": preferences(search.board),
        "dendrogram": _dendrogram(table, search, final, choice, method),
        "against": None if table.known is None else against(settings.against or "", table.known, final.labels),
        "warnings": final.warnings,
        **described,
    }


def _dendrogram(
    table: ClusterTable, search: ClusterSearch, final: FinalClusters, choice: Choice, method: Method | None
) -> dict[str, Any]:
    """Of the hierarchy that was chosen, or of Ward's."""
    linkage = getattr(method, "linkage", "ward")
    with serial_blas():
        tree = search.data.merges(linkage)
    name = "Average linkage" if linkage == "average" else "Ward's method"
    labels = final.labels[table.compared]
    found = dendrogram_of(tree.children_, tree.distances_, labels, choice.n_clusters, name)
    return dict(found)

"""The content of reports in files: strict JSON, checked whenever it is written or read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mercer._report.clustering.content import ClusterContent
from mercer._report.content import FORMAT, Content, ThresholdCurves
from mercer._report.schema import SchemaError, check_value

AnyContent = Content | ClusterContent
CLUSTERS = "clusters"  # the kind of a report of clusters


class ReportError(ValueError):
    """The content of a report is not what a report contains."""


def is_of_clusters(content: Any) -> bool:
    """Whether a report is one of clusters; others are of a model of a target."""
    return isinstance(content, dict) and content.get("kind") == CLUSTERS


def check(content: Any, source: str = "report") -> Any:
    """The content itself if it is a report of this version; otherwise a ReportError that names the first thing wrong."""
    if not isinstance(content, dict):
        raise ReportError(f"{source}: it holds no JSON object and is not a report.")
    version = content.get("format")
    if version != FORMAT or isinstance(version, bool):
        raise ReportError(f"{source}: format is {version!r}; this version of Mercer reads format {FORMAT}.")
    try:
        if is_of_clusters(content):
            check_value(content, ClusterContent, "")
            _check_cluster_lengths(content)
        else:
            check_value(content, Content, "")
            _check_lengths(content)
    except SchemaError as error:
        raise ReportError(f"{source}: {error}") from None
    return content


def _check_lengths(content: Mapping[str, Any]) -> None:
    """Lists that are read side by side are equally long, and an index points into its list."""
    if data := content["data"]:
        _require_equal(data, ("classes", "class_counts"), "data")
    if scores := content["scores"]:
        _require_equal(scores, ("threshold", "tp", "fp", "tn", "fn"), "scores")
        if not scores["threshold"] or not (scores["at"] is None or 0 <= scores["at"] < len(scores["threshold"])):
            raise SchemaError(f"scores.at is {scores['at']}; it must be an index into scores.threshold.")
    if confusion := content["confusion"]:
        n_labels = len(confusion["labels"])
        if [len(row) for row in confusion["matrix"]] != [n_labels] * n_labels:
            raise SchemaError(f"confusion.matrix must have {n_labels} rows of {n_labels} counts, one a label.")
    if curves := content["curves"]:
        for kind in ("roc", "pr"):
            for index, curve in enumerate(curves[kind]):
                _require_equal(curve, ("x", "y"), f"curves.{kind}[{index}]")
        for index, curve in enumerate(curves["calibration"]):
            _require_equal(curve, ("predicted", "observed", "low", "high", "count"), f"curves.calibration[{index}]")
        if curves["threshold"]:
            _require_equal(curves["threshold"], tuple(ThresholdCurves.__annotations__), "curves.threshold")
    if residuals := content["residuals"]:
        _require_equal(residuals, ("true", "predicted"), "residuals")
        if len(residuals["edges"]) != len(residuals["count"]) + 1:
            raise SchemaError("residuals.edges must have one number more than residuals.count.")
    if explained := content.get("explained"):
        _check_explained_lengths(explained)
    if learning := content["learning"]:
        _require_equal(learning, ("n_train", "n_folds", "train_mean", "train_std", "test_mean", "test_std"), "learning")


def _check_explained_lengths(explained: Mapping[str, Any]) -> None:
    """What columns gave and their values are of the same rows."""
    for number, swarm in enumerate(explained["swarms"]):
        for index, column in enumerate(swarm["columns"]):
            _require_equal(column, ("values", "ranks"), f"explained.swarms[{number}].columns[{index}]")
    for index, dependence in enumerate(explained["dependence"]):
        if (dependence["x"] is None) == (dependence["words"] is None):
            raise SchemaError(f"explained.dependence[{index}] must have x or words, one of the two.")
        _require_equal(dependence, ("x", "words", "y"), f"explained.dependence[{index}]")


def _check_cluster_lengths(content: Mapping[str, Any]) -> None:
    """Every cluster has its profile, and pictures point at clusters that are there."""
    n_clusters = content["verdict"]["n_clusters"]
    if [profile["number"] for profile in content["profiles"]] != list(range(n_clusters)):
        raise SchemaError(f"profiles must be those of the clusters 0 to {n_clusters - 1}, in this order.")
    _require_equal(content["projection"], ("x", "y", "cluster"), "projection")
    _require_clusters(content["projection"]["cluster"], n_clusters, "projection.cluster")
    for index, line in enumerate(content["overview"]):
        if not len(line["cells"]) == len(line["effects"]) == n_clusters:
            raise SchemaError(f"overview[{index}] must have a cell and an effect for each of the {n_clusters} clusters.")
    if silhouettes := content["silhouettes"]:
        _require_equal(silhouettes, ("values", "counts"), "silhouettes")
    if dendrogram := content["dendrogram"]:
        _require_equal(dendrogram, ("leaves", "leaf_clusters"), "dendrogram")
        _require_clusters(dendrogram["leaf_clusters"], n_clusters, "dendrogram.leaf_clusters")
        if any(len(merge) != 5 for merge in dendrogram["merges"]):
            raise SchemaError("dendrogram.merges must have five numbers each.")
    if against := content["against"]:
        _require_equal(against, ("groups", "matrix"), "against")
        if any(len(row) != len(against["clusters"]) for row in against["matrix"]):
            raise SchemaError("against.matrix must have a count for each of against.clusters in every row.")


def _require_clusters(numbers: Sequence[int], n_clusters: int, place: str) -> None:
    if any(not -1 <= number < n_clusters for number in numbers):
        raise SchemaError(f"{place} must hold numbers of clusters, from -1 to {n_clusters - 1}.")


def _require_equal(holder: Mapping[str, Sequence[Any] | None], keys: tuple[str, ...], place: str) -> None:
    lengths = {key: len(value) for key in keys if (value := holder[key]) is not None}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{key} {length}" for key, length in lengths.items())
        raise SchemaError(f"the lists of {place} must be equally long; they have the lengths {shown}.")


def dumps(content: AnyContent) -> str:
    """The content as strict JSON."""
    return json.dumps(check(content), allow_nan=False, ensure_ascii=True, indent=1) + "\n"


def write_json(content: AnyContent, path: str | os.PathLike[str]) -> None:
    """Write the content as strict JSON."""
    Path(path).write_text(dumps(content), encoding="ascii")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read_json(path: str | os.PathLike[str]) -> AnyContent:
    """The content that `write_json` wrote; a damaged file gives a ReportError of one line."""
    text = Path(path).read_bytes()
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{os.fspath(path)}: it is no strict JSON ({error}).") from None
    found: AnyContent = check(content, os.fspath(path))
    return found

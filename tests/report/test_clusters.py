"""The report of clusters: what sets them apart, the page as text, and in a real browser."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.stats import ttest_ind

from mercer._report import ReportError, check, read_json, render_html, write_json
from mercer._report.clustering.pictures import dendrogram_of, projection_of
from mercer._report.clustering.profiles import profiles_of
from mercer._report.multiplicity import holm
from mercer.cluster import AgglomerativeClustering
from mercer.preprocessing import TablePreparer
from tests.report.cluster_samples import cluster_content, hostile_cluster_content
from tests.report.test_browser import show  # noqa: F401
from tests.report.test_page import Reader

KINDS = ["blobs", "density", "noise", "line"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("clusters")


# ---- what sets clusters apart


def _profiles(table, labels):
    report = TablePreparer().fit(table).report_
    return profiles_of(table, report, np.asarray(labels), {}, {}, np.arange(len(labels)))


def test_effects_and_tests_are_those_of_the_books():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [60, 40])
    x, noise = rng.normal(size=100) + 2 * labels, rng.normal(size=100)
    profiles, _ = _profiles(pl.DataFrame({"x": x, "noise": noise}), labels)
    (trait,) = profiles[1]["traits"]
    assert trait["column"] == "x"
    one, other = x[labels == 1], x[labels == 0]
    pooled = np.sqrt((39 * one.var(ddof=1) + 59 * other.var(ddof=1)) / 98)
    assert trait["effect"] == pytest.approx((one.mean() - other.mean()) / pooled * (1 - 3 / (4 * 100 - 9)))
    assert trait["p"] <= 4 * ttest_ind(one, other, equal_var=False).pvalue
    assert trait["inside"].startswith(f"{np.median(one):.1f}"[:3])


def test_holm_is_monotone_and_at_least_the_raw_value():
    found = holm([0.01, 0.04, 0.03, 0.005])
    assert found == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_categories_missing_values_words_and_dates_set_clusters_apart():
    labels = np.repeat([0, 1], 60)
    table = pl.DataFrame(
        {
            "colour": ["red"] * 55 + ["blue"] * 65,
            "length": [1.5 + n % 7 if n >= 30 else None for n in range(120)],
            "when": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 4, 29), eager=True),
            "note": [f"{'late delivery' if n < 60 else 'all fine'} number {n}" for n in range(120)],
        }
    )
    profiles, overview = _profiles(table, labels)
    found = {(trait["column"], trait["value"]): trait for trait in profiles[0]["traits"]}
    assert found["colour", "red"]["inside"] == "91.7\N{NO-BREAK SPACE}%"
    assert ("length", "missing") in found
    assert found["when", None]["inside"].startswith("2020-01-30")
    assert ("note", "with the word “late”") in found
    assert {line["column"] for line in overview} == {"colour", "length", "when", "note"}


def test_one_cluster_is_set_apart_by_nothing():
    profiles, overview = _profiles(pl.DataFrame({"x": np.arange(30.0)}), np.zeros(30, dtype=int))
    assert profiles[0]["traits"] == []
    assert overview == []


# ---- pictures


@pytest.mark.parametrize("n_rows", [5, 60])
def test_the_dendrogram_has_the_heights_and_the_leaves_of_scipy(n_rows):
    X = np.random.default_rng(n_rows).normal(size=(n_rows, 2))
    tree = AgglomerativeClustering(n_clusters=None, distance_threshold=0.0).fit(X)
    labels = np.zeros(n_rows, dtype=int)
    found = dendrogram_of(tree.children_, tree.distances_, labels, 3, "Ward")
    theirs = dendrogram(linkage(X, "ward"), no_plot=True, truncate_mode="lastp", p=24)
    heights = sorted(max(heights) for heights in theirs["dcoord"])
    assert sorted(merge[4] for merge in found["merges"]) == pytest.approx(heights)
    assert sum(found["leaves"]) == n_rows
    assert heights[-3] < found["cut"] < heights[-2]
    leaves = {float(place): (place, place) for place in range(len(found["leaves"]))}
    for left, left_height, right, right_height, height in found["merges"]:
        assert height >= max(left_height, right_height)
        (first, end), (start, last) = leaves.pop(left), leaves.pop(right)
        assert start == end + 1  # no two branches cross
        leaves[(left + right) / 2] = first, last
    assert list(leaves.values()) == [(0, len(found["leaves"]) - 1)]


def test_the_projection_of_one_column_is_spread_at_random():
    X = np.random.default_rng(0).normal(size=(50, 1))
    found = projection_of(X, np.zeros(50, dtype=int), ["x"], np.arange(50), 0)
    assert [axis["share"] for axis in found["axes"]] == [pytest.approx(1.0), None]
    assert len(found["x"]) == len(found["y"]) == 50


# ---- the content and the page


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_of_clusters_comes_back_as_it_was_written(kind, folder):
    content = cluster_content(kind, folder)
    write_json(content, folder / "report.json")
    assert read_json(folder / "report.json") == content


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("verdict", "structure"), "sure", "verdict.structure is 'sure'"),
        (("verdict", "n_clusters"), 7, "profiles must be those of the clusters 0 to 6"),
        (("projection", "x"), [], "the lists of projection must be equally long"),
        (("projection", "cluster", 0), 9, "projection.cluster must hold numbers of clusters"),
        (("overview", 0, "cells"), [], r"overview\[0\] must have a cell"),
        (("dendrogram", "leaves"), [1], "the lists of dendrogram must be equally long"),
        (("clusterings", 0, "silhouette"), float("nan"), r"clusterings\[0\].silhouette is nan"),
        (("against", "matrix"), [[1]], "the lists of against must be equally long"),
    ],
)
def test_what_is_no_report_of_clusters_is_refused_by_its_place(path, value, message, folder):
    content = cluster_content("blobs", folder)
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with pytest.raises(ReportError, match=message):
        check(content)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_well_formed_small_and_asks_the_network_for_nothing(kind, folder):
    content = cluster_content(kind, folder)
    text = render_html(content)
    assert text == render_html(content)
    assert len(text) < 400_000
    reader = Reader(text)
    for element, attributes in reader.elements:
        assert element not in {"img", "iframe", "object", "embed", "base", "form"}
        assert not any(key.startswith("on") or key in ("src", "style", "action", "srcset") for key in attributes)
        assert attributes.get("href", "#").startswith(("#", "data:,"))
    identifiers = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))


def test_the_page_says_how_many_and_why_or_that_there_are_none(folder):
    text = Reader(render_html(cluster_content("blobs", folder))).text
    for words in (
        "3 clusters of 90 rows",
        "What sets the clusters apart",
        "Cluster 2:",
        "Dendrogram",
        "Silhouettes by cluster",
        "truth",
    ):
        assert words in text, words
    text = Reader(render_html(cluster_content("noise", folder))).text
    assert "No clusters were found among 80 rows" in text
    assert "What sets the clusters apart" not in text


def test_no_text_of_the_data_becomes_markup(folder):
    reader = Reader(render_html(hostile_cluster_content(folder)))
    assert not {"img"} & {element for element, _ in reader.elements}
    assert sum(element == "script" for element, _ in reader.elements) == 1


@pytest.mark.parametrize("kind", ["blobs", "noise", "hostile"])
def test_no_page_of_clusters_is_wider_than_its_screen(show, kind, folder):  # noqa: F811
    content = hostile_cluster_content(folder) if kind == "hostile" else cluster_content(kind, folder)
    for width in (360, 768, 1280):
        browser = show(content, width)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert browser.title.endswith("Mercer report")

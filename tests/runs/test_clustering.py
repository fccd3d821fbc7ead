"""The parts of a run of clusters: numbers, cuts, references, the choice, labels of new rows."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from mercer._runs.clock import Clock
from mercer._runs.clustering.board import ClusterBoard, Clustering
from mercer._runs.clustering.checks import SHAPES, ReferenceTables, reference_of, stability_of
from mercer._runs.clustering.choice import choose, preferences
from mercer._runs.clustering.measures import by_size, measure, silhouettes_of
from mercer._runs.clustering.methods import METHODS, NOISE, Data, Trial, cut_tree, find_trials, method_of
from mercer._runs.clustering.model import final_clusters
from mercer._runs.clustering.search import ClusterSearch
from mercer._runs.clustering.table import make_cluster_table
from mercer._runs.errors import RunError
from mercer._runs.folder import RunFolder
from mercer._runs.reading import ReadTable
from mercer._runs.settings import ClusterSettings, Settings

RNG = np.random.default_rng(0)


def _blobs(n_rows=120, distance=8.0):
    group = RNG.integers(0, 3, n_rows)
    return np.array([[0, 0], [distance, 0], [0, distance]])[group] + RNG.normal(size=(n_rows, 2)), group


def _table(X, **options):
    frame = pl.DataFrame(X, schema=[f"x{place}" for place in range(X.shape[1])])
    options = ClusterSettings("table.csv", **options)
    return make_cluster_table(ReadTable(frame, np.arange(1, len(X) + 1)), options), options


@given(st.lists(st.integers(-1, 6), min_size=1, max_size=40))
def test_clusters_are_numbered_by_size_and_of_equals_by_their_first_row(labels):
    labels = np.array(labels)
    found = by_size(labels)
    assert ((found == NOISE) == (labels == NOISE)).all()
    members = labels != NOISE
    pairs = set(zip(labels[members].tolist(), found[members].tolist(), strict=True))
    assert len(pairs) == len(set(labels[members].tolist()))
    keys = [(-np.sum(found == number), np.flatnonzero(found == number)[0]) for number in range(found.max(initial=-1) + 1)]
    assert keys == sorted(keys)


@pytest.mark.parametrize("linkage", ["ward", "average"])
@pytest.mark.parametrize("n_clusters", [2, 3, 7])
def test_a_cut_of_the_tree_is_what_the_estimator_gives(linkage, n_clusters):
    X = RNG.normal(size=(60, 3))
    cut = cut_tree(Data(X).merges(linkage).children_, 60, n_clusters)
    assert adjusted_rand_score(cut, AgglomerativeClustering(n_clusters, linkage=linkage).fit_predict(X)) == 1.0


def test_text_and_dates_are_left_out_unless_they_are_asked_for_or_alone():
    words = [" ".join(RNG.choice(["late", "early", "broken", "fine"], 4)) + f" {number}" for number in range(60)]
    frame = pl.DataFrame({"x": RNG.normal(size=60), "note": words})

    def names(frame, **options):
        table = make_cluster_table(ReadTable(frame, np.arange(1, 61)), ClusterSettings("table.csv", **options))
        return table.left_out, {column.name for column in table.report if column.used}

    assert names(frame) == (("note",), {"x"})
    assert names(frame, kinds={"note": "text"}) == ((), {"x", "note"})
    assert names(frame.select("note")) == ((), {"note"})
    assert names(frame, drop=("x",)) == (("x",), {"note"})
    dates = frame.with_columns(note=pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 2, 29), eager=True))
    assert names(dates) == (("note",), {"x"})
    assert names(dates, kinds={"note": "date"}) == ((), {"x", "note"})


def test_silhouettes_count_noise_as_nothing():
    X, group = _blobs()
    labels = np.where(np.arange(len(X)) % 4 == 0, NOISE, group)
    values = silhouettes_of(X, labels, np.arange(len(X)))
    assert (values[labels == NOISE] == 0).all()
    assert np.isnan(silhouettes_of(X, np.zeros(len(X), dtype=int), np.arange(len(X)))).all()
    found = measure(X, by_size(labels), object(), 0)
    assert found.n_clusters == 3
    assert found.noise == pytest.approx(np.mean(labels == NOISE))
    assert found.bic is None


def test_reference_tables_keep_correlations_values_and_categories_but_no_clusters():
    X, group = _blobs(300)
    X = np.column_stack([X, 2 * X[:, 0] + 0.1 * RNG.normal(size=300), RNG.integers(0, 3, 300)])
    frame = pl.DataFrame({**{f"x{n}": X[:, n] for n in range(4)}, "group": np.array(["a", "b", "c"])[group]})
    table = make_cluster_table(ReadTable(frame, np.arange(1, 301)), ClusterSettings("table.csv"))
    names = list(table.preparer.get_feature_names_out())
    tables = ReferenceTables(table.X, table.report, names, 0)
    for shape in SHAPES:
        drawn = tables._of(shape)[0].X
        assert np.corrcoef(drawn[:, names.index("x0")], drawn[:, names.index("x2")])[0, 1] > 0.9
        place = names.index("x3")
        np.testing.assert_array_equal(np.sort(drawn[:, place]), np.sort(table.X[:, place]))
        categories = [place for place, name in enumerate(names) if name.startswith("group=")]
        np.testing.assert_array_equal(drawn[:, categories].sum(axis=0), table.X[:, categories].sum(axis=0))
        assert abs(np.corrcoef(drawn[:, categories[0]], table.X[:, categories[0]])[0, 1]) < 0.3
    trial = Trial(method_of("KMeans"), {"n_clusters": 3})
    assert reference_of(trial, 3, tables, 0).high < measure(table.X, group, object(), 0).silhouette


def test_clusters_that_are_there_come_back_and_others_do_not():
    trial = Trial(method_of("KMeans"), {"n_clusters": 3})
    assert stability_of(trial, _blobs()[0], 0).mean > 0.95
    assert stability_of(Trial(trial.method, {"n_clusters": 6}), RNG.normal(size=(120, 4)), 0).mean < 0.8


def _entry(name, n_clusters, silhouette, reference=0.2, stability=0.95, method="KMeans", **more):
    values = {"silhouette": silhouette, "reference": reference, "reference_high": reference + 0.05, "stability": stability}
    return Clustering(name, method, status="ok", n_clusters=n_clusters, **values, **more)


def _board(*entries):
    board = ClusterBoard()
    for entry in entries:
        board.add(entry)
    return board


def test_the_clearest_is_chosen_of_equals_the_simplest_and_nothing_where_nothing_is_clear():
    board = _board(_entry("a", 2, 0.3), _entry("b", 3, 0.5), _entry("c", 4, 0.505), _entry("d", 3, 0.503, method="Ward"))
    assert choose(board, is_asked=False).entry.name == "b"
    assert choose(board, is_asked=False).structure == "clear"
    assert choose(_board(_entry("a", 2, 0.5, stability=0.7)), is_asked=False).structure == "weak"
    for nothing in (_entry("a", 2, 0.22), _entry("a", 2, 0.9, stability=0.3)):
        choice = choose(_board(nothing), is_asked=False)
        assert (choice.structure, choice.n_clusters, choice.entry) == ("none", 1, None)
        assert choose(_board(nothing), is_asked=True).structure == "asked"
    assert choose(_board(), is_asked=True).structure == "none"
    unchecked = Clustering("a", "KMeans", status="ok", n_clusters=3, silhouette=0.5)
    assert choose(_board(unchecked), is_asked=False).structure == "unchecked"


@pytest.mark.parametrize(
    "law",
    [
        "normal",
        "exponential",
        *(pytest.param(law, marks=pytest.mark.slow) for law in ("uniform", "lognormal", "standard_cauchy")),
    ],
)
@pytest.mark.parametrize("n_columns", [3, pytest.param(1, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.slow)])
def test_no_law_without_clusters_is_taken_for_some(tmp_path, law, n_columns):
    rng = np.random.default_rng(7)
    table, options = _table(getattr(rng, law)(size=(200, n_columns)), models=("kmeans",), clusters=(2, 4), seconds=20.0)
    folder = RunFolder.begin(tmp_path / "run", options, "", {})
    board = ClusterBoard()
    assert ClusterSearch(table, options, folder, Clock(20.0), board).run(find_trials(options, table.X))
    assert choose(board, is_asked=False).structure == "none"


def test_a_measure_prefers_the_best_in_its_own_sense():
    board = _board(
        _entry("a", 2, 0.3, davies_bouldin=0.5, bic=-10.0),
        _entry("b", 3, 0.5, davies_bouldin=0.9, bic=-30.0, method="GaussianMixture"),
    )
    found = {row["measure"]: row for row in preferences(board)}
    assert found["Silhouette"]["n_clusters"] == 3
    assert (found["Davies-Bouldin"]["n_clusters"], found["Davies-Bouldin"]["value"]) == (2, 0.5)
    assert (found["BIC of a Gaussian mixture"]["n_clusters"], found["BIC of a Gaussian mixture"]["value"]) == (3, -30.0)


@pytest.mark.parametrize("method", [method.name for method in METHODS])
def test_the_model_gives_rows_the_cluster_that_they_have(method):
    table, options = _table(_blobs(200)[0])
    trial = next(
        trial for trial in find_trials(options, table.X) if trial.method.name == method and 3 in (*trial.settings.values(), 3)
    )
    final = final_clusters(table, trial, 0)
    assert final.agreement > 0.95
    if trial.method.takes_all:
        assert type(final.rule) is type(final.estimator)  # it labels new rows itself, by the numbers of the clusters
        assert final.agreement == 1
    sizes = np.bincount(final.labels[final.labels != NOISE])
    assert (np.diff(sizes) <= 0).all()
    assert final.pipeline(table).predict(table.table).tolist() == final.rule.predict(table.X).tolist()


def test_what_is_tried_follows_from_the_settings_and_the_table():
    table, _ = _table(_blobs(60)[0])
    trials = find_trials(ClusterSettings("t", clusters=(2, 3), models=("mixture",), exclude=("diagonalmixture",)), table.X)
    assert [trial.name for trial in trials] == ["GaussianMixture 2", "GaussianMixture 3"]
    with pytest.raises(RunError, match="no method is left"):
        find_trials(ClusterSettings("t", models=("ward",), exclude=("hierarchy",)), table.X)
    with pytest.raises(RunError, match="--exclude nonsense"):
        find_trials(ClusterSettings("t", exclude=("nonsense",)), table.X)


def test_settings_come_back_from_json_as_they_were():
    for one in (ClusterSettings("t.csv", clusters=(3, 5), against="y", drop=("a",)), Settings("t.csv", "y", folds=3)):
        assert type(one).from_dict(json.loads(json.dumps(one.to_dict()))) == one

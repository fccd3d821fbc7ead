"""Trees as text, as DOT and as pictures."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
import sklearn.tree
from hypothesis import given, settings, strategies as st

from mercer._native import kernels
from mercer._trees.store import NODE, Tree, TreeStore
from mercer.tree import ID3, DecisionTreeClassifier, DecisionTreeRegressor, export_graphviz, export_text, plot_tree
from mercer.tree._layout import lay_out

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 4)).astype(np.float32)
SIGNAL = X[:, 0] + X[:, 1] * X[:, 2] + RANDOM.normal(size=400)
CLASSES = np.digitize(SIGNAL, [-0.5, 0.7])
NAMES, LABELS = ["height", "width", 'the "third"', "last"], ["low", "middle", "high"]


def pair(kind, y, **params):
    """A tree of Mercer's and the same of scikit-learn's."""
    params = {"max_depth": 4, "min_samples_leaf": 9, **params}
    mine = {"class": DecisionTreeClassifier, "number": DecisionTreeRegressor}[kind](**params).fit(X, y)
    yours = {"class": sklearn.tree.DecisionTreeClassifier, "number": sklearn.tree.DecisionTreeRegressor}[kind]
    return mine, yours(random_state=0, **params).fit(X, y)


CLASS_PAIR, NUMBER_PAIR = pair("class", CLASSES), pair("number", SIGNAL)


def countries():
    """A tree with splits on categories, on numbers and on what is missing."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(1)
    country = random.choice(["France", "UAE", "Switzerland", "Peru"], 300)
    wealth = random.integers(1, 20, 300).astype(float)
    y = np.where(np.isin(country, ["France", "UAE"]), "yes", np.where(wealth > 9, "no", "maybe"))
    wealth[:30], y[:30] = np.nan, "no"
    return DecisionTreeClassifier(max_depth=3).fit(
        pandas.DataFrame({"country": pandas.Categorical(country), "wealth": wealth}), y
    )


def whole(text):
    """Counts that rounding made 30.0 are 30."""
    return re.sub(r"value = \[.*?\]|\\n\[.*?\]", lambda found: re.sub(r"\.0(?=[,\]])", "", found[0]), text)


# ---- text


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"show_weights": True},
        {"max_depth": 0},
        {"max_depth": 2},
        {"spacing": 1, "decimals": 5},
        {"feature_names": NAMES, "class_names": LABELS},
        {"feature_names": np.array(NAMES), "decimals": 0},
    ],
    ids=str,
)
def test_the_text_is_scikit_learns(options):
    assert export_text(CLASS_PAIR[0], **options) == sklearn.tree.export_text(CLASS_PAIR[1], **options)
    options = {name: value for name, value in options.items() if name != "class_names"}
    assert export_text(NUMBER_PAIR[0], **options) == sklearn.tree.export_text(NUMBER_PAIR[1], **options)


def test_splits_of_categories_are_written_as_sets():
    text = export_text(countries())
    assert "|--- country in {France, UAE}" in text or "|--- country in {Peru, Switzerland}" in text
    assert "|--- country not in {" in text
    assert "|--- wealth <= 9.50" in text


def test_missing_values_are_written_where_they_go():
    model = countries()
    text, tree = export_text(model, show_missing=True), model.tree_
    assert text.count("missing") == (~tree.is_leaf).sum()
    first, second = (line for line in text.splitlines() if line.startswith("|--- "))
    assert ("or missing" in first) == bool(tree.missing_go_to_left[0])
    assert ("or missing" in second) != bool(tree.missing_go_to_left[0])
    assert "missing" not in export_text(CLASS_PAIR[0])


def test_a_split_that_parts_missing_values_from_others_says_so():
    model = DecisionTreeClassifier().fit([[1.0], [2.0], [np.nan]], [0, 0, 1])
    assert export_text(model).splitlines()[::2] == ["|--- feature_0 is known", "|--- feature_0 is missing"]
    assert "x[0] is known" in export_graphviz(model)


def test_several_outputs_say_all_their_classes():
    model = DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [["a", "x"], ["b", "y"]])
    assert export_text(model).splitlines()[1::2] == ["|   |--- class: [a, x]", "|   |--- class: [b, y]"]


def test_a_deep_tree_is_no_problem():
    n_nodes = 4001  # every other node is a leaf to the left
    nodes = np.zeros(n_nodes, dtype=NODE)
    nodes["right"][:-1:2] = np.arange(2, n_nodes, 2)
    trees = kernels.Trees(nodes.view(np.uint8).reshape(-1, 16), np.empty(0, np.uint32), np.array([n_nodes]), np.array([0]), 1)
    deep = TreeStore(trees, np.zeros(n_nodes), np.ones(n_nodes, np.int64), np.ones(n_nodes))[0]
    assert deep.max_depth == 2000
    assert export_text(deep, max_depth=10**6).count("value") == 2001
    assert "truncated branch of depth 1990" in export_text(deep)
    assert export_graphviz(deep).count(" [label=") == n_nodes


def test_a_bare_tree_and_one_without_values_can_be_written():
    tree = NUMBER_PAIR[0].tree_
    assert export_text(tree) == export_text(NUMBER_PAIR[0])
    assert "class: 2" in export_text(CLASS_PAIR[0].tree_)
    whole = tree._store
    bare = Tree(TreeStore(whole.trees, whole.impurity, whole.n_rows, whole.weight))
    assert export_text(bare) == export_text(tree)
    graph = export_graphviz(bare, filled=True)
    assert graph.count("value = ") == tree.n_leaves
    assert graph.count("samples = ") == tree.node_count


# ---- DOT


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"filled": True},
        {"rounded": True, "filled": True, "proportion": True, "node_ids": True},
        {"max_depth": 1, "filled": True},
        {"class_names": True},
        {"class_names": LABELS, "feature_names": NAMES, "label": "root"},
        {"label": "none", "rotate": True, "impurity": False, "node_ids": True},
        {"leaves_parallel": True, "max_depth": 2},
        {"special_characters": True, "class_names": True, "node_ids": True},
        {"precision": 1, "fontname": "times"},
    ],
    ids=str,
)
def test_the_graph_is_scikit_learns(options):
    assert export_graphviz(CLASS_PAIR[0], **options) == whole(sklearn.tree.export_graphviz(CLASS_PAIR[1], **options))
    if "class_names" not in options:
        assert export_graphviz(NUMBER_PAIR[0], **options) == sklearn.tree.export_graphviz(NUMBER_PAIR[1], **options)


def test_a_graph_can_go_to_a_file(tmp_path):
    text = export_graphviz(CLASS_PAIR[0])
    stream = io.StringIO()
    assert export_graphviz(CLASS_PAIR[0], stream) is None
    assert stream.getvalue() == text
    for place in (tmp_path / "tree.dot", str(tmp_path / "other.dot")):
        assert export_graphviz(CLASS_PAIR[0], place) is None
        assert Path(place).read_text(encoding="utf-8") == text
    with pytest.raises(ValueError, match="out_file=3"):
        export_graphviz(CLASS_PAIR[0], 3)


def test_names_are_escaped():
    names = ["a<b & c", "back\\slash", "back\\slash", "back\\slash"]
    assert "a&lt;b &amp; c" in export_graphviz(CLASS_PAIR[0], feature_names=names, special_characters=True)
    assert "back\\\\slash" in export_graphviz(CLASS_PAIR[0], feature_names=names)


# ---- pictures


def is_box(artist):
    """Whether a text has a frame; words on branches have none, or one that is not seen."""
    return artist.get_bbox_patch() is not None and artist.get_bbox_patch().get_edgecolor()[3] > 0


def boxes(artists):
    artists[0].figure.canvas.draw()
    return [artist.get_bbox_patch().get_window_extent() for artist in artists if is_box(artist)]


def assert_apart(found, ax):
    window = ax.get_window_extent()
    for i, one in enumerate(found):
        assert one.x0 >= window.x0 - 1
        assert one.x1 <= window.x1 + 1
        assert one.y0 >= window.y0 - 1
        assert one.y1 <= window.y1 + 1
        for other in found[i + 1 :]:
            assert not one.overlaps(other)


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


@pytest.mark.parametrize(
    "options", [{}, {"filled": True, "rounded": True}, {"node_ids": True, "class_names": LABELS}, {"max_depth": 1}], ids=str
)
def test_no_two_boxes_touch(axes, options):
    artists = plot_tree(CLASS_PAIR[0], ax=axes, feature_names=NAMES, **options)
    found = boxes(artists)
    n_shown = CLASS_PAIR[0].tree_.node_count if "max_depth" not in options else (CLASS_PAIR[0].tree_.depths <= 2).sum()
    assert len(found) == n_shown
    assert_apart(found, axes)
    words = [artist.get_text().strip() for artist in artists if not is_box(artist)]
    assert words == ["True", "False"]


def test_a_picture_of_categories_shortens_long_sets(axes):
    codes = np.arange(200) % 20
    model = DecisionTreeRegressor(categorical_features=[0], max_depth=1).fit(codes[:, None], codes % 2)
    texts = [artist.get_text() for artist in plot_tree(model, ax=axes, show_missing=True)]
    assert "more}" in texts[0]
    assert "missing: " in texts[0]
    assert "value = 0.0" in texts[1]


def test_the_text_of_a_box_is_scikit_learns(axes):
    mine = [artist.get_text() for artist in plot_tree(CLASS_PAIR[0], ax=axes)]
    yours = [artist.get_text() for artist in sklearn.tree.plot_tree(CLASS_PAIR[1], ax=axes)]
    assert mine == list(map(whole, yours))


def test_a_given_font_size_is_taken(axes):
    assert {artist.get_fontsize() for artist in plot_tree(NUMBER_PAIR[0], ax=axes, fontsize=5)} == {5}


def test_a_single_leaf_can_be_drawn(axes):
    model = DecisionTreeRegressor().fit([[0.0]], [1.0])
    assert len(plot_tree(model, ax=axes, filled=True)) == 1
    assert "fillcolor" in export_graphviz(model, filled=True)
    assert "fillcolor" in export_graphviz(DecisionTreeClassifier().fit([[0.0]], ["only"]), filled=True)


def random_tree(random, n_leaves):
    """The children of the nodes of a random tree with two branches or more a split."""
    if n_leaves == 1:
        return [[]]
    cuts = np.unique(random.integers(1, n_leaves, random.integers(1, 4)))
    nodes = [[]]
    for size in np.diff([0, *cuts, n_leaves]).tolist():
        begin = len(nodes)
        nodes[0].append(begin)
        nodes += [[child + begin for child in below] for below in random_tree(random, size)]
    return nodes


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**20))
def test_the_layout_keeps_nodes_of_a_level_apart_and_parents_in_the_middle(n_leaves, seed):
    random = np.random.default_rng(seed)
    children = random_tree(random, n_leaves)
    widths = random.uniform(0.5, 3, len(children))
    x, levels = lay_out(children, widths.tolist()), np.zeros(len(children), dtype=int)
    for node, below in enumerate(children):
        if below:
            levels[below] = levels[node] + 1
            np.testing.assert_allclose(x[node], (x[below[0]] + x[below[-1]]) / 2, atol=1e-9)
            assert (np.diff(x[below]) > 0).all()
    for level in range(levels.max() + 1):
        nodes = np.flatnonzero(levels == level)
        nodes = nodes[np.argsort(nodes)]
        gaps = np.diff(x[nodes]) - (widths[nodes][1:] + widths[nodes][:-1]) / 2
        assert (gaps >= -1e-9).all()


# ---- ID3

OUTLOOK = ["sunny", "sunny", "overcast", "rain", "rain", "rain", "overcast", "sunny", "sunny", "rain"]
WIND = [None, "strong", "weak", "weak", "weak", "strong", "strong", "weak", "strong", "strong"]
PLAYS = ["no", "no", "yes", "yes", "yes", "no", "yes", "no", "yes", "no"]


@pytest.fixture
def attributes():
    table = np.array(list(zip(OUTLOOK, WIND, strict=True)), dtype=object)
    return ID3().fit(table, PLAYS)


def test_a_tree_of_attributes_is_drawn_with_its_values_on_the_branches(axes, attributes):
    artists = plot_tree(attributes, ax=axes, feature_names=["outlook", "wind"], filled=True)
    tree, found = attributes.tree_, boxes(artists)
    assert len(found) == tree.node_count
    assert_apart(found, axes)
    words = [artist.get_text() for artist in artists if not is_box(artist)]
    assert words == [attributes.value_of_branch(node) for node in range(1, tree.node_count)]
    assert words[:3] == ["overcast", "rain", "sunny"]
    assert "missing" in words
    texts = [artist.get_text() for artist in artists if is_box(artist)]
    assert texts[0] == "outlook\nentropy = 1.0\nsamples = 10\nvalue = [5, 5]\nclass = no"
    assert texts[1] == "entropy = 0.0\nsamples = 2\nvalue = [0, 2]\nclass = yes"


def test_a_tree_of_attributes_takes_the_options_of_a_picture(axes, attributes):
    plain = plot_tree(attributes, ax=axes, impurity=False, label="none", max_depth=0, class_names=False)
    assert [artist.get_text() for artist in plain if artist.get_text() == "(...)"] == 3 * ["(...)"]
    assert plain[0].get_text() == "x[0]\n10\n[5, 5]"
    named = plot_tree(attributes, ax=axes, class_names=["stays", "plays"])
    assert named[0].get_text().endswith("class = stays")
    with pytest.raises(ValueError, match="feature_names must contain 2 elements, one an attribute"):
        plot_tree(attributes, ax=axes, feature_names=["outlook"])
    with pytest.raises(ValueError, match="class_names must contain 2 elements"):
        plot_tree(attributes, ax=axes, class_names=["stays"])
    with pytest.raises(sklearn.exceptions.NotFittedError):
        plot_tree(ID3(), ax=axes)
    with pytest.raises(ValueError, match="node=0 is not valid"):
        attributes.value_of_branch(0)


# ---- errors


@pytest.mark.parametrize("export", [export_text, export_graphviz, plot_tree])
def test_wrong_arguments_are_named(export):
    model = CLASS_PAIR[0]
    with pytest.raises(ValueError, match="feature_names must contain 4 elements"):
        export(model, feature_names=["a"])
    with pytest.raises(ValueError, match="class_names must contain 3 elements"):
        export(model, class_names=["a"])
    with pytest.raises(ValueError, match=r"class_names=.*numbers, not classes"):
        export(NUMBER_PAIR[0], class_names=["a"])
    with pytest.raises(ValueError, match="max_depth=-1"):
        export(model, max_depth=-1)
    with pytest.raises(ValueError, match="show_missing=2"):
        export(model, show_missing=2)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        export(DecisionTreeClassifier())
    if export is not plot_tree:
        with pytest.raises(TypeError, match=r"ID3 is not a binary decision tree.*to_text"):
            export(ID3().fit([["a"], ["b"]], [0, 1]))
    with pytest.raises(TypeError, match="DecisionTreeClassifier is not"):
        export(CLASS_PAIR[1])

"""Pictures of networks, of their training and of their codes hold the figures of the model."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.neural_network import MLPClassifier as PeerClassifier

from mercer.cluster import KMeans
from mercer.decomposition import PCA
from mercer.ensemble import HistGradientBoostingClassifier
from mercer.linear_model import Ridge
from mercer.neural_network import AND, NOT, OR, PASS, network
from mercer.plots import plot_decoded, plot_latent, plot_network, plot_training

XOR = network([[OR, AND], [(PASS, 0), (NOT, 1)], [AND]])
DIGITS = load_digits().data[:300]


def random_network(*sizes):
    random = np.random.RandomState(0)
    layers = [(random.randn(n_in, n_out), random.randn(n_out)) for n_in, n_out in pairwise(sizes)]
    return network(layers, activation="tanh")


def words(ax):
    return [text.get_text() for text in ax.texts]


def edges(ax):
    return [collection for collection in ax.collections if isinstance(collection, LineCollection)]


def nodes(ax):
    return [patch for patch in ax.patches if isinstance(patch, Circle)]


# ---- networks


def test_a_network_is_a_node_a_unit_and_an_edge_a_weight(ax):
    assert plot_network(XOR, ax=ax) is ax
    assert len(nodes(ax)) == 2 + 2 + 2 + 1
    positive, negative = edges(ax)
    assert (len(positive.get_segments()), len(negative.get_segments())) == (4 + 1 + 2, 1)
    assert len({tuple(each.get_colors()[0]) for each in (positive, negative)}) == 2
    centres = {tuple(node.center) for node in nodes(ax)}
    assert all(tuple(end) in centres for each in (positive, negative) for segment in each.get_segments() for end in segment)
    shown = words(ax)
    assert shown.count("1") == 7
    assert shown.count("-1") == 1
    assert [word for word in shown if word.startswith("b = ")] == [f"b = {b}" for b in (-0.5, -1.5, -0.5, 0.5, -1.5)]
    assert {"inputs", "layer 1\nheaviside", "layer 2\nheaviside", "outputs\nheaviside", "x1", "x2", "y"} <= set(shown)


def test_widths_are_in_the_ratio_of_the_weights(ax):
    plot_network(network([([[1.0], [-4.0], [2.0], [0.0]], [0.0])]), ax=ax)
    positive, negative = edges(ax)
    np.testing.assert_allclose(positive.get_linewidths() / negative.get_linewidths()[0], [0.25, 0.5])
    assert words(ax)[:4] == ["1", "-4", "2", "0"]


def test_activations_of_a_row_are_written_into_the_nodes(ax):
    made = random_network(3, 2, 1)
    x = [0.5, -1.0, 2.0]
    plot_network(made, x, show_weights=False, ax=ax)
    inside = {tuple(text.get_position()): text.get_text() for text in ax.texts}
    found = [inside[tuple(node.center)] for node in nodes(ax)]
    assert found == [f"{value:.2g}" for value in (*x, *made.forward_table(x).a)]


def test_figures_have_room_in_their_nodes(ax):
    weights = [3.14e-6, -2.7e-13, -0.01234, 123456.0]
    plot_network(network([([weights], [0.0] * 4)], activation="identity", out_activation="identity"), [1.0], ax=ax)
    inside = {text.get_text() for text in ax.texts if text.get_zorder() == 4}
    assert inside == {"1", "3e-06", "-3e-13", "-0.012", "1e+05"}


def test_large_layers_are_shortened_and_say_so(ax):
    plot_network(random_network(30, 5, 12), max_units=5, ax=ax)
    assert len(nodes(ax)) == 15
    shown = words(ax)
    assert "inputs\n5 of 30 shown" in shown
    assert "outputs\ntanh\n5 of 12 shown" in shown
    assert shown.count("\N{VERTICAL ELLIPSIS}") == 2
    assert [word for word in shown if word.startswith("x")] == ["x1", "x2", "x3", "x29", "x30"]
    assert sum(len(each.get_segments()) for each in edges(ax)) == 2 * 25
    heights = [node.center[1] for node in nodes(ax)[:5]]
    np.testing.assert_allclose(np.diff(heights), [-1, -1, -2, -1])
    assert not any(word.startswith("b = ") for word in shown)


@pytest.mark.parametrize("sizes", [(2, 1), (10, 4, 10), (40, 30, 20)])
def test_every_word_is_within_the_picture(sizes):
    ax = plot_network(random_network(*sizes), names=[f"a rather long name {j}" for j in range(sizes[0])])
    left, right = ax.get_xlim()
    bottom, top = ax.get_ylim()
    for text in ax.texts:
        box = text.get_window_extent().transformed(ax.transData.inverted())
        assert left - 0.2 <= box.x0 <= box.x1 <= right + 0.2
        assert bottom - 0.2 <= box.y0 <= box.y1 <= top + 0.2


def test_a_fitted_model_has_its_names(ax):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = PeerClassifier((3,), max_iter=5, random_state=0)
    with pytest.warns(UserWarning, match="Maximum iterations"):
        model.fit(X, np.array(["a", "b", "c"])[y])
    plot_network(model, ax=ax)
    assert {*X.columns, "a", "b", "c", "outputs\nsoftmax", "layer 1\nrelu"} <= set(words(ax))
    assert ax.get_title() == "4-3-3 network: 27 parameters"
    with pytest.warns(UserWarning, match="Maximum iterations"):
        model.fit(X, np.where(y == 0, "no", "yes"))
    assert words(plot_network(model)).count("yes") == 1


def test_wrong_calls_of_plot_network_are_refused():
    for wrong, message in (
        ({"max_units": 1}, "max_units=1 is not valid"),
        ({"show_weights": 1}, "show_weights=1 is not valid"),
        ({"names": ["a"]}, r"names=\['a'\] is not valid; it must hold 2 names"),
        ({"names": "ab"}, "names='ab' is not valid"),
        ({"x": [1.0]}, "it must be one vector of 2 inputs"),
    ):
        with pytest.raises(ValueError, match=message):
            plot_network(XOR, **wrong)
    with pytest.raises(TypeError, match="Ridge has no coefs_"):
        plot_network(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]))


# ---- training


RECORDS = [
    {
        "loss": 1 / k,
        "penalty": 0.1 * k,
        "learning_rate": 0.5**k,
        **({"validation_score": k / 10} if k % 2 else {}),
        "gradient_norm_1": 10.0**-k,
        "gradient_norm_2": 1.0,
    }
    for k in range(1, 7)
]
TRAINED = SimpleNamespace(history_=RECORDS)


@pytest.mark.parametrize(
    ("what", "names", "scale"),
    [
        ("loss", ["loss", "penalty"], "linear"),
        ("score", ["validation_score"], "linear"),
        ("rate", ["learning_rate"], "linear"),
        ("gradients", ["gradient_norm_1", "gradient_norm_2"], "log"),
        (["penalty", "learning_rate"], ["penalty", "learning_rate"], "linear"),
    ],
)
def test_curves_are_the_figures_of_the_records(ax, what, names, scale):
    assert plot_training(TRAINED, what, ax=ax) is ax
    assert [line.get_label() for line in ax.lines] == [name.replace("_", " ") for name in names]
    for line, name in zip(ax.lines, names, strict=True):
        held = [(k, record[name]) for k, record in enumerate(RECORDS, 1) if name in record]
        np.testing.assert_allclose(line.get_xydata(), held)
    assert (ax.get_yscale(), ax.get_xlabel()) == (scale, "iteration")


def test_the_axis_is_logarithmic_if_asked_for_and_counts_epochs_where_records_do(ax):
    model = SimpleNamespace(history_=[{"epoch": 5 * k, "loss": 1 / k} for k in range(1, 4)])
    plot_training(model, log=True, ax=ax)
    assert (ax.get_yscale(), ax.get_xlabel()) == ("log", "epoch")
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [5, 10, 15])
    assert plot_training(TRAINED, "gradients", log=False).get_yscale() == "linear"


def test_histories_of_other_models_are_drawn_too():
    X, y = load_iris(return_X_y=True)
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, y)
    ax = plot_training(model)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [record["loss"] for record in model.history_])
    assert ax.get_title() == "Training of HistGradientBoostingClassifier"


def test_what_is_not_in_the_history_is_refused():
    with pytest.raises(ValueError, match=r"what='speed' is not valid; it must be one of \['loss', 'score'"):
        plot_training(TRAINED, "speed")
    with pytest.raises(ValueError, match=r"what=\['speed'\] is not in the history of SimpleNamespace, which has \['loss'"):
        plot_training(TRAINED, ["speed"])
    X = load_iris().data
    with pytest.raises(ValueError, match="what='gradients' is not in the history of KMeans"):
        plot_training(KMeans(3, random_state=0).fit(X), "gradients")
    with pytest.raises(ValueError, match="log=1 is not valid"):
        plot_training(TRAINED, log=1)
    with pytest.raises(TypeError, match="Ridge has no history_"):
        plot_training(Ridge(solver="cholesky").fit([[0.0], [1.0]], [0.0, 1.0]))
    with pytest.raises(NotFittedError):
        plot_training(KMeans(3))


# ---- codes


def test_two_dimensional_codes_are_drawn_as_they_are(ax):
    X, y = load_iris(return_X_y=True)
    model = PCA(2).fit(X)
    assert plot_latent(model, X, np.array(["a", "b", "c"])[y], ax=ax) is ax
    codes = model.transform(X)
    for k, points in enumerate(ax.collections):
        np.testing.assert_allclose(points.get_offsets(), codes[y == k])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    assert (ax.get_title(), ax.get_xlabel()) == ("Codes of PCA", "$z_1$")
    assert len(plot_latent(model, X).collections) == 1


def test_codes_of_more_dimensions_go_through_principal_components(ax):
    X, y = load_iris(return_X_y=True)
    model = PCA(4, whiten=True).fit(X)
    plot_latent(model, X, y, ax=ax)
    plane = PCA(2).fit(model.transform(X))
    np.testing.assert_allclose(ax.collections[1].get_offsets(), plane.transform(model.transform(X))[y == 1])
    assert ax.get_title() == "Codes of PCA: 2 principal components of 4 dimensions"
    assert ax.get_xlabel() == f"component 1 ({plane.explained_variance_ratio_[0]:.1%} of the variance)"


def test_numbers_shade_the_points(ax):
    X, y = load_diabetes(return_X_y=True)
    plot_latent(PCA(2).fit(X), X, y, ax=ax)
    (points,) = ax.collections
    np.testing.assert_array_equal(points.get_array(), y)
    assert len(ax.figure.axes) == 2


def test_what_gives_no_codes_of_a_plane_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="Ridge has no transform"):
        plot_latent(Ridge().fit(X, y), X)
    with pytest.raises(ValueError, match=r"PCA gives codes of shape \(150, 1\); they must have two dimensions at least"):
        plot_latent(PCA(1).fit(X), X)
    with pytest.raises(ValueError, match="y has 3 labels; it must have one for each of 150 rows"):
        plot_latent(PCA(2).fit(X), X, y[:3])
    with pytest.raises(ValueError, match="y has 30 labels"):
        plot_latent(PCA(2).fit(X), X, np.arange(30) / 7)
    with pytest.raises(NotFittedError):
        plot_latent(PCA(2), X)


def test_each_image_is_what_its_code_is_decoded_to(ax):
    model = PCA(2).fit(DIGITS)
    assert plot_decoded(model, image_shape=(4, 16), n_points=3, xlim=(-6, 6), ylim=(0, 20), ax=ax) is ax
    (image,) = ax.images
    mosaic = np.asarray(image.get_array())
    left, right, bottom, top = image.get_extent()
    assert (left, right, bottom, top) == (-9, 9, -5, 25)
    for a in (-6, 0, 6):
        for b in (0, 10, 20):
            column = int((a - left) / (right - left) * 3) * 16
            line = int((top - b) / (top - bottom) * 3) * 4  # the first line is at the top
            expected = model.inverse_transform([[a, b]]).reshape(4, 16)
            np.testing.assert_allclose(mosaic[line : line + 4, column : column + 16], expected)


def test_the_grid_spans_what_is_usual_or_most_codes_of_rows():
    model = PCA(2).fit(DIGITS)
    left, right, bottom, top = plot_decoded(model, image_shape=(8, 8), n_points=5).images[0].get_extent()
    assert (left, right, bottom, top) == (-2.5, 2.5, -2.5, 2.5)
    left, right, *_ = plot_decoded(model, DIGITS, image_shape=(8, 8), n_points=5, ylim=(0, 1)).images[0].get_extent()
    low, high = np.quantile(model.transform(DIGITS)[:, 0], [0.01, 0.99])
    np.testing.assert_allclose([left, right], [low - (high - low) / 8, high + (high - low) / 8])


def test_colours_are_cut_off_at_zero_and_one():
    random = np.random.RandomState(0)
    model = PCA(2).fit(random.uniform(size=(20, 12)))
    ax = plot_decoded(model, image_shape=(2, 2, 3), n_points=2, xlim=(-5, 5), ylim=(-5, 5))
    mosaic = np.asarray(ax.images[0].get_array())
    assert mosaic.shape == (4, 4, 3)
    assert (mosaic.min(), mosaic.max()) == (0, 1)


def test_wrong_calls_of_plot_decoded_are_refused():
    model = PCA(2).fit(DIGITS)
    for wrong, message in (
        ({"image_shape": (8, 9)}, r"image_shape=\(8, 9\) is not valid; it must hold the 64 values of a decoded row"),
        ({"image_shape": (64,)}, r"it must be \(height, width\) or \(height, width, 3\)"),
        ({"image_shape": (4, 4, 4)}, r"it must be \(height, width\) or \(height, width, 3\)"),
        ({"image_shape": (8.0, 8.0)}, r"image_shape=\(8.0, 8.0\) is not valid"),
        ({"image_shape": (8, 8), "n_points": 1}, "n_points=1 is not valid"),
        ({"image_shape": (8, 8), "xlim": (1, 0)}, r"xlim=\(1, 0\) is not valid"),
    ):
        with pytest.raises(ValueError, match=message):
            plot_decoded(model, **wrong)
    with pytest.raises(ValueError, match="PCA has codes of 3 dimensions; a plane needs two"):
        plot_decoded(PCA(3).fit(DIGITS), DIGITS, image_shape=(8, 8))
    with pytest.raises(TypeError, match="Ridge has no inverse_transform"):
        plot_decoded(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]), image_shape=(1, 1))
    with pytest.raises(NotFittedError):
        plot_decoded(PCA(2), image_shape=(8, 8))

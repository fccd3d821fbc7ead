"""Units and networks whose weights are set by hand, and what goes forward and back through them."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.neural_network import MLPClassifier as PeerClassifier, MLPRegressor as PeerRegressor

from mercer._params import InvalidParameterError
from mercer.neural_network import AND, NOT, OR, PASS, Network, Unit, network

BITS = np.array(list(product([0, 1], repeat=2)))
SMOOTH = ["identity", "sigmoid", "tanh", "relu", "leaky_relu", "gelu"]


def random_layers(sizes, seed=0):
    random = np.random.RandomState(seed)
    return [(random.randn(n_in, n_out), random.randn(n_out)) for n_in, n_out in pairwise(sizes)]


# ---- units


def test_gates_say_what_logic_says():
    a, b = BITS.T.astype(bool)
    np.testing.assert_array_equal(AND(BITS), a & b)
    np.testing.assert_array_equal(OR(BITS), a | b)
    np.testing.assert_array_equal(NOT([[0], [1]]), [1, 0])
    np.testing.assert_array_equal(PASS([[0], [1]]), [0, 1])


def test_heaviside_is_one_at_zero():
    assert [Unit([1.0])([z]) for z in (-1e-300, 0.0, 2.0)] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("activation", "expected"),
    [
        ("heaviside", (0, 1)),
        ("identity", (-1, 2)),
        ("sigmoid", (0.2689414213699951, 0.8807970779778823)),
        ("tanh", (-0.7615941559557649, 0.9640275800758169)),
        ("relu", (0, 2)),
        ("leaky_relu", (-0.01, 2)),
        ("gelu", (-0.15865525393145707, 1.9544997361036416)),
    ],
)
def test_activations_have_the_values_of_their_formulas(activation, expected):
    unit = Unit([2.0], bias=-1.0, activation=activation)
    np.testing.assert_allclose([unit([0.0]), unit([1.5])], expected, rtol=1e-14)
    assert (unit.n_inputs, unit.n_parameters) == (1, 2)


def test_units_are_values():
    assert Unit([1, 1], -1.5) == AND
    assert Unit(np.ones(2), -1.5, "sigmoid") != AND
    assert eval(repr(AND)) == AND
    assert len({AND, Unit([1, 1], -1.5), OR}) == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (([],), "weights is empty"),
        (([[1.0]],), r"weights has shape \(1, 1\); it must be a vector"),
        (("ab",), "weights='ab' is not valid"),
        (([np.nan],), "weights holds NaN or infinity"),
        (([1.0], "b"), "bias='b' is not valid"),
        (([1.0], 0.0, "step"), "activation='step' is not valid; it must be 'heaviside' or 'identity'"),
    ],
)
def test_wrong_units_are_refused(wrong, message):
    with pytest.raises(InvalidParameterError, match=message):
        Unit(*wrong)


def test_a_unit_refuses_other_inputs_than_it_has_weights_for():
    for x in ([1.0], [[1.0, 2.0, 3.0]], 1.0):
        with pytest.raises(ValueError, match="it must be of 2 inputs"):
            AND(x)


# ---- networks


def test_and_or_not_compose_to_xor():
    xor = network([[OR, AND], [(PASS, 0), (NOT, 1)], [AND]])
    np.testing.assert_array_equal(xor.predict(BITS), BITS[:, 0] ^ BITS[:, 1])
    np.testing.assert_array_equal(xor(BITS)[:, 0], BITS[:, 0] ^ BITS[:, 1])
    assert xor([1, 0]).tolist() == [1.0]
    assert (xor.sizes, xor.n_parameters) == ((2, 2, 2, 1), 6 + 4 + 3)


def test_three_bits_have_a_parity_by_xor_of_xor():
    """The first bit waits two layers for the others: places say what a unit reads, in any order."""
    pair = [[(PASS, 0), (OR, [1, 2]), (AND, [2, 1])], [(PASS, 0), (PASS, 1), (NOT, 2)], [(PASS, 0), (AND, [1, 2])]]
    parity = network([*pair, [OR, AND], [(PASS, 0), (NOT, 1)], [AND]])
    bits = np.array(list(product([0, 1], repeat=3)))
    np.testing.assert_array_equal(parity.predict(bits), bits.sum(axis=1) % 2)
    assert parity.sizes == (3, 3, 3, 2, 2, 2, 1)


def test_a_3_3_2_1_network_has_23_parameters():
    made = network(random_layers((3, 3, 2, 1)), activation="sigmoid")
    assert (made.sizes, made.n_parameters) == ((3, 3, 2, 1), 23)
    assert repr(made) == "Network: 3-3-2-1, 23 parameters, sigmoid, sigmoid, sigmoid"


def test_weights_that_are_cut_are_no_parameters_and_have_no_gradient():
    linear = Unit([2.0], 1.0, "identity")
    cut = network([[(linear, 1), (linear, 0)], [Unit([1.0, 1.0], 0.0, "identity")]])
    assert cut.n_parameters == 4 + 3
    np.testing.assert_array_equal(cut.is_connected[0], [[False, True], [True, False]])
    np.testing.assert_array_equal(cut.coefs[0], [[0, 2], [2, 0]])
    (gradients, _) = cut.backward_table([3.0, 5.0], 0.0).coef_gradients
    np.testing.assert_array_equal(gradients != 0, cut.is_connected[0])


def test_what_a_network_hands_out_is_a_copy():
    made = network(random_layers((2, 1)))
    before = made.coefs[0].copy()
    made.coefs[0][:] = made.intercepts[0][:] = 7.0
    np.testing.assert_array_equal(made.coefs[0], before)
    assert network(made) is made


def test_predictions_are_what_the_outputs_say():
    X = np.random.RandomState(1).randn(20, 3)
    layers = random_layers((3, 4, 2))
    softmax = network(layers, activation="tanh", out_activation="softmax")
    np.testing.assert_allclose(softmax(X).sum(axis=1), 1)
    np.testing.assert_array_equal(softmax.predict(X), softmax(X).argmax(axis=1))
    sigmoid = network(layers, activation="tanh", out_activation="sigmoid")
    np.testing.assert_array_equal(sigmoid.predict(X), sigmoid(X) > 0.5)
    linear = network(layers, activation="tanh", out_activation="identity")
    np.testing.assert_array_equal(linear.predict(X), linear(X))
    np.testing.assert_array_equal(linear.predict(X) > 0, sigmoid.predict(X) == 1)
    assert network(random_layers((3, 1)), activation="identity").predict(X).shape == (20,)


def test_a_fitted_model_of_the_peer_becomes_a_network():
    X, y = load_iris(return_X_y=True)
    many = PeerClassifier((5, 3), activation="tanh", max_iter=30, random_state=0)
    two = PeerClassifier((4,), activation="logistic", max_iter=30, random_state=0)
    with pytest.warns(UserWarning, match="Maximum iterations"):
        many.fit(X, y)
    with pytest.warns(UserWarning, match="Maximum iterations"):
        two.fit(X, y > 0)
    np.testing.assert_allclose(network(many)(X), many.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(network(many).predict(X), many.predict(X))
    np.testing.assert_allclose(network(two)(X)[:, 0], two.predict_proba(X)[:, 1], rtol=1e-12)
    assert network(two).activations == ("sigmoid", "sigmoid")
    assert network(many).n_parameters == sum(W.size + b.size for W, b in zip(many.coefs_, many.intercepts_, strict=True))


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "it must be a list of layers, one at least, or a fitted estimator"),
        ("words", "layers='words' is not valid"),
        ([[]], r"layer 1 is \[\]; it must be a list of units"),
        ([[AND, 3]], "3 in layer 1 is not valid; it must be a unit, or a pair"),
        ([[(AND, 0)]], "a unit of layer 1 has 2 weights and is to read 1 values"),
        ([[(AND, [1, 1])]], "is not valid; it must be a unit, or a pair of a unit and the different places"),
        ([[(NOT, -1)]], "is not valid; it must be a unit, or a pair"),
        ([[(NOT, 0.0)]], "is not valid; it must be a unit, or a pair"),
        ([[OR, AND], [NOT]], "a unit of layer 2 has 1 weights and is to read 2 values"),
        ([[OR, AND], [(NOT, 2)]], "a unit of layer 2 reads place 2; it must be below 2"),
        ([[OR, Unit([1, 1], 0, "tanh")]], r"units of layer 1 have activations \['heaviside', 'tanh'\]; a layer must have one"),
        ([([[1.0]], [0.0]), [NOT]], "in layer 1 is not valid"),
        ([([[1.0]], [0.0, 1.0])], r"layer 1 has W of shape \(1, 1\) and b of 2 values"),
        ([([[1.0]], [0.0]), ([[1.0], [2.0]], [0.0])], r"layer 2 has W of shape \(2, 1\) and b of 1 values, after 1 values"),
        ([([1.0], [0.0])], r"W of layer 1 has shape \(1,\); it must be a matrix"),
        ([([[np.inf]], [0.0])], "W of layer 1 holds NaN or infinity"),
        ([(np.empty((0, 2)), [0.0, 0.0])], r"layer 1 has W of shape \(0, 2\)"),
    ],
)
def test_wrong_layers_are_refused(layers, message):
    with pytest.raises(InvalidParameterError, match=message):
        network(layers)


def test_activations_go_with_matrices_alone():
    for given in ([[AND]], network([[AND]])):
        with pytest.raises(InvalidParameterError, match=r"activation='tanh' goes with layers \(W, b\)"):
            network(given, activation="tanh")
    with pytest.raises(InvalidParameterError, match="out_activation='tanh' goes with"):
        network([[AND]], out_activation="tanh")
    for name in ("activation", "out_activation"):
        with pytest.raises(InvalidParameterError, match=f"{name}='step' is not valid"):
            network(random_layers((2, 1)), **{name: "step"})
    with pytest.raises(InvalidParameterError, match="activation='softmax' is not valid"):
        network(random_layers((2, 1)), activation="softmax")


def test_models_that_are_no_network_are_refused():
    from mercer.linear_model import Ridge

    with pytest.raises(NotFittedError):
        network(PeerRegressor())
    with pytest.raises(TypeError, match="Ridge has no coefs_, intercepts_, activation, out_activation_"):
        network(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]))


def test_other_inputs_than_the_network_has_are_refused():
    made = network(random_layers((3, 2)), activation="tanh")
    for x in ([1.0], [[1.0, 2.0]], 0.0):
        with pytest.raises(ValueError, match="it must be of 3 inputs"):
            made(x)
    with pytest.raises(ValueError, match=r"X has shape \(3,\); it must be a matrix"):
        made.predict([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="holds NaN or infinity"):
        made([1.0, np.nan, 0.0])


# ---- tables


def test_the_forward_table_has_the_sum_and_the_activation_of_every_unit():
    layers = random_layers((3, 2, 2))
    made = network(layers, activation="tanh", out_activation="softmax")
    x = np.array([0.5, -1.0, 2.0])
    table = made.forward_table(x)
    z = x @ layers[0][0] + layers[0][1]
    out = np.tanh(z) @ layers[1][0] + layers[1][1]
    np.testing.assert_allclose(table.z, [*z, *out])
    np.testing.assert_allclose(table.a, [*np.tanh(z), *np.exp(out) / np.exp(out).sum()])
    np.testing.assert_array_equal(table.output, made(x))
    assert table.layer.tolist() == [1, 1, 2, 2]
    assert table.unit.tolist() == [1, 2, 1, 2]
    assert table.activation == ["tanh", "tanh", "softmax", "softmax"]


def test_the_forward_table_of_xor_reads_as_it_is_worked_by_hand():
    table = network([[OR, AND], [(PASS, 0), (NOT, 1)], [AND]]).forward_table([1, 0])
    assert repr(table).splitlines() == [
        "Forward pass of x = (1, 0)",
        "layer  unit  activation     z  a",
        "    1     1   heaviside   0.5  1",
        "    1     2   heaviside  -0.5  0",
        "    2     1   heaviside   0.5  1",
        "    2     2   heaviside   0.5  1",
        "    3     1   heaviside   0.5  1",
    ]


def test_the_backward_table_reads_as_it_is_worked_by_hand():
    """Two units in a chain: y = w2 (w1 x + b1) + b2, so dL/dw2 = (y - t) a1 and dL/dw1 = (y - t) w2 x."""
    chain = network([([[3.0]], [1.0]), ([[-2.0]], [5.0])], activation="identity")
    table = chain.backward_table([2.0], 0.0)
    assert repr(table).splitlines() == [
        "Backward pass of x = (2), y = (0): squared loss 40.5",
        "layer  unit   z   a  f'(z)  delta = db  dw1",
        "    2     1  -9  -9      1          -9  -63",
        "    1     1   7   7      1          18   36",
    ]
    assert [gradient.tolist() for gradient in table.coef_gradients] == [[[36.0]], [[-63.0]]]
    assert [gradient.tolist() for gradient in table.intercept_gradients] == [[18.0], [-9.0]]


OUTPUTS = [(out, "squared") for out in (*SMOOTH, "softmax")] + [("sigmoid", "logistic"), ("softmax", "logistic")]


@pytest.mark.parametrize("hidden", SMOOTH)
@pytest.mark.parametrize(("out", "loss"), OUTPUTS)
def test_gradients_are_differences_of_the_loss(hidden, out, loss):
    layers = random_layers((3, 4, 2, 2), seed=3)
    x, y = np.array([0.3, -1.2, 0.8]), np.array([0.25, 0.75])
    at = {"activation": hidden, "out_activation": out}
    table = network(layers, **at).backward_table(x, y, loss=loss)
    step = 1e-5
    for k, (gradients, group) in product(range(3), ((table.coef_gradients, 0), (table.intercept_gradients, 1))):
        assert gradients[k].shape == layers[k][group].shape
        for place in np.ndindex(gradients[k].shape):
            values = []
            for sign in (-1, 1):
                moved = [tuple(part.copy() for part in layer) for layer in layers]
                moved[k][group][place] += sign * step
                values.append(network(moved, **at).backward_table(x, y, loss=loss).loss_value)
            assert gradients[k][place] == pytest.approx((values[1] - values[0]) / (2 * step), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("out", "y"), [("sigmoid", [1.0, 0.0]), ("softmax", [1.0, 0.0])])
def test_the_logistic_loss_is_minus_the_logarithm_of_the_likelihood(out, y):
    made = network(random_layers((2, 3, 2)), activation="tanh", out_activation=out)
    table = made.backward_table([1.0, -1.0], y, loss="logistic")
    a = made([1.0, -1.0])
    expected = -np.log(a[0]) - (np.log(1 - a[1]) if out == "sigmoid" else 0)
    assert table.loss_value == pytest.approx(expected)
    np.testing.assert_allclose(table.delta[:2], a - y)


def test_a_class_stands_for_its_targets():
    made = network(random_layers((2, 3)), out_activation="softmax")
    for loss in ("squared", "logistic"):
        by_class, by_targets = (made.backward_table([1.0, 2.0], y, loss=loss) for y in (2, [0, 0, 1]))
        assert repr(by_class) == repr(by_targets)


def test_lines_go_from_the_last_layer_to_the_first_and_frames_have_them():
    pytest.importorskip("pandas")
    made = network(random_layers((2, 3, 1)), activation="relu", out_activation="identity")
    table = made.backward_table([1.0, 2.0], 3.0)
    assert table.layer.tolist() == [2, 1, 1, 1]
    frame = table.to_frame()
    assert frame.columns.tolist() == ["layer", "unit", "z", "a", "slope", "delta", "dw1", "dw2", "dw3"]
    np.testing.assert_array_equal(frame.iloc[0, -3:], table.coef_gradients[1][:, 0])
    np.testing.assert_array_equal(frame.iloc[2, -3:-1], table.coef_gradients[0][:, 1])
    assert frame["dw3"].isna().tolist() == [False, True, True, True]
    forward = made.forward_table([1.0, 2.0]).to_frame()
    assert forward.columns.tolist() == ["layer", "unit", "activation", "z", "a"]
    np.testing.assert_array_equal(forward["a"][:3], table.a[1:])


def test_large_tables_are_shortened():
    made = network(random_layers((12, 60, 1)), activation="tanh")
    forward, backward = made.forward_table(np.ones(12)), made.backward_table(np.ones(12), 0.5)
    assert "... 21 more units" in repr(forward)
    assert "x = (1, 1, 1, 1, 1, 1, ..., 1)" in repr(forward)
    assert repr(backward).splitlines()[1].endswith("|dw|")
    first = repr(backward).splitlines()[3].split()
    assert float(first[-1]) == pytest.approx(np.linalg.norm(backward.coef_gradients[0][:, 0]), rel=1e-5)


def test_heaviside_refuses_the_way_back_and_says_why():
    mixed = [([[1.0]], [0.0]), ([[1.0]], [0.0])]
    with pytest.raises(ValueError, match="layer 1 has activation='heaviside', whose derivative is 0 wherever it exists"):
        network(mixed, out_activation="sigmoid").backward_table([1.0], 1)
    with pytest.raises(ValueError, match="layer 2 has activation='heaviside'"):
        network(mixed, activation="tanh", out_activation="heaviside").backward_table([1.0], 1)


@pytest.mark.parametrize(
    ("out", "arguments", "message"),
    [
        ("tanh", ([1.0, 2.0], [0, 1], "logistic"), "loss='logistic' needs outputs that are probabilities, not of .*'tanh'"),
        ("tanh", ([1.0, 2.0], [0, 1], "hinge"), "loss='hinge' is not valid; it must be 'squared' or 'logistic'"),
        ("tanh", ([1.0], [0, 1], "squared"), r"x has shape \(1,\); it must be one vector of 2 inputs"),
        ("tanh", ([1.0, 2.0], 1, "squared"), "y=1 is not valid; it must have a number for each of 2 outputs"),
        ("sigmoid", ([1.0, 2.0], [0, 2], "logistic"), "targets must be from 0 to 1"),
        ("softmax", ([1.0, 2.0], [1, 1], "logistic"), "targets of softmax must sum to 1"),
        ("softmax", ([1.0, 2.0], 2, "logistic"), "y=2 is no class; it must be an integer from 0 to 1"),
        ("softmax", ([1.0, 2.0], 0.5, "squared"), "y=0.5 is no class"),
        ("softmax", ([1.0, 2.0], [0, np.nan], "squared"), "y holds NaN or infinity"),
    ],
)
def test_wrong_calls_of_the_backward_table_are_refused(out, arguments, message):
    made = network(random_layers((2, 3, 2)), activation="tanh", out_activation=out)
    x, y, loss = arguments
    with pytest.raises(InvalidParameterError if "probabilities" not in message else ValueError, match=message):
        made.backward_table(x, y, loss=loss)


def test_tables_of_a_model_with_the_four_attributes():
    """Whatever class it is of: what a fitted perceptron has is asked for, not what it is called."""

    class Model(BaseEstimator):
        def fit(self):
            """Have been fitted."""

    (W, b), (V, c) = random_layers((2, 3, 1))
    model = Model()
    model.coefs_, model.intercepts_, model.activation, model.out_activation_ = [W, V], [b, c], "relu", "identity"
    made = network(model)
    assert isinstance(made, Network)
    np.testing.assert_allclose(made([1.0, 2.0]), np.maximum(np.array([1.0, 2.0]) @ W + b, 0) @ V + c)
    model.activation = "swish"
    with pytest.raises(InvalidParameterError, match="Model: activation='swish' is not valid"):
        network(model)
    model.activation, model.coefs_ = "relu", [W]
    with pytest.raises(ValueError, match="1 matrices of weights and 2 vectors of biases"):
        network(model)


def test_units_load_no_estimator_of_the_peer():
    command = "import sys, mercer.neural_network as m; m.AND; print('sklearn.neural_network' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"

"""Costs, and what labels are predicted by."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from mercer._explaining.table_model import TableModel
from mercer._runs.decision import Decision, best_cutoff, cost_matrix, read_costs
from mercer._runs.errors import RunError


def test_costs_of_two_classes_are_read_from_the_option():
    costs = read_costs("FN=5, fp=1")
    assert costs == {"FN": 5.0, "FP": 1.0}
    np.testing.assert_array_equal(cost_matrix(costs, ["no", "yes"]), [[0, 1], [5, 0]])


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_costs_of_many_classes_are_read_from_a_file_in_any_order(tmp_path, kind):
    path = tmp_path / f"costs.{kind}"
    table = {"b": {"c": 1, "a": 2, "b": 0}, "a": {"b": 3, "c": 4, "a": 0}, "c": {"a": 5, "b": 6, "c": 0}}
    if kind == "json":
        path.write_text(json.dumps(table))
    else:
        lines = [",".join([true, *(str(row[label]) for label in "abc")]) for true, row in table.items()]
        path.write_text("\n".join(["true,a,b,c", *lines]) + "\n")
    expected = [[0, 3, 4], [2, 0, 1], [5, 6, 0]]
    np.testing.assert_array_equal(cost_matrix(read_costs(str(path)), ["a", "b", "c"]), expected)


@pytest.mark.parametrize(
    ("costs", "classes", "message"),
    [
        ({"FN": 1.0}, None, "the target holds numbers"),
        ({"FN": 1.0, "FP": 1.0}, ["a", "b", "c"], "FN and FP are for two classes, and there are 3"),
        ({"FN": 1.0}, ["no", "yes"], "to predict 'yes' for 'no' costs 0"),
        ({"FN": float("inf"), "FP": 1.0}, ["no", "yes"], "costs inf; it must be finite"),
        ({"a": {"b": 1.0}, "d": {"a": 1.0}}, ["a", "b"], "'d' is no class; there are 'a', 'b'"),
        ({"a": {"b": 1.0, "c": 1.0}, "b": {"a": 1.0}}, ["a", "b", "c"], "rows of 'b' are not all given"),
    ],
)
def test_costs_that_do_not_fit_the_classes_are_refused(costs, classes, message):
    with pytest.raises(RunError, match=message):
        cost_matrix(costs, classes)


@pytest.mark.parametrize("text", ["FN=5,XX=1", "FN=much", "nothing.csv"])
def test_what_are_no_costs_is_refused(text):
    with pytest.raises(RunError, match="--costs"):
        read_costs(text)


@pytest.mark.parametrize("content", ["a,b\n1,2,3\n", ",a,b\na,0,many\nb,1,0\n"])
def test_a_damaged_file_of_costs_is_one_clear_line(tmp_path, content):
    (tmp_path / "costs.csv").write_text(content)
    with pytest.raises(RunError, match="no costs can be read from it"):
        read_costs(str(tmp_path / "costs.csv"))


def _rows(n_classes, seed=0, n=400):
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.ones(n_classes), size=n)
    codes = (rng.random(n)[:, None] > np.cumsum(probability, axis=1)).sum(axis=1)
    return codes, probability


@pytest.mark.parametrize("is_weighted", [False, True])
def test_of_two_classes_no_cut_off_costs_less_on_the_rows_that_chose_it(is_weighted):
    codes, probability = _rows(2)
    weights = np.random.default_rng(1).random(len(codes)) if is_weighted else None
    decision = Decision.of(np.array([[0.0, 1.0], [7.0, 0.0]]), codes, probability, weights)
    least = decision.mean_cost(codes, decision.codes(probability), weights)
    others = [decision.mean_cost(codes, (probability[:, 1] >= cut).astype(int), weights) for cut in np.linspace(0, 1.01, 203)]
    assert least <= min(others) + 1e-12
    assert 0.05 < decision.threshold < 0.25  # true probabilities: about 1 / 8


def test_of_many_classes_the_decision_costs_no_more_than_the_least_expected_cost():
    codes, probability = _rows(4)
    costs = np.array([[0.0, 1, 2, 9], [3, 0, 1, 1], [1, 8, 0, 1], [1, 1, 1, 0]])
    decision = Decision.of(costs, codes, probability)
    expected = np.argmin(probability @ costs, axis=1)
    found = decision.codes(probability)
    assert decision.mean_cost(codes, found) <= decision.mean_cost(codes, expected)
    assert decision.mean_cost(codes, found) < 0.8 * decision.mean_cost(codes, probability.argmax(axis=1))


def test_a_cut_off_that_is_shown_has_the_best_balanced_accuracy():
    codes, probability = _rows(2)
    cutoff = best_cutoff(codes, probability)

    def balanced(cut):
        is_called = probability[:, 1] >= cut
        return (is_called[codes == 1].mean() + (~is_called)[codes == 0].mean()) / 2

    assert balanced(cutoff) >= max(map(balanced, np.linspace(0, 1, 101))) - 1e-12


def test_what_is_explained_is_what_is_predicted():
    codes, probability = _rows(2)
    decision = Decision.of(np.array([[0.0, 1.0], [7.0, 0.0]]), codes, probability)
    model = SimpleNamespace(predict_proba=lambda X: X)
    assert TableModel.of(model, ["no", "yes"], decision.codes).codes(np.array([0.7, 0.3])).tolist() == [1]
    assert TableModel.of(model, ["no", "yes"]).codes(np.array([[0.7, 0.3]])).tolist() == [0]

"""Surrogate trees: a small tree that answers as a model does, as far as it can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from mercer._params import Integer, InvalidParameterError, Null, OneOf, RandomState, Real, check_value
from mercer._random import as_random_state
from mercer._rows import count_rows, take_rows
from mercer._saved import saved
from mercer.inspection._partial_dependence import as_checked_table
from mercer.metrics import accuracy_score, r2_score
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

_OWNER = "surrogate_tree"


@saved("mercer.inspection.SurrogateTree")
@dataclass(frozen=True)
class SurrogateTree:
    """A small tree in the place of a model.

    Parameters
    ----------
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted to the answers of the model.
    fidelity : float
        How well it answers as the model does on rows that were held out: R2 of numbers, or the share of equal labels.
    baseline : float
        The same of the best constant answer: 0 for numbers, the share of the commonest label.
    n_train, n_test : int
        The numbers of rows that it was fitted on and judged by.
    feature_names : list of str
    """

    tree: Any
    fidelity: float
    baseline: float
    n_train: int
    n_test: int
    feature_names: list[str]

    @property
    def measure(self) -> str:
        """What fidelity is."""
        return "share of equal labels" if is_classifier(self.tree) else "R2"

    def __str__(self) -> str:
        rules = export_text(self.tree, feature_names=self.feature_names).rstrip("\n")
        words = f"{self.measure} {self.fidelity:.3f} on {self.n_test} rows held out"
        return f"{rules}\n{words} (a constant answer: {self.baseline:.3f})"


def surrogate_tree(
    model: Any,
    X: Any,
    max_depth: int | None = 3,
    *,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int = 5,
    response_method: str = "predict",
    target: Any = None,
    test_size: float = 0.3,
    random_state: Any = 0,
) -> SurrogateTree:
    r"""A small tree that mimics a model, and how well it does.

    The tree is fitted to the model's own answers, not to what is true, on a part of the rows, and its fidelity

    .. math:: 1 - \sum_i (f(x_i) - t(x_i))^2 \Big/ \sum_i (f(x_i) - \bar f)^2,

    for labels the share of rows for which both say the same, is that on the others. A tree of low fidelity explains nothing.

    Parameters
    ----------
    model : object
        A fitted classifier or regressor.
    X : array-like or table of shape (n_samples, n_features)
        Rows like those that the model is for.
    max_depth : int or None, default=3
        The most splits above a leaf.
    max_leaf_nodes : int or None, default=None
        The most leaves.
    min_samples_leaf : int, default=5
        The fewest rows of a leaf.
    response_method : {"predict", "predict_proba", "decision_function"}, default="predict"
        The answers to mimic: those of `predict`, or the numbers of one class.
    target : object, default=None
        The class whose numbers are meant; None takes the second of two classes. In regression of several targets, the number of
        one of them; None takes all.
    test_size : float, default=0.3
        The share of the rows that is held out.
    random_state : int, RandomState or None, default=0
        Draws the rows held out.

    Returns
    -------
    surrogate : SurrogateTree
        It prints its rules and its fidelity; `mercer.tree.export_text` and `plot_tree` take its `tree`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.ensemble import RandomForestClassifier
    >>> from mercer.inspection import surrogate_tree
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> print(surrogate_tree(model, X, max_depth=2))
    |--- petal length (cm) <= 2.35
    |   |--- class: 0
    |--- petal length (cm) >  2.35
    |   |--- petal length (cm) <= 4.95
    |   |   |--- class: 1
    |   |--- petal length (cm) >  4.95
    |   |   |--- class: 2
    share of equal labels 0.911 on 45 rows held out (a constant answer: 0.400)

    References
    ----------
    M. W. Craven and J. W. Shavlik, "Extracting tree-structured representations of trained networks", NIPS 1995.
    """
    check_value(_OWNER, "max_depth", max_depth, Null() | Integer(1))
    check_value(_OWNER, "max_leaf_nodes", max_leaf_nodes, Null() | Integer(2))
    check_value(_OWNER, "min_samples_leaf", min_samples_leaf, Integer(1))
    check_value(_OWNER, "response_method", response_method, OneOf("predict", "predict_proba", "decision_function"))
    check_value(_OWNER, "test_size", test_size, Real(above=0, below=1))
    check_value(_OWNER, "random_state", random_state, RandomState())
    table = as_checked_table(X)
    answers = _answers(model, table.data, response_method, target)
    n_rows = count_rows(table.data)
    n_test = min(max(1, round(test_size * n_rows)), n_rows - 1)
    if n_test < 1:
        raise ValueError(f"{_OWNER}: X has {n_rows} rows; it must have two at least, one to fit on and one held out.")
    order = as_random_state(random_state).permutation(n_rows)
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    kind = DecisionTreeClassifier if is_classifier(model) and response_method == "predict" else DecisionTreeRegressor
    tree = kind(max_depth=max_depth, max_leaf_nodes=max_leaf_nodes, min_samples_leaf=min_samples_leaf, random_state=0).fit(
        take_rows(table.data, train), answers[train]
    )
    said, meant = tree.predict(take_rows(table.data, test)), answers[test]
    names = [str(name) for name in table.names]
    if kind is DecisionTreeRegressor:
        return SurrogateTree(tree, float(r2_score(meant, said)), 0.0, len(train), len(test), names)
    baseline = float(np.unique(meant, return_counts=True)[1].max() / len(meant))
    return SurrogateTree(tree, float(accuracy_score(meant, said)), baseline, len(train), len(test), names)


def _answers(model: Any, X: Any, response_method: str, target: Any) -> Any:
    """What the tree is to say."""
    if not hasattr(model, response_method):
        raise AttributeError(f"{_OWNER}: {type(model).__name__} has no {response_method}.")
    answers = np.asarray(getattr(model, response_method)(X))
    if response_method == "predict":
        if is_classifier(model) and target is not None:
            raise InvalidParameterError(f"{_OWNER}: target={target!r} goes with predict_proba and decision_function.")
        return answers if target is None else answers[:, target]
    if answers.ndim == 1:
        sign = -1.0 if target is not None and target == model.classes_[0] else 1.0
        return sign * answers
    classes = list(np.asarray(model.classes_).tolist())
    if target is None and len(classes) > 2:
        raise InvalidParameterError(
            f"{_OWNER}: target=None is not valid for {len(classes)} classes; it must be one of {classes!r}."
        )
    chosen = classes[-1] if target is None else target
    if chosen not in classes:
        raise InvalidParameterError(f"{_OWNER}: target={target!r} is not valid; it must be one of {classes!r}.")
    return answers[:, classes.index(chosen)]

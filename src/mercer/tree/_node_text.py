"""What a node of a tree says in words: its test, its figures, its class. Shared by every export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._params import ArrayLike, Bool, Integer, InvalidParameterError, Null, OneOf, Rule, check_value
from mercer._trees.store import Tree

EXPORT_RULES: dict[str, Rule] = {
    "max_depth": Null() | Integer(0),
    "feature_names": Null() | ArrayLike(),
    "class_names": Null() | Bool() | ArrayLike(),
    "label": OneOf("all", "root", "none"),
    "precision": Integer(0),
    **{name: Bool() for name in ("filled", "impurity", "node_ids", "proportion", "rounded", "show_missing")},
}

# What a split at infinity asks: all that has a value goes left.
KNOWN, MISSING = "is known", "is missing"


@dataclass(frozen=True)
class NamedTree:
    """A tree with the names of its features, categories and classes."""

    tree: Any  # the arrays of a `Tree`, as `_read` gives them
    feature_names: Sequence[str] | None
    class_names: Sequence[Any] | bool | None  # of one output; True: symbols
    categories: Sequence[npt.NDArray[Any] | None]
    classes: Sequence[npt.NDArray[Any]]  # of each output; none in regression
    criterion: str
    show_missing: bool = False
    escape: Callable[[str], str] = str

    def feature(self, node: int, symbol: str) -> str:
        """The name of the feature that a node splits on."""
        number = int(self.tree.feature[node])
        return symbol.format(number) if self.feature_names is None else self.escape(str(self.feature_names[number]))

    def left_set(self, node: int, at_most: int | None = None) -> str:
        """The categories that go left, as a set; beyond `at_most` only their number."""
        names = self.categories[int(self.tree.feature[node])]
        codes = self.tree.left_categories(node)
        shown = codes if at_most is None or len(codes) <= at_most + 1 else codes[:at_most]
        texts = [str(code) if names is None else str(names[code]) for code in shown]
        texts += [f"{len(codes) - len(shown)} more"] if len(shown) < len(codes) else []
        return self.escape("{" + ", ".join(texts) + "}")

    @lazy_property
    def is_classification(self) -> bool:
        return bool(self.classes)

    def labels_at(self, node: int) -> list[Any]:
        """The most frequent class of every output."""
        value = self.tree.value[node]
        return [each[int(value[output, : len(each)].argmax())] for output, each in enumerate(self.classes)]

    def counts_at(self, node: int) -> FloatArray:
        """The weights of the classes, of shape (n_outputs, n_classes)."""
        return np.asarray(self.tree.value[node] * self.tree.weighted_n_node_samples[node])


def name_tree(
    owner: str,
    decision_tree: Any,
    *,
    feature_names: Any,
    class_names: Any,
    show_missing: bool,
    escape: Callable[[str], str] = str,
) -> NamedTree:
    """The tree of a fitted estimator, or a bare one, with names whose number is checked."""
    estimator = None if isinstance(decision_tree, Tree) else decision_tree
    if estimator is not None:
        check_is_fitted(estimator)
    tree = decision_tree if estimator is None else getattr(estimator, "tree_", None)
    if not isinstance(tree, Tree):
        hint = "; it has a `to_text` of its own" if hasattr(estimator, "to_text") else ""
        raise TypeError(f"{owner}: {type(decision_tree).__name__} is not a binary decision tree of Mercer{hint}.")
    if feature_names is None:
        feature_names = getattr(estimator, "feature_names_in_", None)
    elif len(feature_names) != tree.n_features:
        raise InvalidParameterError(
            f"{owner}: feature_names must contain {tree.n_features} elements, one a feature; got {len(feature_names)}."
        )
    classes = _classes_of(tree, estimator)
    if not isinstance(class_names, (bool, type(None))):
        _require_classes(owner, class_names, classes)
    categories = getattr(estimator, "categories_", [None] * tree.n_features)
    criterion = getattr(estimator, "criterion", "impurity")
    criterion = "impurity" if callable(criterion) else criterion
    class_names = None if class_names is False else class_names
    return NamedTree(_read(tree), feature_names, class_names, categories, classes, str(criterion), show_missing, escape)


def name_attributes(owner: str, model: Any, *, feature_names: Any, class_names: Any) -> NamedTree:
    """The tree of a fitted `ID3` with names; its classes have their labels where no names are given."""
    check_is_fitted(model)
    tree, n_features = model.tree_, model.n_features_in_
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", None)
    elif len(feature_names) != n_features:
        raise InvalidParameterError(
            f"{owner}: feature_names must contain {n_features} elements, one an attribute; got {len(feature_names)}."
        )
    if not isinstance(class_names, (bool, type(None))):
        _require_classes(owner, class_names, [model.classes_])
    shares = tree.counts / tree.weight[:, None]
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    arrays = SimpleNamespace(
        n_outputs=1,
        feature=tree.feature,
        is_leaf=tree.feature < 0,
        impurity=-(shares * logs).sum(axis=1) + 0.0,
        n_node_samples=tree.n_rows,
        weighted_n_node_samples=tree.weight,
        value=shares[:, None, :],
        depths=tree.depths,
    )
    names = None if class_names is False else model.classes_ if class_names is None else class_names
    return NamedTree(arrays, feature_names, names, model.categories_, [model.classes_], "entropy")


def _read(tree: Tree) -> SimpleNamespace:
    """The arrays of a tree, each computed once: a `Tree` computes them whenever they are asked for."""
    names = (
        "nodes", "n_features", "n_outputs", "feature", "threshold", "is_leaf", "is_categorical", "missing_go_to_left",
        "impurity", "n_node_samples", "weighted_n_node_samples", "value", "children_right", "depths", "parents",
    )  # fmt: skip
    return SimpleNamespace(**{name: getattr(tree, name) for name in names}, left_categories=tree.left_categories)


def _require_classes(owner: str, class_names: Any, classes: list[npt.NDArray[Any]]) -> None:
    if len(classes) != 1:
        what = "several outputs" if classes else "numbers, not classes"
        raise InvalidParameterError(f"{owner}: class_names={class_names!r} is not valid for a tree of {what}; it must be None.")
    if len(class_names) != len(classes[0]):
        raise InvalidParameterError(
            f"{owner}: class_names must contain {len(classes[0])} elements, one a class; got {len(class_names)}."
        )


def _classes_of(tree: Tree, estimator: Any) -> list[npt.NDArray[Any]]:
    """The classes of each output; numbers where only the tree is known."""
    if estimator is None:
        return [] if tree.max_n_classes == 1 else [np.arange(tree.max_n_classes)] * tree.n_outputs
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return []
    return [classes] if tree.n_outputs == 1 else list(classes)


def check_options(owner: str, rules: dict[str, Rule], options: dict[str, Any]) -> None:
    """Check the options of an export by their rules."""
    for name, value in options.items():
        check_value(owner, name, value, rules[name])


def heights(tree: Any) -> list[int]:
    """The number of levels from each node down to its deepest leaf, the node's own included."""
    right = tree.nodes["right"].tolist()
    out = [1] * len(right)
    for node in range(len(right) - 1, -1, -1):  # children come after their parents
        if right[node]:
            out[node] = 1 + max(out[node + 1], out[right[node]])
    return out


@dataclass(frozen=True)
class Signs:
    """How a picture writes what has no letters."""

    number: str = "#"
    feature: str = "x[{}]"
    symbol: str = "y[{}]"
    at_most: str = "<="
    among: str = "in"
    line: str = "\n"


@dataclass(frozen=True)
class NodeLabel:
    """The text of a node in a picture."""

    named: NamedTree
    signs: Signs
    label: str
    impurity: bool
    node_ids: bool
    proportion: bool
    precision: int
    at_most: int | None = None  # categories shown in a set

    def __call__(self, node: int) -> str:
        tree = self.named.tree
        is_labelled = self.label == "all" or (self.label == "root" and node == 0)

        def entry(name: str, value: str) -> str:
            return f"{name} = {value}" if is_labelled else value

        lines = []
        if self.node_ids:
            lines.append(("node " if is_labelled else "") + f"{self.signs.number}{node}")
        if not tree.is_leaf[node]:
            lines += self._test(node)
        if self.impurity:
            lines.append(entry(self.named.criterion, self._round(tree.impurity[node])))
        share = 100.0 * tree.n_node_samples[node] / max(float(tree.n_node_samples[0]), 1.0)
        lines.append(entry("samples", f"{round(share, 1)}%" if self.proportion else str(tree.n_node_samples[node])))
        if not np.isnan(tree.value[node]).any():  # a tree of boosting keeps no values but its leaves'
            lines.append(entry("value", self._value(node)))
        if self.named.class_names is not None and len(self.named.classes) == 1:
            lines.append(entry("class", self._class(node)))
        return self.signs.line.join(lines)

    def _round(self, number: Any) -> str:
        return str(round(float(number), self.precision))

    def _test(self, node: int) -> list[str]:
        named, signs = self.named, self.signs
        name = named.feature(node, signs.feature)
        if named.tree.is_categorical[node]:
            lines = [f"{name} {signs.among} {named.left_set(node, self.at_most)}"]
        elif np.isinf(named.tree.threshold[node]):
            lines = [f"{name} {KNOWN}"]
        else:
            lines = [f"{name} {signs.at_most} {self._round(named.tree.threshold[node])}"]
        if named.show_missing:
            lines.append("missing: " + ("left" if named.tree.missing_go_to_left[node] else "right"))
        return lines

    def _value(self, node: int) -> str:
        named = self.named
        if not named.is_classification:
            values = named.tree.value[node][:, 0]
            texts = [self._round(value) for value in values]
            return texts[0] if len(texts) == 1 else "[" + self.signs.line.join(f"[{text}]" for text in texts) + "]"
        numbers = named.tree.value[node] if self.proportion else named.counts_at(node)
        is_whole = not self.proportion and np.allclose(numbers, np.rint(numbers), rtol=1e-12, atol=1e-9)
        lines = ["[" + ", ".join(str(round(x)) if is_whole else self._round(x) for x in row) + "]" for row in numbers.tolist()]
        return lines[0] if len(lines) == 1 else "[" + self.signs.line.join(lines) + "]"

    def _class(self, node: int) -> str:
        named = self.named
        place = int(named.tree.value[node, 0].argmax())
        if named.class_names is True:
            return self.signs.symbol.format(place)
        return named.escape(str(named.class_names[place]))  # type: ignore[index]


class AttributeLabel(NodeLabel):
    """The text of a node of `ID3`: a split names its attribute, and its branches say the values."""

    def _test(self, node: int) -> list[str]:
        return [self.named.feature(node, self.signs.feature)]

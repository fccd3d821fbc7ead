"""Decision trees."""

from __future__ import annotations

from mercer.tree._decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from mercer.tree._export import export_graphviz, export_text
from mercer.tree._id3 import ID3
from mercer.tree._plot import plot_tree

__all__ = [  # noqa: RUF022  the order of `sorted`, as in every module
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ID3",
    "export_graphviz",
    "export_text",
    "plot_tree",
]

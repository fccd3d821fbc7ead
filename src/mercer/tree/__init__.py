"""Decision trees."""

from mercer.tree._export import export_graphviz, export_text
from mercer.tree._id3 import ID3
from mercer.tree._plot import plot_tree
from mercer.tree._single.classifier import DecisionTreeClassifier
from mercer.tree._single.extra_tree import ExtraTreeClassifier, ExtraTreeRegressor
from mercer.tree._single.regressor import DecisionTreeRegressor

__all__ = [  # noqa: RUF022  # in the order of sorted()
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ID3",
    "export_graphviz",
    "export_text",
    "plot_tree",
]

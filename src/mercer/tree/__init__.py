"""Decision trees."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.tree import *  # noqa: F403

    from mercer.tree._export import export_graphviz as export_graphviz, export_text as export_text
    from mercer.tree._id3 import ID3 as ID3
    from mercer.tree._plot import plot_tree as plot_tree
    from mercer.tree._single.classifier import DecisionTreeClassifier as DecisionTreeClassifier
    from mercer.tree._single.extra_tree import (
        ExtraTreeClassifier as ExtraTreeClassifier,
        ExtraTreeRegressor as ExtraTreeRegressor,
    )
    from mercer.tree._single.regressor import DecisionTreeRegressor as DecisionTreeRegressor

__getattr__, __dir__ = exports(
    __name__,
    {
        "._export": ("export_graphviz", "export_text"),
        "._id3": ("ID3",),
        "._plot": ("plot_tree",),
        "._single.classifier": ("DecisionTreeClassifier",),
        "._single.extra_tree": ("ExtraTreeClassifier", "ExtraTreeRegressor"),
        "._single.regressor": ("DecisionTreeRegressor",),
    },
)

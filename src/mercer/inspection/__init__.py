"""What a model goes by: Shapley values and other explanations of predictions; the rest is scikit-learn's, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.inspection import *  # noqa: F403

    from mercer.inspection._explanation import Explanation as Explanation
    from mercer.inspection._tree import TreeExplainer as TreeExplainer

__getattr__, __dir__ = exports(__name__, {"._explanation": ("Explanation",), "._tree": ("TreeExplainer",)})

"""What a model goes by: Shapley values and other explanations of predictions; the rest is scikit-learn's, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.inspection import *  # noqa: F403

    from mercer.inspection._accumulated import accumulated_local_effects as accumulated_local_effects
    from mercer.inspection._display import PartialDependenceDisplay as PartialDependenceDisplay
    from mercer.inspection._explanation import Explanation as Explanation
    from mercer.inspection._interaction import h_statistic as h_statistic
    from mercer.inspection._partial_dependence import partial_dependence as partial_dependence
    from mercer.inspection._permutation_importance import permutation_importance as permutation_importance
    from mercer.inspection._surrogate import SurrogateTree as SurrogateTree, surrogate_tree as surrogate_tree

__getattr__, __dir__ = exports(
    __name__,
    {
        "._accumulated": ("accumulated_local_effects",),
        "._display": ("PartialDependenceDisplay",),
        "._explanation": ("Explanation",),
        "._interaction": ("h_statistic",),
        "._partial_dependence": ("partial_dependence",),
        "._permutation_importance": ("permutation_importance",),
        "._surrogate": ("SurrogateTree", "surrogate_tree"),
    },
)

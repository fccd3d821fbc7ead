"""What a model goes by: Shapley values and other explanations of predictions; the rest is scikit-learn's, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.inspection import *  # noqa: F403

    from mercer.inspection._accumulated import accumulated_local_effects as accumulated_local_effects
    from mercer.inspection._background import Background as Background, kmeans as kmeans, sample as sample
    from mercer.inspection._deep import DeepExplainer as DeepExplainer
    from mercer.inspection._display import PartialDependenceDisplay as PartialDependenceDisplay
    from mercer.inspection._exact import ExactExplainer as ExactExplainer
    from mercer.inspection._explain import explain as explain
    from mercer.inspection._explanation import Explanation as Explanation
    from mercer.inspection._games import ShapleyValues as ShapleyValues, shapley_value as shapley_value
    from mercer.inspection._groups import Grouped as Grouped
    from mercer.inspection._interaction import h_statistic as h_statistic
    from mercer.inspection._kernel import KernelExplainer as KernelExplainer
    from mercer.inspection._lime import LimeExplainer as LimeExplainer, LimeTabularExplainer as LimeTabularExplainer
    from mercer.inspection._lime_explanation import LimeExplanation as LimeExplanation
    from mercer.inspection._linear import LinearExplainer as LinearExplainer
    from mercer.inspection._partial_dependence import partial_dependence as partial_dependence
    from mercer.inspection._permutation import PermutationExplainer as PermutationExplainer
    from mercer.inspection._permutation_importance import permutation_importance as permutation_importance
    from mercer.inspection._retrain import RetrainExplainer as RetrainExplainer
    from mercer.inspection._surrogate import SurrogateTree as SurrogateTree, surrogate_tree as surrogate_tree
    from mercer.inspection._tree import TreeExplainer as TreeExplainer

__getattr__, __dir__ = exports(
    __name__,
    {
        "._accumulated": ("accumulated_local_effects",),
        "._background": ("Background", "kmeans", "sample"),
        "._deep": ("DeepExplainer",),
        "._display": ("PartialDependenceDisplay",),
        "._exact": ("ExactExplainer",),
        "._explain": ("explain",),
        "._explanation": ("Explanation",),
        "._games": ("ShapleyValues", "shapley_value"),
        "._groups": ("Grouped",),
        "._interaction": ("h_statistic",),
        "._kernel": ("KernelExplainer",),
        "._lime": ("LimeExplainer", "LimeTabularExplainer"),
        "._lime_explanation": ("LimeExplanation",),
        "._linear": ("LinearExplainer",),
        "._partial_dependence": ("partial_dependence",),
        "._permutation": ("PermutationExplainer",),
        "._permutation_importance": ("permutation_importance",),
        "._retrain": ("RetrainExplainer",),
        "._surrogate": ("SurrogateTree", "surrogate_tree"),
        "._tree": ("TreeExplainer",),
    },
)

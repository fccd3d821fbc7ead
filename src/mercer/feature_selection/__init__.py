"""Selection of features: scores of single columns, and selectors by tests, by models, in sequence and by repetition."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.feature_selection import *  # noqa: F403

    from mercer.feature_selection._boruta import BorutaSelector as BorutaSelector
    from mercer.feature_selection._from_model import SelectFromModel as SelectFromModel
    from mercer.feature_selection._mutual_information import (
        mutual_info_classif as mutual_info_classif,
        mutual_info_regression as mutual_info_regression,
    )
    from mercer.feature_selection._recursive import RFE as RFE, RFECV as RFECV
    from mercer.feature_selection._scores import (
        chi2 as chi2,
        f_classif as f_classif,
        f_oneway as f_oneway,
        f_regression as f_regression,
        r_regression as r_regression,
    )
    from mercer.feature_selection._sequential import SequentialFeatureSelector as SequentialFeatureSelector
    from mercer.feature_selection._stability import (
        StabilitySelection as StabilitySelection,
        stability_selection as stability_selection,
    )
    from mercer.feature_selection._univariate import (
        GenericUnivariateSelect as GenericUnivariateSelect,
        SelectFdr as SelectFdr,
        SelectFpr as SelectFpr,
        SelectFwe as SelectFwe,
        SelectKBest as SelectKBest,
        SelectPercentile as SelectPercentile,
    )
    from mercer.feature_selection._variance import VarianceThreshold as VarianceThreshold

__getattr__, __dir__ = exports(
    __name__,
    {
        "._boruta": ("BorutaSelector",),
        "._from_model": ("SelectFromModel",),
        "._mutual_information": ("mutual_info_classif", "mutual_info_regression"),
        "._recursive": ("RFE", "RFECV"),
        "._scores": ("chi2", "f_classif", "f_oneway", "f_regression", "r_regression"),
        "._sequential": ("SequentialFeatureSelector",),
        "._stability": ("StabilitySelection", "stability_selection"),
        "._univariate": (
            "GenericUnivariateSelect",
            "SelectFdr",
            "SelectFpr",
            "SelectFwe",
            "SelectKBest",
            "SelectPercentile",
        ),
        "._variance": ("VarianceThreshold",),
    },
)

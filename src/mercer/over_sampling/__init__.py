"""Resamplers that add rows of rare classes, under imbalanced-learn's names."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from mercer.over_sampling._adasyn import ADASYN as ADASYN
    from mercer.over_sampling._borderline import BorderlineSMOTE as BorderlineSMOTE
    from mercer.over_sampling._categories import SMOTEN as SMOTEN
    from mercer.over_sampling._mixed import SMOTENC as SMOTENC
    from mercer.over_sampling._random import RandomOverSampler as RandomOverSampler
    from mercer.over_sampling._smote import SMOTE as SMOTE
    from mercer.over_sampling._support_vectors import SVMSMOTE as SVMSMOTE

__getattr__, __dir__ = exports(
    __name__,
    {
        "._adasyn": ("ADASYN",),
        "._borderline": ("BorderlineSMOTE",),
        "._categories": ("SMOTEN",),
        "._mixed": ("SMOTENC",),
        "._random": ("RandomOverSampler",),
        "._smote": ("SMOTE",),
        "._support_vectors": ("SVMSMOTE",),
    },
    peers=(),
)

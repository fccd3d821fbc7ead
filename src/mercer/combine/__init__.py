"""Resamplers that add rows of rare classes and then clean up, under imbalanced-learn's names."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from mercer.combine._cleaned_smote import SMOTEENN as SMOTEENN, SMOTETomek as SMOTETomek

__getattr__, __dir__ = exports(__name__, {"._cleaned_smote": ("SMOTEENN", "SMOTETomek")}, peers=())

"""Matrix decompositions, and scikit-learn's other names, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.decomposition import *  # noqa: F403

    from mercer.decomposition._kernel_pca import KernelPCA as KernelPCA

__getattr__, __dir__ = exports(__name__, {"._kernel_pca": ("KernelPCA",)})

"""Matrix decompositions: principal components, also of kernels, and truncated singular values; the others are scikit-learn's."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.decomposition import *  # noqa: F403

    from mercer.decomposition._incremental_pca import IncrementalPCA as IncrementalPCA
    from mercer.decomposition._kernel_pca import KernelPCA as KernelPCA
    from mercer.decomposition._pca import PCA as PCA
    from mercer.decomposition._truncated_svd import TruncatedSVD as TruncatedSVD

__getattr__, __dir__ = exports(
    __name__,
    {
        "._incremental_pca": ("IncrementalPCA",),
        "._kernel_pca": ("KernelPCA",),
        "._pca": ("PCA",),
        "._truncated_svd": ("TruncatedSVD",),
    },
)

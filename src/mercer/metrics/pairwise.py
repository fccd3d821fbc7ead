"""Distances and kernels between all rows of two matrices, and scikit-learn's other names, passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.metrics.pairwise import *  # noqa: F403

    from mercer.metrics._pairwise.dispatch import (
        distance_metrics as distance_metrics,
        kernel_metrics as kernel_metrics,
        pairwise_distances as pairwise_distances,
        pairwise_distances_chunked as pairwise_distances_chunked,
        pairwise_kernels as pairwise_kernels,
    )
    from mercer.metrics._pairwise.distances import (
        cosine_distances as cosine_distances,
        cosine_similarity as cosine_similarity,
        euclidean_distances as euclidean_distances,
        manhattan_distances as manhattan_distances,
        nan_euclidean_distances as nan_euclidean_distances,
    )
    from mercer.metrics._pairwise.divergence import kl_divergence as kl_divergence
    from mercer.metrics._pairwise.kernels import (
        additive_chi2_kernel as additive_chi2_kernel,
        chi2_kernel as chi2_kernel,
        laplacian_kernel as laplacian_kernel,
        linear_kernel as linear_kernel,
        polynomial_kernel as polynomial_kernel,
        rbf_kernel as rbf_kernel,
        sigmoid_kernel as sigmoid_kernel,
    )
    from mercer.metrics._pairwise.nearest import (
        pairwise_distances_argmin as pairwise_distances_argmin,
        pairwise_distances_argmin_min as pairwise_distances_argmin_min,
    )

__getattr__, __dir__ = exports(
    __name__,
    {
        "mercer.metrics._pairwise.dispatch": (
            "distance_metrics",
            "kernel_metrics",
            "pairwise_distances",
            "pairwise_distances_chunked",
            "pairwise_kernels",
        ),
        "mercer.metrics._pairwise.distances": (
            "cosine_distances",
            "cosine_similarity",
            "euclidean_distances",
            "manhattan_distances",
            "nan_euclidean_distances",
        ),
        "mercer.metrics._pairwise.divergence": ("kl_divergence",),
        "mercer.metrics._pairwise.kernels": (
            "additive_chi2_kernel",
            "chi2_kernel",
            "laplacian_kernel",
            "linear_kernel",
            "polynomial_kernel",
            "rbf_kernel",
            "sigmoid_kernel",
        ),
        "mercer.metrics._pairwise.nearest": ("pairwise_distances_argmin", "pairwise_distances_argmin_min"),
    },
)

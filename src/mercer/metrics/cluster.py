"""Measures of clusterings under scikit-learn's path; what Mercer does not have is passed on."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.metrics.cluster import *  # noqa: F403

    from mercer.metrics._clusterings import (
        adjusted_mutual_info_score as adjusted_mutual_info_score,
        adjusted_rand_score as adjusted_rand_score,
        completeness_score as completeness_score,
        entropy as entropy,
        expected_mutual_information as expected_mutual_information,
        fowlkes_mallows_score as fowlkes_mallows_score,
        homogeneity_completeness_v_measure as homogeneity_completeness_v_measure,
        homogeneity_score as homogeneity_score,
        mutual_info_score as mutual_info_score,
        normalized_mutual_info_score as normalized_mutual_info_score,
        rand_score as rand_score,
        v_measure_score as v_measure_score,
    )
    from mercer.metrics._contingency import (
        contingency_matrix as contingency_matrix,
        pair_confusion_matrix as pair_confusion_matrix,
    )
    from mercer.metrics._silhouettes import (
        calinski_harabasz_score as calinski_harabasz_score,
        davies_bouldin_score as davies_bouldin_score,
        silhouette_samples as silhouette_samples,
        silhouette_score as silhouette_score,
    )

__getattr__, __dir__ = exports(
    __name__,
    {
        "mercer.metrics._clusterings": (
            "adjusted_mutual_info_score",
            "adjusted_rand_score",
            "completeness_score",
            "entropy",
            "expected_mutual_information",
            "fowlkes_mallows_score",
            "homogeneity_completeness_v_measure",
            "homogeneity_score",
            "mutual_info_score",
            "normalized_mutual_info_score",
            "rand_score",
            "v_measure_score",
        ),
        "mercer.metrics._contingency": (
            "contingency_matrix",
            "pair_confusion_matrix",
        ),
        "mercer.metrics._silhouettes": (
            "calinski_harabasz_score",
            "davies_bouldin_score",
            "silhouette_samples",
            "silhouette_score",
        ),
    },
)

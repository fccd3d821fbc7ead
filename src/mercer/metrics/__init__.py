"""Measures of how good predictions are: of classes, clusters, scores and probabilities, and numbers; and scorers made of them.

What scikit-learn has goes by its names, parameters and meaning. Multilabel indicators are counted by scikit-learn; measures of
rankings are its own, passed on.
"""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.metrics import *  # noqa: F403

    from mercer.metrics._accuracy import (
        accuracy_score as accuracy_score,
        error_rate as error_rate,
        hamming_loss as hamming_loss,
        zero_one_loss as zero_one_loss,
    )
    from mercer.metrics._agreement import cohen_kappa_score as cohen_kappa_score, matthews_corrcoef as matthews_corrcoef
    from mercer.metrics._areas import average_precision_score as average_precision_score, roc_auc_score as roc_auc_score
    from mercer.metrics._clusterings import (
        adjusted_mutual_info_score as adjusted_mutual_info_score,
        adjusted_rand_score as adjusted_rand_score,
        completeness_score as completeness_score,
        fowlkes_mallows_score as fowlkes_mallows_score,
        homogeneity_completeness_v_measure as homogeneity_completeness_v_measure,
        homogeneity_score as homogeneity_score,
        mutual_info_score as mutual_info_score,
        normalized_mutual_info_score as normalized_mutual_info_score,
        rand_score as rand_score,
        v_measure_score as v_measure_score,
    )
    from mercer.metrics._confusion import confusion_matrix as confusion_matrix
    from mercer.metrics._contingency import (
        pair_confusion_matrix as pair_confusion_matrix,
    )
    from mercer.metrics._curves import (
        auc as auc,
        confusion_matrix_at_thresholds as confusion_matrix_at_thresholds,
        det_curve as det_curve,
        precision_recall_curve as precision_recall_curve,
        roc_curve as roc_curve,
    )
    from mercer.metrics._deviance import (
        mean_gamma_deviance as mean_gamma_deviance,
        mean_poisson_deviance as mean_poisson_deviance,
        mean_tweedie_deviance as mean_tweedie_deviance,
    )
    from mercer.metrics._explained import (
        d2_absolute_error_score as d2_absolute_error_score,
        d2_pinball_score as d2_pinball_score,
        d2_tweedie_score as d2_tweedie_score,
        explained_variance_score as explained_variance_score,
        r2_score as r2_score,
    )
    from mercer.metrics._h_measure import h_measure as h_measure
    from mercer.metrics._information import aic as aic, bic as bic
    from mercer.metrics._likelihood import class_likelihood_ratios as class_likelihood_ratios
    from mercer.metrics._pairwise.dispatch import (
        pairwise_distances as pairwise_distances,
        pairwise_distances_chunked as pairwise_distances_chunked,
        pairwise_kernels as pairwise_kernels,
    )
    from mercer.metrics._pairwise.distances import (
        euclidean_distances as euclidean_distances,
        nan_euclidean_distances as nan_euclidean_distances,
    )
    from mercer.metrics._pairwise.nearest import (
        pairwise_distances_argmin as pairwise_distances_argmin,
        pairwise_distances_argmin_min as pairwise_distances_argmin_min,
    )
    from mercer.metrics._precision_recall import (
        f1_score as f1_score,
        fbeta_score as fbeta_score,
        precision_recall_fscore_support as precision_recall_fscore_support,
        precision_score as precision_score,
        recall_score as recall_score,
    )
    from mercer.metrics._probability import (
        brier_score_loss as brier_score_loss,
        d2_brier_score as d2_brier_score,
        d2_log_loss_score as d2_log_loss_score,
        log_loss as log_loss,
    )
    from mercer.metrics._rates import (
        false_negative_rate as false_negative_rate,
        false_positive_rate as false_positive_rate,
        jaccard_score as jaccard_score,
        npv_score as npv_score,
        specificity_score as specificity_score,
    )
    from mercer.metrics._recalls import (
        balanced_accuracy_score as balanced_accuracy_score,
        class_weighted_accuracy as class_weighted_accuracy,
        g_mean_score as g_mean_score,
    )
    from mercer.metrics._regression import (
        max_error as max_error,
        mean_absolute_error as mean_absolute_error,
        mean_absolute_percentage_error as mean_absolute_percentage_error,
        mean_pinball_loss as mean_pinball_loss,
        mean_squared_error as mean_squared_error,
        mean_squared_log_error as mean_squared_log_error,
        median_absolute_error as median_absolute_error,
        root_mean_squared_error as root_mean_squared_error,
        root_mean_squared_log_error as root_mean_squared_log_error,
    )
    from mercer.metrics._reports import (
        ConfusionReport as ConfusionReport,
        classification_report as classification_report,
        confusion_report as confusion_report,
    )
    from mercer.metrics._scorers import (
        Measure as Measure,
        check_scoring as check_scoring,
        get_measure as get_measure,
        get_scorer as get_scorer,
        get_scorer_names as get_scorer_names,
    )
    from mercer.metrics._silhouettes import (
        calinski_harabasz_score as calinski_harabasz_score,
        davies_bouldin_score as davies_bouldin_score,
        dunn_index as dunn_index,
        silhouette_samples as silhouette_samples,
        silhouette_score as silhouette_score,
    )
    from mercer.metrics._stability import (
        ClusterStability as ClusterStability,
        cluster_stability as cluster_stability,
    )
    from mercer.metrics._top_k import top_k_accuracy_score as top_k_accuracy_score

__getattr__, __dir__ = exports(
    __name__,
    {
        "._accuracy": ("accuracy_score", "error_rate", "hamming_loss", "zero_one_loss"),
        "._agreement": ("cohen_kappa_score", "matthews_corrcoef"),
        "._areas": ("average_precision_score", "roc_auc_score"),
        "._clusterings": (
            "adjusted_mutual_info_score",
            "adjusted_rand_score",
            "completeness_score",
            "fowlkes_mallows_score",
            "homogeneity_completeness_v_measure",
            "homogeneity_score",
            "mutual_info_score",
            "normalized_mutual_info_score",
            "rand_score",
            "v_measure_score",
        ),
        "._contingency": ("pair_confusion_matrix",),
        "._silhouettes": (
            "calinski_harabasz_score",
            "davies_bouldin_score",
            "dunn_index",
            "silhouette_samples",
            "silhouette_score",
        ),
        "._stability": (
            "ClusterStability",
            "cluster_stability",
        ),
        "._confusion": ("confusion_matrix",),
        "._curves": ("auc", "confusion_matrix_at_thresholds", "det_curve", "precision_recall_curve", "roc_curve"),
        "._deviance": ("mean_gamma_deviance", "mean_poisson_deviance", "mean_tweedie_deviance"),
        "._explained": (
            "d2_absolute_error_score",
            "d2_pinball_score",
            "d2_tweedie_score",
            "explained_variance_score",
            "r2_score",
        ),
        "._h_measure": ("h_measure",),
        "._information": ("aic", "bic"),
        "._likelihood": ("class_likelihood_ratios",),
        "._pairwise.dispatch": ("pairwise_distances", "pairwise_distances_chunked", "pairwise_kernels"),
        "._pairwise.distances": ("euclidean_distances", "nan_euclidean_distances"),
        "._pairwise.nearest": ("pairwise_distances_argmin", "pairwise_distances_argmin_min"),
        "._precision_recall": ("f1_score", "fbeta_score", "precision_recall_fscore_support", "precision_score", "recall_score"),
        "._probability": ("brier_score_loss", "d2_brier_score", "d2_log_loss_score", "log_loss"),
        "._rates": ("false_negative_rate", "false_positive_rate", "jaccard_score", "npv_score", "specificity_score"),
        "._recalls": ("balanced_accuracy_score", "class_weighted_accuracy", "g_mean_score"),
        "._regression": (
            "max_error",
            "mean_absolute_error",
            "mean_absolute_percentage_error",
            "mean_pinball_loss",
            "mean_squared_error",
            "mean_squared_log_error",
            "median_absolute_error",
            "root_mean_squared_error",
            "root_mean_squared_log_error",
        ),
        "._reports": ("ConfusionReport", "classification_report", "confusion_report"),
        "._scorers": ("Measure", "check_scoring", "get_measure", "get_scorer", "get_scorer_names"),
        "._top_k": ("top_k_accuracy_score",),
    },
)

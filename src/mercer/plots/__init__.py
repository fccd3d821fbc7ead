"""Plots. Each takes an `ax` (or makes one) and returns it. Needs matplotlib: ``pip install mercer[plots]``."""

from mercer.plots._agents import plot_grid, plot_regret, plot_returns
from mercer.plots._beeswarm import plot_beeswarm
from mercer.plots._boosting import plot_boosting_round, plot_staged_error
from mercer.plots._boundary import plot_boundary
from mercer.plots._calibration import plot_calibration
from mercer.plots._components import plot_biplot, plot_explained_variance
from mercer.plots._confusion import plot_confusion
from mercer.plots._dendrogram import plot_dendrogram
from mercer.plots._density import plot_k_distances, plot_reachability
from mercer.plots._descent import plot_descent
from mercer.plots._elbow import plot_elbow
from mercer.plots._force import plot_force
from mercer.plots._gap import plot_gap
from mercer.plots._importances import plot_importances
from mercer.plots._kernel import plot_kernel
from mercer.plots._latent import plot_decoded, plot_latent
from mercer.plots._learning import plot_learning_curve, plot_validation_curve
from mercer.plots._lime import plot_lime
from mercer.plots._losses import plot_losses
from mercer.plots._margin import plot_margin
from mercer.plots._network import plot_network
from mercer.plots._partial_dependence import plot_partial_dependence
from mercer.plots._penalties import plot_penalties
from mercer.plots._precision_recall import plot_precision_recall
from mercer.plots._residuals import plot_residuals
from mercer.plots._roc import plot_roc
from mercer.plots._selection import plot_selection
from mercer.plots._shap_bar import plot_shap_bar
from mercer.plots._shap_scatter import plot_shap_scatter
from mercer.plots._silhouette import plot_silhouette
from mercer.plots._structural_risk import plot_structural_risk
from mercer.plots._threshold import plot_threshold
from mercer.plots._training import plot_training
from mercer.plots._umatrix import plot_umatrix
from mercer.plots._waterfall import plot_waterfall

__all__ = [
    "plot_beeswarm",
    "plot_biplot",
    "plot_boosting_round",
    "plot_boundary",
    "plot_calibration",
    "plot_confusion",
    "plot_decoded",
    "plot_dendrogram",
    "plot_descent",
    "plot_elbow",
    "plot_explained_variance",
    "plot_force",
    "plot_gap",
    "plot_grid",
    "plot_importances",
    "plot_k_distances",
    "plot_kernel",
    "plot_latent",
    "plot_learning_curve",
    "plot_lime",
    "plot_losses",
    "plot_margin",
    "plot_network",
    "plot_partial_dependence",
    "plot_penalties",
    "plot_precision_recall",
    "plot_reachability",
    "plot_regret",
    "plot_residuals",
    "plot_returns",
    "plot_roc",
    "plot_selection",
    "plot_shap_bar",
    "plot_shap_scatter",
    "plot_silhouette",
    "plot_staged_error",
    "plot_structural_risk",
    "plot_threshold",
    "plot_training",
    "plot_umatrix",
    "plot_validation_curve",
    "plot_waterfall",
]

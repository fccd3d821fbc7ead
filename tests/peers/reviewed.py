"""Tests of scikit-learn's that fail under the patch by behaviour, looked at one by one: what `docs/differences.md` says of it.

By group and name of the function. What is not here, and neither private nor a matter of words, is counted as not documented.
"""

from __future__ import annotations

PRIVATE = "private"  # it replaces or asks for private parts of scikit-learn, and calls Mercer's class for something else

REVIEWED = {
    "calibration": {"test_calibration_default_estimator": "the estimator inside is Mercer's"},
    "cluster": {
        "test_branching_factor": "`root_` and `dummy_leaf_` are not there",
        "test_minibatch_declared_convergence": "steps are logged, not printed",
        "test_n_samples_leaves_roots": "`root_` and `dummy_leaf_` are not there",
        "test_threshold": "`root_` and `dummy_leaf_` are not there",
    },
    "decomposition": {
        "test_pca_score": "the likelihood does not depend on `whiten`",
        "test_pca_zero_noise_variance_edge_cases": "a singular model has no precision and no likelihood",
    },
    "ensemble": {
        "test_base": "`estimators_` is read-only",
        "test_early_stopping_classification": "early stopping may end at another iteration",
        "test_regression_criterion": "trees of one seed are not scikit-learn's trees",
    },
    "feature_selection": {
        "test_dataframe_output_dtypes": "columns are numbers",
        "test_mutual_info_options": "a wrong `discrete_features` is a ValueError",
        "test_prefit_get_feature_names_out": "trees of one seed are not scikit-learn's trees",
        "test_rfecv_verbose_output": "`verbose` logs",
    },
    "kernel_approximation": {"test_nystroem_callable": "a function is also called for the rows whose error is measured"},
    "linear_model": {
        "test_LogisticRegression_elastic_net_objective": "`tol` also bounds the duality gap",
        "test_enet_copy_X_False_check_input_False": "X is never overwritten",
        "test_inplace_data_preprocessing": "X is never overwritten",
        "test_logistic_cv_multinomial_score": PRIVATE,
        "test_logistic_regression_callback_support": "callbacks are called once an iteration",
        "test_multi_task_lasso_and_enet": "`dual_gap_` may be exactly zero",
        "test_quantile_toy_example": "coefficients are exact to rounding",
        "test_ransac_min_n_samples": "`RANSACRegressor` asks for its own class",
        "test_warm_start_convergence": "a warm start saves few iterations",
        "test_warm_start_convergence_with_regularizer_decrement": "a warm start saves few iterations",
        "test_warm_start_multitask_lasso": "a warm start saves few iterations",
    },
    "mixture": {"test_gaussian_mixture_all_init_does_not_estimate_gaussian_parameters": PRIVATE},
    "neighbors": {
        "test_k_and_radius_neighbors_duplicates": "rows leave out themselves and nothing else, also among equal rows",
        "test_kneighbors_brute_backend": "a `VI` with a negative eigenvalue is refused",
        "test_radius_neighbors_brute_backend": "a `VI` with a negative eigenvalue is refused",
        "test_neigh_predictions_algorithm_agnosticity": PRIVATE,
        "test_verbose": "`verbose` logs",
    },
    "neural_network": {
        "test_mlp_diverging_loss": "weights that are no longer finite end in an error",
        "test_preserve_feature_names": "y of one class is refused",
        "test_verbose_sgd": "`verbose` logs",
    },
    "pipeline": {"test_feature_union_array_api_support_tag": "no array API"},
    "preprocessing": {
        "test_missing_value_handling": "parameters that are new",
        "test_standard_scaler_dtype": "float16 becomes float64",
    },
    "svm": {
        "test_negative_weight_equal_coeffs": "negative weights are an error",
        "test_negative_weights_svc_leave_two_labels": "negative weights are an error",
        "test_svc_ovr_tie_breaking": "a pair whose value is zero votes alike in both methods",
        "test_svr_errors": "a kernel's matrix of a wrong shape is an error in `fit`",
        "test_tweak_params": PRIVATE,
    },
    "tree": {
        "test_export_text": "of equally good splits the feature with the lowest number wins",
        "test_export_text_feature_class_names_array_support": "of equally good splits the feature with the lowest number wins",
        "test_importances": "draws of random splits are Mercer's",
    },
}


def reviewed_kind(group: str, line: dict[str, str]) -> str:
    """The kind of a failure, with what is known of its test."""
    name = line["test"].rpartition("::")[2].partition("[")[0]
    reason = REVIEWED.get(group, {}).get(name)
    if line["kind"] != "behaviour" or reason is None:
        return line["kind"]
    return "private" if reason is PRIVATE else "documented"

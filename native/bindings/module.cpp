// The native module: one copy of it is compiled for each instruction-set level, under a name of its own.
#include "bindings/agents.hpp"
#include "bindings/arrays.hpp"
#include "bindings/density_kernels.hpp"
#include "bindings/explanations.hpp"
#include "bindings/groups.hpp"
#include "bindings/hierarchies.hpp"
#include "bindings/neighbor_models.hpp"
#include "bindings/neighbors.hpp"
#include "bindings/networks.hpp"
#include "bindings/sequences.hpp"
#include "bindings/theory.hpp"

NB_MODULE(MERCER_MODULE, m) {
    m.doc() = "Compiled kernels of Mercer. Private: arguments are checked for memory safety only.";
    nanobind::set_leak_warnings(false);
    mercer::bindings::array_class = nanobind::object(nanobind::module_::import_("numpy").attr("ndarray")).release();
    mercer::bindings::bind_core(m);
    mercer::bindings::bind_rows(m);
    mercer::bindings::bind_preprocessing(m);
    mercer::bindings::bind_groups(m);
    mercer::bindings::bind_cluster(m);
    mercer::bindings::bind_linear_model(m);
    mercer::bindings::bind_ridge(m);
    mercer::bindings::bind_coordinate_descent(m);
    mercer::bindings::bind_linear_loss(m);
    mercer::bindings::bind_softmax(m);
    mercer::bindings::bind_interior_point(m);
    mercer::bindings::bind_stochastic(m);
    mercer::bindings::bind_svm(m);
    mercer::bindings::bind_optim(m);
    mercer::bindings::bind_huber(m);
    mercer::bindings::bind_locally_weighted(m);
    mercer::bindings::bind_condense(m);
    mercer::bindings::bind_neighbor_votes(m);
    mercer::bindings::bind_donors(m);
    mercer::bindings::bind_pairwise(m);
    mercer::bindings::bind_kernel_rows(m);
    mercer::bindings::bind_kernel_regression(m);
    mercer::bindings::bind_metric_learning(m);
    mercer::bindings::bind_interpolate(m);
    mercer::bindings::bind_trees(m);
    mercer::bindings::bind_grow(m);
    mercer::bindings::bind_grow_regression(m);
    mercer::bindings::bind_grow_random(m);
    mercer::bindings::bind_grow_wide(m);
    mercer::bindings::bind_isolation(m);
    mercer::bindings::bind_leaf_targets(m);
    mercer::bindings::bind_histogram(m);
    mercer::bindings::bind_metrics(m);
    mercer::bindings::bind_calibration(m);
    mercer::bindings::bind_neighbors(m);
    mercer::bindings::bind_kd_tree(m);
    mercer::bindings::bind_given(m);
    mercer::bindings::bind_sparse_points(m);
    mercer::bindings::bind_product_points(m);
    mercer::bindings::bind_ball_tree(m);
    mercer::bindings::bind_density(m);
    mercer::bindings::bind_lsh(m);
    mercer::bindings::bind_row_maps(m);
    mercer::bindings::bind_dbscan(m);
    mercer::bindings::bind_optics(m);
    mercer::bindings::bind_spanning_tree(m);
    mercer::bindings::bind_hierarchy(m);
    mercer::bindings::bind_mixture(m);
    mercer::bindings::bind_hmm(m);
    mercer::bindings::bind_linkage(m);
    mercer::bindings::bind_graph_linkage(m);
    mercer::bindings::bind_cluster_measures(m);
    mercer::bindings::bind_cf_tree(m);
    mercer::bindings::bind_mean_shift(m);
    mercer::bindings::bind_map_training(m);
    mercer::bindings::bind_neural_network(m);
    mercer::bindings::bind_boltzmann(m);
    mercer::bindings::bind_tree_shapley(m);
    mercer::bindings::bind_games(m);
    mercer::bindings::bind_inspection(m);
    mercer::bindings::bind_theory(m);
    mercer::bindings::bind_rl(m);
}

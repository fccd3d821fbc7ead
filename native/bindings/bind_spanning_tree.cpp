#include "bindings/density.hpp"
#include "neighbors/spanning_tree.hpp"

namespace mercer::bindings {

namespace {

using neighbors::KdTree;

// The distance of each row to its k-th nearest, itself included.
template <Real T>
void core_distances(const KdTree<T>& tree, const MetricChoice& choice, std::size_t k, Out1<double> distances, int n_threads) {
    require(k >= 1 && k <= tree.n_points(), "k must be from one to the number of rows");
    const auto out = vector<double>(distances);
    require(out.size() == tree.n_points(), "one distance for each row");
    with_tree_metric(tree, choice, [&]<std::size_t kD, class M>(const M& metric) {
        const auto core = neighbors::find_core_neighbors<kD>(neighbors::BySlot<T>(tree), metric, k, 0, threads(n_threads));
        for (std::size_t slot = 0; slot < out.size(); ++slot)
            out[static_cast<std::size_t>(tree.rows()[slot])] = metric.distance(core.ranks[slot]);
    });
}

// The n - 1 edges of a minimum spanning tree of mutual reachability, between rows. False where distances overflow.
template <Real T>
bool spanning_tree(const KdTree<T>& tree, const MetricChoice& choice, std::size_t min_samples, double alpha,
                   Out1<std::int64_t> from, Out1<std::int64_t> to, Out1<double> weights, int n_threads) {
    const std::size_t n = tree.n_points();
    require(min_samples >= 1 && min_samples <= n, "min_samples must be from one to the number of rows");
    require(alpha > 0, "alpha must be positive");
    require(from.shape(0) == n - 1 && to.shape(0) == n - 1 && weights.shape(0) == n - 1, "one place for each edge");
    const auto from_rows = vector<std::int64_t>(from), to_rows = vector<std::int64_t>(to);
    const auto out = vector<double>(weights);
    bool is_spanned = false;
    with_tree_metric(tree, choice, [&]<std::size_t kD, class M>(const M& metric) {
        constexpr std::size_t kKept = 8;
        const neighbors::BySlot<T> points(tree);
        auto core = neighbors::find_core_neighbors<kD>(
            points, metric, min_samples, std::min(std::max<std::size_t>(min_samples - 1, 4), kKept), threads(n_threads));
        neighbors::Boruvka<kD, M, T> boruvka(points, metric, std::move(core), metric.rank_of(1 / alpha), threads(n_threads));
        const auto edges = boruvka.run();
        for (std::size_t e = 0; e < edges.size(); ++e) {
            from_rows[e] = tree.rows()[static_cast<std::size_t>(edges[e].from)];
            to_rows[e] = tree.rows()[static_cast<std::size_t>(edges[e].to)];
            out[e] = metric.distance(edges[e].rank);
        }
        is_spanned = edges.size() + 1 == n;
    });
    return is_spanned;
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def("core_distances", &core_distances<T>, array, array, nb::arg(), array, nb::arg(), ReleaseGil());
    m.def("spanning_tree", &spanning_tree<T>, array, array, nb::arg(), nb::arg(), array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_spanning_tree(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings

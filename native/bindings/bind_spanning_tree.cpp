#include "bindings/density.hpp"
#include "bindings/search_kernels.hpp"
#include "neighbors/product_spanning_tree.hpp"
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

// Where the n - 1 edges of a minimum spanning tree of mutual reachability are written, and of what they are one.
struct EdgesOut {
    std::span<std::int64_t> from, to;
    std::span<double> weights;
    std::size_t n_kept;  // neighbours of each point that are worth keeping

    EdgesOut(std::size_t n, std::size_t min_samples, double alpha, const Out1<std::int64_t>& from_, const Out1<std::int64_t>& to_,
             const Out1<double>& weights_)
        : from(vector<std::int64_t>(from_)), to(vector<std::int64_t>(to_)), weights(vector<double>(weights_)) {
        require(min_samples >= 1 && min_samples <= n, "min_samples must be from one to the number of rows");
        require(alpha > 0, "alpha must be positive");
        require(from.size() == n - 1 && to.size() == n - 1 && weights.size() == n - 1, "one place for each edge");
        n_kept = std::clamp<std::size_t>(min_samples - 1, 4, 8);
    }

    // Edges between slots, which are rows[slot]. False where there are too few, as distances overflow.
    template <class M>
    bool write(const std::vector<neighbors::SpanningEdge>& edges, std::span<const neighbors::Row> rows, const M& metric) const {
        for (std::size_t e = 0; e < edges.size(); ++e) {
            from[e] = rows[static_cast<std::size_t>(edges[e].from)];
            to[e] = rows[static_cast<std::size_t>(edges[e].to)];
            weights[e] = metric.distance(edges[e].rank);
        }
        return edges.size() == weights.size();
    }
};

template <Real T>
bool spanning_tree(const KdTree<T>& tree, const MetricChoice& choice, std::size_t min_samples, double alpha,
                   Out1<std::int64_t> from, Out1<std::int64_t> to, Out1<double> weights, int n_threads) {
    const EdgesOut out(tree.n_points(), min_samples, alpha, from, to, weights);
    bool is_spanned = false;
    with_tree_metric(tree, choice, [&]<std::size_t kD, class M>(const M& metric) {
        const neighbors::BySlot<T> points(tree);
        auto core = neighbors::find_core_neighbors<kD>(points, metric, min_samples, out.n_kept, threads(n_threads));
        neighbors::Boruvka<kD, M, T> boruvka(points, metric, std::move(core), metric.rank_of(1 / alpha), threads(n_threads));
        is_spanned = out.write(boruvka.run(), tree.rows(), metric);
    });
    return is_spanned;
}

template <Real T>
bool product_spanning_tree(const neighbors::ProductPoints<T>& points, std::size_t min_samples, double alpha,
                           Out1<std::int64_t> from, Out1<std::int64_t> to, Out1<double> weights, int n_threads) {
    const EdgesOut out(points.n_points(), min_samples, alpha, from, to, weights);
    const neighbors::Euclidean metric{};
    // A search costs a pass over all points: more neighbours are worth keeping than with a tree.
    auto core = neighbors::find_core_neighbors(points, metric, min_samples, 2 * out.n_kept, threads(n_threads));
    neighbors::ProductBoruvka<T> boruvka(points, metric, std::move(core), metric.rank_of(1 / alpha), threads(n_threads));
    return out.write(boruvka.run(), points.rows(), metric);
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def("core_distances", &core_distances<T>, array, array, nb::arg(), array, nb::arg(), ReleaseGil());
    m.def("product_spanning_tree", &product_spanning_tree<T>, array, nb::arg(), nb::arg(), array, array, array, nb::arg(),
          ReleaseGil());
    m.def("spanning_tree", &spanning_tree<T>, array, array, nb::arg(), nb::arg(), array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_spanning_tree(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings

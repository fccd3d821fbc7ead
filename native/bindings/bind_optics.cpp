#include <vector>

#include "bindings/density.hpp"
#include "cluster/optics.hpp"
#include "cluster/xi_clusters.hpp"

namespace mercer::bindings {

namespace {

using neighbors::KdTree;

template <Real T>
void order_points(const KdTree<T>& tree, const MetricChoice& choice, std::size_t min_samples, double max_eps,
                  Out1<std::int64_t> ordering, Out1<double> core_distances, Out1<double> reachability,
                  Out1<std::int64_t> predecessor, int n_threads) {
    const std::size_t n = tree.n_points();
    require(ordering.shape(0) == n && core_distances.shape(0) == n && reachability.shape(0) == n && predecessor.shape(0) == n,
            "one value for each row");
    require(min_samples >= 1 && min_samples <= n, "min_samples must be from one to the number of rows");
    const cluster::OpticsResult result{vector<std::int64_t>(ordering), vector<double>(core_distances), vector<double>(reachability),
                                       vector<std::int64_t>(predecessor)};
    with_tree_metric(tree, choice, [&]<std::size_t kD, class M>(const M& metric) {
        cluster::Optics<kD, M, T>(tree, metric, max_eps, threads(n_threads)).run(min_samples, result);
    });
}

template <Real T>
void bind_kernel(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def("optics", &order_points<T>, array, array, nb::arg(), nb::arg(), array, array, array, array, nb::arg(), ReleaseGil());
}

// Writes the first and the last place of each cluster; there are as many at most as the array has lines. Returns their number.
std::size_t xi_clusters(In1<double> reachability, In1<std::int64_t> predecessor, double xi, std::size_t min_samples,
                        std::size_t min_cluster_size, bool corrects_predecessors, Out2<std::int64_t> clusters) {
    require(predecessor.shape(0) == reachability.shape(0), "one predecessor for each place");
    require(clusters.shape(1) == 2, "a cluster has a first and a last place");
    cluster::XiClusters finder(vector<double>(reachability), vector<std::int64_t>(predecessor),
                               {xi, min_samples, min_cluster_size, corrects_predecessors});
    const auto found = finder.find();
    const auto out = rows<std::int64_t>(clusters);
    for (std::size_t i = 0; i < std::min(found.size(), out.rows); ++i) {
        out(i, 0) = static_cast<std::int64_t>(found[i].begin);
        out(i, 1) = static_cast<std::int64_t>(found[i].end);
    }
    return found.size();
}

}  // namespace

void bind_optics(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    bind_kernel<double>(m);
    bind_kernel<float>(m);
    m.def("xi_clusters", &xi_clusters, array, array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, ReleaseGil());
}

}  // namespace mercer::bindings

#include <cmath>

#include "bindings/density.hpp"
#include "cluster/dbscan.hpp"

namespace mercer::bindings {

namespace {

using neighbors::KdTree;

template <Real T>
std::size_t dbscan(const KdTree<T>& tree, const MetricChoice& choice, double eps, double min_samples, MaybeIn1<double> weights,
                   Out1<std::int64_t> labels, Out1<std::uint8_t> is_core, int n_threads) {
    const std::size_t n = tree.n_points();
    const auto given = per_row<double>(weights, n);
    require(labels.shape(0) == n && is_core.shape(0) == n, "one label for each row");
    require(min_samples >= 1 && std::isfinite(min_samples), "min_samples must be at least one");
    std::size_t n_clusters = 0;
    with_tree_metric(tree, choice, [&]<std::size_t kD, class M>(const M& metric) {
        cluster::Dbscan<kD, M, T> run(tree, metric, neighbors::rank_within(metric, eps), threads(n_threads));
        if (weights) {
            run.find_core(given, min_samples);
        } else {
            run.find_core(static_cast<std::size_t>(std::min(std::ceil(min_samples), 1e15)));
        }
        run.join_core();
        n_clusters = run.label_rows(vector<std::int64_t>(labels), vector<std::uint8_t>(is_core));
    });
    return n_clusters;
}

template <Real T>
void bind_kernel(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def("dbscan", &dbscan<T>, array, array, nb::arg(), nb::arg(), nb::arg().noconvert().none(), array, array, nb::arg(),
          ReleaseGil());
}

}  // namespace

void bind_dbscan(nb::module_& m) {
    bind_kernel<double>(m);
    bind_kernel<float>(m);
}

}  // namespace mercer::bindings

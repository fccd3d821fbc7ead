#include "bindings/arrays.hpp"
#include "bindings/density_kernels.hpp"
#include "cluster/mean_shift.hpp"

namespace mercer::bindings {

void bind_mean_shift(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "shift_means",
        [](const neighbors::KdTree<double>& tree, double bandwidth, std::int64_t max_iter, Out2<double> given,
           Out1<std::int64_t> counts, Out1<double> moves, Out1<std::int64_t> n_iter, int n_threads) {
            const auto seeds = rows<double>(given);
            require(bandwidth > 0, "the bandwidth is above zero");
            require(seeds.cols == tree.n_features(), "the seeds must have the features of the tree");
            require(counts.shape(0) == seeds.rows && moves.shape(0) == seeds.rows && n_iter.shape(0) == seeds.rows,
                    "one result for each seed");
            cluster::shift_means(tree, bandwidth, max_iter, seeds, vector<std::int64_t>(counts), vector<double>(moves),
                                 vector<std::int64_t>(n_iter), threads(n_threads));
        },
        array, nb::arg(), nb::arg(), array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings

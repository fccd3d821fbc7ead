#include "bindings/neighbors.hpp"
#include "bindings/search_kernels.hpp"
#include "neighbors/ball_tree.hpp"
#include "neighbors/density.hpp"
#include "neighbors/kd_tree.hpp"
#include "neighbors/pair_counts.hpp"

namespace mercer::bindings {

namespace {

neighbors::KernelShape kernel_shape(const std::string& name) {
    using neighbors::KernelShape;
    static constexpr std::pair<const char*, KernelShape> kShapes[] = {
        {"gaussian", KernelShape::kGaussian},       {"tophat", KernelShape::kTophat}, {"epanechnikov", KernelShape::kEpanechnikov},
        {"exponential", KernelShape::kExponential}, {"linear", KernelShape::kLinear}, {"cosine", KernelShape::kCosine}};
    for (const auto& [each, shape] : kShapes)
        if (name == each) return shape;
    refuse("there is no such kernel");
}

template <class Tree, Takes kTakes>
void bind_tree(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    m.def(
        "kernel_densities",
        [](const Tree& tree, const MetricChoice& choice, Queries2 given, bool leave_out_self, const std::string& kernel, double h,
           double absolute, double relative, MaybeIn1<double> weights, Out1<double> out, int n_threads) {
            const QueriesChoice queries({}, given, tree.n_features());
            const auto metric = chosen_metric<kTakes>(choice, tree.n_features());
            const auto values = vector<double>(out);
            require(values.size() == (queries.is_given ? queries.given.rows() : tree.n_points()), "one result for each query");
            require(h > 0 && absolute >= 0 && relative >= 0, "a bandwidth is above zero, and tolerances are not below it");
            const neighbors::SlotWeights by_slot(per_row<double>(weights, tree.n_points()), tree.rows());
            neighbors::kernel_densities<Tree>({tree, metric, queries.get(), leave_out_self, threads(n_threads)}, by_slot,
                                              {kernel_shape(kernel), h}, {absolute, relative}, values);
        },
        array, array, maybe, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), maybe, array, nb::arg(), ReleaseGil());
    m.def(
        "count_pairs",
        [](const Tree& tree, const MetricChoice& choice, Queries2 given, In1<double> radii, Out1<std::int64_t> counts,
           int n_threads) {
            const QueriesChoice queries({}, given, tree.n_features());
            const auto metric = chosen_metric<kTakes>(choice, tree.n_features());
            const auto asked = vector<double>(radii);
            const std::vector<double> wanted(asked.begin(), asked.end());
            require(counts.shape(0) == wanted.size(), "one count for each radius");
            neighbors::count_pairs<Tree>({tree, metric, queries.get(), false, threads(n_threads)}, wanted,
                                         vector<std::int64_t>(counts));
        },
        array, array, maybe, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_density(nb::module_& m) {
    bind_tree<neighbors::KdTree<double>, Takes::kAxial>(m);
    bind_tree<neighbors::KdTree<float>, Takes::kAxial>(m);
    bind_tree<neighbors::BallTree<double>, Takes::kLengths>(m);
    bind_tree<neighbors::BallTree<float>, Takes::kLengths>(m);
}

}  // namespace mercer::bindings

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/density_kernels.hpp"
#include "bindings/owned.hpp"
#include "cluster/cf_tree.hpp"
#include "cluster/messages.hpp"

namespace mercer::bindings {

void bind_cf_tree(nb::module_& m) {
    using cluster::CfTree;
    const auto array = nb::arg().noconvert();
    nb::class_<CfTree> type(m, "CfTree");
    type.def(nb::init<std::size_t, double, std::size_t>());
    type.def(
        "__init__",
        [](CfTree* self, std::size_t n_features, double threshold, std::size_t branching_factor, In1<std::int64_t> starts,
           In1<std::int32_t> children, In1<double> weights, In1<double> deviations, In1<double> means, In1<std::int32_t> leaves) {
            new (self)
                CfTree(n_features, threshold, branching_factor,
                       {copied(starts), copied(children), copied(weights), copied(deviations), copied(means), copied(leaves)});
        },
        nb::arg(), nb::arg(), nb::arg(), array, array, array, array, array, array);
    type.def(
        "insert",
        [](CfTree& tree, Rows2<double> given) {
            const auto x = rows<double>(given);
            require(x.cols == tree.n_features(), "the rows must have the features of the tree");
            cluster::insert_rows(tree, x);
        },
        array, ReleaseGil());
    type.def("leaf_entries", [](const CfTree& tree) {
        const std::size_t n = tree.n_leaf_entries(), d = tree.n_features();
        std::vector<double> weights(n), deviations(n), means(n * d);
        tree.copy_leaf_entries(weights, deviations, means);
        return std::make_tuple(owned(std::move(weights), {n}), owned(std::move(deviations), {n}), owned(std::move(means), {n, d}));
    });
    type.def("state", [](const CfTree& tree) {
        CfTree::State state = tree.state();
        const std::size_t n_starts = state.starts.size(), n = state.weights.size(), n_values = state.means.size();
        const std::size_t n_leaves = state.leaves.size();
        return std::make_tuple(owned(std::move(state.starts), {n_starts}), owned(std::move(state.children), {n}),
                               owned(std::move(state.weights), {n}), owned(std::move(state.deviations), {n}),
                               owned(std::move(state.means), {n_values}), owned(std::move(state.leaves), {n_leaves}));
    });

    m.def(
        "exchange_messages",
        [](Rows2<double> similarities, Out2<double> availabilities, Out2<double> responsibilities, Out1<double> support,
           double damping, int n_threads) {
            const auto s = rows<double>(similarities);
            const auto a = rows<double>(availabilities), r = rows<double>(responsibilities);
            require(s.cols == s.rows && a.rows == s.rows && a.cols == s.rows && r.rows == s.rows && r.cols == s.rows &&
                        support.shape(0) == s.rows,
                    "similarities and messages must be square, with one support a row");
            cluster::exchange_messages(s, a, r, vector<double>(support), damping, threads(n_threads));
        },
        array, array, array, array, nb::arg(), nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings

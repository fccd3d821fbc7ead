#include "bindings/arrays.hpp"
#include "tree/leaf_targets.hpp"

namespace mercer::bindings {

void bind_leaf_targets(nb::module_& m) {
    using tree::LeafTargets;
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    nb::class_<LeafTargets>(m, "LeafTargets")
        .def(
            "__init__",
            [](LeafTargets* self, In1<std::int64_t> starts, In1<std::uint32_t> places, In1<double> sorted,
               MaybeIn1<double> weights) {
                new (self) LeafTargets(vector<std::int64_t>(starts), vector<std::uint32_t>(places), vector<double>(sorted),
                                       vector<double>(weights));
            },
            array, array, array, maybe, ReleaseGil());
    m.def(
        "leaf_quantiles",
        [](const LeafTargets& targets, Rows2<std::int64_t> leaves, MaybeIn1<double> tree_weights, In1<double> quantiles,
           Out2<double> out, int n_threads) {
            const auto nodes = rows<std::int64_t>(leaves);
            require(out.shape(0) == nodes.rows && out.shape(1) == quantiles.shape(0), "the output must be rows by quantiles");
            require(
                std::all_of(nodes.data, nodes.data + nodes.size(),
                            [&](std::int64_t node) { return 0 <= node && static_cast<std::uint64_t>(node) < targets.n_nodes(); }),
                "a leaf is out of range");
            targets.quantiles(nodes, per_row<double>(tree_weights, nodes.cols), vector<double>(quantiles), rows<double>(out),
                              threads(n_threads));
        },
        nb::arg(), array, maybe, array, array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings

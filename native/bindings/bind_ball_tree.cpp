#include "bindings/neighbors.hpp"
#include "bindings/search_kernels.hpp"
#include "neighbors/ball_tree.hpp"

namespace mercer::bindings {

namespace {

using neighbors::BallTree;

template <Real T>
void bind_class(nb::module_& m, const char* name) {
    using Tree = BallTree<T>;
    const auto array = nb::arg().noconvert();
    nb::class_<Tree> type(m, name);
    type.def(
        "__init__",
        [](Tree* self, In2<T> x, std::size_t leaf_points, const MetricChoice& choice, int n_threads) {
            const auto metric = chosen_metric<Takes::kLengths>(choice, x.shape(1));
            new (self) Tree(matrix<T>(x), leaf_points, metric, threads(n_threads));
        },
        array, nb::arg(), array, nb::arg(), ReleaseGil());
    type.def(
        "__init__",
        [](Tree* self, std::size_t leaf_points, In1<neighbors::Row> rows, In1<T> points, In1<double> centres, In1<double> radii,
           std::size_t n_features) {
            const auto r = vector<neighbors::Row>(rows);
            new (self) Tree(leaf_points, {r.begin(), r.end()}, vector<T>(points), vector<double>(centres), vector<double>(radii),
                            n_features);
        },
        nb::arg(), array, array, array, array, nb::arg(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>());
    type.def_prop_ro("n_features", &Tree::n_features);
    type.def_prop_ro("n_points", &Tree::n_points);
    type.def_prop_ro("leaf_points", [](const Tree& tree) { return tree.shape().leaf_points(); });
    type.def("children", [](const Tree& tree) { return children_of(tree.shape()); });
    type.def_prop_ro("rows", [](nb::handle self) { return view_of<neighbors::Row>(nb::cast<const Tree&>(self).rows(), self); });
    type.def_prop_ro("points", [](nb::handle self) { return view_of<T>(nb::cast<const Tree&>(self).point_values(), self); });
    type.def_prop_ro("centres", [](nb::handle self) { return view_of<double>(nb::cast<const Tree&>(self).centres(), self); });
    type.def_prop_ro("radii", [](nb::handle self) { return view_of<double>(nb::cast<const Tree&>(self).radii(), self); });
    def_searches<Tree, Takes::kLengths>(type);
}

}  // namespace

void bind_ball_tree(nb::module_& m) {
    bind_class<double>(m, "BallTree64");
    bind_class<float>(m, "BallTree32");
}

}  // namespace mercer::bindings

#include "bindings/arrays.hpp"
#include "bindings/explanations.hpp"
#include "inspection/shapley.hpp"
#include "tree/node.hpp"

namespace mercer::bindings {

namespace {

using inspection::Model;
using tree::Trees;

Model model_of(const Trees& trees, const In1<std::int64_t>& chosen, const In1<double>& cover, const In1<double>& values) {
    require(cover.shape(0) == trees.nodes().size(), "there must be a cover for each node");
    require(values.shape(0) == trees.nodes().size(), "there must be a value for each node");
    Model model{trees, {}, vector<double>(cover), vector<double>(values)};
    for (const std::int64_t t : vector<std::int64_t>(chosen)) model.chosen.push_back(static_cast<std::size_t>(t));
    for (const std::size_t t : model.chosen) require(t < trees.count(), "there is no such tree");
    return model;
}

template <class T>
Matrix<const T> rows_of(const Trees& trees, const In2<T>& x) {
    require(x.shape(1) == trees.n_features(), "X must have as many columns as the trees have features");
    return matrix<T>(x);
}

// A line for each row, with a place for each feature, or for each pair of them.
RowMajor<double> lines_of(const Trees& trees, const Out2<double>& out, std::size_t n_rows, bool has_pairs) {
    const std::size_t d = trees.n_features();
    require(out.shape(0) == n_rows, "the output must have a line for each row of X");
    require(has_pairs ? out.shape(1) / d == d && out.shape(1) % d == 0 : out.shape(1) == d,
            "the output must have a place for each feature, or for each pair of them");
    return rows<double>(out);
}

template <class T>
void bind_values(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "add_path_dependent",
        [](const Trees& trees, In1<std::int64_t> chosen, In1<double> cover, In1<double> values, In2<T> x, bool has_pairs,
           Out2<double> out, int n_threads) {
            const Model model = model_of(trees, chosen, cover, values);
            const auto lines = lines_of(trees, out, x.shape(0), has_pairs);
            inspection::add_path_dependent<T>(model, rows_of<T>(trees, x), has_pairs, lines, threads(n_threads));
        },
        nb::arg(), array, array, array, array, nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "add_interventional",
        [](const Trees& trees, In1<std::int64_t> chosen, In1<double> cover, In1<double> values, In2<T> x, In2<T> background,
           std::optional<Rows2<double>> scales, bool has_pairs, Out2<double> out, int n_threads) {
            const Model model = model_of(trees, chosen, cover, values);
            require(!scales || (scales->shape(0) == x.shape(0) && scales->shape(1) == background.shape(0)),
                    "there must be a scale for each row of X and of the background");
            inspection::add_interventional<T>(model, rows_of<T>(trees, x), rows_of<T>(trees, background),
                                              scales ? rows<double>(*scales) : RowMajor<const double>{}, has_pairs,
                                              lines_of(trees, out, x.shape(0), has_pairs), threads(n_threads));
        },
        nb::arg(), array, array, array, array, array, nb::arg().noconvert().none(), nb::arg(), array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_tree_shapley(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "mean_of_leaves",
        [](const Trees& trees, In1<std::int64_t> chosen, In1<double> cover, In1<double> values) {
            return inspection::mean_of_leaves(model_of(trees, chosen, cover, values));
        },
        nb::arg(), array, array, array, ReleaseGil());
    bind_values<double>(m);
    bind_values<float>(m);
}

}  // namespace mercer::bindings

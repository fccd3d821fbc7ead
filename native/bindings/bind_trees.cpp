#include <cstring>

#include "bindings/arrays.hpp"
#include "bindings/draws.hpp"
#include "bindings/tree_rows.hpp"
#include "tree/left_out.hpp"
#include "tree/node.hpp"
#include "tree/predict.hpp"

namespace mercer::bindings {

namespace {

using tree::Node;
using tree::SparseRows;
using tree::Trees;
using tree::Word;

// Read-only memory of `owner`, which stays alive as long as the array.
template <class T>
auto borrowed(const T* data, std::initializer_list<std::size_t> shape, nb::handle owner) {
    return nb::ndarray<nb::numpy, const T, nb::c_contig>(data, shape.size(), shape.begin(), owner);
}

tree::Range range_of(const Trees& trees, std::int64_t first, std::int64_t last) {
    require(0 <= first && first <= last && static_cast<std::uint64_t>(last) <= trees.count(), "there are no such trees");
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
}

// Rows to predict for.
template <class X>
decltype(auto) rows_for(const Trees& trees, const X& x) {
    require(tree::n_columns_of(values_of(x)) == trees.n_features(), "X must have as many columns as the trees have features");
    return values_of(x);
}

template <Real T, class Index>
void def_sparse_rows(nb::class_<SparseRows>& type) {
    const auto array = nb::arg().noconvert();
    type.def(
        "__init__",
        [](SparseRows* self, In1<T> values, In1<Index> columns, In1<Index> row_starts, std::int64_t n_columns,
           MaybeIn1<std::uint8_t> is_wanted) {
            require(n_columns >= 0, "the number of columns must not be negative");
            const auto n = static_cast<std::size_t>(n_columns);
            new (self) SparseRows(vector<T>(values), vector<Index>(columns), vector<Index>(row_starts), n,
                                  per_row<std::uint8_t>(is_wanted, n));
        },
        array, array, array, nb::arg(), nb::arg().noconvert().none(), ReleaseGil());
}

void bind_sparse_rows(nb::module_& m) {
    nb::class_<SparseRows> type(m, "SparseRows");
    def_sparse_rows<double, std::int32_t>(type);
    def_sparse_rows<double, std::int64_t>(type);
    def_sparse_rows<float, std::int32_t>(type);
    def_sparse_rows<float, std::int64_t>(type);
    type.def_prop_ro("shape", [](const SparseRows& x) { return nb::make_tuple(x.n_rows(), x.n_columns()); });
}

void bind_class(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    nb::class_<Trees>(m, "Trees")
        .def(
            "__init__",
            [](Trees* self, Rows2<std::uint8_t> nodes, In1<Word> words, In1<std::int64_t> node_counts,
               In1<std::int64_t> word_counts, std::int64_t n_features) {
                require(nodes.shape(1) == sizeof(Node), "a node has sixteen bytes");
                require(n_features >= 0, "the number of features must not be negative");
                std::vector<Node> own(nodes.shape(0));
                if (!own.empty()) std::memcpy(own.data(), nodes.data(), own.size() * sizeof(Node));
                const auto given = vector<Word>(words);
                new (self) Trees(std::move(own), {given.begin(), given.end()}, vector<std::int64_t>(node_counts),
                                 vector<std::int64_t>(word_counts), static_cast<std::size_t>(n_features));
            },
            array, array, array, array, nb::arg())
        .def_prop_ro("count", &Trees::count)
        .def_prop_ro("n_features", &Trees::n_features)
        .def_prop_ro("nodes",
                     [](nb::handle self) {
                         const auto& nodes = nb::cast<const Trees&>(self).nodes();
                         return borrowed(reinterpret_cast<const std::uint8_t*>(nodes.data()), {nodes.size(), sizeof(Node)}, self);
                     })
        .def_prop_ro("words",
                     [](nb::handle self) {
                         const auto& words = nb::cast<const Trees&>(self).words();
                         return borrowed(words.data(), {words.size()}, self);
                     })
        .def_prop_ro("node_starts",
                     [](nb::handle self) {
                         const auto& starts = nb::cast<const Trees&>(self).node_starts();
                         return borrowed(starts.data(), {starts.size()}, self);
                     })
        .def_prop_ro("word_starts", [](nb::handle self) {
            const auto& starts = nb::cast<const Trees&>(self).word_starts();
            return borrowed(starts.data(), {starts.size()}, self);
        });
}

// X is how the rows come: In2 or sparse rows.
template <class X>
void bind_predictions(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    const auto number = nb::arg();

    m.def(
        "add_leaf_values",
        [](const Trees& trees, std::int64_t first, std::int64_t last, const X& x, Out2<double> out, int n_threads) {
            require(out.shape(0) == n_rows_of(x) && out.shape(1) > 0, "the output must have a line for each row of X");
            tree::add_leaf_values(trees, range_of(trees, first, last), rows_for(trees, x), rows<double>(out), threads(n_threads));
        },
        nb::arg(), number, number, array, array, number, ReleaseGil());
    m.def(
        "add_node_values",
        [](const Trees& trees, std::int64_t first, std::int64_t last, const X& x, Rows2<double> values, MaybeIn1<double> weights,
           Out2<double> out, int n_threads) {
            const auto range = range_of(trees, first, last);
            require(values.shape(0) == trees.nodes().size(), "there must be a line of values for each node");
            require(out.shape(0) == n_rows_of(x) && out.shape(1) == values.shape(1),
                    "the output must have a line for each row of X");
            tree::add_node_values(trees, range, rows_for(trees, x), rows<double>(values), per_row<double>(weights, range.count()),
                                  rows<double>(out), threads(n_threads));
        },
        nb::arg(), number, number, array, array, maybe, array, number, ReleaseGil());
    m.def(
        "leaf_numbers",
        [](const Trees& trees, std::int64_t first, std::int64_t last, const X& x, Out2<std::int64_t> out, int n_threads) {
            const auto range = range_of(trees, first, last);
            require(out.shape(0) == n_rows_of(x) && out.shape(1) == range.count(), "the output must be rows by trees");
            tree::leaf_numbers(trees, range, rows_for(trees, x), rows<std::int64_t>(out), threads(n_threads));
        },
        nb::arg(), number, number, array, array, number, ReleaseGil());
    m.def(
        "add_left_out_values",
        [](const Trees& trees, std::int64_t first, std::int64_t last, const X& x, Rows2<double> values, MaybeIn1<double> weights,
           Rows2<std::uint8_t> is_seen, Out2<double> out, Out1<double> totals, int n_threads) {
            const auto range = range_of(trees, first, last);
            require(values.shape(0) == trees.nodes().size(), "there must be a line of values for each node");
            require(is_seen.shape(0) == range.count() && is_seen.shape(1) == n_rows_of(x),
                    "there must be a mark for each tree and row");
            require(out.shape(0) == n_rows_of(x) && out.shape(1) == values.shape(1),
                    "the output must have a line for each row of X");
            require(totals.shape(0) == n_rows_of(x), "there must be a total for each row of X");
            tree::add_left_out_values(trees, range, rows_for(trees, x), rows<double>(values),
                                      per_row<double>(weights, range.count()), rows<std::uint8_t>(is_seen), rows<double>(out),
                                      vector<double>(totals), threads(n_threads));
        },
        nb::arg(), number, number, array, array, maybe, array, array, array, number, ReleaseGil());
}

void bind_marks(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "bootstrap_marks",
        [](In1<std::uint64_t> seeds, std::int64_t n_draws, MaybeIn1<double> cumulative, Out2<std::uint8_t> out, int n_threads) {
            require_draws(n_draws, out.shape(1));
            const auto sums = per_row<double>(cumulative, out.shape(1));
            require(sums.empty() || sums.back() > 0, "the running sums of the weights must be positive");
            require(out.shape(0) == seeds.shape(0), "there must be a line for each seed");
            tree::bootstrap_marks(vector<std::uint64_t>(seeds), static_cast<std::size_t>(n_draws), sums, rows<std::uint8_t>(out),
                                  threads(n_threads));
        },
        array, nb::arg(), nb::arg().noconvert().none(), array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_trees(nb::module_& m) {
    bind_class(m);
    bind_sparse_rows(m);
    bind_predictions<In2<double>>(m);
    bind_predictions<In2<float>>(m);
    bind_predictions<SparseRows>(m);
    bind_marks(m);
}

}  // namespace mercer::bindings

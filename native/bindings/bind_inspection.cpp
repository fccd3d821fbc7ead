#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/explanations.hpp"
#include "inspection/replaced.hpp"
#include "inspection/weighted_walk.hpp"
#include "tree/node.hpp"

namespace mercer::bindings {

namespace {

using inspection::LeafValues;
using tree::Trees;

LeafValues leaf_values(const Trees& trees, std::int64_t first, std::int64_t last, const std::optional<Rows2<double>>& values,
                       const MaybeIn1<double>& weights, std::size_t n_outputs) {
    require(0 <= first && first <= last && static_cast<std::uint64_t>(last) <= trees.count(), "there are no such trees");
    require(n_outputs > 0, "there must be an output");
    LeafValues out;
    out.range = {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
    out.n_outputs = n_outputs;
    out.weights = per_row<double>(weights, out.range.count());
    if (!values) return out;
    require(values->shape(0) == trees.nodes().size() && values->shape(1) == n_outputs,
            "there must be a line of values for each node, one for each output");
    out.lines = rows<double>(*values);
    return out;
}

// A number for each feature, copied so that what is checked is what is used: -1, or one below `end`.
std::vector<std::int32_t> numbers_of_features(const In1<std::int32_t>& given, const Trees& trees, std::size_t end) {
    require(given.shape(0) == trees.n_features(), "there must be a number for each feature");
    const auto numbers = vector<std::int32_t>(given);
    std::vector<std::int32_t> own(numbers.begin(), numbers.end());
    for (const std::int32_t number : own)
        require(number >= -1 && number < static_cast<std::int64_t>(end), "the number of a feature is out of range");
    return own;
}

std::vector<std::uint32_t> checked_orders(const std::optional<Rows2<std::uint32_t>>& given, std::size_t n_rows,
                                          std::size_t n_donors) {
    if (!given) return {};
    require(given->shape(1) == n_rows, "orders must have a place for each row");
    const auto lines = rows<std::uint32_t>(*given);
    std::vector<std::uint32_t> own(lines.data, lines.data + lines.size());
    for (const std::uint32_t row : own) require(row < n_donors, "orders: there is no such row");
    return own;
}

template <Real T>
void bind_replaced(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    const auto number = nb::arg();
    m.def(
        "replaced_sums",
        [](const Trees& trees, std::int64_t first, std::int64_t last, std::optional<Rows2<double>> values, MaybeIn1<double> weights,
           In2<T> x, In1<std::int32_t> group, In1<std::int32_t> column, In2<T> donors, std::optional<Rows2<std::uint32_t>> orders,
           std::int64_t n_groups, Out2<double> out, int n_threads) {
            require(x.shape(1) == trees.n_features(), "X must have as many columns as the trees have features");
            require(n_groups > 0, "there must be a group");
            const auto groups = numbers_of_features(group, trees, static_cast<std::size_t>(n_groups));
            const auto columns = numbers_of_features(column, trees, donors.shape(1));
            for (std::size_t f = 0; f < groups.size(); ++f)
                require(groups[f] < 0 || columns[f] >= 0, "a feature that is replaced needs a column of donors");
            const auto own = checked_orders(orders, x.shape(0), donors.shape(0));
            const std::size_t n_alternatives = orders ? orders->shape(0) : donors.shape(0);
            require(n_alternatives > 0 && out.shape(0) == static_cast<std::size_t>(n_groups) * n_alternatives,
                    "the output must have a line for each group and alternative");
            if (x.shape(0) == 0) return;
            require(out.shape(1) % x.shape(0) == 0, "the output must have a place for each row and output");
            const auto leaves = leaf_values(trees, first, last, values, weights, out.shape(1) / x.shape(0));
            const inspection::Replacement<T> replacement{
                groups, columns, matrix<T>(donors), own, static_cast<std::size_t>(n_groups), n_alternatives};
            inspection::replaced_sums<T>(trees, leaves, matrix<T>(x), replacement, rows<double>(out), threads(n_threads));
        },
        nb::arg(), number, number, maybe, maybe, array, array, array, array, maybe, number, array, number, ReleaseGil());
}

template <Real T>
void bind_weighted_walk(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    const auto number = nb::arg();
    m.def(
        "weighted_walk",
        [](const Trees& trees, std::int64_t first, std::int64_t last, std::optional<Rows2<double>> values, MaybeIn1<double> weights,
           In1<double> node_weights, In1<std::int32_t> column, Rows2<T> points, Out2<double> out, int n_threads) {
            require(node_weights.shape(0) == trees.nodes().size(), "there must be a weight for each node");
            const auto columns = numbers_of_features(column, trees, points.shape(0));
            require(out.shape(1) == points.shape(1), "the output must have a place for each point");
            const auto leaves = leaf_values(trees, first, last, values, weights, out.shape(0));
            inspection::weighted_walk<T>(trees, leaves, vector<double>(node_weights), columns, rows<T>(points), rows<double>(out),
                                         threads(n_threads));
        },
        nb::arg(), number, number, maybe, maybe, array, array, array, array, number, ReleaseGil());
}

}  // namespace

void bind_inspection(nb::module_& m) {
    bind_replaced<double>(m);
    bind_replaced<float>(m);
    bind_weighted_walk<double>(m);
    bind_weighted_walk<float>(m);
}

}  // namespace mercer::bindings

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/owned.hpp"
#include "tree/bin_edges.hpp"
#include "tree/bins.hpp"
#include "tree/boosting_loss.hpp"
#include "tree/histogram_grower.hpp"

namespace mercer::bindings {

namespace {

using boosting::BinnedRows;
using boosting::ColumnBins;

bool are_below(std::span<const std::int64_t> indices, std::size_t limit) {
    return std::all_of(indices.begin(), indices.end(),
                       [limit](std::int64_t i) { return i >= 0 && static_cast<std::uint64_t>(i) < limit; });
}

// A copy that Python owns.
template <class T>
auto copy_of(const std::vector<T>& values) {
    return owned(values, {values.size()});
}
constexpr auto kOwned = nb::rv_policy::automatic;  // a property's default is for memory inside its object

// Bins of all columns from their edges: rising, and at most one fewer than the most bins; a column of categories has as many
// bins as `counts` says.
std::vector<ColumnBins> column_bins(const Rows2<double>& edges, const In1<std::int32_t>& counts,
                                    const MaybeIn1<std::uint8_t>& is_categorical) {
    const auto n_columns = counts.shape(0);
    require(edges.shape(0) == n_columns && edges.shape(1) == boosting::kMostBins - 1,
            "there must be a line of 254 edges for each column");
    const auto marks = per_row<std::uint8_t>(is_categorical, n_columns);
    const auto lines = rows<double>(edges);
    const auto numbers = vector<std::int32_t>(counts);
    std::vector<ColumnBins> columns(n_columns);
    for (std::size_t j = 0; j < n_columns; ++j) {
        ColumnBins& column = columns[j];
        column.is_categorical = !marks.empty() && marks[j] != 0;
        require(numbers[j] >= 0, "the number of a column's bins must not be negative");
        const auto count = static_cast<std::size_t>(numbers[j]);
        if (column.is_categorical) {
            require(count <= boosting::kMostBins, "a column has more than 255 categories");
            column.n_bins = std::max<std::size_t>(count, 1);
            continue;
        }
        require(count < boosting::kMostBins, "a column has more than 254 edges");
        column.edges.assign(lines.row(j), lines.row(j) + count);
        require(std::is_sorted(column.edges.begin(), column.edges.end()) &&
                    std::none_of(column.edges.begin(), column.edges.end(), [](double edge) { return std::isnan(edge); }),
                "the edges of a column must rise");
        column.n_bins = count + 1;
    }
    return columns;
}

template <Real T>
void bind_bins(nb::module_& m, nb::class_<BinnedRows>& binned) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    m.def(
        "find_bin_edges",
        [](In2<T> x, MaybeIn1<std::int64_t> sample, MaybeIn1<double> weights, MaybeIn1<std::uint8_t> is_categorical,
           std::int64_t max_bins, Out2<double> edges, Out1<std::int32_t> counts, int n_threads) {
            require(max_bins >= 2 && max_bins <= static_cast<std::int64_t>(boosting::kMostBins), "max_bins must be from 2 to 255");
            require(edges.shape(0) == x.shape(1) && edges.shape(1) == boosting::kMostBins - 1 && counts.shape(0) == x.shape(1),
                    "there must be a line of 254 edges for each column");
            const boosting::RowSample rows_seen{vector<std::int64_t>(sample), per_row<double>(weights, x.shape(0))};
            require(are_below(rows_seen.rows, x.shape(0)), "a sampled row is out of range");
            boosting::find_bin_edges<T>(matrix<T>(x), rows_seen, per_row<std::uint8_t>(is_categorical, x.shape(1)),
                                        static_cast<std::size_t>(max_bins), rows<double>(edges), vector<std::int32_t>(counts),
                                        threads(n_threads));
        },
        array, maybe, maybe, maybe, nb::arg(), array, array, nb::arg(), ReleaseGil());
    binned.def(
        "__init__",
        [](BinnedRows* self, In2<T> x, Rows2<double> edges, In1<std::int32_t> counts, MaybeIn1<std::uint8_t> is_categorical,
           int n_threads) {
            auto columns = column_bins(edges, counts, is_categorical);
            new (self) BinnedRows(matrix<T>(x), std::move(columns), threads(n_threads));
        },
        array, array, array, maybe, nb::arg(), ReleaseGil());
}

// The bins of every row, for tests.
auto bins_of(const BinnedRows& binned) {
    std::vector<std::uint8_t> bins(binned.n_rows() * binned.n_columns());
    for (std::size_t j = 0; j < binned.n_columns(); ++j)
        for (std::size_t i = 0; i < binned.n_rows(); ++i)
            bins[i * binned.n_columns() + j] = binned.bins_of(j)[i * boosting::kPanelColumns];
    return owned(std::move(bins), {binned.n_rows(), binned.n_columns()});
}

boosting::GrowthRules growth_rules(const BinnedRows& binned, double l2, double leaf_cost, std::int64_t least_rows, double shrinkage,
                                   std::int64_t max_leaves, std::int64_t max_depth, bool is_depth_wise, double feature_share,
                                   std::uint64_t seed, const MaybeIn1<std::int8_t>& monotone,
                                   const MaybeIn1<std::int64_t>& group_ids, const MaybeIn1<std::int64_t>& group_members) {
    require(l2 >= 0 && leaf_cost >= 0 && std::isfinite(shrinkage), "the penalties must not be negative");
    require(least_rows >= 1 && max_leaves >= 0 && max_depth >= 0, "the limits of a tree must not be negative");
    require(feature_share > 0 && feature_share <= 1, "the share of features must be from 0 to 1");
    boosting::GrowthRules rules;
    rules.split = {l2, leaf_cost, static_cast<double>(least_rows)};
    rules.shrinkage = shrinkage;
    rules.max_leaves = static_cast<std::size_t>(max_leaves);
    rules.max_depth = static_cast<std::size_t>(max_depth);
    rules.growth = is_depth_wise ? boosting::Growth::kDepthWise : boosting::Growth::kLeafWise;
    rules.feature_share = feature_share;
    rules.seed = seed;
    const auto signs = per_row<std::int8_t>(monotone, binned.n_columns());
    rules.monotone.assign(signs.begin(), signs.end());
    const auto members = vector<std::int64_t>(group_members);
    require(are_below(members, binned.n_columns()), "a constraint names a column that does not exist");
    const auto ids = vector<std::int64_t>(group_ids);
    require(ids.size() == members.size() && are_below(ids, ids.size()), "each member of a group must have the number of its group");
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto group = static_cast<std::size_t>(ids[i]);
        if (group >= rules.groups.size()) rules.groups.resize(group + 1);
        rules.groups[group].push_back(static_cast<std::uint32_t>(members[i]));
    }
    for (auto& group : rules.groups) std::sort(group.begin(), group.end());
    return rules;
}

template <class Entry>
void bind_grower(nb::module_& m, const char* name) {
    using Grower = boosting::HistogramGrower<Entry>;
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    const auto number = nb::arg();
    nb::class_<Grower>(m, name)
        .def(
            "__init__",
            [](Grower* self, const BinnedRows& binned, MaybeIn1<std::int64_t> used_rows, double l2, double leaf_cost,
               std::int64_t least_rows, double shrinkage, std::int64_t max_leaves, std::int64_t max_depth, bool is_depth_wise,
               double feature_share, std::uint64_t seed, MaybeIn1<std::int8_t> monotone, MaybeIn1<std::int64_t> group_ids,
               MaybeIn1<std::int64_t> group_members) {
                auto rules = growth_rules(binned, l2, leaf_cost, least_rows, shrinkage, max_leaves, max_depth, is_depth_wise,
                                          feature_share, seed, monotone, group_ids, group_members);
                const auto used = vector<std::int64_t>(used_rows);
                require(are_below(used, binned.n_rows()) && used.size() <= binned.n_rows(), "a row to learn from is out of range");
                new (self) Grower(binned, std::move(rules), {used.begin(), used.end()});
            },
            array, maybe, number, number, number, number, number, number, number, number, number, maybe, maybe, maybe,
            nb::keep_alive<1, 2>())
        .def(
            "grow",
            [](Grower& self, In1<double> gradients, MaybeIn1<double> hessians, std::uint64_t tree_number, int n_threads) {
                require(gradients.shape(0) == self.n_rows(), "there must be a gradient for each row");
                require(hessians.has_value() == Entry::kHasHessian,
                        "Hessians must be given where they are not all one, and only there");
                self.grow(vector<double>(gradients), per_row<double>(hessians, self.n_rows()), tree_number, threads(n_threads));
            },
            array, maybe, number, number, ReleaseGil())
        .def(
            "renew_leaves",
            [](Grower& self, In1<double> y, In1<double> raw, MaybeIn1<double> weights, double quantile, int n_threads) {
                require(y.shape(0) == self.n_rows() && raw.shape(0) == self.n_rows(), "there must be a value for each row");
                require(quantile >= 0 && quantile <= 1, "the quantile must be from 0 to 1");
                self.renew_leaves(vector<double>(y), vector<double>(raw), per_row<double>(weights, self.n_rows()), quantile,
                                  threads(n_threads));
            },
            array, array, maybe, number, number, ReleaseGil())
        .def(
            "add_leaf_values",
            [](const Grower& self, Out1<double> raw, int n_threads) {
                require(raw.shape(0) == self.n_rows(), "there must be a value for each row");
                self.add_leaf_values(vector<double>(raw), threads(n_threads));
            },
            array, number, ReleaseGil())
        .def_prop_ro(
            "nodes",
            [](const Grower& self) {
                const auto& nodes = self.tree().nodes;
                const auto* const bytes = reinterpret_cast<const std::uint8_t*>(nodes.data());
                return owned(std::vector<std::uint8_t>(bytes, bytes + nodes.size() * sizeof(tree::Node)),
                             {nodes.size(), sizeof(tree::Node)});
            },
            kOwned)
        .def_prop_ro(
            "words", [](const Grower& self) { return copy_of(self.tree().words); }, kOwned)
        .def_prop_ro(
            "change", [](const Grower& self) { return copy_of(self.tree().change); }, kOwned)
        .def_prop_ro(
            "hessian", [](const Grower& self) { return copy_of(self.tree().hessian); }, kOwned)
        .def_prop_ro(
            "n_rows", [](const Grower& self) { return copy_of(self.tree().n_rows); }, kOwned)
        .def_prop_ro("gain", [](const Grower& self) { return self.tree().gain; })
        .def_prop_ro("n_leaves", [](const Grower& self) { return self.tree().leaves.size(); });
}

void bind_losses(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    m.def(
        "boosting_derivatives",
        [](const std::string& name, double parameter, In1<double> y, MaybeIn1<double> weights, In1<double> raw,
           Out1<double> gradients, std::optional<Out1<double>> hessians, int n_threads) {
            const auto n = y.shape(0);
            require(raw.shape(0) == n && gradients.shape(0) == n && (!hessians || hessians->shape(0) == n),
                    "there must be a value for each row");
            const auto loss = losses::make_row_loss(name, parameter);
            return boosting::loss_derivatives(*loss, vector<double>(y), per_row<double>(weights, n), vector<double>(raw),
                                              vector<double>(gradients), hessians ? vector<double>(*hessians) : std::span<double>{},
                                              threads(n_threads));
        },
        nb::arg(), nb::arg(), array, maybe, array, array, maybe, nb::arg(), ReleaseGil());
    m.def(
        "boosting_softmax_derivatives",
        [](In1<std::int32_t> codes, MaybeIn1<double> weights, Rows2<double> raw, Out2<double> gradients, Out2<double> hessians,
           int n_threads) {
            const auto n = codes.shape(0);
            const auto fits = [&](const auto& a) { return a.shape(0) == raw.shape(0) && a.shape(1) == n; };
            require(fits(raw) && fits(gradients) && fits(hessians),
                    "there must be a line for each class and a column for each row");
            return boosting::softmax_derivatives(vector<std::int32_t>(codes), per_row<double>(weights, n), rows<double>(raw),
                                                 rows<double>(gradients), rows<double>(hessians), threads(n_threads));
        },
        array, maybe, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_histogram(nb::module_& m) {
    nb::class_<BinnedRows> binned(m, "BinnedRows");
    bind_bins<double>(m, binned);
    bind_bins<float>(m, binned);
    binned.def_prop_ro("bins", &bins_of, kOwned);
    bind_grower<boosting::CountEntry>(m, "CountGrower");
    bind_grower<boosting::HessianEntry>(m, "HessianGrower");
    bind_losses(m);
}

}  // namespace mercer::bindings

#include <nanobind/stl/string.h>

#include "bindings/growth_plan.hpp"
#include "tree/class_criterion.hpp"
#include "tree/pair_criterion.hpp"

namespace mercer::bindings {

namespace {

using tree::Limits;
using tree::RankedColumns;
template <class Measure>
nb::tuple grow_pair(const Plan& plan, std::span<const double> y, double offset, bool is_classification) {
    return grow(plan, is_classification ? 2 : 1, [&](std::span<const double> weights, auto&& with) {
        std::vector<double> weighted(weights.size());
        for (std::size_t i = 0; i < weights.size(); ++i) weighted[i] = weights[i] * y[i];
        return with(tree::PairCriterion<Measure>(y, weighted, weights, offset, is_classification));
    });
}

template <class Measure>
nb::tuple grow_classes(const Plan& plan, RowMajor<const std::int32_t> codes, std::size_t n_classes) {
    return grow(plan, codes.cols * n_classes, [&](std::span<const double> weights, auto&& with) {
        return with(tree::ClassCriterion<Measure>(codes, n_classes, weights));
    });
}

template <Real T>
void bind_columns(nb::class_<RankedColumns>& type) {
    type.def(
        "__init__",
        [](RankedColumns* self, In2<T> x, MaybeIn1<std::uint8_t> is_categorical, int n_threads) {
            const auto values = matrix<T>(x);
            require(!is_categorical || is_categorical->shape(0) == values.cols, "there must be a flag for each column");
            for (std::size_t j = 0; is_categorical && j < values.cols; ++j)
                for (std::size_t i = 0; vector<std::uint8_t>(*is_categorical)[j] != 0 && i < values.rows; ++i)
                    require(std::isnan(values(i, j)) ||
                                (values(i, j) >= 0 && values(i, j) < 1e6 && values(i, j) == std::floor(values(i, j))),
                            "categories must be whole numbers from 0 to 999,999");
            new (self) RankedColumns(values, vector<std::uint8_t>(is_categorical), threads(n_threads));
        },
        nb::arg().noconvert(), nb::arg().noconvert().none(), nb::arg(), ReleaseGil());
}

}  // namespace

void bind_grow(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    const auto number = nb::arg();

    nb::class_<RankedColumns> columns(m, "RankedColumns");
    bind_columns<double>(columns);
    bind_columns<float>(columns);
    columns.def_prop_ro("n_rows", &RankedColumns::n_rows);
    columns.def_prop_ro("n_columns", &RankedColumns::count);

    nb::class_<Limits>(m, "GrowthLimits")
        .def("__init__", [](Limits* self, std::int64_t max_depth, std::int64_t min_rows_split, std::int64_t min_rows_leaf,
                            double min_weight_leaf, double min_gain, std::int64_t max_leaves) {
            require(max_depth >= 0 && min_rows_split >= 0 && min_rows_leaf >= 0 && max_leaves >= 0, "limits must not be negative");
            const auto size = [](std::int64_t x) { return static_cast<std::size_t>(x); };
            new (self)
                Limits{size(max_depth), size(min_rows_split), size(min_rows_leaf), min_weight_leaf, min_gain, size(max_leaves)};
        });

    m.def(
        "grow_pair",
        [](const std::string& measure, const RankedColumns& x, In1<double> y, double offset, bool is_classification,
           MaybeIn1<double> weights, In1<std::uint64_t> seeds, std::int64_t n_draws, std::int64_t max_features,
           MaybeIn1<std::int8_t> directions, const Limits& limits, int n_threads) {
            const Plan plan = make_plan(x, weights, seeds, n_draws, max_features, directions, limits, n_threads);
            require(y.shape(0) == x.n_rows(), "there must be one target per row");
            const auto targets = vector<double>(y);
            if (measure == "gini") return grow_pair<tree::PairGini>(plan, targets, offset, is_classification);
            if (measure == "entropy") return grow_pair<tree::PairEntropy>(plan, targets, offset, is_classification);
            if (measure == "misclassification")
                return grow_pair<tree::PairMisclassification>(plan, targets, offset, is_classification);
            if (measure == "poisson") return grow_pair<tree::HalfPoisson>(plan, targets, offset, is_classification);
            require(measure == "squared_error", "there is no such measure");
            return grow_pair<tree::SquaredError>(plan, targets, offset, is_classification);
        },
        number, number, array, number, number, maybe, array, number, number, maybe, number, number);

    m.def(
        "grow_classes",
        [](const std::string& measure, const RankedColumns& x, Rows2<std::int32_t> codes, std::int64_t n_classes,
           MaybeIn1<double> weights, In1<std::uint64_t> seeds, std::int64_t n_draws, std::int64_t max_features,
           const Limits& limits, int n_threads) {
            const Plan plan = make_plan(x, weights, seeds, n_draws, max_features, {}, limits, n_threads);
            const auto classes = rows<std::int32_t>(codes);
            require(classes.rows == x.n_rows() && classes.cols > 0, "there must be one line of classes per row");
            require(0 < n_classes && n_classes < (1 << 24), "there must be a class");
            require(
                std::all_of(classes.data, classes.data + classes.size(), [&](std::int32_t k) { return 0 <= k && k < n_classes; }),
                "a class is out of range");
            const auto n = static_cast<std::size_t>(n_classes);
            if (measure == "gini") return grow_classes<tree::ClassGini>(plan, classes, n);
            if (measure == "entropy") return grow_classes<tree::ClassEntropy>(plan, classes, n);
            require(measure == "misclassification", "there is no such measure");
            return grow_classes<tree::ClassMisclassification>(plan, classes, n);
        },
        number, number, array, number, maybe, array, number, number, number, number);

    m.def(
        "bootstrap_counts",
        [](std::uint64_t seed, std::int64_t n_draws, Out1<double> counts) {
            require(0 <= n_draws && static_cast<std::uint64_t>(n_draws) <= counts.shape(0),
                    "there are at most as many draws as rows");
            if (n_draws > 0) tree::bootstrap_counts(seed, static_cast<std::size_t>(n_draws), vector<double>(counts));
        },
        number, number, array);
}

}  // namespace mercer::bindings

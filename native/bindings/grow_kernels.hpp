// The kernels that grow trees, one a kind of target, for any kind of columns.
#pragma once

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bindings/growth_plan.hpp"
#include "tree/absolute_criterion.hpp"
#include "tree/class_criterion.hpp"
#include "tree/mean_criterion.hpp"
#include "tree/pair_criterion.hpp"

namespace mercer::bindings {

inline tree::PairMeasure pair_measure(const std::string& name) {
    if (name == "gini") return tree::PairMeasure::kGini;
    if (name == "entropy") return tree::PairMeasure::kEntropy;
    if (name == "misclassification") return tree::PairMeasure::kMisclassification;
    if (name == "poisson") return tree::PairMeasure::kHalfPoisson;
    require(name == "squared_error", "there is no such measure");
    return tree::PairMeasure::kSquaredError;
}

inline tree::ClassMeasure class_measure(const std::string& name) {
    if (name == "gini") return tree::ClassMeasure::kGini;
    if (name == "entropy") return tree::ClassMeasure::kEntropy;
    require(name == "misclassification", "there is no such measure");
    return tree::ClassMeasure::kMisclassification;
}

inline tree::MeanMeasure mean_measure(const std::string& name) {
    if (name == "poisson") return tree::MeanMeasure::kHalfPoisson;
    require(name == "squared_error", "there is no such measure");
    return tree::MeanMeasure::kSquaredError;
}

template <class Columns>
void def_grow_pair(nb::module_& m) {
    m.def(
        "grow_pair",
        [](const std::string& measure, const Columns& x, In1<double> y, double offset, bool is_classification,
           MaybeIn1<double> weights, In1<std::uint64_t> seeds, std::int64_t n_draws, std::int64_t max_features,
           MaybeIn1<std::int8_t> directions, const tree::Limits& limits, int n_threads) {
            const auto plan = make_plan(x, weights, seeds, n_draws, max_features, directions, limits, n_threads);
            require(y.shape(0) == x.n_rows(), "there must be one target per row");
            const auto targets = vector<double>(y);
            const auto by = pair_measure(measure);
            return grow(plan, is_classification ? 2 : 1, [&](std::span<const double> given, auto&& with) {
                std::vector<tree::Pair> pairs(given.size());
                for (std::size_t i = 0; i < given.size(); ++i) pairs[i] = tree::Pair{given[i], given[i] * targets[i]};
                return with(*tree::PairCriterion::make(by, targets, pairs, offset, is_classification));
            });
        },
        nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg().noconvert().none(), nb::arg().noconvert(),
        nb::arg(), nb::arg(), nb::arg().noconvert().none(), nb::arg(), nb::arg());
}

template <class Columns>
void def_grow_classes(nb::module_& m) {
    m.def(
        "grow_classes",
        [](const std::string& measure, const Columns& x, Rows2<std::int32_t> codes, std::int64_t n_classes,
           MaybeIn1<double> weights, In1<std::uint64_t> seeds, std::int64_t n_draws, std::int64_t max_features,
           const tree::Limits& limits, int n_threads) {
            const auto plan = make_plan(x, weights, seeds, n_draws, max_features, {}, limits, n_threads);
            const auto classes = rows<std::int32_t>(codes);
            require(classes.rows == x.n_rows() && classes.cols > 0, "there must be one line of classes per row");
            require(0 < n_classes && n_classes < (1 << 24), "there must be a class");
            require(
                std::all_of(classes.data, classes.data + classes.size(), [&](std::int32_t k) { return 0 <= k && k < n_classes; }),
                "a class is out of range");
            const auto n = static_cast<std::size_t>(n_classes);
            const auto by = class_measure(measure);
            return grow(plan, classes.cols * n, [&](std::span<const double> given, auto&& with) {
                return with(*tree::ClassCriterion::make(by, classes, n, given));
            });
        },
        nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg().noconvert().none(), nb::arg().noconvert(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg());
}

// Targets of several outputs: a line per row, all finite.
inline RowMajor<const double> targets_for(std::size_t n_rows, const Rows2<double>& y) {
    const auto targets = rows<double>(y);
    require(targets.rows == n_rows && targets.cols > 0, "there must be one line of targets per row");
    require(std::all_of(targets.data, targets.data + targets.size(), [](double x) { return std::isfinite(x); }),
            "targets must be finite");
    return targets;
}

template <class Columns>
void def_grow_means(nb::module_& m) {
    m.def(
        "grow_means",
        [](const std::string& measure, const Columns& x, Rows2<double> y, In1<double> offsets, MaybeIn1<double> weights,
           In1<std::uint64_t> seeds, std::int64_t n_draws, std::int64_t max_features, const tree::Limits& limits, int n_threads) {
            const auto plan = make_plan(x, weights, seeds, n_draws, max_features, {}, limits, n_threads);
            const auto targets = targets_for(x.n_rows(), y);
            require(offsets.shape(0) == targets.cols, "there must be one offset per output");
            const auto by = mean_measure(measure);
            return grow(plan, targets.cols, [&](std::span<const double> given, auto&& with) {
                return with(*tree::MeanCriterion::make(by, targets, vector<double>(offsets), given));
            });
        },
        nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert().none(), nb::arg().noconvert(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

template <class Columns>
void def_grow_absolute(nb::module_& m) {
    m.def(
        "grow_absolute",
        [](const Columns& x, Rows2<double> y, MaybeIn1<double> weights, In1<std::uint64_t> seeds, std::int64_t n_draws,
           std::int64_t max_features, MaybeIn1<std::int8_t> directions, const tree::Limits& limits, int n_threads) {
            const auto plan = make_plan(x, weights, seeds, n_draws, max_features, directions, limits, n_threads);
            const auto targets = targets_for(x.n_rows(), y);
            require(!directions || targets.cols == 1, "directions are for one output");
            return grow(plan, targets.cols,
                        [&](std::span<const double> given, auto&& with) { return with(tree::AbsoluteCriterion(targets, given)); });
        },
        nb::arg(), nb::arg().noconvert(), nb::arg().noconvert().none(), nb::arg().noconvert(), nb::arg(), nb::arg(),
        nb::arg().noconvert().none(), nb::arg(), nb::arg());
}

}  // namespace mercer::bindings

// What the kernels that grow trees have in common, whatever the criterion.
#pragma once

#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>

#include "bindings/arrays.hpp"
#include "bindings/grown_arrays.hpp"
#include "tree/columns.hpp"
#include "tree/forest.hpp"
#include "tree/grower.hpp"

namespace mercer::bindings {

// What the trees of one call have in common.
struct Plan {
    const tree::RankedColumns& columns;
    std::span<const double> weights;
    std::span<const std::uint64_t> seeds;
    std::size_t n_draws;
    std::size_t max_features;
    std::span<const std::int8_t> directions;
    const tree::Limits& limits;
    Threads threads;
};

inline Plan make_plan(const tree::RankedColumns& columns, const MaybeIn1<double>& weights, const In1<std::uint64_t>& seeds,
                      std::int64_t n_draws, std::int64_t max_features, const MaybeIn1<std::int8_t>& directions,
                      const tree::Limits& limits, int n_threads) {
    const std::size_t n = columns.n_rows();
    require(0 <= n_draws && static_cast<std::uint64_t>(n_draws) <= n, "there are at most as many draws as rows");
    require(max_features >= 1, "at least one feature must be looked at");
    require(!directions || directions->shape(0) == columns.count(), "there must be a direction for each feature");
    const auto w = per_row<double>(weights, n);
    require(std::all_of(w.begin(), w.end(), [](double x) { return x >= 0 && x < tree::kInfinity; }),
            "weights must be finite and >= 0");
    return {columns,
            w,
            vector<std::uint64_t>(seeds),
            static_cast<std::size_t>(n_draws),
            static_cast<std::size_t>(max_features),
            vector<std::int8_t>(directions),
            limits,
            threads(n_threads)};
}

// A forest of trees whose criterion make(weights) gives.
template <class Make>
nb::tuple grow(const Plan& plan, std::size_t n_values, Make&& make) {
    std::unique_ptr<JoinedTrees> joined;
    {
        nb::gil_scoped_release release;
        auto parts = tree::grow_forest(plan.seeds, plan.columns.n_rows(), plan.weights, plan.n_draws, plan.threads,
                                       [&](std::uint64_t seed, std::span<const double> weights, Threads inner) {
                                           return make(weights, [&](const auto& criterion) {
                                               using Criterion = std::remove_cvref_t<decltype(criterion)>;
                                               return tree::Grower<Criterion>(plan.columns, criterion, weights, plan.directions,
                                                                              plan.limits, {plan.max_features, seed}, inner)
                                                   .grow();
                                           });
                                       });
        joined = std::make_unique<JoinedTrees>(parts, n_values, plan.columns.count());
    }
    return joined->to_python();
}

// Targets of several outputs: a line per row, all finite.
inline RowMajor<const double> targets_for(const tree::RankedColumns& columns, const Rows2<double>& y) {
    const auto targets = rows<double>(y);
    require(targets.rows == columns.n_rows() && targets.cols > 0, "there must be one line of targets per row");
    require(std::all_of(targets.data, targets.data + targets.size(), [](double x) { return std::isfinite(x); }),
            "targets must be finite");
    return targets;
}

}  // namespace mercer::bindings

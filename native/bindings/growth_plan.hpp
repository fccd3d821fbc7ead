// What the kernels that grow trees have in common, whatever the criterion.
#pragma once

#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "bindings/arrays.hpp"
#include "bindings/draws.hpp"
#include "bindings/grown_arrays.hpp"
#include "tree/columns.hpp"
#include "tree/forest.hpp"
#include "tree/grower.hpp"
#include "tree/plain_columns.hpp"
#include "tree/random_grower.hpp"
#include "tree/wide_columns.hpp"
#include "tree/wide_grower.hpp"

namespace mercer::bindings {

// What the trees of one call have in common. The columns say how they are split: exactly or at random.
template <class Columns>
struct Plan {
    const Columns& columns;
    std::span<const double> weights;
    std::span<const std::uint64_t> seeds;
    std::size_t n_draws;
    std::size_t max_features;
    std::span<const std::int8_t> directions;
    const tree::Limits& limits;
    Threads threads;
};

// `weights` are one a row, or, where nothing is drawn, one a row for each seed.
template <class Columns>
Plan<Columns> make_plan(const Columns& columns, const MaybeIn1<double>& weights, const In1<std::uint64_t>& seeds,
                        std::int64_t n_draws, std::int64_t max_features, const MaybeIn1<std::int8_t>& directions,
                        const tree::Limits& limits, int n_threads) {
    const std::size_t n = columns.n_rows();
    require_draws(n_draws, n);
    require(max_features >= 1, "at least one feature must be looked at");
    require(!directions || directions->shape(0) == columns.count(), "there must be a direction for each feature");
    const bool has_lines = n_draws == 0 && weights && weights->shape(0) == n * seeds.shape(0);
    const auto w = has_lines ? vector<double>(weights) : per_row<double>(weights, n);
    require(std::all_of(w.begin(), w.end(), [](double x) { return x >= 0 && x < tree::kInfinity; }),
            "weights must be finite and >= 0");
    require(n_draws == 0 || w.empty() || std::any_of(w.begin(), w.end(), [](double x) { return x > 0; }),
            "a bootstrap needs a positive weight");
    return {columns,
            w,
            vector<std::uint64_t>(seeds),
            static_cast<std::size_t>(n_draws),
            static_cast<std::size_t>(max_features),
            vector<std::int8_t>(directions),
            limits,
            threads(n_threads)};
}

template <class Columns, class Criterion>
struct GrowerFor;
template <class Criterion>
struct GrowerFor<tree::RankedColumns, Criterion> {
    using Type = tree::Grower<Criterion>;
};
template <class Criterion>
struct GrowerFor<tree::WideColumns, Criterion> {
    using Type = tree::WideGrower<Criterion>;
};
template <class Criterion>
struct GrowerFor<tree::PlainColumns, Criterion> {
    using Type = tree::RandomGrower<Criterion>;
};

// A forest of trees whose criterion make(weights) gives.
template <class Columns, class Make>
nb::tuple grow(const Plan<Columns>& plan, std::size_t n_values, Make&& make) {
    std::optional<GrownArrays> grown;
    {
        const ReleasedGil released;
        tree::JoinedTrees joined(plan.seeds.size());
        tree::grow_forest(plan.seeds, plan.columns.n_rows(), plan.weights, plan.n_draws, joined, plan.threads,
                          [&](std::uint64_t seed, std::span<const double> weights, Threads inner) {
                              return make(weights, [&](const auto& criterion) {
                                  using Criterion = std::remove_cvref_t<decltype(criterion)>;
                                  using Grower = typename GrowerFor<Columns, Criterion>::Type;
                                  return Grower(plan.columns, criterion, weights, plan.directions, plan.limits,
                                                {plan.max_features, seed}, inner)
                                      .grow();
                              });
                          });
        grown.emplace(joined, n_values, plan.columns.count());
    }
    return grown->to_python();
}

template <class Columns>
void def_facts(nb::class_<Columns>& type) {
    type.def_prop_ro("n_rows", &Columns::n_rows);
    type.def_prop_ro("n_columns", &Columns::count);
}

// A flag for each column of X, whether it holds categories; those are checked.
template <Real T>
std::span<const std::uint8_t> category_flags(Matrix<const T> x, const MaybeIn1<std::uint8_t>& is_categorical) {
    const auto flags = per_row<std::uint8_t>(is_categorical, x.cols);
    const auto is_category = [](T value) {
        return std::isnan(value) || (value >= 0 && value < static_cast<T>(tree::kMostCategories) && value == std::floor(value));
    };
    for (std::size_t j = 0; j < flags.size(); ++j)
        for (std::size_t i = 0; flags[j] != 0 && i < x.rows; ++i)
            require(is_category(x(i, j)), "categories must be whole numbers from 0 to 999,999");
    return flags;
}

// How many columns all trees of a forest look at on a level.
inline std::size_t count_looks(std::int64_t n_looks) {
    require(n_looks >= 1, "at least one column must be looked at");
    return static_cast<std::size_t>(n_looks);
}

}  // namespace mercer::bindings

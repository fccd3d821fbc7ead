// What kernels of density clustering ask of a k-d tree and a metric.
#pragma once

#include <concepts>

#include "bindings/density_kernels.hpp"
#include "bindings/search_kernels.hpp"
#include "neighbors/kd_tree.hpp"

namespace mercer::bindings {

// Calls go<kD>(metric) for the points of a tree. Loops over features are unrolled in two and three dimensions, by the Euclidean
// metric alone.
template <class Tree, class Go>
void with_tree_metric(const Tree& tree, const MetricChoice& choice, Go&& go) {
    chosen_metric<Takes::kAxial>(choice, tree.n_features()).choose([&](const auto& metric) {
        using Metric = std::remove_cvref_t<decltype(metric)>;
        if constexpr (std::same_as<Metric, neighbors::Euclidean>) {
            if (tree.n_features() == 2) return go.template operator()<2>(metric);
            if (tree.n_features() == 3) return go.template operator()<3>(metric);
            go.template operator()<0>(metric);
        } else if constexpr (std::same_as<Metric, neighbors::Manhattan> || std::same_as<Metric, neighbors::Chebyshev> ||
                             std::same_as<Metric, neighbors::Minkowski>) {
            go.template operator()<0>(metric);
        } else {
            refuse("density clustering has no tree for this metric");
        }
    });
}

}  // namespace mercer::bindings

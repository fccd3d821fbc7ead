// What kernels of density clustering ask of a k-d tree and a metric.
#pragma once

#include <concepts>

#include "bindings/density_kernels.hpp"
#include "bindings/search_kernels.hpp"
#include "neighbors/kd_tree.hpp"

namespace mercer::bindings {

// Calls go<kD>(metric) for the points of a tree. By the Euclidean metric loops over features are unrolled in two and three
// dimensions; others are chosen as it goes.
template <class Tree, class Go>
void with_tree_metric(const Tree& tree, const MetricChoice& choice, Go&& go) {
    const neighbors::AnyMetric metric = chosen_metric<Takes::kAxial>(choice, tree.n_features());
    metric.choose([&](const auto& formula) {
        if constexpr (std::same_as<std::remove_cvref_t<decltype(formula)>, neighbors::Euclidean>) {
            if (tree.n_features() == 2) return go.template operator()<2>(formula);
            if (tree.n_features() == 3) return go.template operator()<3>(formula);
            go.template operator()<0>(formula);
        } else {
            go.template operator()<0>(metric);
        }
    });
}

}  // namespace mercer::bindings

// A finished tree of boosting: its nodes, what is known of each, and which rows its leaves hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "tree/histogram_splits.hpp"
#include "tree/node.hpp"

namespace mercer::boosting {

struct BoostedTree {
    struct Leaf {
        std::size_t node;
        std::size_t begin;  // its rows, in the grower's order
        std::size_t end;
        Bounds bounds;
    };
    std::vector<Node> nodes;
    std::vector<Word> words;
    std::vector<double> change;   // of the loss to second order, were the node a leaf
    std::vector<double> hessian;  // the sum over its rows
    std::vector<std::int64_t> n_rows;
    std::vector<Leaf> leaves;
    double gain = 0;  // of all splits together
};

namespace detail {

struct Weighted {
    double value;
    double weight;
};

// The value at which the weight below reaches its share; halfway between two where it is reached exactly. O(n log n).
inline double weighted_quantile(std::vector<Weighted>& items, double quantile) {
    std::sort(items.begin(), items.end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
    double total = 0;
    for (const Weighted& item : items) total += item.weight;
    const double wanted = quantile * total;
    double below = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        below += items[i].weight;
        if (below > wanted * (1 + 1e-12)) return items[i].value;
        if (below >= wanted * (1 - 1e-12) && i + 1 < items.size()) return 0.5 * (items[i].value + items[i + 1].value);
    }
    return items.empty() ? 0.0 : items.back().value;
}

}  // namespace detail

// Adds the value of each row's leaf to `raw`; rows that are in no leaf keep theirs. `order` holds the rows of the leaves. O(n).
inline void add_leaf_values(const BoostedTree& tree, std::span<const std::uint32_t> order, std::span<double> raw, Threads threads) {
    constexpr std::size_t kRows = 16384;
    std::vector<std::tuple<double, std::size_t, std::size_t>> parts;
    for (const BoostedTree::Leaf& leaf : tree.leaves)
        for (std::size_t i = leaf.begin; i < leaf.end; i += kRows)
            parts.emplace_back(tree.nodes[leaf.node].threshold, i, std::min(i + kRows, leaf.end));
    parallel_for(parts.size(), threads.for_work(static_cast<double>(order.size()) * 2), [&](std::size_t k) {
        const auto [value, begin, end] = parts[k];
        for (std::size_t i = begin; i < end; ++i) raw[order[i]] += value;
    });
}

// Gives each leaf the quantile of y - raw over its rows, within its bounds and times the shrinkage: for losses whose Hessian says
// nothing. O(n log n).
inline void renew_leaves(BoostedTree& tree, std::span<const std::uint32_t> order, std::span<const double> y,
                         std::span<const double> raw, std::span<const double> weights, double quantile, double shrinkage,
                         Threads threads) {
    parallel_for(tree.leaves.size(), threads.for_work(static_cast<double>(order.size()) * 20), [&](std::size_t l) {
        const BoostedTree::Leaf& leaf = tree.leaves[l];
        std::vector<detail::Weighted> rest;
        rest.reserve(leaf.end - leaf.begin);
        for (const std::uint32_t row : order.subspan(leaf.begin, leaf.end - leaf.begin))
            rest.push_back({y[row] - raw[row], weights.empty() ? 1.0 : weights[row]});
        const double value = std::clamp(detail::weighted_quantile(rest, quantile), leaf.bounds.low, leaf.bounds.high);
        tree.nodes[leaf.node].threshold = shrinkage * value;
    });
}

}  // namespace mercer::boosting

// How many pairs of a query and a point are at most as far from each other as each of several radii.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "neighbors/any_metric.hpp"
#include "neighbors/batch.hpp"
#include "neighbors/blocks.hpp"

namespace mercer::neighbors {

namespace detail {

// Counts the points of a tree by the first of the rising `ranks` that holds them. A node that lies between two is counted whole.
template <class Tree>
void count_by_rank(const Tree& tree, const AnyMetric& metric, const double* query, const std::vector<double>& ranks,
                   std::vector<std::int64_t>& counts) {
    const auto& nodes = tree.shape().nodes();
    const auto points = tree.points();
    const auto first_with = [&](double rank) {
        const auto found = std::partition_point(ranks.begin(), ranks.end(), [&](double each) { return !(rank <= each); });
        return static_cast<std::size_t>(found - ranks.begin());
    };
    std::vector<std::size_t> open{0};
    while (!open.empty()) {
        const std::size_t node = open.back();
        open.pop_back();
        const BlockValues below = tree.template bound_children<0>(metric, query, node);
        const BlockValues above = tree.bound_children_above(metric, query, node);
        for (std::size_t c = 0; c < nodes[node].n_children; ++c) {
            const SlotRange range = nodes[node].child(c);
            const std::size_t place = first_with(below[c]);
            if (place == first_with(above[c])) {
                counts[place] += static_cast<std::int64_t>(range.size());
            } else if (nodes[node].nodes[c] != ShapeNode::kLeaf) {
                open.push_back(static_cast<std::size_t>(nodes[node].nodes[c]));
            } else {
                for (std::size_t slot = range.begin; slot < range.end; slot += kBlock) {
                    const BlockValues found = measure_block<0>(metric, query, points.block(slot), points.d);
                    for (std::size_t lane = 0; lane < std::min(kBlock, range.end - slot); ++lane) ++counts[first_with(found[lane])];
                }
            }
        }
    }
}

}  // namespace detail

// For each of the radii, in any order, the number of pairs at most so far apart.
template <class Tree>
void count_pairs(const Batch<Tree, AnyMetric>& batch, std::span<const double> radii, std::span<std::int64_t> out) {
    std::vector<double> wanted(radii.size()), ranks;
    for (std::size_t r = 0; r < radii.size(); ++r) wanted[r] = rank_within(batch.metric, radii[r]);
    ranks = wanted;
    std::sort(ranks.begin(), ranks.end());
    std::vector<std::int64_t> counts(ranks.size() + 1);
    Turns turns;
    detail::for_queries(batch, [&](std::size_t first, std::size_t last, const double* queries, const auto&) {
        std::vector<std::int64_t> some(counts.size());
        for (std::size_t i = first; i < last; ++i)
            detail::count_by_rank(batch.index, batch.metric, queries + (i - first) * batch.index.n_features(), ranks, some);
        turns.take([&] { std::transform(some.begin(), some.end(), counts.begin(), counts.begin(), std::plus<>()); });
    });
    for (std::size_t r = 1; r < counts.size(); ++r) counts[r] += counts[r - 1];
    for (std::size_t r = 0; r < out.size(); ++r) {
        const auto last = std::upper_bound(ranks.begin(), ranks.end(), wanted[r]);
        out[r] = counts[static_cast<std::size_t>(last - ranks.begin()) - 1];
    }
}

}  // namespace mercer::neighbors

// Ranks of the boxes of a node's eight children in a k-d tree, side by side, one a lane, feature after feature.
//
// `line` are the boxes of the node: of child c and feature j the low end is at [j * 16 + c], the high one eight further on.
#pragma once

#include <cstddef>
#include <vector>

#include "neighbors/blocks.hpp"
#include "neighbors/metric.hpp"

namespace mercer::neighbors {

// Ranks of the differences(feature, lows, highs) between something and the boxes.
template <std::size_t kD, class M, Real T, class Differences>
[[gnu::always_inline]] inline BlockValues measure_boxes(const M& metric, const T* line, std::size_t d, Differences&& differences) {
    decltype(metric.template start<Vector>()) sums[kParts];
    for (auto& sum : sums) sum = metric.template start<Vector>();
    for (std::size_t j = 0; j < features<kD>(d); ++j, line += 2 * kBlock) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kParts; ++v) {
            const Vector low = load_lanes(line + v * Doubles::kLanes), high = load_lanes(line + kBlock + v * Doubles::kLanes);
            metric.add(sums[v], differences(j, low, high), Vector{}, j);
        }
    }
    BlockValues ranks;
    for (std::size_t v = 0; v < kParts; ++v) ranks.part[v] = metric.rank(sums[v]);
    return ranks;
}

// By a metric that is chosen here: what the functions without this ending come to.
template <Real T>
BlockValues bound_boxes_chosen(const AnyMetric& metric, const double* query, const T* line, std::size_t d);
template <Real T>
BlockValues bound_boxes_above_chosen(const AnyMetric& metric, const double* query, const T* line, std::size_t d);

// Ranks of the points of the boxes that are nearest to the query. O(d).
template <std::size_t kD, class M, Real T>
[[gnu::always_inline]] inline BlockValues bound_boxes(const M& metric, const double* query, const T* line, std::size_t d) {
    if constexpr (ChosenMetric<M>) {
        return bound_boxes_chosen(metric, query, line, d);
    } else {
        return measure_boxes<kD>(metric, line, d, [&](std::size_t j, Vector low, Vector high) {
            const Vector q = Doubles::broadcast(query[j]);
            const Vector below = low - q, above = q - high;
            const Vector larger = below > above ? below : above;
            return larger > Vector{} ? larger : Vector{};
        });
    }
}

// Ranks of the farthest corners. O(d).
template <class M, Real T>
[[gnu::always_inline]] inline BlockValues bound_boxes_above(const M& metric, const double* query, const T* line, std::size_t d) {
    if constexpr (ChosenMetric<M>) {
        return bound_boxes_above_chosen(metric, query, line, d);
    } else {
        return measure_boxes<0>(metric, line, d, [&](std::size_t j, Vector low, Vector high) {
            const Vector q = Doubles::broadcast(query[j]);
            const Vector from_low = q - low, from_high = high - q;
            return from_low > from_high ? from_low : from_high;
        });
    }
}

// A box in double precision: low and high of each feature.
struct Box {
    std::vector<double> low, high;
};

double extent_chosen(const AnyMetric& metric, const Box& box);

// The greatest rank of two points of a box. O(d).
template <class M>
double extent(const M& metric, const Box& box) {
    if constexpr (ChosenMetric<M>) {
        return extent_chosen(metric, box);
    } else {
        auto sum = metric.template start<double>();
        for (std::size_t j = 0; j < box.low.size(); ++j) metric.add(sum, box.high[j], box.low[j], j);
        return metric.rank(sum);
    }
}

struct BoxRanks {
    BlockValues least, greatest;
};

template <Real T>
BoxRanks rank_boxes_chosen(const AnyMetric& metric, const Box& box, const T* line, std::size_t d);

// The least and the greatest rank between a point of `box` and one of each of the boxes. O(d).
template <std::size_t kD, class M, Real T>
[[gnu::always_inline]] inline BoxRanks rank_boxes(const M& metric, const Box& box, const T* line, std::size_t d) {
    if constexpr (ChosenMetric<M>) {
        return rank_boxes_chosen(metric, box, line, d);
    } else {
        using Sum = decltype(metric.template start<Vector>());
        Sum least[kParts], greatest[kParts];
        for (std::size_t v = 0; v < kParts; ++v) least[v] = greatest[v] = metric.template start<Vector>();
        for (std::size_t j = 0; j < features<kD>(d); ++j, line += 2 * kBlock) {
            const Vector low = Doubles::broadcast(box.low[j]), high = Doubles::broadcast(box.high[j]);
#pragma GCC unroll 4
            for (std::size_t v = 0; v < kParts; ++v) {
                const Vector child_low = load_lanes(line + v * Doubles::kLanes);
                const Vector child_high = load_lanes(line + kBlock + v * Doubles::kLanes);
                const Vector below = child_low - high, above = low - child_high;
                const Vector gap = below > above ? below : above;
                metric.add(least[v], gap > Vector{} ? gap : Vector{}, Vector{}, j);
                const Vector up = child_high - low, down = high - child_low;
                metric.add(greatest[v], up > down ? up : down, Vector{}, j);
            }
        }
        BoxRanks ranks;
        for (std::size_t v = 0; v < kParts; ++v) {
            ranks.least.part[v] = metric.rank(least[v]);
            ranks.greatest.part[v] = metric.rank(greatest[v]);
        }
        return ranks;
    }
}

}  // namespace mercer::neighbors

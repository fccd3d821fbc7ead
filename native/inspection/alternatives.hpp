// Alternatives: other values that features might have. Trees part them as they part rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/views.hpp"
#include "tree/few_leaves.hpp"
#include "tree/node.hpp"

namespace mercer::inspection {

using tree::Node;
using tree::Range;
using tree::Trees;
using tree::Word;

// Some alternatives, by number.
struct Segment {
    std::uint32_t* first = nullptr;
    std::size_t count = 0;
};

// Parts a segment at a split on a feature of which `values` has each alternative's. Those that go left come first; returns how
// many. Where the values rise with the numbers, and the numbers along the segment (`is_sorted`), nothing moves and few are looked
// at. The order within both parts stays.
template <Real T>
std::size_t part(const Node& node, const T* values, const Word* words, Segment segment, bool is_sorted, std::uint32_t* scratch) {
    std::uint32_t* const end = segment.first + segment.count;
    if (is_sorted && !node.is_categorical()) {
        const auto goes = [&](std::uint32_t r) { return static_cast<double>(values[r]) <= node.threshold; };
        return static_cast<std::size_t>(std::partition_point(segment.first, end, goes) - segment.first);
    }
    std::size_t n_left = 0;
    std::size_t n_right = 0;
    for (const std::uint32_t* r = segment.first; r != end; ++r) {
        const bool is_left = goes_left(node, values[*r], words);
        segment.first[n_left] = scratch[n_right] = *r;  // the first is at or before the place that is read
        n_left += is_left ? 1 : 0;
        n_right += is_left ? 0 : 1;
    }
    std::copy_n(scratch, n_right, segment.first + n_left);
    return n_left;
}

// Whether numbers rise, without NaN.
template <Real T>
bool is_rising(std::span<const T> values) {
    const bool has_missing = std::any_of(values.begin(), values.end(), [](T value) { return std::isnan(value); });
    return !has_missing && std::is_sorted(values.begin(), values.end());
}

// What leaves say: a number of their own, for the output whose turn it is, or a line of `lines` (all nodes of all trees x outputs)
// times the tree's weight (1 where there are none, else one for each tree of the range).
struct LeafValues {
    Range range;
    RowMajor<const double> lines;
    std::span<const double> weights;
    std::size_t n_outputs = 1;

    // Calls take(output, value) for each output that a leaf of a tree speaks of.
    template <class Take>
    void for_each(const Trees& trees, std::size_t t, std::uint32_t leaf, Take&& take) const {
        const std::size_t place = trees.node_starts()[t] + leaf;
        if (lines.rows == 0) return take((t - range.first) % n_outputs, trees.nodes()[place].threshold);
        const double weight = weights.empty() ? 1.0 : weights[t - range.first];
        for (std::size_t k = 0; k < n_outputs; ++k) take(k, weight * lines(place, k));
    }
};

}  // namespace mercer::inspection

// Partial dependence from the trees alone: at splits on other features a point goes both ways, by the weights of the training rows
// that did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/chunk_sums.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"
#include "inspection/alternatives.hpp"

namespace mercer::inspection {

namespace detail {

template <Real T>
class WeightedWalk {
   public:
    // `column`: of each feature among those of the grid, or -1. `points` has a line of values for each of these columns.
    WeightedWalk(const Trees& trees, const LeafValues& leaves, std::span<const double> node_weights,
                 std::span<const std::int32_t> column, RowMajor<const T> points)
        : trees_(trees),
          leaves_(leaves),
          node_weights_(node_weights),
          column_(column),
          points_(points),
          is_sorted_(points.rows == 1 && is_rising(std::span<const T>(points.data, points.cols))),
          numbers_(points.cols),
          scratch_(points.cols) {}

    // Adds what a tree says to `sums` (outputs x points). All points walk together until a split on a feature of the grid parts
    // them.
    void add(std::size_t t, double* sums) {
        const auto tree = trees_.part(t);
        const double* weights = node_weights_.data() + trees_.node_starts()[t];
        std::iota(numbers_.begin(), numbers_.end(), 0u);
        open_.assign(1, {0, {numbers_.data(), numbers_.size()}, 1.0});
        while (!open_.empty()) {
            auto [at, segment, share] = open_.back();
            open_.pop_back();
            while (!tree.nodes[at].is_leaf()) {
                const Node& node = tree.nodes[at];
                const std::int32_t column = column_[node.feature()];
                Branch right{node.right, segment, share};
                if (column >= 0) {
                    const T* values = points_.row(static_cast<std::size_t>(column));
                    const std::size_t n_left = part(node, values, tree.words.data(), segment, is_sorted_, scratch_.data());
                    right.segment = {segment.first + n_left, segment.count - n_left};
                    segment.count = n_left;
                } else {
                    const double total = weights[at + 1] + weights[node.right];
                    const double left_share = total > 0 ? weights[at + 1] / total : 0.5;
                    right.share = share * (1 - left_share);
                    share *= left_share;
                }
                if (right.segment.count > 0 && right.share > 0) open_.push_back(right);
                if (segment.count == 0 || share == 0) break;
                ++at;
            }
            if (segment.count == 0 || share == 0) continue;
            leaves_.for_each(trees_, t, at, [&](std::size_t k, double value) {
                double* line = sums + k * points_.cols;
                for (std::size_t r = 0; r < segment.count; ++r) line[segment.first[r]] += share * value;
            });
        }
    }

   private:
    struct Branch {
        std::uint32_t node;
        Segment segment;
        double share;
    };

    const Trees& trees_;
    const LeafValues& leaves_;
    std::span<const double> node_weights_;
    std::span<const std::int32_t> column_;
    RowMajor<const T> points_;
    bool is_sorted_;
    std::vector<std::uint32_t> numbers_;
    std::vector<std::uint32_t> scratch_;
    std::vector<Branch> open_;
};

}  // namespace detail

// Adds to `out` (outputs x points) the weighted walks of all trees of `leaves.range`. `points` is columns x points. O(nodes) and a
// step for each node and point that meet.
template <Real T>
void weighted_walk(const Trees& trees, const LeafValues& leaves, std::span<const double> node_weights,
                   std::span<const std::int32_t> column, RowMajor<const T> points, RowMajor<double> out, Threads threads) {
    const auto chunks = Chunks::of(leaves.range.count(), 4, 64);
    ChunkSums<double> sums(chunks, std::span<double>(out.data, out.size()));
    const auto work = static_cast<double>(trees.nodes().size()) * 20;
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        detail::WeightedWalk<T> walk(trees, leaves, node_weights, column, points);
        for (std::size_t t = chunks.begin(chunk); t < chunks.end(chunk); ++t) {
            checkpoint();
            walk.add(leaves.range.first + t, sums[chunk]);
        }
    });
    sums.total();
}

}  // namespace mercer::inspection

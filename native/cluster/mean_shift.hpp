// Mean shift with a flat kernel (Comaniciu and Meer, 2002): each seed goes to the mean of the points within the bandwidth, again
// and again. Boxes of the search tree that lie within it add what their points sum to; only those that it cuts are opened.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/kd_tree.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/shape.hpp"

namespace mercer::cluster {

// Sums of the points of a tree within a radius.
class BallSums {
   public:
    using Tree = neighbors::KdTree<double>;

    // O(n d).
    explicit BallSums(const Tree& tree) : tree_(tree), d_(tree.n_features()), sums_(tree.shape().nodes().size() * kBlock * d_) {
        const auto& nodes = tree.shape().nodes();
        for (std::size_t id = nodes.size(); id-- > 0;) {  // children come after their parents
            for (std::size_t c = 0; c < nodes[id].n_children; ++c) {
                double* const sum = sums_of(id, c);
                if (nodes[id].nodes[c] == neighbors::ShapeNode::kLeaf) {
                    add_slots(nodes[id].child(c), sum);
                } else {
                    const auto child = static_cast<std::size_t>(nodes[id].nodes[c]);
                    for (std::size_t below = 0; below < nodes[child].n_children; ++below) add(sums_of(child, below), sum);
                }
            }
        }
    }

    // Writes the sum of the points within `radius` of the query, and returns their number.
    std::size_t within(const double* query, double radius, double* sum) const {
        const neighbors::Euclidean metric;
        const double limit = neighbors::rank_within(metric, radius);
        const auto& nodes = tree_.shape().nodes();
        std::size_t pending[neighbors::TreeShape::kMostPending], n_pending = 0, count = 0;
        std::fill_n(sum, d_, 0.0);
        pending[n_pending++] = 0;
        while (n_pending > 0) {
            const std::size_t id = pending[--n_pending];
            const unsigned near = tree_.bound_children<0>(metric, query, id).up_to(limit);
            const unsigned inside = tree_.bound_children_above(metric, query, id).up_to(limit);
            for (std::size_t c = 0; c < nodes[id].n_children; ++c) {
                if (((near >> c) & 1) == 0) continue;
                const neighbors::SlotRange range = nodes[id].child(c);
                if (((inside >> c) & 1) != 0) {
                    add(sums_of(id, c), sum);
                    count += range.size();
                } else if (nodes[id].nodes[c] == neighbors::ShapeNode::kLeaf) {
                    count += add_near_slots(range, query, limit, sum);
                } else {
                    pending[n_pending++] = static_cast<std::size_t>(nodes[id].nodes[c]);
                }
            }
        }
        return count;
    }

    std::size_t n_features() const { return d_; }

   private:
    static constexpr std::size_t kBlock = neighbors::kBlock;

    double* sums_of(std::size_t node, std::size_t child) { return sums_.data() + (node * kBlock + child) * d_; }
    const double* sums_of(std::size_t node, std::size_t child) const { return sums_.data() + (node * kBlock + child) * d_; }

    void add(const double* part, double* sum) const {
        for (std::size_t j = 0; j < d_; ++j) sum[j] += part[j];
    }
    void add_slots(neighbors::SlotRange range, double* sum) const {
        const auto points = tree_.points();
        for (std::size_t slot = range.begin; slot < range.end; ++slot)
            add_point(points.block(slot / kBlock * kBlock), slot % kBlock, sum);
    }
    std::size_t add_near_slots(neighbors::SlotRange range, const double* query, double limit, double* sum) const {
        const auto points = tree_.points();
        std::size_t count = 0;
        for (std::size_t slot = range.begin; slot < range.end; slot += kBlock) {
            const double* const block = points.block(slot);
            const auto ranks = neighbors::measure_block<0>(neighbors::Euclidean{}, query, block, d_);
            unsigned wanted = ranks.up_to(limit) & neighbors::first_lanes(range.end - slot);
            for (; wanted != 0; wanted &= wanted - 1, ++count)
                add_point(block, static_cast<std::size_t>(__builtin_ctz(wanted)), sum);
        }
        return count;
    }
    void add_point(const double* block, std::size_t lane, double* sum) const {
        for (std::size_t j = 0; j < d_; ++j) sum[j] += block[j * kBlock + lane];
    }

    const Tree& tree_;
    std::size_t d_;
    std::vector<double> sums_;  // of the points of each child of each node
};

// Moves each seed until it moves by a thousandth of the bandwidth at most, or `max_iter` times and once more, as the peer counts.
// `counts` gets the points within the bandwidth of where each seed was before its last move (0: it never had any), `moves` how far
// that move was, `n_iter` the moves but the last.
inline void shift_means(const neighbors::KdTree<double>& tree, double bandwidth, std::int64_t max_iter, RowMajor<double> seeds,
                        std::span<std::int64_t> counts, std::span<double> moves, std::span<std::int64_t> n_iter, Threads threads) {
    constexpr std::size_t kSeeds = 16;  // a task
    const BallSums balls(tree);
    const std::size_t d = balls.n_features();
    const double work = 1e3 * static_cast<double>(seeds.size());
    parallel_for((seeds.rows + kSeeds - 1) / kSeeds, threads.for_work(work), [&](std::size_t task) {
        std::vector<double> mean(d);
        for (std::size_t i = task * kSeeds; i < std::min((task + 1) * kSeeds, seeds.rows); ++i) {
            double* const seed = seeds.row(i);
            moves[i] = 0;
            for (n_iter[i] = 0;; ++n_iter[i]) {
                checkpoint();
                const std::size_t count = balls.within(seed, bandwidth, mean.data());
                counts[i] = static_cast<std::int64_t>(count);
                if (count == 0) break;
                double square = 0;
                for (std::size_t j = 0; j < d; ++j) {
                    mean[j] /= static_cast<double>(count);
                    square += (mean[j] - seed[j]) * (mean[j] - seed[j]);
                    seed[j] = mean[j];
                }
                moves[i] = std::sqrt(square);
                if (moves[i] <= 1e-3 * bandwidth || n_iter[i] >= max_iter) break;
            }
        }
    });
}

}  // namespace mercer::cluster

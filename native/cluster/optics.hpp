// OPTICS: the order in which points are reached, each from the one that reaches it most cheaply.
//
//   reachability of q from p = max(core distance of p, distance of p and q), where p is core and the distance at most max_eps
//
// The next point is that of the least reachability from any point before it, of equal ones the lowest row. Instead of updating
// all others, each point of the order proposes its own next one, which a search among the points not yet reached finds; the best
// proposal wins. A proposal whose point was reached otherwise is renewed when its turn comes: it can only have become worse.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "neighbors/by_slot.hpp"
#include "neighbors/core_distances.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/traverse.hpp"

namespace mercer::cluster {

// By row.
struct OpticsResult {
    std::span<std::int64_t> ordering;
    std::span<double> core_distances;  // infinite above max_eps
    std::span<double> reachability;    // infinite where nothing reaches a point
    std::span<std::int64_t> predecessor;
};

// Distances are rounded to fifteen decimals, as scikit-learn's: ties that rounding hides are ties again.
inline double round_distance(double distance) {
    constexpr double kSteps = 1e15;
    const double steps = distance * kSteps;
    return std::isfinite(steps) ? std::nearbyint(steps) / kSteps : distance;
}

template <std::size_t kD, class M, Real T>
class Optics {
   public:
    Optics(const neighbors::KdTree<T>& tree, const M& metric, double max_eps, Threads threads)
        : points_(tree),
          metric_(metric),
          max_eps_(max_eps),
          most_rank_(neighbors::rank_within(metric, max_eps)),
          threads_(threads),
          nodes_(tree.shape().nodes()),
          slots_(points_.slots_by_row()),
          n_left_(nodes_.size() * neighbors::kBlock),
          is_reached_(tree.n_points()) {
        for (std::size_t node = 0; node < nodes_.size(); ++node)
            for (std::size_t c = 0; c < nodes_[node].n_children; ++c)
                n_left_[node * neighbors::kBlock + c] = static_cast<std::uint32_t>(nodes_[node].child(c).size());
    }

    // Writes all of `result`. O(n log n) searches' time where clusters are compact.
    void run(std::size_t min_samples, const OpticsResult& result) {
        find_core_distances(min_samples, result.core_distances);
        std::fill(result.reachability.begin(), result.reachability.end(), kInfinity);
        std::fill(result.predecessor.begin(), result.predecessor.end(), std::int64_t{-1});
        std::size_t first_left = 0;  // the lowest row that may not be reached yet
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (i % 64 == 0) checkpoint();
            const Proposal best = best_proposal(result);
            std::size_t row = static_cast<std::size_t>(best.to);
            if (best.to == neighbors::kNoRow) {
                while (is_reached_[slot_of(first_left)] != 0) ++first_left;
                row = first_left;
            } else {
                result.reachability[row] = best.reachability;
                result.predecessor[row] = result.ordering[best.from];
            }
            result.ordering[i] = static_cast<std::int64_t>(row);
            mark_reached(slot_of(row));
            propose(static_cast<std::uint32_t>(i), row, result.core_distances[row]);
        }
    }

   private:
    using Row = neighbors::Row;
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    struct Proposal {
        double reachability;
        Row to;              // row
        std::uint32_t from;  // place in the order

        friend bool operator>(const Proposal& a, const Proposal& b) {
            if (a.reachability != b.reachability) return a.reachability > b.reachability;
            return a.to != b.to ? a.to > b.to : a.from > b.from;
        }
    };

    // Collects the point of the least reachability that is not reached yet, of equal ones the lowest row.
    struct Next {
        static constexpr bool kIsOrdered = true;

        const Optics& all;
        double core;
        double limit_rank;
        double best = kInfinity;
        Row row = neighbors::kNoRow;

        double limit() const { return limit_rank; }
        bool may_take(double rank, Row) const { return rank <= limit_rank; }
        unsigned open_children(std::size_t node) const {
            unsigned open = 0;
            for (unsigned c = 0; c < neighbors::kBlock; ++c)
                open |= (all.n_left_[node * neighbors::kBlock + c] != 0 ? 1U : 0U) << c;
            return open;
        }
        void offer(double rank, Row slot) {
            if (all.is_reached_[static_cast<std::size_t>(slot)] != 0) return;
            const double reachability = std::max(core, round_distance(all.metric_.distance(rank)));
            const Row other = all.points_.tree().rows()[static_cast<std::size_t>(slot)];
            if (row != neighbors::kNoRow && !(reachability < best || (reachability == best && other < row))) return;
            best = reachability;
            row = other;
            // Whatever rounds to this reachability is within: half a decimal, and what rounding of ranks may add.
            const double reach = (best + 1e-15) * (1 + 1e-13);
            limit_rank = std::min(limit_rank, all.metric_.rank_of(reach) * (1 + 1e-13));
        }
    };

    std::size_t slot_of(std::size_t row) const { return static_cast<std::size_t>(slots_[row]); }

    void find_core_distances(std::size_t min_samples, std::span<double> distances) {
        const auto core = neighbors::find_core_neighbors<kD>(points_, metric_, min_samples, 0, threads_);
        for (std::size_t row = 0; row < distances.size(); ++row) {
            const double distance = metric_.distance(core.ranks[slot_of(row)]);
            distances[row] = distance > max_eps_ ? kInfinity : round_distance(distance);
        }
    }

    void mark_reached(std::size_t slot) {
        is_reached_[slot] = 1;
        for (std::size_t node = 0;;) {
            std::size_t c = 0;
            while (slot >= nodes_[node].starts[c + 1]) ++c;
            --n_left_[node * neighbors::kBlock + c];
            if (nodes_[node].nodes[c] == neighbors::ShapeNode::kLeaf) return;
            node = static_cast<std::size_t>(nodes_[node].nodes[c]);
        }
    }

    void propose(std::uint32_t from, std::size_t row, double core) {
        if (std::isinf(core)) return;
        query_.resize(points_.tree().n_features());
        points_.points().copy_point(slot_of(row), query_.data());
        Next next{*this, core, most_rank_};
        neighbors::traverse<kD>(points_, metric_, query_.data(), next);
        if (next.row != neighbors::kNoRow) proposals_.push({next.best, next.row, from});
    }

    // The best proposal of a point that is not reached yet; kNoRow where there is none.
    Proposal best_proposal(const OpticsResult& result) {
        while (!proposals_.empty()) {
            const Proposal best = proposals_.top();
            if (is_reached_[slot_of(static_cast<std::size_t>(best.to))] == 0) return best;  // it stays, and is out of date next
            proposals_.pop();
            const auto row = static_cast<std::size_t>(result.ordering[best.from]);
            propose(best.from, row, result.core_distances[row]);
        }
        return {kInfinity, neighbors::kNoRow, 0};
    }

    neighbors::BySlot<T> points_;
    const M& metric_;
    double max_eps_, most_rank_;
    Threads threads_;
    const std::vector<neighbors::ShapeNode>& nodes_;
    std::vector<Row> slots_;                // by row
    std::vector<std::uint32_t> n_left_;     // points of each child that are not reached yet
    std::vector<std::uint8_t> is_reached_;  // by slot
    std::vector<double> query_;
    std::priority_queue<Proposal, std::vector<Proposal>, std::greater<>> proposals_;
};

}  // namespace mercer::cluster

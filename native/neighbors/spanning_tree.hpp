// Minimum spanning trees of mutual reachability, exact, in O(n) memory, on one k-d tree (the rounds are Boruvka's). With k = 1
// reachability is the distance: single linkage. Nodes of the tree that lie in one component are passed over by its points.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "neighbors/boruvka_rounds.hpp"
#include "neighbors/by_slot.hpp"
#include "neighbors/core_distances.hpp"
#include "neighbors/near_boxes.hpp"
#include "neighbors/traverse.hpp"

namespace mercer::neighbors {

template <std::size_t kD, class M, Real T>
class Boruvka : BoruvkaRounds {
   public:
    // `scale` multiplies ranks of distances: that of 1 / alpha.
    Boruvka(const BySlot<T>& points, const M& metric, CoreNeighbors core, double scale, Threads threads)
        : BoruvkaRounds(std::move(core), scale, threads),
          points_(points),
          metric_(metric),
          nodes_(points.shape().nodes()),
          leaves_(leaves_of(points.shape())),
          least_core_(nodes_.size() * kBlock, kInfinity),
          only_(nodes_.size() * kBlock, kNoRow) {
        fill_least_core();
    }

    // The n - 1 edges, between slots; fewer where distances overflow to infinity.
    std::vector<SpanningEdge> run() {
        const std::size_t n = points_.n_points();
        std::vector<SpanningEdge> edges;
        edges.reserve(n - 1);
        while (edges.size() + 1 < n) {
            begin_round();
            take_kept_neighbors();
            search();
            if (!merge(edges)) break;
        }
        return edges;
    }

   private:
    // The least core distance of each child's points.
    void fill_least_core() {
        for (std::size_t node = nodes_.size(); node-- > 0;) {
            for (std::size_t c = 0; c < nodes_[node].n_children; ++c) {
                const SlotRange slots = nodes_[node].child(c);
                const double* first = core_.ranks.data() + slots.begin;
                const double* last = core_.ranks.data() + slots.end;
                if (nodes_[node].nodes[c] != ShapeNode::kLeaf) {
                    first = least_core_.data() + static_cast<std::size_t>(nodes_[node].nodes[c]) * kBlock;
                    last = first + kBlock;
                }
                least_core_[node * kBlock + c] = *std::min_element(first, last);
            }
        }
    }

    // Components as they are now: of the points, and of the children that lie in one.
    void begin_round() {
        find_components();
        for (std::size_t node = nodes_.size(); node-- > 0;) {
            for (std::size_t c = 0; c < nodes_[node].n_children; ++c) {
                const SlotRange slots = nodes_[node].child(c);
                const Row* first = component_.data() + slots.begin;
                const Row* last = component_.data() + slots.end;
                if (nodes_[node].nodes[c] != ShapeNode::kLeaf) {
                    const auto below = static_cast<std::size_t>(nodes_[node].nodes[c]);
                    first = only_.data() + below * kBlock;
                    last = first + nodes_[below].n_children;
                }
                const bool is_one = std::all_of(first, last, [&](Row row) { return row == *first; });
                only_[node * kBlock + c] = is_one ? *first : kNoRow;
            }
        }
    }

    // The best edges that the points of a task have found lately, by component.
    class Lately {
       public:
        double of(Row component, double known) const {
            const Entry& entry = entries_[place(component)];
            return entry.component == component ? std::min(entry.rank, known) : known;
        }
        void improve(Row component, double rank) {
            Entry& entry = entries_[place(component)];
            if (entry.component != component || rank < entry.rank) entry = {component, rank};
        }

       private:
        struct Entry {
            Row component = kNoRow;
            double rank = 0;
        };
        static std::size_t place(Row component) { return static_cast<std::size_t>(component) % kEntries; }
        static constexpr std::size_t kEntries = 256;
        std::array<Entry, kEntries> entries_{};
    };

    // A collector of the lightest edge of a point to another component, below a limit.
    struct Lightest {
        static constexpr bool kIsOrdered = true;

        const Boruvka& all;
        std::size_t from;
        double best;
        double limit_rank;  // of distances: edges of `best` are of no use any more
        Row end = kNoRow;

        Lightest(const Boruvka& all_, std::size_t from_, double below) : all(all_), from(from_), best(below) { set_limit(); }
        void set_limit() { limit_rank = std::nextafter(best / all.scale_, -1.0); }
        double limit() const { return limit_rank; }
        bool may_take(double rank, Row) const { return rank <= limit_rank; }
        unsigned open_children(std::size_t node) const {
            const Row* const only = all.only_.data() + node * kBlock;
            const double* const least = all.least_core_.data() + node * kBlock;
            unsigned open = 0;
            for (unsigned c = 0; c < kBlock; ++c) open |= (only[c] != all.component_[from] && least[c] < best ? 1U : 0U) << c;
            return open;
        }
        void offer(double rank, Row to) {
            const auto other = static_cast<std::size_t>(to);
            if (all.component_[other] == all.component_[from]) return;
            const double weight = all.reach(from, other, rank);
            if (!(weight < best)) return;
            best = weight;
            end = to;
            set_limit();
        }
    };

    // Whether the box of a leaf in one component has anything of another one nearer than a limit.
    struct Others {
        const Boruvka& all;
        Row component;
        double limit;
        bool is_any = false;

        bool opens(ChildPlace place) const {
            return all.only_[place.index()] != component && all.least_core_[place.index()] < limit;
        }
        Walk whole(ChildPlace) { return found(); }
        Walk part(const Leaf&) { return found(); }
        Walk found() {
            is_any = true;
            return Walk::kStop;
        }
    };

    // Searches for the lightest edges of points that may have a lighter one than is known of their component.
    void search() {
        constexpr std::size_t kLeavesOfTask = 64;
        parallel_for((leaves_.size() + kLeavesOfTask - 1) / kLeavesOfTask, threads_, [&](std::size_t task) {
            Lately lately;
            Box box;
            std::vector<double> query(points_.tree().n_features());
            const std::size_t last = std::min((task + 1) * kLeavesOfTask, leaves_.size());
            for (std::size_t l = task * kLeavesOfTask; l < last; ++l) {
                checkpoint();
                if (!is_leaf_alone(leaves_[l], box, lately)) search_leaf(leaves_[l].slots, query.data(), lately);
            }
        });
        for (std::size_t slot = 0; slot < points_.n_points(); ++slot)
            if (has_edge(slot)) improve({bounds_[slot], static_cast<Row>(slot), ends_[slot]});
    }

    double limit_of(std::size_t slot, const Lately& lately) const {
        return lately.of(component_[slot], best_[static_cast<std::size_t>(component_[slot])].rank);
    }

    // Whether the points of a leaf are of one component and need not be searched for; their bounds are raised then.
    bool is_leaf_alone(const Leaf& leaf, Box& box, const Lately& lately) {
        const Row component = only_[leaf.place.index()];
        if (component == kNoRow) return false;
        const double limit = limit_of(leaf.slots.begin, lately);
        const auto is_open = [&](std::size_t slot) { return bounds_[slot] < limit && !has_edge(slot); };
        bool is_any_open = false;
        for (std::size_t slot = leaf.slots.begin; slot < leaf.slots.end; ++slot) is_any_open = is_any_open || is_open(slot);
        if (!is_any_open) return true;
        if (std::isinf(limit)) return false;
        take_box(points_.tree(), leaf.place, box);
        Others others{*this, component, limit};
        walk_near<kD>(points_.tree(), metric_, box, limit / scale_, others);
        if (others.is_any) return false;
        for (std::size_t slot = leaf.slots.begin; slot < leaf.slots.end; ++slot)
            if (is_open(slot)) bounds_[slot] = limit;
        return true;
    }

    void search_leaf(SlotRange slots, double* query, Lately& lately) {
        for (std::size_t slot = slots.begin; slot < slots.end; ++slot) {
            if (has_edge(slot)) continue;
            const double limit = limit_of(slot, lately);
            if (!(bounds_[slot] < limit)) continue;
            points_.points().copy_point(slot, query);
            Lightest lightest(*this, slot, limit);
            traverse<kD>(points_, metric_, query, lightest);
            bounds_[slot] = lightest.best;
            ends_[slot] = lightest.end;
            if (lightest.end != kNoRow) lately.improve(component_[slot], lightest.best);
        }
    }

    const BySlot<T>& points_;
    const M& metric_;
    const std::vector<ShapeNode>& nodes_;
    std::vector<Leaf> leaves_;
    std::vector<double> least_core_;  // of each child
    std::vector<Row> only_;           // the component that all points of a child are in; kNoRow
};

}  // namespace mercer::neighbors

// Boruvka's rounds for minimum spanning trees of mutual reachability,
//
//   reach(a, b) = max(core(a), core(b), distance(a, b) / alpha),
//
// whatever searches: who is in which component, the lightest edges that are known, and how components are joined.
//
// In a round every component takes its lightest edge to another one. A point remembers the lightest edge that it found, which stays
// its lightest until its far end joins the point's component, and a bound below which it is known to have none; only points whose
// bound is below the best edge of their component are searched for.
//
// Many edges weigh the same, as core distances do. Whichever of a component's lightest edges it takes, the edges of a round, taken
// from light to heavy and without those that close a cycle, belong to one minimum spanning tree together. A search depends on
// nothing that threads do meanwhile: the tree has the same bits for any number of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/union_find.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/core_neighbors.hpp"

namespace mercer::neighbors {

struct SpanningEdge {
    double rank;  // of the reachability
    Row from, to;

    friend bool operator<(const SpanningEdge& a, const SpanningEdge& b) {
        if (a.rank != b.rank) return a.rank < b.rank;
        return a.from != b.from ? a.from < b.from : a.to < b.to;
    }
};

class BoruvkaRounds {
   protected:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr std::size_t kPointsOfTask = 4096;  // fixed: what a task learns of its components stays in it

    // `scale` multiplies ranks of distances: that of 1 / alpha.
    BoruvkaRounds(CoreNeighbors core, double scale, Threads threads)
        : core_(std::move(core)),
          scale_(scale),
          threads_(threads),
          sets_(core_.ranks.size()),
          component_(core_.ranks.size()),
          ends_(core_.ranks.size(), kNoRow),
          bounds_(core_.ranks),
          best_(core_.ranks.size(), SpanningEdge{kInfinity, kNoRow, kNoRow}),
          offers_(core_.ranks.size()) {}

    std::size_t n_points() const { return bounds_.size(); }

    double reach(std::size_t a, std::size_t b, double rank) const {
        return std::max(std::max(core_.ranks[a], core_.ranks[b]), rank * scale_);
    }
    bool has_edge(std::size_t slot) const {
        return ends_[slot] != kNoRow && component_[static_cast<std::size_t>(ends_[slot])] != component_[slot];
    }
    template <class Body>
    void for_points(Body&& body) {
        const std::size_t n = n_points();
        parallel_for((n + kPointsOfTask - 1) / kPointsOfTask, threads_.for_work(static_cast<double>(n) * 20),
                     [&](std::size_t task) { body(task * kPointsOfTask, std::min((task + 1) * kPointsOfTask, n)); });
    }

    // Components as they are now.
    void find_components() {
        for_points([&](std::size_t first, std::size_t last) {
            for (std::size_t slot = first; slot < last; ++slot)
                component_[slot] = static_cast<Row>(sets_.find(static_cast<UnionFind::Member>(slot)));
        });
    }

    // Edges to the neighbours that are kept. One that no other neighbour can better is the point's lightest; others are a limit to
    // begin with.
    void take_kept_neighbors() {
        for_points([&](std::size_t first, std::size_t last) {
            for (std::size_t slot = first; slot < last; ++slot)
                offers_[slot] = has_edge(slot) ? SpanningEdge{bounds_[slot], static_cast<Row>(slot), ends_[slot]} : kept_edge(slot);
        });
        for (const SpanningEdge& offer : offers_)
            if (offer.to != kNoRow) improve(offer);
    }
    void improve(const SpanningEdge& edge) {
        SpanningEdge& best = best_[static_cast<std::size_t>(component_[static_cast<std::size_t>(edge.from)])];
        if (edge < best) best = edge;
    }

    // Adds the best edge of every component, from light to heavy, unless it closes a cycle. False where a component has none.
    bool merge(std::vector<SpanningEdge>& edges) {
        std::vector<SpanningEdge> lightest;
        for (std::size_t slot = 0; slot < n_points(); ++slot) {
            if (component_[slot] != static_cast<Row>(slot)) continue;
            if (best_[slot].from == kNoRow) return false;
            lightest.push_back(best_[slot]);
            best_[slot] = {kInfinity, kNoRow, kNoRow};
        }
        std::sort(lightest.begin(), lightest.end());
        for (const SpanningEdge& edge : lightest) {
            const auto from = static_cast<UnionFind::Member>(edge.from), to = static_cast<UnionFind::Member>(edge.to);
            if (sets_.join(from, to)) edges.push_back(edge);
        }
        return true;
    }

    CoreNeighbors core_;
    double scale_;
    Threads threads_;
    UnionFind sets_;
    std::vector<Row> component_;        // of each slot in this round
    std::vector<Row> ends_;             // the far end of a point's lightest edge, of weight bounds_; kNoRow
    std::vector<double> bounds_;        // no edge of a point to another component is lighter
    std::vector<SpanningEdge> best_;    // of each component, by its root
    std::vector<SpanningEdge> offers_;  // of each point, from its kept neighbours

   private:
    SpanningEdge kept_edge(std::size_t slot) {
        ends_[slot] = kNoRow;
        SpanningEdge lightest{kInfinity, static_cast<Row>(slot), kNoRow};
        const std::size_t first = slot * core_.n_kept, last = first + core_.n_kept;
        for (std::size_t i = first; i < last; ++i) {
            const auto other = static_cast<std::size_t>(core_.slots[i]);
            if (component_[other] == component_[slot]) continue;
            const double weight = reach(slot, other, core_.neighbor_ranks[i]);
            if (weight < lightest.rank) lightest = {weight, static_cast<Row>(slot), core_.slots[i]};
        }
        // Whoever is not kept is no nearer than the last one who is.
        const double others = core_.n_kept == 0 ? 0 : core_.neighbor_ranks[last - 1] * scale_;
        bounds_[slot] = std::max(bounds_[slot], std::min(others, lightest.rank));
        if (lightest.rank <= bounds_[slot]) ends_[slot] = lightest.to;
        return lightest;
    }
};

}  // namespace mercer::neighbors

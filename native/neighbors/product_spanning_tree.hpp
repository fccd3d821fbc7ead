// Minimum spanning trees of mutual reachability by tiles of products, exact, for points of so many features that a k-d tree would
// look at most of them (the rounds are Boruvka's). O(n^2 d) a round that must search, O(n) memory.
//
// Points that must be searched for are asked about together with others of their component: groups of points that all lie in it are
// passed over by all of them, and what one finds is a limit for the others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "neighbors/boruvka_rounds.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/core_neighbors.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/product_points.hpp"

namespace mercer::neighbors {

// As `find_core_neighbors` of a tree; slots are rows.
template <Real T>
CoreNeighbors find_core_neighbors(const ProductPoints<T>& points, const Euclidean& metric, std::size_t k, std::size_t n_kept,
                                  Threads threads) {
    constexpr std::size_t kTask = ProductPoints<T>::kQueriesOfTask;
    const std::size_t n = points.n_points(), d = points.n_features();
    CoreNeighbors core(n, n_kept);
    parallel_for((n + kTask - 1) / kTask, threads, [&](std::size_t task) {
        const std::size_t first = task * kTask, n_here = std::min(kTask, n - first);
        std::vector<double> queries(n_here * d);
        std::vector<NearestFew> nearest(n_here, NearestFew(std::max(k - 1, core.n_kept)));
        for (std::size_t i = 0; i < n_here; ++i) {
            points.points().copy_point(first + i, queries.data() + i * d);
            nearest[i].start(static_cast<Row>(first + i));
        }
        points.ask(metric, queries.data(), std::span<NearestFew>(nearest));
        for (std::size_t i = 0; i < n_here; ++i) core.take(first + i, k, nearest[i].finish());
    });
    return core;
}

template <Real T>
class ProductBoruvka : BoruvkaRounds {
   public:
    // `scale` multiplies ranks of distances: that of 1 / alpha.
    ProductBoruvka(const ProductPoints<T>& points, const Euclidean& metric, CoreNeighbors core, double scale, Threads threads)
        : BoruvkaRounds(std::move(core), scale, threads), points_(points), metric_(metric), only_(points.n_groups()) {}

    // The n - 1 edges, between rows; fewer where distances overflow to infinity.
    std::vector<SpanningEdge> run() {
        std::vector<SpanningEdge> edges;
        edges.reserve(n_points() - 1);
        while (edges.size() + 1 < n_points()) {
            find_components();
            take_kept_neighbors();
            search();
            if (!merge(edges)) break;
        }
        return edges;
    }

   private:
    // A collector of the lightest edge of a point to another component, below what is known of its own.
    struct Lightest {
        static constexpr bool kIsOrdered = false;

        const ProductBoruvka* all;
        std::size_t from;
        double* known;  // weight of an edge of its component, which others of the run may lower
        Row end = kNoRow;
        double weight = kInfinity;

        double limit() const { return std::nextafter(*known / all->scale_, -1.0); }
        bool wants(Row row) const {
            const auto other = static_cast<std::size_t>(row);
            return all->component_[other] != all->component_[from] && all->core_.ranks[other] < *known;
        }
        void offer(double rank, Row row) {
            const auto other = static_cast<std::size_t>(row);
            const double found = all->reach(from, other, rank);
            if (all->component_[other] == all->component_[from] || !(found < *known)) return;
            *known = weight = found;
            end = row;
        }
    };

    // Searches for the lightest edges of points that may have a lighter one than is known of their component.
    void search() {
        std::vector<Row> open;  // those of a component one after another
        for (std::size_t slot = 0; slot < n_points(); ++slot)
            if (!has_edge(slot) && bounds_[slot] < best_of(slot)) open.push_back(static_cast<Row>(slot));
        std::stable_sort(open.begin(), open.end(), [&](Row a, Row b) { return component_of(a) < component_of(b); });
        for (std::size_t g = 0; g < only_.size(); ++g) {
            const auto [first, last] = points_.rows_of_group(g);
            const Row component = component_[first];
            const bool is_one =
                std::all_of(component_.begin() + static_cast<std::ptrdiff_t>(first),
                            component_.begin() + static_cast<std::ptrdiff_t>(last), [&](Row other) { return other == component; });
            only_[g] = is_one ? component : kNoRow;
        }
        constexpr std::size_t kTask = ProductPoints<T>::kQueriesOfTask;
        parallel_for((open.size() + kTask - 1) / kTask, threads_, [&](std::size_t task) {
            const std::size_t first = task * kTask;
            search_run(std::span<const Row>(open).subspan(first, std::min(kTask, open.size() - first)));
        });
        for (const Row row : open) {
            const auto slot = static_cast<std::size_t>(row);
            if (has_edge(slot)) improve({bounds_[slot], row, ends_[slot]});
        }
    }

    void search_run(std::span<const Row> open) {
        const std::size_t d = points_.n_features();
        std::vector<double> queries(open.size() * d), known(open.size());
        std::vector<Lightest> lightest;
        for (std::size_t i = 0; i < open.size(); ++i) {
            const auto slot = static_cast<std::size_t>(open[i]);
            points_.points().copy_point(slot, queries.data() + i * d);
            const bool is_first = i == 0 || component_of(open[i]) != component_of(open[i - 1]);
            known[i] = best_of(slot);
            lightest.push_back({this, slot, is_first ? &known[i] : lightest.back().known});
        }
        const Row only = component_of(open.front()) == component_of(open.back()) ? component_of(open.front()) : kNoRow;
        points_.ask(metric_, queries.data(), std::span<Lightest>(lightest),
                    [&](std::size_t g) { return only != kNoRow && only_[g] == only; });
        for (const Lightest& found : lightest) {
            // An edge that another of the run has bettered meanwhile need not be the point's lightest.
            const bool is_lightest = found.end != kNoRow && found.weight <= *found.known;
            ends_[found.from] = is_lightest ? found.end : kNoRow;
            bounds_[found.from] = is_lightest ? found.weight : std::max(bounds_[found.from], *found.known);
        }
    }

    Row component_of(Row row) const { return component_[static_cast<std::size_t>(row)]; }
    double best_of(std::size_t slot) const { return best_[static_cast<std::size_t>(component_[slot])].rank; }

    const ProductPoints<T>& points_;
    const Euclidean& metric_;
    std::vector<Row> only_;  // the component that all points of a group are in; kNoRow
};

}  // namespace mercer::neighbors

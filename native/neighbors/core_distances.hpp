// The distance of each point to its k-th nearest, itself included, and a few of its neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "neighbors/by_slot.hpp"
#include "neighbors/collectors.hpp"

namespace mercer::neighbors {

// By slot. Neighbours leave out the point itself.
struct CoreNeighbors {
    std::vector<double> ranks;  // of the k-th nearest
    std::size_t n_kept = 0;     // neighbours of each point
    std::vector<Row> slots;     // of the neighbours, nearest first: from point * n_kept on
    std::vector<double> neighbor_ranks;
};

// Searches for the k nearest of every point and keeps `n_kept` neighbours, whatever k is. O(n_kept n) memory.
template <std::size_t kD, class M, Real T>
CoreNeighbors find_core_neighbors(const BySlot<T>& points, const M& metric, std::size_t k, std::size_t n_kept, Threads threads) {
    constexpr std::size_t kPointsOfTask = 64;
    const std::size_t n = points.n_points(), d = points.tree().n_features();
    n_kept = std::min(n_kept, n - 1);
    CoreNeighbors core{std::vector<double>(n), n_kept, std::vector<Row>(n * n_kept), std::vector<double>(n * n_kept)};
    parallel_for((n + kPointsOfTask - 1) / kPointsOfTask, threads.for_work(static_cast<double>(n) * 1000), [&](std::size_t task) {
        std::vector<double> query(d);
        NearestFew nearest(std::max(k - 1, n_kept));
        for (std::size_t slot = task * kPointsOfTask; slot < std::min((task + 1) * kPointsOfTask, n); ++slot) {
            points.points().copy_point(slot, query.data());
            nearest.start(static_cast<Row>(slot));
            traverse<kD>(points, metric, query.data(), nearest);
            const auto& found = nearest.finish();
            core.ranks[slot] = k > 1 ? found[k - 2].rank : 0;
            for (std::size_t i = 0; i < n_kept; ++i) {
                core.slots[slot * n_kept + i] = found[i].row;
                core.neighbor_ranks[slot * n_kept + i] = found[i].rank;
            }
        }
    });
    return core;
}

}  // namespace mercer::neighbors

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
#include "neighbors/core_neighbors.hpp"

namespace mercer::neighbors {

// Searches for the k nearest of every point and keeps `n_kept` neighbours, whatever k is. O(n_kept n) memory.
template <std::size_t kD, class M, Real T>
CoreNeighbors find_core_neighbors(const BySlot<T>& points, const M& metric, std::size_t k, std::size_t n_kept, Threads threads) {
    constexpr std::size_t kPointsOfTask = 64;
    const std::size_t n = points.n_points(), d = points.tree().n_features();
    CoreNeighbors core(n, n_kept);
    parallel_for((n + kPointsOfTask - 1) / kPointsOfTask, threads.for_work(static_cast<double>(n) * 1000), [&](std::size_t task) {
        std::vector<double> query(d);
        NearestFew nearest(std::max(k - 1, core.n_kept));
        for (std::size_t slot = task * kPointsOfTask; slot < std::min((task + 1) * kPointsOfTask, n); ++slot) {
            points.points().copy_point(slot, query.data());
            nearest.start(static_cast<Row>(slot));
            traverse<kD>(points, metric, query.data(), nearest);
            core.take(slot, k, nearest.finish());
        }
    });
    return core;
}

}  // namespace mercer::neighbors

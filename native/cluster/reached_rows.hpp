// DBSCAN on neighbourhoods that are given: rows of a graph, or of a table of who is near whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// Neighbours as a list for each row.
struct ListedNeighbors {
    std::span<const std::int64_t> starts;
    std::span<const std::int64_t> rows;

    std::size_t size() const { return starts.size() - 1; }
    template <class Visit>
    void for_each(std::size_t i, Visit&& visit) const {
        for (auto e = static_cast<std::size_t>(starts[i]); e < static_cast<std::size_t>(starts[i + 1]); ++e)
            visit(static_cast<std::size_t>(rows[e]));
    }
};

// Neighbours as ones of a square table.
struct TabledNeighbors {
    RowMajor<const std::uint8_t> is_near;

    std::size_t size() const { return is_near.rows; }
    template <class Visit>
    void for_each(std::size_t i, Visit&& visit) const {
        const std::uint8_t* const line = is_near.row(i);
        for (std::size_t j = 0; j < is_near.cols; ++j)
            if (line[j] != 0) visit(j);
    }
};

// Writes the cluster of each row: from one core row after another, all that it reaches along core rows and that has no cluster yet.
// -1 is noise. Returns the number of clusters. O(entries).
template <class Neighbors>
std::size_t label_reached(const Neighbors& neighbors, std::span<const std::uint8_t> is_core, std::span<std::int64_t> labels) {
    std::fill(labels.begin(), labels.end(), std::int64_t{-1});
    std::vector<std::size_t> pending;
    std::int64_t n_clusters = 0;
    for (std::size_t first = 0; first < neighbors.size(); ++first) {
        if (labels[first] >= 0 || is_core[first] == 0) continue;
        labels[first] = n_clusters;
        pending.assign(1, first);
        while (!pending.empty()) {
            checkpoint();
            const std::size_t i = pending.back();
            pending.pop_back();
            neighbors.for_each(i, [&](std::size_t j) {
                if (labels[j] >= 0) return;
                labels[j] = n_clusters;
                if (is_core[j] != 0) pending.push_back(j);
            });
        }
        ++n_clusters;
    }
    return static_cast<std::size_t>(n_clusters);
}

}  // namespace mercer::cluster

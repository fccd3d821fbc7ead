// What density clustering keeps of every point's neighbourhood.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "neighbors/collectors.hpp"

namespace mercer::neighbors {

// By slot. Neighbours leave out the point itself.
struct CoreNeighbors {
    std::vector<double> ranks;  // of the k-th nearest
    std::size_t n_kept = 0;     // neighbours of each point
    std::vector<Row> slots;     // of the neighbours, nearest first: from point * n_kept on
    std::vector<double> neighbor_ranks;

    CoreNeighbors(std::size_t n, std::size_t n_kept_)
        : ranks(n), n_kept(std::min(n_kept_, n - 1)), slots(n * n_kept), neighbor_ranks(n * n_kept) {}

    // Takes what was found of a point, nearest first: k - 1 neighbours or more, and n_kept, unless some are no numbers.
    void take(std::size_t slot, std::size_t k, const std::vector<Neighbor>& found) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        ranks[slot] = k <= 1 ? 0 : k - 2 < found.size() ? found[k - 2].rank : kInfinity;
        for (std::size_t i = 0; i < n_kept; ++i) {
            slots[slot * n_kept + i] = i < found.size() ? found[i].row : static_cast<Row>(slot);
            neighbor_ranks[slot * n_kept + i] = i < found.size() ? found[i].rank : kInfinity;
        }
    }
};

}  // namespace mercer::neighbors

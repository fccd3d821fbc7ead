// The local outlier factor: how much thinner the neighbourhood of a row is than those of its neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::neighbors {

// As many neighbours of each query, of which one may stand for several equal rows.
struct CountedLists {
    RowMajor<const std::int64_t> rows;
    RowMajor<const double> counts;  // of each neighbour; no data: one

    // The mean of value(entry, row) over the neighbours of a query; rows out of range are passed over.
    template <class Value>
    double mean(std::size_t query, std::size_t n_rows, Value&& value) const {
        const std::int64_t* const list = rows.row(query);
        double sum = 0, count = 0;
        for (std::size_t e = 0; e < rows.cols; ++e) {
            if (list[e] < 0 || static_cast<std::uint64_t>(list[e]) >= n_rows) continue;
            const auto row = static_cast<std::size_t>(list[e]);
            const double times = counts.data == nullptr ? 1 : counts(query, e);
            sum += times * value(e, row);
            count += times;
        }
        return sum / count;
    }
};

namespace detail {

template <class Body>
void for_lists(const CountedLists& lists, Threads threads, Body&& body) {
    const Chunks chunks = Chunks::of(lists.rows.rows, 64, 256);
    parallel_for(chunks.count, threads.for_work(static_cast<double>(lists.rows.size()) * 4), [&](std::size_t chunk) {
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) body(i);
    });
}

}  // namespace detail

// Added to mean reachability distances, so that the density of equal rows is finite.
inline constexpr double kLeastReach = 1e-10;

// Writes the local reachability density of each query: one over the mean of max(distance, reach of the neighbour), where the reach
// of a training row is the distance of its k-th neighbour. O(entries).
inline void local_densities(const CountedLists& lists, RowMajor<const double> distances, std::span<const double> reach,
                            std::span<double> densities, Threads threads) {
    detail::for_lists(lists, threads, [&](std::size_t i) {
        const double* const line = distances.row(i);
        const double mean =
            lists.mean(i, reach.size(), [&](std::size_t e, std::size_t row) { return std::max(line[e], reach[row]); });
        densities[i] = 1 / (mean + kLeastReach);
    });
}

// Writes the mean of the neighbours' densities over the query's own. O(entries).
inline void outlier_factors(const CountedLists& lists, std::span<const double> densities, std::span<const double> own,
                            std::span<double> factors, Threads threads) {
    detail::for_lists(lists, threads, [&](std::size_t i) {
        factors[i] = lists.mean(i, densities.size(), [&](std::size_t, std::size_t row) { return densities[row]; }) / own[i];
    });
}

}  // namespace mercer::neighbors

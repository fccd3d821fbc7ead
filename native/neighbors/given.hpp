// Distances that are given, not measured: a line of them for each query, dense or as the entries of a sparse graph. What is kept of
// them is kept by the collectors of every other search.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/batch.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/surroundings.hpp"

namespace mercer::neighbors {

// A distance for each point.
template <Real T>
struct DistanceLines {
    Matrix<const T> x;

    std::size_t n_queries() const { return x.rows; }
    double work() const { return static_cast<double>(x.rows) * static_cast<double>(x.cols); }

    template <class Collector>
    void offer(std::size_t query, Collector& collector) const {
        for (std::size_t j = 0; j < x.cols; ++j) {
            const auto value = static_cast<double>(x(query, j));
            if (value <= collector.limit()) collector.offer(value, static_cast<Row>(j));
        }
    }
};

// Distances of some points, one entry each; the others are not known and never found.
template <Real T>
struct DistanceGraph {
    Csr<T> x;

    std::size_t n_queries() const { return x.rows; }
    double work() const { return static_cast<double>(x.row_starts.back()); }

    template <class Collector>
    void offer(std::size_t query, Collector& collector) const {
        for (std::size_t e = x.begin(query); e < x.end(query); ++e) {
            const auto value = static_cast<double>(x.values[e]);
            if (value <= collector.limit()) collector.offer(value, x.columns[e]);
        }
    }
};

// Who is left out: for query i point `first` + i; nobody where it is negative.
struct LeftOut {
    std::int64_t first;

    Row of(std::size_t query) const {
        const std::int64_t row = first + static_cast<std::int64_t>(query);
        return first >= 0 && row <= std::numeric_limits<Row>::max() ? static_cast<Row>(row) : kNoRow;
    }
};

namespace detail {

// Calls body(run, first, last) for runs of queries, side by side.
template <class Lines, class Body>
void for_given(const Lines& lines, Threads threads, Body&& body) {
    const std::size_t n = lines.n_queries();
    parallel_for((n + kQueriesOfTask - 1) / kQueriesOfTask, threads.for_work(lines.work()),
                 [&](std::size_t run) { body(run, run * kQueriesOfTask, std::min((run + 1) * kQueriesOfTask, n)); });
}

}  // namespace detail

// The k nearest of each query, as `nearest_points` has them. O(distances).
template <class Lines>
void nearest_given(const Lines& lines, LeftOut left_out, RowMajor<double> distances, RowMajor<std::int64_t> rows, Threads threads) {
    detail::for_given(lines, threads, [&](std::size_t, std::size_t first, std::size_t last) {
        NearestFew collector(distances.cols);
        for (std::size_t i = first; i < last; ++i) {
            collector.start(left_out.of(i));
            lines.offer(i, collector);
            write_nearest(collector.finish(), [](double rank) { return rank; }, i, distances, rows);
        }
    });
}

// All at most `radius` away from each query. O(distances).
template <class Lines>
Surroundings given_within(const Lines& lines, LeftOut left_out, double radius, bool sorted, Threads threads) {
    const std::size_t n = lines.n_queries();
    SurroundingsOfRuns all(n, (n + detail::kQueriesOfTask - 1) / detail::kQueriesOfTask);
    detail::for_given(lines, threads, [&](std::size_t run, std::size_t first, std::size_t last) {
        std::vector<Neighbor> found;
        for (std::size_t i = first; i < last; ++i) {
            found.clear();
            AllWithin collector{radius, left_out.of(i), &found};
            lines.offer(i, collector);
            all.add(run, i, found, sorted);
        }
    });
    return all.join([](double rank) { return rank; });
}

}  // namespace mercer::neighbors

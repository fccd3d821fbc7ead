// Walks over rows: in chunks that depend on the shape alone, so that sums have the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>

#include "core/parallel.hpp"

namespace mercer::cluster {

// Chunks whose number depends on the shape alone. Where each keeps partial sums (n_kept numbers), all of them take about a quarter
// of the memory of the rows at most.
template <class Rows>
Chunks row_chunks(const Rows& rows, std::size_t n_centres, std::size_t n_kept = 0) {
    const auto n_rows = std::max(static_cast<double>(rows.rows()), 1.0);
    const auto n_entries = static_cast<double>(rows.n_entries());
    const double cost_per_row = static_cast<double>(n_centres) * n_entries / n_rows + 64;
    const auto least_rows = static_cast<std::size_t>(std::clamp(5e5 / cost_per_row, 64.0, 8192.0));
    const double most = n_kept == 0 ? 64 : std::clamp(n_entries / (4.0 * static_cast<double>(n_kept)), 4.0, 64.0);
    return Chunks::of(rows.rows(), least_rows, static_cast<std::size_t>(most));
}

// Multiplications to measure all rows against some centres.
template <class Rows>
double measuring_work(const Rows& rows, std::size_t n_centres) {
    return static_cast<double>(rows.n_entries()) * static_cast<double>(n_centres);
}

// Calls body(row, chunk) for every row.
template <class Body>
void for_each_row(const Chunks& chunks, Threads threads, Body&& body) {
    parallel_for(chunks.count, threads, [&](std::size_t chunk) {
        for (std::size_t row = chunks.begin(chunk); row < chunks.end(chunk); ++row) body(row, chunk);
    });
}

// Calls body(search, ids) for runs of rows, as many at a time as are searched together, against so many centres. Nothing is summed
// over the runs: they are cut so that whole groups are searched, several together where there are many centres.
template <class Rows, class Body>
void for_each_run(const Rows& rows, std::size_t n_centres, Threads threads, Body&& body) {
    constexpr std::size_t kUnit = Rows::unit(), kLeastUnits = 4;
    const std::size_t n_units = (rows.rows() + kUnit - 1) / kUnit;
    const std::size_t wanted = (rows.rows() + row_chunks(rows, n_centres).count - 1) / row_chunks(rows, n_centres).count;
    const Chunks units = Chunks::of(n_units, std::max(wanted / kUnit, kLeastUnits), 64);
    parallel_for(units.count, threads.for_work(measuring_work(rows, n_centres) / 4), [&](std::size_t chunk) {
        typename Rows::Search search(rows);
        std::array<std::size_t, Rows::capacity()> ids;
        const std::size_t end = std::min(units.end(chunk) * kUnit, rows.rows());
        for (std::size_t first = units.begin(chunk) * kUnit, n; first < end; first += n) {
            n = std::min(rows.run(n_centres), end - first);
            std::iota(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n), first);
            body(search, std::span<const std::size_t>(ids.data(), n));
        }
    });
}

}  // namespace mercer::cluster

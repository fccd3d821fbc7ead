// What can be said of rows once the centres are there: the nearest one, all distances, the inertia.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cluster/rows.hpp"
#include "cluster/traverse.hpp"
#include "core/chunk_sums.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// The weighted sum of squared distances of the rows to the centres of their labels, from the differences. O(n d).
template <class Rows, class T>
double inertia(const Rows& rows, std::span<const T> weights, RowMajor<const T> centres, std::span<const std::int32_t> labels,
               Threads threads) {
    const typename Rows::Centres prepared(centres);
    const Chunks chunks = row_chunks(rows, 1);
    ChunkParts<double> parts(chunks);
    for_each_row(chunks, threads.for_work(measuring_work(rows, 1)), [&](std::size_t row, std::size_t chunk) {
        const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[row]);
        parts[chunk] += weight * rows.squared_distance(row, prepared, static_cast<std::size_t>(labels[row]));
    });
    return parts.joined([](double& sum, double part) { sum += part; });
}

// Writes the nearest centre of each row to `labels`. O(n k d).
template <class Rows, class T>
void nearest_centres(const Rows& rows, RowMajor<const T> centres, std::span<std::int32_t> labels, Threads threads) {
    const typename Rows::Centres prepared(centres);
    for_each_run(rows, centres.rows, threads, [&](auto& search, std::span<const std::size_t> ids) {
        Found<T> found[Rows::capacity()];
        search.template nearest<false>(ids, prepared, found);
        for (std::size_t i = 0; i < ids.size(); ++i) labels[ids[i]] = found[i].target;
    });
}

// Writes the distance of each row to each centre to `distances`. O(n k d).
template <class Rows, class T>
void centre_distances(const Rows& rows, RowMajor<const T> centres, RowMajor<T> distances, Threads threads) {
    const typename Rows::Centres prepared(centres);
    for_each_run(rows, centres.rows, threads, [&](auto& search, std::span<const std::size_t> ids) {
        T* out = distances.row(ids.front());
        search.squared_distances(ids, prepared, out);
        for (std::size_t i = 0; i < ids.size() * centres.rows; ++i) out[i] = std::sqrt(out[i]);
    });
}

}  // namespace mercer::cluster

// Statistics of the columns of a matrix. NaN means missing and is left out, column by column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "core/chunk_sums.hpp"
#include "core/pack.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::preprocessing {

// Weight, mean and weighted sum of squared deviations of each column; two sets merge without cancellation (Chan et al., 1983).
struct Moments {
    std::vector<double> weight;
    std::vector<double> mean;
    std::vector<double> deviation;

    explicit Moments(std::size_t n_columns) : weight(n_columns), mean(n_columns), deviation(n_columns) {}

    void merge(const Moments& other) {
        for (std::size_t j = 0; j < weight.size(); ++j) {
            const double both = weight[j] + other.weight[j];
            const double share = both > 0 ? other.weight[j] / both : 0.0;
            const double delta = other.mean[j] - mean[j];
            deviation[j] += other.deviation[j] + (both > 0 ? delta * delta * weight[j] * share : 0.0);
            mean[j] += delta * share;  // 0 where the other weighs nothing, NaN where it holds an infinity all the same
            weight[j] = both;
        }
    }

    // Of n contiguous rows, the i-th of which weighs weight_of(i); in two passes.
    template <class Weight>
    static Moments of_block(const double* block, std::size_t n, std::size_t n_columns, Weight&& weight_of) {
        Moments moments(n_columns);
        for (std::size_t i = 0; i < n; ++i) {
            const double w = weight_of(i);
            const double* row = block + i * n_columns;
            for (std::size_t j = 0; j < n_columns; ++j) {
                const bool present = row[j] == row[j];
                moments.weight[j] += present ? w : 0.0;
                moments.mean[j] += present ? w * row[j] : 0.0;
            }
        }
        for (std::size_t j = 0; j < n_columns; ++j) moments.mean[j] /= moments.weight[j] > 0 ? moments.weight[j] : 1.0;
        for (std::size_t i = 0; i < n; ++i) {
            const double w = weight_of(i);
            const double* row = block + i * n_columns;
            for (std::size_t j = 0; j < n_columns; ++j) {
                const double delta = row[j] - moments.mean[j];
                moments.deviation[j] += delta == delta ? w * delta * delta : 0.0;
            }
        }
        return moments;
    }
};

// Rows to take at a time so that they are still in the nearest cache when they are read again.
inline std::size_t cached_rows(std::size_t n_columns) {
    return std::clamp<std::size_t>(32 * 1024 / (8 * std::max<std::size_t>(n_columns, 1)), 8, 128);
}

// Calls body(block, first_row, n_rows, chunk) with the rows as doubles, a block that fits the cache at a time.
template <Real T, class Body>
void for_each_block(Matrix<const T> x, const Chunks& chunks, Threads threads, Body&& body) {
    parallel_for(chunks.count, threads, [&](std::size_t chunk) {
        std::vector<std::size_t> rows(cached_rows(x.cols));
        Aligned<double> block(rows.size() * x.cols);
        for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += rows.size()) {
            const std::size_t n = std::min(rows.size(), chunks.end(chunk) - first);
            std::iota(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n), first);
            pack_rows<T, double>(x, {rows.data(), n}, {}, block.data(), x.cols);
            body(block.data(), first, n, chunk);
        }
    });
}

inline Chunks column_chunks(std::size_t n_rows, std::size_t n_columns) {
    return Chunks::of(n_rows, std::clamp<std::size_t>(262144 / std::max<std::size_t>(n_columns, 1), 64, 16384), 64);
}

// Moments of all columns; `weights` may be empty. A mean is 0 where nothing is present, and not finite exactly where an infinity
// is or a sum overflows. Two passes over each block, one over memory. O(n d).
template <Real T>
Moments column_moments(Matrix<const T> x, std::span<const T> weights, Threads threads) {
    const std::size_t d = x.cols;
    const Chunks chunks = column_chunks(x.rows, d);
    ChunkParts<Moments> parts(chunks, Moments(d));
    const double work = static_cast<double>(x.rows) * static_cast<double>(d);
    for_each_block(
        x, chunks, threads.for_work(work), [&](const double* block, std::size_t first, std::size_t n, std::size_t chunk) {
            const auto weight_of = [&](std::size_t i) { return weights.empty() ? 1.0 : static_cast<double>(weights[first + i]); };
            parts[chunk].merge(Moments::of_block(block, n, d, weight_of));
        });
    return parts.joined([](Moments& all, const Moments& part) { all.merge(part); });
}

}  // namespace mercer::preprocessing

// Weighted sums of products of the columns of a table: what regressions near a row need, in one pass and without a copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/chunk_sums.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::inspection {

// out = sum over rows of w_i r_i r_i', where r_i is (1, x_i, y_i); symmetric. Four rows at a time, so that a sum is read and
// written once for four products. O(n (p + k)^2).
inline void surrogate_products(RowMajor<const double> x, RowMajor<const double> y, std::span<const double> weights,
                               RowMajor<double> out, Threads threads) {
    using V = Simd<double>;
    constexpr std::size_t kRows = 4;
    const std::size_t n = x.rows, p = x.cols, m = out.cols;
    const std::size_t stride = V::round_up(m);  // of lines, so that they are whole vectors
    const auto chunks = Chunks::of(n, 1 + 131072 / (m * m), 64);
    ChunkSums<double> sums(chunks, m * stride);
    parallel_for(chunks.count, threads.for_work(static_cast<double>(n * m * m) / 8), [&](std::size_t chunk) {
        double* const sum = sums[chunk];
        Aligned<double> lines(kRows * stride);
        double* const r = lines.data();
        std::fill_n(r, kRows * stride, 0.0);
        for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += kRows) {
            const std::size_t n_here = std::min(kRows, chunks.end(chunk) - first);
            double scale[kRows] = {};
            for (std::size_t i = 0; i < n_here; ++i) {
                double* const line = r + i * stride;
                line[0] = 1;
                std::copy_n(x.row(first + i), p, line + 1);
                std::copy_n(y.row(first + i), y.cols, line + 1 + p);
                scale[i] = weights[first + i];  // of rows that are not there any more it is zero
            }
            for (std::size_t a = 0; a < m; ++a) {
                double* const to = sum + a * stride;
                V::Vector factor[kRows];
                for (std::size_t i = 0; i < kRows; ++i) factor[i] = V::broadcast(scale[i] * r[i * stride + a]);
                for (std::size_t b = a / V::kLanes * V::kLanes; b < stride; b += V::kLanes) {
                    V::Vector total = V::load(to + b);
                    for (std::size_t i = 0; i < kRows; ++i) total += factor[i] * V::load(r + i * stride + b);
                    V::store(to + b, total);
                }
            }
        }
    });
    const double* const total = sums.total().data();
    for (std::size_t a = 0; a < m; ++a) {
        for (std::size_t b = 0; b < m; ++b) out(a, b) = total[std::min(a, b) * stride + std::max(a, b)];
    }
}

}  // namespace mercer::inspection

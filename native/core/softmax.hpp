// The logarithm of a sum of exponentials, and softmax, a row at a time: what turns log densities and scores into shares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "core/math.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

// sums[i] = log sum_k exp x(i, k), and shares(i, k) = exp(x(i, k) - sums[i]) where there is room for them (no rows: left out; the
// memory may be that of x). The largest score is taken out first, so that nothing overflows; a row of -infinity alone has the sum
// -infinity and shares that are NaN. O(n k).
template <Real T>
void softmax_rows(Matrix<const T> x, std::span<T> sums, RowMajor<T> shares, Threads threads) {
    using S = Simd<T>;
    constexpr std::size_t kRows = 256 / sizeof(T);  // a block: as many vectors as hide the latency of one another
    const std::size_t n_blocks = (x.rows + kRows - 1) / kRows;
    const auto work = static_cast<double>(x.rows) * static_cast<double>(x.cols) * 10;
    const Chunks chunks = Chunks::of(n_blocks, 1 + 4096 / (kRows * std::max<std::size_t>(x.cols, 1)), 1024);
    parallel_for(n_blocks == 0 ? 0 : chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        Aligned<T> lines(x.cols * kRows);  // a line a column of x, so that a vector holds as many rows
        for (std::size_t block = chunks.begin(chunk); block < chunks.end(chunk); ++block) {
            const std::size_t first = block * kRows;
            const std::size_t n = std::min(kRows, x.rows - first);
            alignas(64) T top[kRows], total[kRows] = {};
            std::fill_n(top, kRows, -std::numeric_limits<T>::infinity());
            for (std::size_t k = 0; k < x.cols; ++k) {
                T* line = lines.data() + k * kRows;
                for (std::size_t i = 0; i < n; ++i) line[i] = x(first + i, k);
                std::fill(line + n, line + kRows, T{0});
                for (std::size_t i = 0; i < kRows; i += S::kLanes)
                    S::store(top + i, math::max(S::load(top + i), S::load(line + i)));
            }
            for (T& most : top)
                if (most - most != 0) most = 0;  // infinite: the exponentials say all
            for (std::size_t k = 0; k < x.cols; ++k) {
                T* line = lines.data() + k * kRows;
                for (std::size_t i = 0; i < kRows; i += S::kLanes) {
                    const auto e = math::exp(S::load(line + i) - S::load(top + i));
                    S::store(line + i, e);
                    S::store(total + i, S::load(total + i) + e);
                }
            }
            if (shares.rows > 0) {
                for (std::size_t k = 0; k < x.cols; ++k)
                    for (std::size_t i = 0; i < n; ++i) shares(first + i, k) = lines[k * kRows + i] / total[i];
            }
            for (std::size_t i = 0; i < kRows; i += S::kLanes)
                S::store(total + i, math::log(S::load(total + i)) + S::load(top + i));
            std::copy_n(total, n, sums.begin() + static_cast<std::ptrdiff_t>(first));
        }
    });
}

}  // namespace mercer

// Rows in which some players have the values of the row to be explained and the others those of the background, and what a model
// says of them on average over the background.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::inspection {

// Which row meets which coalition: pair t is row row_of[t] of x with mask mask_of[t]. Column j belongs to player player_of[j].
struct Pairs {
    RowMajor<const std::uint8_t> masks;
    std::span<const std::int32_t> player_of, row_of, mask_of;

    std::size_t size() const { return row_of.size(); }
    // Indices were checked where they came in; they are held in range again, as another thread may have written to them since.
    std::size_t row(std::size_t pair, std::size_t n_rows) const { return within(row_of[pair], n_rows); }
    const std::uint8_t* mask(std::size_t pair) const { return masks.row(within(mask_of[pair], masks.rows)); }
    std::size_t player(std::size_t column) const { return within(player_of[column], masks.cols); }

   private:
    static std::size_t within(std::int32_t index, std::size_t n) {
        return std::min(static_cast<std::size_t>(static_cast<std::uint32_t>(index)), n - 1);
    }
};

// Writes, pair by pair, a row for each row of the background. O(pairs x background x columns).
template <Real T>
void coalition_rows(Matrix<const T> x, RowMajor<const T> background, const Pairs& pairs, RowMajor<T> out, Threads threads) {
    using Index = typename Simd<T>::Index;  // as wide as T, so that the choice is made in vectors
    const std::size_t n_columns = background.cols;
    const auto chunks = Chunks::of(pairs.size(), 1 + 16384 / std::max<std::size_t>(background.size(), 1), 1024);
    parallel_for(chunks.count, threads.for_work(static_cast<double>(out.size())), [&](std::size_t chunk) {
        std::vector<T> own(n_columns);
        std::vector<Index> is_own(n_columns);
        for (std::size_t pair = chunks.begin(chunk); pair < chunks.end(chunk); ++pair) {
            const std::size_t i = pairs.row(pair, x.rows);
            const std::uint8_t* const mask = pairs.mask(pair);
            for (std::size_t j = 0; j < n_columns; ++j) {
                own[j] = x(i, j);
                is_own[j] = mask[pairs.player(j)] != 0;
            }
            for (std::size_t b = 0; b < background.rows; ++b) {
                const T* const from = background.row(b);
                T* const to = out.row(pair * background.rows + b);
                for (std::size_t j = 0; j < n_columns; ++j) to[j] = is_own[j] ? own[j] : from[j];
            }
        }
    });
}

// The weighted mean of every run of weights.size() rows of values, in double precision. O(values).
template <Real T>
void means_of_runs(RowMajor<const T> values, std::span<const double> weights, RowMajor<double> out, Threads threads) {
    const std::size_t n = weights.size(), n_outputs = values.cols;
    const auto chunks = Chunks::of(out.rows, 1 + 8192 / std::max<std::size_t>(n * n_outputs, 1), 1024);
    parallel_for(chunks.count, threads.for_work(static_cast<double>(values.size())), [&](std::size_t chunk) {
        for (std::size_t run = chunks.begin(chunk); run < chunks.end(chunk); ++run) {
            for (std::size_t k = 0; k < n_outputs; ++k) {
                const T* const first = values.row(run * n) + k;
                out(run, k) = lane_sum(n, [=](std::size_t b) { return weights[b] * static_cast<double>(first[b * n_outputs]); });
            }
        }
    });
}

}  // namespace mercer::inspection

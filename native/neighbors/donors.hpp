// Donors of missing values: for a cell without a value, the nearest rows that have one in its column.
//
// Rows are as far apart as the columns that both have say: |x - z|^2 is the mean of (x_j - z_j)^2 over these, times the number of
// all columns. No matrix of distances is ever held: a block of training rows meets some receivers, whose cells keep what they want.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::neighbors {

// Training rows in blocks, feature by feature; rows that fill up the last block have no value at all.
template <Real T>
class DonorBlocks {
   public:
    static constexpr std::size_t kRows = 128;

    DonorBlocks(Matrix<const T> x, Threads threads)
        : d_(x.cols), count_((x.rows + kRows - 1) / kRows), values_(count_ * d_ * kRows), is_full_(count_ * d_) {
        parallel_for(count_, threads.for_work(static_cast<double>(x.rows) * static_cast<double>(d_)), [&](std::size_t b) {
            for (std::size_t j = 0; j < d_; ++j) {
                T* const line = values_.data() + (b * d_ + j) * kRows;
                bool is_full = true;
                for (std::size_t i = 0; i < kRows; ++i) {
                    const std::size_t row = b * kRows + i;
                    line[i] = row < x.rows ? x(row, j) : std::numeric_limits<T>::quiet_NaN();
                    is_full = is_full && line[i] == line[i];
                }
                is_full_[b * d_ + j] = is_full ? 1 : 0;
            }
        });
    }

    std::size_t features() const { return d_; }
    std::size_t count() const { return count_; }
    const T* feature(std::size_t block, std::size_t j) const { return values_.data() + (block * d_ + j) * kRows; }

    // The squared distances of a receiver, of which some columns have no value, to the rows of a block; NaN where the two have no
    // column in common. O(kRows d).
    void measure(std::size_t block, const T* receiver, T* squares) const {
        T shared[kRows] = {};
        T n_full = 0;
        std::fill_n(squares, kRows, T{0});
        for (std::size_t j = 0; j < d_; ++j) {
            const T own = receiver[j];
            if (own != own) continue;
            const T* const line = feature(block, j);
            if (is_full_[block * d_ + j] != 0) {
                n_full += 1;
                for (std::size_t i = 0; i < kRows; ++i) squares[i] += (line[i] - own) * (line[i] - own);
                continue;
            }
            for (std::size_t i = 0; i < kRows; ++i) {
                const T difference = line[i] - own;
                const bool has_both = difference == difference;
                squares[i] += has_both ? difference * difference : T{0};
                shared[i] += has_both ? T{1} : T{0};
            }
        }
        const T all = static_cast<T>(d_);
        for (std::size_t i = 0; i < kRows; ++i) squares[i] *= all / (shared[i] + n_full);  // 0 x infinity is NaN
    }

   private:
    std::size_t d_;
    std::size_t count_;
    Aligned<T> values_;
    std::vector<std::uint8_t> is_full_;  // of each block and feature: whether no value is missing
};

// The cells to fill: those of receiver i are the columns from starts[i] to starts[i + 1].
struct Cells {
    std::span<const std::int64_t> starts;
    std::span<const std::int64_t> columns;
};

namespace detail {

// The nearest donors of one cell so far, the nearest first and of equals the lower row.
template <Real T>
struct DonorList {
    std::span<T> squares;
    std::span<std::int64_t> rows;

    void take(T square, std::int64_t row) const {
        std::size_t place = squares.size() - 1;
        for (; place > 0 && square < squares[place - 1]; --place) {
            squares[place] = squares[place - 1];
            rows[place] = rows[place - 1];
        }
        squares[place] = square;
        rows[place] = row;
    }
};

template <Real T>
void meet_block(const DonorBlocks<T>& blocks, std::size_t block, const T* receiver, const Cells& cells, std::size_t i,
                RowMajor<T> distances, RowMajor<std::int64_t> donors) {
    T squares[DonorBlocks<T>::kRows];
    blocks.measure(block, receiver, squares);
    for (auto cell = static_cast<std::size_t>(cells.starts[i]); cell < static_cast<std::size_t>(cells.starts[i + 1]); ++cell) {
        const DonorList<T> list{{distances.row(cell), distances.cols}, {donors.row(cell), donors.cols}};
        const T* const values = blocks.feature(block, static_cast<std::size_t>(cells.columns[cell]));
        for (std::size_t r = 0; r < DonorBlocks<T>::kRows; ++r)
            if (squares[r] < list.squares.back() && values[r] == values[r])
                list.take(squares[r], static_cast<std::int64_t>(block * DonorBlocks<T>::kRows + r));
    }
}

}  // namespace detail

// Writes the nearest donors of each cell, as many as a line has places, and their distances; -1 and infinity where there are no
// more. O(receivers x training rows x d).
template <Real T>
void nearest_donors(const DonorBlocks<T>& blocks, RowMajor<const T> receivers, const Cells& cells, RowMajor<T> distances,
                    RowMajor<std::int64_t> donors, Threads threads) {
    std::fill_n(distances.data, distances.size(), std::numeric_limits<T>::infinity());
    std::fill_n(donors.data, donors.size(), std::int64_t{-1});
    const Chunks chunks = Chunks::of(receivers.rows, 16, 4096);
    parallel_for(chunks.count, threads, [&](std::size_t chunk) {
        for (std::size_t block = 0; block < blocks.count(); ++block) {
            if (block % 64 == 0) checkpoint();
            for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
                detail::meet_block(blocks, block, receivers.row(i), cells, i, distances, donors);
        }
        const auto first = static_cast<std::size_t>(cells.starts[chunks.begin(chunk)]);
        const auto last = static_cast<std::size_t>(cells.starts[chunks.end(chunk)]);
        for (T* value = distances.row(first); value < distances.row(last); ++value) *value = std::sqrt(*value);
    });
}

}  // namespace mercer::neighbors

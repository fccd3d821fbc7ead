// The columns of X as they are, hollow ones by their entries: what random thresholds need.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"
#include "tree/full_columns.hpp"
#include "tree/hollow_columns.hpp"
#include "tree/sparse_rows.hpp"

namespace mercer::tree {

class PlainColumns {
   public:
    // A column of numbers is hollow where it has an entry in at most so many rows: below, all values are as quickly read.
    static constexpr std::size_t kRowsPerEntry = 8;

    // X is a matrix, which must outlive this, or sparse rows. Its full columns are laid out a row after another: the rows of a
    // small node then lie in the cache whatever features are drawn. Categories are whole numbers from 0. `n_looks`: see
    // FullColumns.
    template <class X>
    PlainColumns(const X& x, std::span<const std::uint8_t> is_categorical, std::size_t n_looks, Threads threads)
        : PlainColumns(x, is_categorical, count_entries(x, threads), n_looks, threads) {}

    std::size_t n_rows() const { return n_rows_; }
    std::size_t count() const { return has_missing_.size(); }
    bool has_missing(std::size_t j) const { return has_missing_[j] != 0; }
    bool is_categorical(std::size_t j) const { return !is_categorical_.empty() && is_categorical_[j] != 0; }

    const HollowColumns& hollow() const { return hollow_; }
    // The features that are full columns.
    std::span<const std::uint32_t> full() const { return full_.features(); }

    // Writes the values that some rows have in some columns, a column at `out` and every `stride` behind it; nothing for hollow
    // ones. A few rows at a time, so that a row is brought to the cache once.
    void gather(std::span<const std::uint32_t> features, std::span<const Row> rows, double* out, std::size_t stride) const {
        constexpr std::size_t kRowsAtOnce = 64;
        full_.visit([&](const auto& values, auto&& place) {
            for (std::size_t first = 0; first < rows.size(); first += kRowsAtOnce) {
                const std::size_t last = std::min(first + kRowsAtOnce, rows.size());
                for (std::size_t k = 0; k < features.size(); ++k) {
                    if (hollow_.has(features[k])) continue;
                    const std::size_t column = place(features[k]);
                    for (std::size_t i = first; i < last; ++i) out[k * stride + i] = static_cast<double>(values(rows[i], column));
                }
            }
        });
    }

   private:
    template <class X>
    PlainColumns(const X& x, std::span<const std::uint8_t> is_categorical, ColumnCounts counts, std::size_t n_looks,
                 Threads threads)
        : n_rows_(n_rows_of(x)),
          is_categorical_(is_categorical.begin(), is_categorical.end()),
          has_missing_(std::move(counts.has_missing)),
          hollow_(x, with_full(counts.n_entries), kRowsPerEntry, threads),
          full_(x, hollow_, Layout::kByRow, n_looks, threads) {
        require(n_rows_ < 0xFFFFFFFF, "trees: there are too many rows");
    }

    // Counts by which no column of categories is hollow: its zeros are a category like any other.
    std::vector<std::size_t> with_full(std::vector<std::size_t> counts) const {
        for (std::size_t j = 0; j < counts.size(); ++j)
            if (is_categorical(j)) counts[j] = n_rows_ + 1;
        return counts;
    }

    std::size_t n_rows_;
    std::vector<std::uint8_t> is_categorical_;
    std::vector<std::uint8_t> has_missing_;
    HollowColumns hollow_;
    FullColumns full_;
};

}  // namespace mercer::tree

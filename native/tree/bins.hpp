// A matrix in bins of one byte, for histograms: every eight columns form a panel, in which a row is one word of eight bins.
//
// A panel is read row by row where a histogram is built, and by one column where rows are parted; its rows are short enough for
// the second and long enough for the first, so that one copy serves both.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "tree/bin_edges.hpp"

namespace mercer::boosting {

// How one column is binned. Bins 0 … n_bins - 1 hold its numbers in their order, or one category each; bin n_bins holds what is
// missing, if anything is.
struct ColumnBins {
    std::vector<double> edges;  // of numbers: the upper end of every bin but the last
    std::size_t n_bins = 1;
    bool is_categorical = false;
    bool has_missing = false;

    // The bins that can hold anything, the one of missing values among them.
    std::size_t n_used() const { return n_bins + (has_missing ? 1 : 0); }
    // What to compare a number with to learn whether its bin is at most `bin`.
    double threshold(std::size_t bin) const { return bin < edges.size() ? edges[bin] : std::numeric_limits<double>::infinity(); }
};

namespace detail {

// The edges of a column in its own number type, padded for a search of eight steps without branches: x <= edge holds for the
// padded edge exactly where it holds for the real one.
template <Real T>
class BinSearch {
   public:
    explicit BinSearch(const ColumnBins& column) : n_bins_(column.n_bins), is_categorical_(column.is_categorical) {
        edges_.fill(std::numeric_limits<T>::infinity());
        for (std::size_t i = 0; i < column.edges.size(); ++i) edges_[i] = rounded_down(column.edges[i]);
    }

    // Writes the bin of each of n values, `stride` bytes apart. True if one is missing.
    bool find(const T* values, std::size_t n, std::uint8_t* bins, std::size_t stride) const {
        bool has_missing = false;
        std::size_t i = 0;
        for (; i + kAtOnce <= n && !is_categorical_; i += kAtOnce) {
            std::array<std::size_t, kAtOnce> found;
            find_numbers(values + i, found);
            for (std::size_t l = 0; l < kAtOnce; ++l) {
                const bool is_missing = std::isnan(values[i + l]);
                has_missing |= is_missing;
                bins[(i + l) * stride] = static_cast<std::uint8_t>(is_missing ? n_bins_ : found[l]);
            }
        }
        for (; i < n; ++i) {
            const std::size_t bin = find(values[i]);
            has_missing |= bin == n_bins_;
            bins[i * stride] = static_cast<std::uint8_t>(bin);
        }
        return has_missing;
    }

   private:
    static constexpr std::size_t kAtOnce = 8;  // searches that run side by side

    // Halves what is left eight times, by arithmetic: a branch could not be foretold.
    void find_numbers(const T* values, std::array<std::size_t, kAtOnce>& found) const {
        std::array<const T*, kAtOnce> at;
        at.fill(edges_.data());
#pragma GCC unroll 8
        for (std::size_t half = 128; half > 0; half /= 2)
#pragma GCC unroll 8
            for (std::size_t l = 0; l < kAtOnce; ++l) at[l] += half * static_cast<std::size_t>(values[l] > at[l][half - 1]);
        for (std::size_t l = 0; l < kAtOnce; ++l) found[l] = static_cast<std::size_t>(at[l] - edges_.data());
    }
    std::size_t find(T value) const {
        if (std::isnan(value)) return n_bins_;
        if (is_categorical_)  // one never seen counts as missing
            return value >= 0 && value < static_cast<T>(n_bins_) ? static_cast<std::size_t>(value) : n_bins_;
        return static_cast<std::size_t>(std::lower_bound(edges_.begin(), edges_.end(), value) - edges_.begin());
    }
    static T rounded_down(double edge) {
        const auto near = static_cast<T>(edge);
        return static_cast<double>(near) <= edge ? near : std::nextafter(near, -std::numeric_limits<T>::infinity());
    }

    std::array<T, 256> edges_;
    std::size_t n_bins_;
    bool is_categorical_;
};

}  // namespace detail

class BinnedRows {
   public:
    // Bins the rows of x. O(n d).
    template <Real T>
    BinnedRows(Matrix<const T> x, std::vector<ColumnBins> columns, Threads threads)
        : columns_(std::move(columns)),
          n_rows_(x.rows),
          n_panels_((x.cols + kPanelColumns - 1) / kPanelColumns),
          bins_(n_rows_ * n_panels_ * kPanelColumns) {
        require(columns_.size() == x.cols, "there must be bins for each column of X");
        require(n_rows_ < std::numeric_limits<std::uint32_t>::max() / 4, "there are too many rows");
        std::vector<std::atomic<bool>> has_missing(x.cols);
        const auto chunks = Chunks::of(n_rows_, 4096, 256);
        const auto work = static_cast<double>(n_rows_) * static_cast<double>(x.cols) * 8;
        parallel_for(chunks.count * n_panels_, threads.for_work(work), [&](std::size_t task) {
            bin_chunk(x, task % n_panels_, chunks.begin(task / n_panels_), chunks.end(task / n_panels_), has_missing);
        });
        for (std::size_t j = 0; j < x.cols; ++j) columns_[j].has_missing = has_missing[j];
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_columns() const { return columns_.size(); }
    std::size_t n_panels() const { return n_panels_; }
    const ColumnBins& column(std::size_t j) const { return columns_[j]; }

    // The bins of a panel, eight a row.
    const std::uint8_t* panel(std::size_t p) const { return bins_.data() + p * n_rows_ * kPanelColumns; }
    // The bins of a column; those of successive rows are kPanelColumns bytes apart.
    const std::uint8_t* bins_of(std::size_t j) const { return panel(j / kPanelColumns) + j % kPanelColumns; }

   private:
    template <Real T>
    void bin_chunk(Matrix<const T> x, std::size_t p, std::size_t begin, std::size_t end,
                   std::vector<std::atomic<bool>>& has_missing) {
        constexpr std::size_t kRows = 256;
        std::array<T, kRows> values;
        std::vector<detail::BinSearch<T>> searches;
        const std::size_t first = p * kPanelColumns;
        const std::size_t last = std::min(first + kPanelColumns, x.cols);
        for (std::size_t j = first; j < last; ++j) searches.emplace_back(columns_[j]);
        for (std::size_t block = begin; block < end; block += kRows) {
            const std::size_t n = std::min(kRows, end - block);
            std::uint8_t* out = bins_.data() + (p * n_rows_ + block) * kPanelColumns;
            std::fill_n(out, n * kPanelColumns, std::uint8_t{0});
            for (std::size_t j = first; j < last; ++j) {
                for (std::size_t i = 0; i < n; ++i) values[i] = x(block + i, j);
                if (searches[j - first].find(values.data(), n, out + (j - first), kPanelColumns))
                    has_missing[j].store(true, std::memory_order_relaxed);
            }
        }
    }

    std::vector<ColumnBins> columns_;
    std::size_t n_rows_;
    std::size_t n_panels_;
    Aligned<std::uint8_t> bins_;
};

}  // namespace mercer::boosting

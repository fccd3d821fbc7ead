// Columns most of whose values are zero, by the entries that are not: in the order of their values, and by row.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "tree/columns.hpp"
#include "tree/sparse_rows.hpp"

namespace mercer::tree {

namespace detail {

inline constexpr std::size_t kColumnsRead = 2048;  // together at most: a long run of each row, for which counts stay in the cache

// Calls read(first, last) for blocks of columns, at least one for each of several threads.
template <class Read>
void for_column_blocks(std::size_t n_columns, Threads threads, Read&& read) {
    constexpr std::size_t kLeast = 32;
    const auto n_threads = static_cast<std::size_t>(std::max(threads.count, 1));
    const std::size_t size = std::clamp((n_columns + n_threads - 1) / n_threads, kLeast, kColumnsRead);
    parallel_for((n_columns + size - 1) / size, threads, [&](std::size_t block) {
        checkpoint();
        read(block * size, std::min((block + 1) * size, n_columns));
    });
}

}  // namespace detail

// What each column holds.
struct ColumnCounts {
    std::vector<std::size_t> n_entries;  // values that are not zero; a missing one is not
    std::vector<std::uint8_t> has_missing;

    explicit ColumnCounts(std::size_t n_columns) : n_entries(n_columns, 0), has_missing(n_columns, 0) {}
};

namespace detail {

// Counts rows [begin, end) of columns [first, last), no more than kColumnsRead, in the order in which X lies.
template <Real T>
void count_block(const Matrix<const T>& x, std::size_t begin, std::size_t end, std::size_t first, std::size_t last,
                 ColumnCounts& out) {
    using Count = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;  // as wide as a value, for vectors of both
    std::array<Count, kColumnsRead> counts{};
    Count is_missing = 0;
    const auto count = [&](T value, Count& n) {
        n += value != 0;
        is_missing |= value != value;
    };
    if (x.col_stride == 1) {
        for (std::size_t i = begin; i < end; ++i) {
            const T* row = x.row(i) + first;
            for (std::size_t j = 0; j < last - first; ++j) count(row[j], counts[j]);
        }
    } else {
        const bool is_contiguous = x.row_stride == 1;
        for (std::size_t j = first; j < last; ++j) {
            Count n = 0;
            const T* column = &x(0, j);
            if (is_contiguous) {
                for (std::size_t i = begin; i < end; ++i) count(column[i], n);
            } else {
                for (std::size_t i = begin; i < end; ++i) count(x(i, j), n);
            }
            counts[j - first] = n;
        }
    }
    for (std::size_t j = first; j < last; ++j) {
        out.n_entries[j] += counts[j - first];
        for (std::size_t i = begin; i < end && is_missing != 0 && out.has_missing[j] == 0; ++i)
            out.has_missing[j] = std::isnan(x(i, j));
    }
}

}  // namespace detail

// Looks at every value once. O(n d), or O(entries).
template <Real T>
ColumnCounts count_entries(const Matrix<const T>& x, Threads threads) {
    ColumnCounts out(x.cols);
    detail::for_column_blocks(x.cols, threads, [&](std::size_t first, std::size_t last) {
        constexpr std::size_t kRows = std::size_t{1} << 20;  // no count overflows
        for (std::size_t begin = 0; begin < x.rows; begin += kRows)
            detail::count_block(x, begin, std::min(begin + kRows, x.rows), first, last, out);
    });
    return out;
}

ColumnCounts count_entries(const SparseRows& x, Threads threads);

class HollowColumns {
   public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    // One column: its entries in the order of their values, missing ones last.
    struct Column {
        std::span<const Row> rows;
        std::span<const double> values;
        std::size_t n_negative = 0;
        std::size_t n_known = 0;
    };
    // An entry of a row: which of the columns, and its place in that.
    struct Entry {
        std::uint32_t column;
        std::uint32_t place;
    };

    // Takes the columns of X that have entries in at most one of `rows_per_entry` rows, by `counts` of them (see `count_entries`).
    // O(n d), or O(entries); twenty bytes an entry. What X holds may change meanwhile: a surplus of entries is left out.
    template <class X>
    HollowColumns(const X& x, std::span<const std::size_t> counts, std::size_t rows_per_entry, Threads threads)
        : index_(counts.size(), kNone), starts_{0} {
        for (std::size_t j = 0; j < counts.size(); ++j) {
            if (counts[j] * rows_per_entry > n_rows_of(x)) continue;
            index_[j] = static_cast<std::uint32_t>(count());
            features_.push_back(static_cast<std::uint32_t>(j));
            if (counts[j] > 0) filled_.push_back(static_cast<std::uint32_t>(j));
            starts_.push_back(starts_.back() + counts[j]);
        }
        ends_.assign(starts_.begin(), starts_.end() - 1);
        rows_.resize(starts_.back());
        values_.resize(starts_.back());
        if (count() == 0) return;
        fill(x, threads);
        sort(threads);
        list_by_row(n_rows_of(x));
    }

    std::size_t count() const { return starts_.size() - 1; }
    std::size_t n_entries() const { return rows_.size(); }
    // Which of these columns a feature is, or kNone.
    std::uint32_t index(std::size_t feature) const { return index_[feature]; }
    bool has(std::size_t feature) const { return index_[feature] != kNone; }
    // Which feature each of these columns is, and the features among them that have an entry at all.
    std::span<const std::uint32_t> features() const { return features_; }
    std::span<const std::uint32_t> filled() const { return filled_; }

    std::size_t n_entries(std::size_t column) const { return ends_[column] - starts_[column]; }
    Column operator[](std::size_t column) const {
        const std::size_t n = n_entries(column);
        return {{rows_.data() + starts_[column], n}, {values_.data() + starts_[column], n}, n_negative_[column], n_known_[column]};
    }
    std::span<const Entry> entries(Row row) const {
        return {by_row_.data() + row_starts_[row], row_starts_[row + 1] - row_starts_[row]};
    }

   private:
    void add(std::size_t column, std::size_t row, double value) {
        if (ends_[column] == starts_[column + 1]) return;
        rows_[ends_[column]] = static_cast<Row>(row);
        values_[ends_[column]++] = value;
    }

    template <Real T>
    void fill(Matrix<const T> x, Threads threads) {
        detail::for_column_blocks(x.cols, threads, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = 0; i < x.rows; ++i) {
                for (std::size_t j = first; j < last; ++j) {
                    const auto value = static_cast<double>(x(i, j));
                    if (value != 0 && has(j)) add(index_[j], i, value);
                }
            }
        });
    }

    void fill(const SparseRows& x, Threads);
    void sort(Threads threads);
    void list_by_row(std::size_t n_rows);

    std::vector<std::uint32_t> index_;     // by feature
    std::vector<std::uint32_t> features_;  // by column
    std::vector<std::uint32_t> filled_;
    std::vector<std::size_t> starts_;  // of each column's entries
    std::vector<std::size_t> ends_;
    std::vector<Row> rows_;
    std::vector<double> values_;
    std::vector<std::size_t> n_negative_;
    std::vector<std::size_t> n_known_;
    std::vector<std::size_t> row_starts_;
    std::vector<Entry> by_row_;
};

}  // namespace mercer::tree

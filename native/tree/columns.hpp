// The columns of X as whole numbers: each value is replaced by its place among the column's distinct values, where those that
// differ by next to nothing (`kSameValue`) count as one.
//
// Splits are sought among codes alone, whatever the type of X; a split is turned back into a threshold at the end. The rows of
// each column are sorted once, for all trees of an ensemble: what grows a tree keeps that order and never sorts again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/radix_sort.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::tree {

using Row = std::uint32_t;
using Code = std::uint32_t;

// Values of a feature that differ by no more count as one, as in scikit-learn: what rounding leaves of a constant is no signal.
inline constexpr double kSameValue = 1e-7;

inline bool is_above(double value, double other) { return value > other + kSameValue; }

// One column: its rows in the order of their values (missing ones last) and each row's code.
struct Column {
    std::span<Row> order;
    std::span<Code> codes;
    std::size_t n_distinct = 0;
    std::size_t n_missing = 0;
    bool is_categorical = false;          // values are categories: whole numbers from 0
    std::vector<std::size_t> categories;  // by code, of a categorical column

    Code missing_code() const { return static_cast<Code>(n_distinct); }
    bool has_ties() const { return n_distinct + n_missing < order.size() || n_missing > 1; }
    bool has_few_ties() const { return has_ties() && !is_categorical && 16 * (n_distinct + n_missing) >= 15 * order.size(); }
};

namespace detail {

// Sorts the runs that agree in their upper bits: short in all but contrived data, unless all their values are the same.
template <Real T>
void finish_order(std::span<const T> x, const std::vector<std::uint64_t>& entries, std::span<Row> order) {
    const auto is_before = [&](Row a, Row b) { return sort_key(x[a]) < sort_key(x[b]); };
    for (std::size_t i = 0; i < entries.size();) {
        std::size_t end = i + 1;
        while (end < entries.size() && (entries[end] >> 32) == (entries[i] >> 32)) ++end;
        const auto run = order.subspan(i, end - i);
        if (!std::is_sorted(run.begin(), run.end(), is_before)) std::stable_sort(run.begin(), run.end(), is_before);
        i = end;
    }
}

}  // namespace detail

// The places of some values in the order of these, missing ones last; of equal ones in their own. The vectors are memory. O(n).
template <Real T>
void sort_places(std::span<const T> x, std::span<Row> out, std::vector<std::uint64_t>& entries,
                 std::vector<std::uint64_t>& scratch) {
    constexpr unsigned kLow = 8 * sizeof(T) - 32;  // bits of the key that the radix sort does not see
    entries.resize(x.size());                      // 32 bits of the key above 32 bits of place
    for (std::size_t i = 0; i < x.size(); ++i) entries[i] = static_cast<std::uint64_t>(sort_key(x[i]) >> kLow) << 32 | i;
    radix_sort(entries, scratch, [](std::uint64_t entry) { return static_cast<std::uint32_t>(entry >> 32); });
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = static_cast<Row>(entries[i]);
    if constexpr (kLow > 0) detail::finish_order(x, entries, out);
}

class RankedColumns {
   public:
    // Ranks every column of X, which must outlive this: thresholds are read from it. O(n d); eight bytes a value. Infinite values
    // are values like any other.
    template <Real T>
    RankedColumns(Matrix<const T> x, std::span<const std::uint8_t> is_categorical, Threads threads)
        : n_rows_(x.rows), x_(x), columns_(x.cols), orders_(x.rows * x.cols), codes_(x.rows * x.cols) {
        require(x.rows < 0xFFFFFFFF, "trees: there are too many rows");
        const std::size_t n_blocks = (x.cols + kColumnsAtOnce - 1) / kColumnsAtOnce;
        parallel_for(n_blocks, threads, [&](std::size_t block) {
            const std::size_t first = block * kColumnsAtOnce;
            const std::size_t last = std::min(first + kColumnsAtOnce, x.cols);
            std::vector<T> values((last - first) * x.rows);  // the columns one after another: X is read along its rows once
            for (std::size_t i = 0; i < x.rows; ++i)
                for (std::size_t j = first; j < last; ++j) values[(j - first) * x.rows + i] = x(i, j);
            std::vector<std::uint64_t> entries;
            std::vector<std::uint64_t> scratch;
            for (std::size_t j = first; j < last; ++j) {
                columns_[j].order = {orders_.data() + j * x.rows, x.rows};
                columns_[j].codes = {codes_.data() + j * x.rows, x.rows};
                columns_[j].is_categorical = !is_categorical.empty() && is_categorical[j] != 0;
                rank<T>({values.data() + (j - first) * x.rows, x.rows}, columns_[j], entries, scratch);
                checkpoint();
            }
        });
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t count() const { return columns_.size(); }
    const Column& operator[](std::size_t j) const { return columns_[j]; }
    double value(Row row, std::size_t j) const {
        return std::visit([&](const auto& x) { return static_cast<double>(x(row, j)); }, x_);
    }
    bool has_categories() const {
        return std::any_of(columns_.begin(), columns_.end(), [](const Column& column) { return column.is_categorical; });
    }

   private:
    static constexpr std::size_t kColumnsAtOnce = 8;

    template <Real T>
    static void rank(std::span<const T> x, Column& out, std::vector<std::uint64_t>& entries, std::vector<std::uint64_t>& scratch) {
        sort_places(x, out.order, entries, scratch);
        T first = 0;  // the least of the values that share a code: however many lie close together, no code spans more
        for (std::size_t i = 0; i < x.size(); ++i) {
            const T value = x[out.order[i]];
            if (std::isnan(value)) {
                ++out.n_missing;
            } else if (i == 0 || is_above(value, first)) {
                first = value;
                ++out.n_distinct;
                if (out.is_categorical) out.categories.push_back(static_cast<std::size_t>(value));
            }
            out.codes[out.order[i]] = static_cast<Code>(std::isnan(value) ? out.n_distinct : out.n_distinct - 1);
        }
    }

    std::size_t n_rows_;
    std::variant<Matrix<const double>, Matrix<const float>> x_;
    std::vector<Column> columns_;
    Aligned<Row> orders_;
    Aligned<Code> codes_;
};

}  // namespace mercer::tree

// The rows of a sparse matrix, by the entries that are not zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/views.hpp"

namespace mercer::tree {

// A copy, checked once it is made: whatever another thread writes to the arrays it comes from cannot lead a kernel astray.
class SparseRows {
   public:
    // Takes compressed rows whose columns rise in every row. Zeros that are stored are left out, and so are the entries of columns
    // that are not wanted (no marks: all are). O(entries).
    template <Real T, class Index>
    SparseRows(std::span<const T> values, std::span<const Index> columns, std::span<const Index> row_starts, std::size_t n_columns,
               std::span<const std::uint8_t> is_wanted = {})
        : n_columns_(n_columns) {
        require(!row_starts.empty() && row_starts.front() == 0, "sparse matrix: indptr must start at 0");
        require(n_columns < std::numeric_limits<std::uint32_t>::max(), "sparse matrix: there are too many columns");
        const std::size_t most = std::min(values.size(), columns.size());
        make_room(row_starts.size() - 1, most);
        std::size_t begin = 0;
        for (std::size_t i = 1; i < row_starts.size(); ++i) {
            const Index last = row_starts[i];
            require(last >= 0 && static_cast<std::uint64_t>(last) >= begin, "sparse matrix: indptr must not decrease");
            const auto end = static_cast<std::size_t>(last);
            require(end <= most, "sparse matrix: indptr points behind the entries");
            std::int64_t last_column = -1;
            for (std::size_t k = begin; k < end; ++k) {
                const auto column = static_cast<std::int64_t>(columns[k]);
                if (column <= last_column || static_cast<std::uint64_t>(column) >= n_columns) refuse(column);
                last_column = column;
                if (is_wanted.empty() || is_wanted[static_cast<std::size_t>(column)] != 0)
                    add(static_cast<std::size_t>(column), static_cast<double>(values[k]));
            }
            starts_.push_back(n_entries_);
            begin = end;
        }
    }

    // Some rows and some columns of another matrix, both rising; a row that is named twice counts once.
    SparseRows(const SparseRows& x, std::span<const std::int64_t> rows, std::span<const std::int64_t> columns)
        : n_columns_(columns.size()) {
        std::vector<std::uint32_t> places(x.n_columns(), kNone);
        for (std::size_t j = 0; j < columns.size(); ++j)
            places[static_cast<std::size_t>(columns[j])] = static_cast<std::uint32_t>(j);
        std::vector<std::size_t> taken;
        std::size_t most = 0;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            if (k > 0 && rows[k] == rows[k - 1]) continue;
            taken.push_back(static_cast<std::size_t>(rows[k]));
            most += x.end(taken.back()) - x.begin(taken.back());
        }
        make_room(taken.size(), most);
        for (const std::size_t row : taken) {
            for (std::size_t e = x.begin(row); e < x.end(row); ++e)
                if (places[x.column(e)] != kNone) add(places[x.column(e)], x.value(e));
            starts_.push_back(n_entries_);
        }
    }

    std::size_t n_rows() const { return starts_.size() - 1; }
    std::size_t n_columns() const { return n_columns_; }
    std::size_t n_entries() const { return n_entries_; }
    // The entries of a row.
    std::size_t begin(std::size_t row) const { return starts_[row]; }
    std::size_t end(std::size_t row) const { return starts_[row + 1]; }
    std::size_t column(std::size_t entry) const { return columns_[entry]; }
    double value(std::size_t entry) const { return values_[entry]; }
    // The value in a column that a row has an entry in. O(log entries).
    double find(std::size_t row, std::size_t column) const {
        const std::uint32_t* columns = columns_.get();
        return values_[static_cast<std::size_t>(std::lower_bound(columns + begin(row), columns + end(row), column) - columns)];
    }

   private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    // Room for so many rows and entries, of which no page is touched before it is needed.
    void make_room(std::size_t n_rows, std::size_t n_entries) {
        starts_.reserve(n_rows + 1);
        starts_.push_back(0);
        columns_ = std::make_unique_for_overwrite<std::uint32_t[]>(n_entries + 1);  // a zero is written behind the last entry
        values_ = std::make_unique_for_overwrite<double[]>(n_entries + 1);
    }

    void add(std::size_t column, double value) {
        columns_[n_entries_] = static_cast<std::uint32_t>(column);
        values_[n_entries_] = value;
        n_entries_ += value != 0;
    }

    void refuse(std::int64_t column) const {
        require(column >= 0 && static_cast<std::uint64_t>(column) < n_columns_, "sparse matrix: a column index is out of range");
        require(false, "sparse matrix: the columns of a row must rise");
    }

    std::size_t n_columns_;
    std::size_t n_entries_ = 0;
    std::vector<std::size_t> starts_;
    std::unique_ptr<std::uint32_t[]> columns_;
    std::unique_ptr<double[]> values_;
};

// The shape of X, a matrix or sparse rows.
inline std::size_t n_rows_of(const SparseRows& x) { return x.n_rows(); }
inline std::size_t n_columns_of(const SparseRows& x) { return x.n_columns(); }
template <Real T>
std::size_t n_rows_of(const Matrix<const T>& x) {
    return x.rows;
}
template <Real T>
std::size_t n_columns_of(const Matrix<const T>& x) {
    return x.cols;
}

}  // namespace mercer::tree

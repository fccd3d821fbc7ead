// The columns of X for nodes that look at few of them: full ones as they are, hollow ones by their entries. Nothing is ranked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "tree/hollow_columns.hpp"
#include "tree/sparse_rows.hpp"

namespace mercer::tree {

class WideColumns {
   public:
    // A column is hollow where at least half of its values are zero.
    static constexpr std::size_t kRowsPerEntry = 2;

    // Whether trees that look at max_features columns a node are grown faster on these columns than on ranked ones, by the number
    // of entries in each column. Measured, in nanoseconds a row and level of the tree:
    //   ranked:  1.5 for each column, whose order is partitioned, and 1.5 for each one looked at;
    //   these:   36 for each full column looked at, whose values are gathered and sorted, and 16 for each entry of a hollow one.
    // X may be dense or sparse: the answer depends on what it holds, so that the same tree is grown.
    static bool suits(std::span<const std::size_t> counts, std::size_t n_rows, std::size_t max_features) {
        double n_full = 0;
        double n_entries = 0;
        for (const std::size_t count : counts) {
            const bool is_hollow = count * kRowsPerEntry <= n_rows;
            (is_hollow ? n_entries : n_full) += is_hollow ? static_cast<double>(count) : 1.0;
        }
        const auto d = static_cast<double>(counts.size());
        const double n_looked = std::min(static_cast<double>(max_features), d);
        const double ranked = 1.5 * d + 1.5 * n_looked;
        const double gathered = n_looked / d * (36 * n_full + 16 * n_entries / static_cast<double>(n_rows));
        return gathered < ranked;
    }

    // X is a matrix or sparse rows, with its `counts` of entries.
    template <class X>
    WideColumns(const X& x, std::span<const std::size_t> counts, Threads threads)
        : n_rows_(n_rows_of(x)), hollow_(x, counts, kRowsPerEntry, threads), places_(counts.size()) {
        require(n_rows_ < 0xFFFFFFFF, "trees: there are too many rows");
        for (std::size_t j = 0; j < places_.size(); ++j)
            if (!hollow_.has(j)) {
                places_[j] = full_.size();
                full_.push_back(static_cast<std::uint32_t>(j));
            }
        fill(x, threads);
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t count() const { return places_.size(); }
    // The features that are full columns.
    std::span<const std::uint32_t> full() const { return full_; }
    const HollowColumns& hollow() const { return hollow_; }

    // Writes the values that some rows have in a full column.
    void gather(std::size_t feature, std::span<const Row> rows, double* out) const {
        std::visit(
            [&](const auto& values) {
                const auto* column = values.data() + places_[feature] * n_rows_;
                for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<double>(column[rows[i]]);
            },
            values_);
    }

   private:
    // A few rows of a few columns at a time: both sides of the transposition stay in the cache.
    template <Real T>
    void fill(const Matrix<const T>& x, Threads threads) {
        constexpr std::size_t kRowsAtOnce = 32;
        Aligned<T> out(full_.size() * n_rows_);
        detail::for_column_blocks(x.cols, threads, [&](std::size_t first, std::size_t last) {
            for (std::size_t begin = 0; begin < n_rows_; begin += kRowsAtOnce) {
                const std::size_t end = std::min(begin + kRowsAtOnce, n_rows_);
                for (std::size_t j = first; j < last; ++j) {
                    if (hollow_.has(j)) continue;
                    T* column = out.data() + places_[j] * n_rows_;
                    for (std::size_t i = begin; i < end; ++i) column[i] = x(i, j);
                }
            }
        });
        values_ = std::move(out);
    }

    void fill(const SparseRows& x, Threads) {
        Aligned<double> out(full_.size() * n_rows_);
        std::fill_n(out.data(), out.size(), 0.0);
        for (std::size_t i = 0; i < n_rows_; ++i)
            for (std::size_t e = x.begin(i); e < x.end(i); ++e)
                if (!hollow_.has(x.column(e))) out[places_[x.column(e)] * n_rows_ + i] = x.value(e);
        values_ = std::move(out);
    }

    std::size_t n_rows_;
    HollowColumns hollow_;
    std::vector<std::size_t> places_;  // of the full columns, by feature
    std::vector<std::uint32_t> full_;
    std::variant<Aligned<double>, Aligned<float>> values_{Aligned<double>(0)};  // of the full columns, one after another
};

}  // namespace mercer::tree

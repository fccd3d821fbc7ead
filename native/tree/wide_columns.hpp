// The columns of X for nodes that look at few of them: full ones as they are, hollow ones by their entries. Nothing is ranked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"
#include "tree/full_columns.hpp"
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

    // X is a matrix, which must outlive this, or sparse rows, with its `counts` of entries. `n_looks`: see
    // FullColumns.
    template <class X>
    WideColumns(const X& x, std::span<const std::size_t> counts, std::size_t n_looks, Threads threads)
        : n_rows_(n_rows_of(x)),
          n_columns_(counts.size()),
          hollow_(x, counts, kRowsPerEntry, threads),
          full_(x, hollow_, Layout::kByColumn, n_looks, threads) {
        require(n_rows_ < 0xFFFFFFFF, "trees: there are too many rows");
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t count() const { return n_columns_; }
    // The features that are full columns.
    std::span<const std::uint32_t> full() const { return full_.features(); }
    const HollowColumns& hollow() const { return hollow_; }

    // Writes the values that some rows have in a full column.
    void gather(std::size_t feature, std::span<const Row> rows, double* out) const {
        full_.visit([&](const auto& values, auto&& place) {
            const std::size_t column = place(feature);
            for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<double>(values(rows[i], column));
        });
    }

   private:
    std::size_t n_rows_;
    std::size_t n_columns_;
    HollowColumns hollow_;
    FullColumns full_;
};

}  // namespace mercer::tree

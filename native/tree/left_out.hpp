// Predictions for rows by the trees that have not seen them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "tree/forest.hpp"
#include "tree/predict.hpp"

namespace mercer::tree {

// Writes 1 for the rows (columns of `out`) in the bag of each tree (lines, one for each seed), 0 for those left out; see
// `bootstrap_counts`. O(n_draws) a tree. Threads share the trees.
inline void bootstrap_marks(std::span<const std::uint64_t> seeds, std::size_t n_draws, std::span<const double> cumulative,
                            RowMajor<std::uint8_t> out, Threads threads) {
    threads = threads.for_work(static_cast<double>(seeds.size()) * static_cast<double>(n_draws + out.cols) * 5);
    parallel_for(seeds.size(), threads, [&](std::size_t t) {
        std::uint8_t* line = out.row(t);
        std::fill_n(line, out.cols, std::uint8_t{0});
        for_each_draw(seeds[t], n_draws, cumulative, out.cols, [&](std::size_t row) { line[row] = 1; });
    });
}

// As `add_node_values`, but a row takes nothing from trees that have it in their bag (`is_seen`, trees of the range x rows); adds
// the weights of the others to `totals`.
template <class X>
void add_left_out_values(const Trees& trees, Range range, const X& x, RowMajor<const double> values,
                         std::span<const double> weights, RowMajor<const std::uint8_t> is_seen, RowMajor<double> out,
                         std::span<double> totals, Threads threads) {
    detail::for_each_leaf(trees, range, x, threads, [&](std::size_t row, std::size_t t, const Node*, std::uint32_t leaf) {
        if (is_seen(t - range.first, row) != 0) return;
        const double* line = values.row(trees.node_starts()[t] + leaf);
        const double weight = weights.empty() ? 1.0 : weights[t - range.first];
        for (std::size_t k = 0; k < out.cols; ++k) out(row, k) += weight * line[k];
        totals[row] += weight;
    });
}

}  // namespace mercer::tree

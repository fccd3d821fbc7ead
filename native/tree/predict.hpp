// Predictions of trees: every model's, whatever grew them.
//
// A block of rows goes through one tree after another, several rows at a time: the steps of different rows do not wait for each
// other, and a tree stays in the cache for the whole block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "tree/node.hpp"

namespace mercer::tree {

// Which of the trees: [first, last).
struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t count() const { return last - first; }
};

namespace detail {

inline constexpr std::size_t kRowsPerBlock = 512;
inline constexpr std::size_t kRowsAtOnce = 8;

// The leaf of each of `count` contiguous rows of d values, at most kRowsAtOnce.
template <bool kHasCategories, Real T>
void find_leaves(const Trees::Part& tree, const T* x, std::size_t d, std::size_t count, std::uint32_t* at) {
    const Node* nodes = tree.nodes.data();
    const Word* words = tree.words.data();
    std::fill_n(at, count, 0);
    bool is_moving = true;
    while (is_moving) {
        is_moving = false;
        for (std::size_t l = 0; l < count; ++l) {
            const Node node = nodes[at[l]];
            const bool is_left = goes_left<kHasCategories>(node, x[l * d + node.feature()], words);
            const std::uint32_t next = is_left ? at[l] + 1 : node.right;
            at[l] = node.is_leaf() ? at[l] : next;
            is_moving |= !node.is_leaf();
        }
    }
}

// Rows as they lie, or copied where a row is not contiguous.
template <Real T>
class RowBlock {
   public:
    RowBlock(Matrix<const T> x, std::size_t begin, std::size_t end) : d_(x.cols), data_(x.row(begin)) {
        if (x.has_contiguous_rows() && x.row_stride == static_cast<std::ptrdiff_t>(x.cols)) return;
        copy_.resize((end - begin) * x.cols);
        for (std::size_t j = 0; j < x.cols; ++j)
            for (std::size_t i = begin; i < end; ++i) copy_[(i - begin) * d_ + j] = x(i, j);
        data_ = copy_.data();
    }
    const T* row(std::size_t i) const { return data_ + i * d_; }

   private:
    std::size_t d_;
    const T* data_;
    std::vector<T> copy_;
};

// Calls take(row, tree, leaf) for every row and tree; of one row, the trees come in their order. Threads share the rows.
template <Real T, class Take>
void for_each_leaf(const Trees& trees, Range range, Matrix<const T> x, Threads threads, Take&& take) {
    const auto work = static_cast<double>(x.rows) * static_cast<double>(range.count()) * 20;
    const std::size_t n_blocks = (x.rows + kRowsPerBlock - 1) / kRowsPerBlock;
    parallel_for(n_blocks, threads.for_work(work), [&](std::size_t b) {
        const std::size_t begin = b * kRowsPerBlock;
        const std::size_t end = std::min(begin + kRowsPerBlock, x.rows);
        const RowBlock<T> block(x, begin, end);
        for (std::size_t t = range.first; t < range.last; ++t) {
            checkpoint();
            const auto tree = trees.part(t);
            for (std::size_t i = begin; i < end; i += kRowsAtOnce) {
                const std::size_t count = std::min(kRowsAtOnce, end - i);
                std::uint32_t at[kRowsAtOnce];
                if (!tree.words.empty()) {
                    find_leaves<true>(tree, block.row(i - begin), x.cols, count, at);
                } else if (count == kRowsAtOnce) {
                    find_leaves<false>(tree, block.row(i - begin), x.cols, kRowsAtOnce, at);
                } else {
                    find_leaves<false>(tree, block.row(i - begin), x.cols, count, at);
                }
                for (std::size_t l = 0; l < count; ++l) take(i + l, t, at[l]);
            }
        }
    });
}

}  // namespace detail

// Adds the values of the leaves that each row reaches to `out` (rows x groups): the trees of the range take turns at the columns.
template <Real T>
void add_leaf_values(const Trees& trees, Range range, Matrix<const T> x, RowMajor<double> out, Threads threads) {
    std::vector<std::size_t> columns(range.count());
    for (std::size_t t = 0; t < columns.size(); ++t) columns[t] = t % out.cols;
    detail::for_each_leaf(trees, range, x, threads, [&](std::size_t row, std::size_t t, std::uint32_t leaf) {
        out(row, columns[t - range.first]) += trees.part(t).nodes[leaf].threshold;
    });
}

// Adds to each row's line of `out`, for every tree, the line of `values` (all nodes of all trees x outputs) of the leaf that the
// row reaches, times the tree's weight (1 where there are none, else one for each tree of the range).
template <Real T>
void add_node_values(const Trees& trees, Range range, Matrix<const T> x, RowMajor<const double> values,
                     std::span<const double> weights, RowMajor<double> out, Threads threads) {
    detail::for_each_leaf(trees, range, x, threads, [&](std::size_t row, std::size_t t, std::uint32_t leaf) {
        const double* line = values.row(trees.node_starts()[t] + leaf);
        const double weight = weights.empty() ? 1.0 : weights[t - range.first];
        for (std::size_t k = 0; k < out.cols; ++k) out(row, k) += weight * line[k];
    });
}

// The number of the leaf of each row (lines) in each tree (columns).
template <Real T>
void leaf_numbers(const Trees& trees, Range range, Matrix<const T> x, RowMajor<std::int64_t> out, Threads threads) {
    detail::for_each_leaf(trees, range, x, threads,
                          [&](std::size_t row, std::size_t t, std::uint32_t leaf) { out(row, t - range.first) = leaf; });
}

}  // namespace mercer::tree

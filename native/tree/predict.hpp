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
#include "tree/few_leaves.hpp"
#include "tree/node.hpp"

namespace mercer::tree {

namespace detail {

inline constexpr std::size_t kRowsAtOnce = 8;

// Bytes of X in a block. Small trees stay in the first cache, and X in the second; what a large tree costs to load pays off over
// more rows, which are read in their order and may come from farther away.
inline constexpr std::size_t kLeastBlock = std::size_t{1} << 18;
inline constexpr std::size_t kMostBlock = std::size_t{1} << 22;
inline constexpr std::size_t kBlockOverTree = 8;

// One step of one row, without a branch: which way a row goes cannot be foretold. A row at a leaf stays there.
template <bool kHasMissing>
std::uint32_t step(const Node& node, double value, std::uint32_t at) {
    std::uint32_t is_left = 0u - static_cast<std::uint32_t>(value <= node.threshold);
    if constexpr (kHasMissing) is_left |= (0u - static_cast<std::uint32_t>(value != value)) & (0u - (node.tag >> 31));
    static_assert(Node::kMissingLeft == 1u << 31);
    const std::uint32_t next = node.right ^ ((node.right ^ (at + 1)) & is_left);
    const std::uint32_t is_split = 0u - static_cast<std::uint32_t>(node.right != 0);
    return at ^ ((at ^ next) & is_split);
}

// The leaves of kRowsAtOnce contiguous rows of d values, in a tree that splits on numbers only.
template <bool kHasMissing, Real T>
void find_leaves(const Trees::Part& tree, const T* x, std::size_t d, std::uint32_t* leaves) {
    const Node* nodes = tree.nodes.data();
    std::uint32_t at[kRowsAtOnce] = {};
    std::uint32_t is_moving = 1;
    while (is_moving != 0) {
        is_moving = 0;
#pragma GCC unroll 8
        for (std::size_t l = 0; l < kRowsAtOnce; ++l) {
            const Node& node = nodes[at[l]];
            is_moving |= node.right;
            at[l] = step<kHasMissing>(node, static_cast<double>(x[l * d + node.feature()]), at[l]);
        }
    }
    std::copy_n(at, kRowsAtOnce, leaves);
}

// The leaf of one row.
template <Real T>
std::uint32_t find_leaf(const Trees::Part& tree, const T* x) {
    std::uint32_t at = 0;
    while (!tree.nodes[at].is_leaf()) {
        const Node& node = tree.nodes[at];
        at = goes_left(node, x[node.feature()], tree.words.data()) ? at + 1 : node.right;
    }
    return at;
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
    bool has_missing(std::size_t n_rows) const {
        bool out = false;
        for (std::size_t i = 0; i < n_rows * d_; ++i) out |= data_[i] != data_[i];
        return out;
    }

   private:
    std::size_t d_;
    const T* data_;
    std::vector<T> copy_;
};

// How many rows a block has: few enough that every thread gets some.
inline std::size_t rows_per_block(const Trees& trees, std::size_t n, std::size_t row_bytes, Threads threads) {
    const std::size_t tree_bytes = trees.nodes().size() * sizeof(Node) / std::max<std::size_t>(trees.count(), 1);
    const std::size_t bytes = std::clamp(kBlockOverTree * tree_bytes, kLeastBlock, kMostBlock);
    const std::size_t most = std::max(bytes / std::max<std::size_t>(row_bytes, 1), 8 * kRowsAtOnce);
    const std::size_t share = n / (4 * static_cast<std::size_t>(threads.count)) + 1;
    return std::clamp(share, 8 * kRowsAtOnce, most) / kRowsAtOnce * kRowsAtOnce;
}

// Calls take(row, tree, the tree's nodes, leaf) for every row and tree; of one row, the trees come in their order. Threads share
// the rows.
template <Real T, class Take>
void for_each_leaf(const Trees& trees, Range range, Matrix<const T> x, Threads threads, Take&& take) {
    threads = threads.for_work(static_cast<double>(x.rows) * static_cast<double>(range.count()) * 20);
    const std::size_t size = rows_per_block(trees, x.rows, x.cols * sizeof(T), threads);
    parallel_for((x.rows + size - 1) / size, threads, [&](std::size_t b) {
        const std::size_t begin = b * size;
        const std::size_t end = std::min(begin + size, x.rows);
        const RowBlock<T> block(x, begin, end);
        const bool has_missing = block.has_missing(end - begin);
        for (std::size_t t = range.first; t < range.last; ++t) {
            checkpoint();
            const auto tree = trees.part(t);
            std::size_t i = begin;
            for (; i + kRowsAtOnce <= end && tree.words.empty(); i += kRowsAtOnce) {
                std::uint32_t leaves[kRowsAtOnce];
                has_missing ? find_leaves<true>(tree, block.row(i - begin), x.cols, leaves)
                            : find_leaves<false>(tree, block.row(i - begin), x.cols, leaves);
                for (std::size_t l = 0; l < kRowsAtOnce; ++l) take(i + l, t, tree.nodes.data(), leaves[l]);
            }
            for (; i < end; ++i) take(i, t, tree.nodes.data(), find_leaf(tree, block.row(i - begin)));
        }
    });
}

}  // namespace detail

// Adds the values of the leaves that each row reaches to `out` (rows x groups): the trees of the range take turns at the columns.
template <Real T>
void add_leaf_values(const Trees& trees, Range range, Matrix<const T> x, RowMajor<double> out, Threads threads) {
    if (detail::FewLeaves<T>::suits(trees, range, x.rows)) return detail::FewLeaves<T>(trees, range).add_values(x, out, threads);
    std::vector<std::size_t> columns(range.count());
    for (std::size_t t = 0; t < columns.size(); ++t) columns[t] = t % out.cols;
    detail::for_each_leaf(trees, range, x, threads, [&](std::size_t row, std::size_t t, const Node* nodes, std::uint32_t leaf) {
        out(row, columns[t - range.first]) += nodes[leaf].threshold;
    });
}

// Adds to each row's line of `out`, for every tree, the line of `values` (all nodes of all trees x outputs) of the leaf that the
// row reaches, times the tree's weight (1 where there are none, else one for each tree of the range).
template <Real T>
void add_node_values(const Trees& trees, Range range, Matrix<const T> x, RowMajor<const double> values,
                     std::span<const double> weights, RowMajor<double> out, Threads threads) {
    detail::for_each_leaf(trees, range, x, threads, [&](std::size_t row, std::size_t t, const Node*, std::uint32_t leaf) {
        const double* line = values.row(trees.node_starts()[t] + leaf);
        const double weight = weights.empty() ? 1.0 : weights[t - range.first];
        for (std::size_t k = 0; k < out.cols; ++k) out(row, k) += weight * line[k];
    });
}

// The number of the leaf of each row (lines) in each tree (columns).
template <Real T>
void leaf_numbers(const Trees& trees, Range range, Matrix<const T> x, RowMajor<std::int64_t> out, Threads threads) {
    detail::for_each_leaf(trees, range, x, threads, [&](std::size_t row, std::size_t t, const Node*, std::uint32_t leaf) {
        out(row, t - range.first) = leaf;
    });
}

}  // namespace mercer::tree

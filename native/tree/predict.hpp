// Predictions of trees: every model's, whatever grew them.
//
// A block of rows goes through one tree after another, several rows at a time: the steps of different rows do not wait for each
// other, and a tree stays in the cache for the whole block.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "tree/few_leaves.hpp"
#include "tree/node.hpp"
#include "tree/sparse_rows.hpp"

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

// A block of rows as they lie, or copied where a row is not contiguous.
template <Real T>
class DenseBlock {
   public:
    DenseBlock(Matrix<const T> x, std::size_t) : x_(x), d_(x.cols) {}

    // Makes rows [begin, end) the block's.
    void take(std::size_t begin, std::size_t end) {
        n_rows_ = end - begin;
        data_ = x_.row(begin);
        if (!x_.has_contiguous_rows() || x_.row_stride != static_cast<std::ptrdiff_t>(x_.cols)) copy(begin, end);
        has_missing_ = false;
        for (std::size_t i = 0; i < n_rows_ * d_; ++i) has_missing_ |= data_[i] != data_[i];
    }

    // Calls take_leaf(row of the block, leaf).
    template <class TakeLeaf>
    void find_leaves_of(const Trees::Part& tree, TakeLeaf&& take_leaf) const {
        std::size_t i = 0;
        for (; i + kRowsAtOnce <= n_rows_ && tree.words.empty(); i += kRowsAtOnce) {
            std::uint32_t leaves[kRowsAtOnce];
            has_missing_ ? find_leaves<true>(tree, data_ + i * d_, d_, leaves)
                         : find_leaves<false>(tree, data_ + i * d_, d_, leaves);
            for (std::size_t l = 0; l < kRowsAtOnce; ++l) take_leaf(i + l, leaves[l]);
        }
        for (; i < n_rows_; ++i) take_leaf(i, find_leaf(tree, data_ + i * d_));
    }

   private:
    void copy(std::size_t begin, std::size_t end) {
        copy_.resize((end - begin) * d_);
        for (std::size_t j = 0; j < d_; ++j)
            for (std::size_t i = begin; i < end; ++i) copy_[(i - begin) * d_ + j] = x_(i, j);
        data_ = copy_.data();
    }

    Matrix<const T> x_;
    std::size_t d_;
    std::size_t n_rows_ = 0;
    const T* data_ = nullptr;
    std::vector<T> copy_;
    bool has_missing_ = false;
};

// A block of sparse rows. Which columns a row has an entry in is a bit each, so that a row stays in the first cache, where it would
// not if it were written out; the few entries that a tree meets are searched for. Where a zero goes can be foretold, and trees of
// sparse rows are deep and one-sided: one row at a time, with branches, is faster here than several without.
class SparseBlock {
   public:
    SparseBlock(const SparseRows& x, std::size_t n_rows)
        : x_(x), n_words_((x.n_columns() + 63) / 64), bits_(n_rows * n_words_, 0) {}

    void take(std::size_t begin, std::size_t end) {
        mark(begin_, end_, 0);
        mark(begin, end, ~std::uint64_t{0});
        begin_ = begin;
        end_ = end;
    }

    template <class TakeLeaf>
    void find_leaves_of(const Trees::Part& tree, TakeLeaf&& take_leaf) const {
        for (std::size_t i = 0; i < end_ - begin_; ++i) take_leaf(i, find_leaf_of(tree, i));
    }

   private:
    // Sets the bits of all entries of some rows as in `bits`. The first of the rows is the first of the block.
    void mark(std::size_t begin, std::size_t end, std::uint64_t bits) {
        for (std::size_t i = begin; i < end; ++i) {
            for (std::size_t e = x_.begin(i); e < x_.end(i); ++e) {
                const std::uint64_t bit = std::uint64_t{1} << (x_.column(e) % 64);
                std::uint64_t& word = bits_[(i - begin) * n_words_ + x_.column(e) / 64];
                word = (word & ~bit) | (bits & bit);
            }
        }
    }

    std::uint32_t find_leaf_of(const Trees::Part& tree, std::size_t i) const {
        const std::uint64_t* bits = bits_.data() + i * n_words_;
        const bool has_categories = !tree.words.empty();
        std::uint32_t at = 0;
        while (true) {
            const Node& node = tree.nodes[at];
            if (node.is_leaf()) [[unlikely]]
                return at;
            const std::size_t feature = node.feature();
            const bool has_entry = ((bits[feature / 64] >> (feature % 64)) & 1) != 0;
            if (has_entry || has_categories) [[unlikely]] {
                const double value = has_entry ? x_.find(begin_ + i, feature) : 0.0;
                at = goes_left(node, value, tree.words.data()) ? at + 1 : node.right;
            } else if (__builtin_expect_with_probability(0 <= node.threshold, 1, 0.999)) {  // a jump: a choice would be waited for
                ++at;
            } else {
                at = node.right;
            }
        }
    }

    const SparseRows& x_;
    std::size_t n_words_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::vector<std::uint64_t> bits_;
};

template <Real T>
DenseBlock<T> block_of(Matrix<const T> x, std::size_t n_rows) {
    return {x, n_rows};
}
inline SparseBlock block_of(const SparseRows& x, std::size_t n_rows) { return {x, n_rows}; }

// How many rows a block has, of a dense matrix and of sparse rows.
inline std::size_t rows_per_block(const Trees& trees, std::size_t n, std::size_t row_bytes, Threads threads) {
    const std::size_t tree_bytes = trees.nodes().size() * sizeof(Node) / std::max<std::size_t>(trees.count(), 1);
    const std::size_t bytes = std::clamp(kBlockOverTree * tree_bytes, kLeastBlock, kMostBlock);
    const std::size_t most = std::max(bytes / std::max<std::size_t>(row_bytes, 1), 8 * kRowsAtOnce);
    const std::size_t share = n / (4 * static_cast<std::size_t>(threads.count)) + 1;
    return std::clamp(share, 8 * kRowsAtOnce, most) / kRowsAtOnce * kRowsAtOnce;
}
template <Real T>
std::size_t rows_per_block(const Trees& trees, const Matrix<const T>& x, Threads threads) {
    return rows_per_block(trees, x.rows, x.cols * sizeof(T), threads);
}
inline std::size_t rows_per_block(const Trees&, const SparseRows& x, Threads) {
    return std::clamp<std::size_t>(kLeastBlock / (x.n_columns() / 8 + 1), 1, 512);
}

// Calls take(row, tree, the tree's nodes, leaf) for every row and tree; of one row, the trees come in their order. X is a matrix or
// sparse rows. Threads share the rows, a few blocks at a time.
template <class X, class Take>
void for_each_leaf(const Trees& trees, Range range, const X& x, Threads threads, Take&& take) {
    const std::size_t n = n_rows_of(x);
    threads = threads.for_work(static_cast<double>(n) * static_cast<double>(range.count()) * 20);
    const std::size_t size = rows_per_block(trees, x, threads);
    const std::size_t n_blocks = (n + size - 1) / size;
    const auto shares = Chunks::of(n_blocks, 1, 8 * static_cast<std::size_t>(threads.count));
    parallel_for(shares.count, threads, [&](std::size_t share) {
        auto block = block_of(x, std::min(size, n));
        for (std::size_t b = shares.begin(share); b < shares.end(share); ++b) {
            const std::size_t begin = b * size;
            const std::size_t end = std::min(begin + size, n);
            block.take(begin, end);
            for (std::size_t t = range.first; t < range.last; ++t) {
                checkpoint();
                const auto tree = trees.part(t);
                block.find_leaves_of(tree, [&](std::size_t i, std::uint32_t leaf) { take(begin + i, t, tree.nodes.data(), leaf); });
            }
        }
    });
}

}  // namespace detail

// Adds the values of the leaves that each row reaches to `out` (rows x groups): the trees of the range take turns at the columns.
template <class X>
void add_leaf_values(const Trees& trees, Range range, const X& x, RowMajor<double> out, Threads threads) {
    if constexpr (!std::is_same_v<X, SparseRows>) {
        using Few = detail::FewLeaves<std::remove_const_t<std::remove_pointer_t<decltype(x.data)>>>;
        if (Few::suits(trees, range, x.rows)) return Few(trees, range).add_values(x, out, threads);
    }
    std::vector<std::size_t> columns(range.count());
    for (std::size_t t = 0; t < columns.size(); ++t) columns[t] = t % out.cols;
    detail::for_each_leaf(trees, range, x, threads, [&](std::size_t row, std::size_t t, const Node* nodes, std::uint32_t leaf) {
        out(row, columns[t - range.first]) += nodes[leaf].threshold;
    });
}

// Adds to each row's line of `out`, for every tree, the line of `values` (all nodes of all trees x outputs) of the leaf that the
// row reaches, times the tree's weight (1 where there are none, else one for each tree of the range).
template <class X>
void add_node_values(const Trees& trees, Range range, const X& x, RowMajor<const double> values, std::span<const double> weights,
                     RowMajor<double> out, Threads threads) {
    detail::for_each_leaf(trees, range, x, threads, [&](std::size_t row, std::size_t t, const Node*, std::uint32_t leaf) {
        const double* line = values.row(trees.node_starts()[t] + leaf);
        const double weight = weights.empty() ? 1.0 : weights[t - range.first];
        for (std::size_t k = 0; k < out.cols; ++k) out(row, k) += weight * line[k];
    });
}

// The number of the leaf of each row (lines) in each tree (columns).
template <class X>
void leaf_numbers(const Trees& trees, Range range, const X& x, RowMajor<std::int64_t> out, Threads threads) {
    detail::for_each_leaf(trees, range, x, threads, [&](std::size_t row, std::size_t t, const Node*, std::uint32_t leaf) {
        out(row, t - range.first) = leaf;
    });
}

}  // namespace mercer::tree

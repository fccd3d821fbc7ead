// Predictions of trees with few leaves, without walking them.
//
// The leaves of a tree are the bits of a word, from left to right. A split that does not send a row left rules out the leaves of
// its left side. When all splits have spoken, in whatever order, the lowest bit that remains is the row's leaf (QuickScorer:
// Lucchese et al., SIGIR 2015). No step waits for another, and each takes a vector of rows.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
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

// How many leaves come before each node, and after the last one.
inline std::vector<std::size_t> leaves_before(std::span<const Node> nodes) {
    std::vector<std::size_t> n_leaves(nodes.size() + 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) n_leaves[i + 1] = n_leaves[i] + (nodes[i].is_leaf() ? 1 : 0);
    return n_leaves;
}

// The leaves on the left of split i, which a row on its right cannot reach, as bits of a word.
template <class Bits>
Bits left_leaves(std::span<const Node> nodes, const std::vector<std::size_t>& n_leaves, std::size_t i) {
    const std::size_t first = n_leaves[i + 1];
    const std::size_t count = n_leaves[nodes[i].right] - first;  // at least one, and fewer than there are bits
    return ((Bits{1} << count) - 1) << first;
}

// Trees prepared for rows of type T. A word has as many bits as T: 32 leaves, or 64.
template <Real T>
class FewLeaves {
   public:
    static constexpr std::size_t kMostLeaves = 8 * sizeof(T);
    static constexpr std::size_t kLeastRows = 64;  // below, preparing costs more than it saves

    static bool suits(const Trees& trees, Range range, std::size_t n_rows) {
        if (trees.has_categories() || n_rows < kLeastRows) return false;
        const auto& starts = trees.node_starts();
        for (std::size_t t = range.first; t < range.last; ++t)
            if (starts[t + 1] - starts[t] > 2 * kMostLeaves - 1) return false;
        return true;
    }

    static T rounded_down(double threshold) {  // x <= threshold holds for the same x
        const auto near = static_cast<T>(threshold);
        return static_cast<double>(near) <= threshold ? near : std::nextafter(near, -std::numeric_limits<T>::infinity());
    }

    FewLeaves(const Trees& trees, Range range) {
        std::vector<std::uint32_t> places(trees.n_features(), kUnused);
        for (std::size_t t = range.first; t < range.last; ++t) add(trees.part(t).nodes, places);
    }

    // As add_leaf_values of predict.hpp.
    void add_values(Matrix<const T> x, RowMajor<double> out, Threads threads) const {
        const std::size_t row_bytes = std::max<std::size_t>(columns_.size(), 1) * sizeof(T);
        const std::size_t size = std::clamp<std::size_t>(kBlockBytes / row_bytes / kGroup, 1, 16) * kGroup;
        const auto work = static_cast<double>(x.rows) * static_cast<double>(tests_.size());
        parallel_for((x.rows + size - 1) / size, threads.for_work(work), [&](std::size_t b) {
            const std::size_t begin = b * size;
            add_block(x, begin, std::min(begin + size, x.rows), size, out);
        });
    }

   private:
    using S = Simd<T>;
    using Index = typename S::Index;
    using Bits = std::make_unsigned_t<Index>;
    static constexpr std::size_t kVectors = 4;
    static constexpr std::size_t kGroup = kVectors * S::kLanes;  // rows that go through a tree together
    static constexpr std::size_t kBlockBytes = 64 * 1024;
    static constexpr std::uint32_t kUnused = std::numeric_limits<std::uint32_t>::max();

    struct Test {
        T threshold;
        std::uint32_t column;  // among those used
        Index ruled_out;       // the leaves that a row on the right cannot reach
    };
    struct Prepared {
        std::size_t begin;   // of its tests: first those that send a missing value left,
        std::size_t middle;  // then those that send it right
        std::size_t end;
        std::size_t values;
    };

    void add(std::span<const Node> nodes, std::vector<std::uint32_t>& places) {
        const auto n_leaves = leaves_before(nodes);
        Prepared tree{tests_.size(), 0, 0, values_.size()};
        for (const bool is_missing_left : {true, false}) {
            if (!is_missing_left) tree.middle = tests_.size();
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                const Node& node = nodes[i];
                if (node.is_leaf() || ((node.tag & Node::kMissingLeft) != 0) != is_missing_left) continue;
                if (places[node.feature()] == kUnused) {
                    places[node.feature()] = static_cast<std::uint32_t>(columns_.size());
                    columns_.push_back(node.feature());
                }
                const auto ruled_out = static_cast<Index>(left_leaves<Bits>(nodes, n_leaves, i));
                tests_.push_back({rounded_down(node.threshold), places[node.feature()], ruled_out});
            }
        }
        tree.end = tests_.size();
        for (const Node& node : nodes)
            if (node.is_leaf()) values_.push_back(node.threshold);
        trees_.push_back(tree);
    }

    void add_block(Matrix<const T> x, std::size_t begin, std::size_t end, std::size_t size, RowMajor<double> out) const {
        Aligned<T> block(columns_.size() * size);  // the columns used, one after another
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            T* column = block.data() + c * size;
            for (std::size_t i = begin; i < end; ++i) column[i - begin] = x(i, columns_[c]);
            std::fill(column + (end - begin), column + size, T{0});
        }
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            checkpoint();
            const double* values = values_.data() + trees_[t].values;
            const std::size_t output = t % out.cols;
            for (std::size_t i = begin; i < end; i += kGroup) {
                alignas(64) std::array<Bits, kGroup> leaves;
                find_leaves(trees_[t], block.data() + (i - begin), size, leaves.data());
                const std::size_t count = std::min(kGroup, end - i);
                for (std::size_t l = 0; l < count; ++l) out(i + l, output) += values[std::countr_zero(leaves[l])];
            }
        }
    }

    // The words of a group of rows after all splits of a tree.
    void find_leaves(const Prepared& tree, const T* x, std::size_t stride, Bits* leaves) const {
        typename S::Indices open[kVectors];
        for (auto& word : open) word = S::broadcast_index(-1);
        const auto run = [&](std::size_t first, std::size_t last, auto&& goes_right) {
            for (std::size_t k = first; k < last; ++k) {
                const Test& test = tests_[k];
                const auto threshold = S::broadcast(test.threshold);
                const auto ruled_out = S::broadcast_index(test.ruled_out);
                const T* values = x + test.column * stride;
#pragma GCC unroll 4
                for (std::size_t v = 0; v < kVectors; ++v)
                    open[v] &= ~(goes_right(S::load(values + v * S::kLanes), threshold) & ruled_out);
            }
        };
        run(tree.begin, tree.middle, [](auto value, auto threshold) { return value > threshold; });
        run(tree.middle, tree.end, [](auto value, auto threshold) { return ~(value <= threshold); });
        for (std::size_t v = 0; v < kVectors; ++v) std::memcpy(leaves + v * S::kLanes, &open[v], sizeof open[v]);
    }

    std::vector<std::size_t> columns_;
    std::vector<Test> tests_;
    std::vector<double> values_;
    std::vector<Prepared> trees_;
};

}  // namespace detail

}  // namespace mercer::tree

// Rows by columns, and which way they go at the splits of a tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.hpp"
#include "inspection/leaf_groups.hpp"

namespace mercer::inspection {

inline constexpr std::size_t kBlockRows = 256;

using Bits = std::uint16_t;  // of a group, or all ones and all zeros for yes and no
static_assert(LeafGroups::kMostBits <= 16);

template <Real T>
class RowBlock {
   public:
    // Rows [begin, end) of x, at most kBlockRows.
    RowBlock(const Matrix<const T>& x, std::size_t begin, std::size_t end) : n_(end - begin), columns_(x.cols * kBlockRows) {
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j < x.cols; ++j) columns_[j * kBlockRows + i] = x(begin + i, j);
        has_missing_ = std::any_of(columns_.begin(), columns_.end(), [](T value) { return value != value; });
    }

    std::size_t size() const { return n_; }

    // Which rows go left at each split: a line of kBlockRows for each.
    void find_ways(const Trees::Part& tree, const Splits& splits, std::vector<Bits>& is_left) const {
        is_left.resize(splits.size() * kBlockRows);
        for (std::size_t s = 0; s < splits.size(); ++s)
            find_ways(tree.nodes[splits[s].node], tree.words.data(), is_left.data() + s * kBlockRows);
    }

    // The bits of a group for each row, given which rows go left at each split.
    void find_bits(const LeafGroup& group, const std::vector<Bits>& is_left, Bits* bits) const {
        std::fill_n(bits, padded(), Bits{0});
        Bits holds[kBlockRows];
        for (std::size_t b = 0; b < group.bits.size(); ++b) {
            std::fill_n(holds, padded(), static_cast<Bits>(1u << b));
            for (const auto& [split, way] : group.bits[b]) {
                const Bits* left = is_left.data() + split * kBlockRows;
                const Bits flip = way == kLeft ? 0 : 0xFFFF;
                for (std::size_t i = 0; i < padded(); ++i) holds[i] &= left[i] ^ flip;
            }
            for (std::size_t i = 0; i < padded(); ++i) bits[i] |= holds[i];
        }
    }

   private:
    // Whole vectors: what is worked out for rows that are not there is not read.
    std::size_t padded() const { return (n_ + 31) / 32 * 32; }

    void find_ways(const Node& node, const tree::Word* words, Bits* is_left) const {
        const T* values = columns_.data() + node.feature() * kBlockRows;
        if (node.is_categorical()) {
            for (std::size_t i = 0; i < n_; ++i) is_left[i] = tree::goes_left(node, values[i], words) ? 0xFFFF : 0;
            return;
        }
        for (std::size_t i = 0; i < padded(); ++i) is_left[i] = values[i] <= node.threshold ? 0xFFFF : 0;
        if (!has_missing_ || (node.tag & Node::kMissingLeft) == 0) return;
        for (std::size_t i = 0; i < padded(); ++i) is_left[i] |= values[i] != values[i] ? 0xFFFF : 0;
    }

    std::size_t n_;
    std::vector<T> columns_;
    bool has_missing_ = false;
};

}  // namespace mercer::inspection
